//! The members of the JSON report that only `verify` has.

use serde::Serialize;

use super::identity::DeviceIdentity;
use super::parent::ChildResult;
use super::protocol::{Card, Event};
use super::report::Host;
use super::run::RunResult;
use super::timeline::HealthSample;

/// The measurements and reports of the processes of a run.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerifyMembers<'a> {
    /// Whether the libraries are a simulation.
    pub simulated: bool,
    /// The host of the run.
    pub host: HostMember<'a>,
    /// When the run ended, in seconds since 1970, UTC.
    pub taken: Option<u64>,
    /// The process of each device.
    pub devices: Vec<ChildMember<'a>>,
    /// The process that loaded the libraries and counted the devices.
    pub start: ChildMember<'a>,
    /// Copies and collective operations between devices, if they were tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fabric: Option<Fabric<'a>>,
    /// The processes that put load on the devices, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stress: Vec<ChildMember<'a>>,
    /// The processes that timed devices again, one at a time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub retimed: Vec<ChildMember<'a>>,
    /// The card of each device.
    #[serde(skip_serializing_if = "slice_is_empty")]
    pub identities: &'a [DeviceIdentity],
    /// The cards of the machine according to the driver.
    #[serde(skip_serializing_if = "slice_is_empty")]
    pub cards: &'a [Card],
    /// Their states over time.
    #[serde(skip_serializing_if = "slice_is_empty")]
    pub health: &'a [HealthSample],
}

fn slice_is_empty<T>(slice: &&[T]) -> bool {
    slice.is_empty()
}

/// The host of a run.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostMember<'a> {
    /// Its name.
    name: &'a str,
    /// Digest that identifies the installation of the operating system.
    machine: Option<&'a str>,
    /// Digest that identifies the boot.
    boot: Option<&'a str>,
}

/// The tests between devices.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fabric<'a> {
    /// The process that copied between all devices.
    peers: ChildMember<'a>,
    /// The process of each rank of the collective operations.
    ranks: Vec<ChildMember<'a>>,
}

/// A process of the run.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChildMember<'a> {
    /// Its kernels, loads, cores, coverage and times.
    told: Vec<&'a Event>,
    /// Its device.
    device: Option<i32>,
    /// The chip name from the runtime.
    soc: Option<&'a str>,
    /// Its duration in milliseconds.
    took_ms: f64,
    /// The last function of the vendor that it called.
    last_call: Option<&'a str>,
    /// Its completed stages.
    stages: Vec<&'a Event>,
}

impl<'a> VerifyMembers<'a> {
    /// The members of a run.
    pub fn new(
        done: &'a RunResult,
        host: &'a Host,
        identities: &'a [DeviceIdentity],
        simulated: bool,
    ) -> Self {
        let all = |children: &'a [ChildResult]| children.iter().map(ChildMember::new).collect();
        Self {
            simulated,
            host: HostMember {
                name: &host.name,
                machine: host.machine.as_deref(),
                boot: host.boot.as_deref(),
            },
            taken: host.taken,
            devices: all(&done.devices),
            start: ChildMember::new(&done.first),
            fabric: done
                .peers
                .as_ref()
                .map(|peers| Fabric { peers: ChildMember::new(peers), ranks: all(&done.ranks) }),
            stress: all(&done.loads),
            retimed: all(&done.retimed),
            identities,
            cards: &done.history.cards,
            health: &done.history.samples,
        }
    }
}

impl<'a> ChildMember<'a> {
    fn new(child: &'a ChildResult) -> Self {
        let is_detail = |event: &&Event| {
            matches!(
                event,
                Event::Kernel { .. }
                    | Event::Load { .. }
                    | Event::LoadSample { .. }
                    | Event::Cores { .. }
                    | Event::Coverage { .. }
                    | Event::Time { .. }
            )
        };
        let is_stage = |event: &&Event| matches!(event, Event::StepEnd { .. });
        Self {
            told: child.events.iter().filter(is_detail).collect(),
            device: child.device,
            soc: child.soc(),
            took_ms: (child.took.as_secs_f64() * 1e6).round() / 1e3,
            last_call: child.last_call.as_deref(),
            stages: child.events.iter().filter(is_stage).collect(),
        }
    }
}
