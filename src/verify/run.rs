//! Which children there are: one that loads the libraries and counts the devices, then one for
//! each device, all at once.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use super::parent::{End, Ran, supervise};
use super::protocol::{Dtype, Event, Level, Order, Rung};

/// What to try.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// These devices; all of them if empty.
    pub devices: Vec<i32>,
    /// Up to the highest of these rungs; of the others, what that one needs.
    pub rungs: Vec<Rung>,
    /// With these element types.
    pub dtypes: Vec<Dtype>,
    /// How much.
    pub level: Level,
    /// Whether the speed of copies is measured.
    pub speed: bool,
    /// How long one call may be silent.
    pub silence: Duration,
    /// Whether simulated libraries are used.
    pub allow_simulated: bool,
    /// Below which CANN writes the logs of the children, where there is a place for them.
    pub logs: Option<PathBuf>,
}

/// What came of it.
#[derive(Debug)]
pub struct Done {
    /// The child that loaded the libraries and counted the devices.
    pub first: Ran,
    /// How many devices there are, where that became known.
    pub count: Option<u32>,
    /// The children of the devices, in the order of the devices.
    pub devices: Vec<Ran>,
    /// Devices that were asked for and are not there.
    pub unknown: Vec<i32>,
}

/// Runs everything. `listen` hears the events of all children as they come, with the device.
pub fn run(wanted: &Wanted, listen: &(dyn Fn(Option<i32>, &Event) + Sync)) -> Done {
    let first = one(wanted, None, listen);
    let mut done = Done { first, count: None, devices: Vec::new(), unknown: Vec::new() };
    done.count = done.first.events.iter().find_map(|event| match event {
        Event::Devices { count } => Some(*count),
        _ => None,
    });
    let goes_on = matches!(done.first.end, End::Reported | End::CrashedAtEnd(_) | End::SilentAtEnd)
        && done.first.events.contains(&Event::Done);
    let Some(count) = done.count.filter(|_| goes_on) else { return done };
    let there = |device: &i32| u32::try_from(*device).is_ok_and(|device| device < count);
    let mut devices = wanted.devices.clone();
    devices.sort_unstable();
    devices.dedup();
    if devices.is_empty() {
        devices = (0..i32::try_from(count).unwrap_or(i32::MAX)).collect();
    }
    (devices, done.unknown) = devices.into_iter().partition(there);
    let runs = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for device in devices {
            let runs = &runs;
            scope.spawn(move || {
                let ran = one(wanted, Some(device), listen);
                runs.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(ran);
            });
        }
    });
    done.devices = runs.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.devices.sort_by_key(|ran| ran.device);
    done
}

fn one(wanted: &Wanted, device: Option<i32>, listen: &(dyn Fn(Option<i32>, &Event) + Sync)) -> Ran {
    let order = Order {
        device,
        rungs: wanted.rungs.clone(),
        dtypes: wanted.dtypes.clone(),
        level: wanted.level,
        speed: wanted.speed,
        silence_ms: u64::try_from(wanted.silence.as_millis()).unwrap_or(u64::MAX),
        allow_simulated: wanted.allow_simulated,
        parent: super::parent::own_pid(),
    };
    let logs = wanted.logs.as_deref().map(|logs| log_dir(logs, device));
    supervise(&order, logs.as_deref(), &mut |event| listen(device, event))
}

/// Where the logs of a child are.
pub fn log_dir(logs: &Path, device: Option<i32>) -> PathBuf {
    match device {
        None => logs.join("count"),
        Some(device) => logs.join(format!("device-{device}")),
    }
}
