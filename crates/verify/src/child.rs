//! The other side: a process that loads the vendor's libraries, does what it was told, and says
//! so line by line.
#![expect(
    clippy::disallowed_methods,
    reason = "takes the pipe of its parent from standard input, which it then closes"
)]

use std::cell::RefCell;
use std::fs::File;
use std::io::Write as _;
use std::rc::Rc;
use std::time::Duration;

use acl_abi::Group;

use super::parent::SUBCOMMAND;
use super::protocol::chatter::marker;
use super::protocol::{Event, Fault, Order, Rung, Task};
use super::rung::{
    Ended, Measured, Probe, Stopped, compute, kernel, memory, passed, peers, rank, speeds, stress,
};
use super::vendor::{Vendor, leave, print_at_once};

/// Where events go.
#[derive(Debug, Clone)]
pub struct Reporter(Rc<RefCell<File>>);

impl Reporter {
    /// Writes an event. Without a reader there is nobody to work for: the process ends.
    pub fn say(&self, event: &Event) {
        let Ok(mut line) = serde_json::to_vec(event) else { leave(2) };
        line.push(b'\n');
        // One write: a line is whole or not there.
        if self.0.borrow_mut().write_all(&line).is_err() {
            leave(2);
        }
    }
}

/// The variable with the order, where that is nothing for all to read.
pub const ORDER: &str = "ASCEND_DOCTOR_ORDER";

/// The order, if this process was started as the other side of `verify`.
pub fn requested() -> Option<String> {
    let mut arguments = std::env::args_os().skip(1);
    let own = arguments.next()? == SUBCOMMAND;
    let order = arguments.next().filter(|_| own)?.into_string().ok()?;
    arguments.next().is_none().then_some(order)
}

/// Does what `order` says, an [`Order`] in JSON, or `-` for one in [`ORDER`], and ends the process.
pub fn run(order: &str) -> anyhow::Result<std::convert::Infallible> {
    let order: Order = match order {
        "-" => serde_json::from_str(&std::env::var(ORDER)?)?,
        order => serde_json::from_str(order)?,
    };
    let (pipe, mouth) = prepare(order.parent)?;
    let reporter = Reporter(Rc::new(RefCell::new(pipe)));
    // What went wrong was said where it happened.
    if work(&order, &reporter, mouth).is_ok() {
        reporter.say(&Event::Done);
    }
    leave(0)
}

/// Takes the pipe of reports and that of standard output and error, and sees to it that nothing
/// of this process stays behind.
fn prepare(parent: u32) -> anyhow::Result<(File, File)> {
    use rustix::process::{Resource, Rlimit, Signal};
    // The vendor's code may read or close standard input; the pipe is none of its business.
    let pipe = rustix::io::fcntl_dupfd_cloexec(std::io::stdin(), 3)?;
    let null = File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    // Whatever becomes of standard output, this stays what it is now.
    let mouth = rustix::io::fcntl_dupfd_cloexec(std::io::stdout(), 3)?;
    print_at_once();
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    let alive = rustix::process::getppid().map(rustix::process::Pid::as_raw_nonzero);
    anyhow::ensure!(
        alive.is_some_and(|pid| u32::try_from(pid.get()) == Ok(parent)),
        "this is started by `ascend-doctor verify` alone"
    );
    // A crash is expected to happen here; a core file of the vendor's memory helps nobody.
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    rustix::process::setrlimit(Resource::Core, none)?;
    Ok((pipe.into(), mouth.into()))
}

fn work(order: &Order, reporter: &Reporter, mut mouth: File) -> Result<(), Stopped> {
    let voice = reporter.clone();
    let mut vendor = Vendor::new(move |function| {
        // What is printed from here on is this function's.
        let _ = mouth.write_all(&marker(function));
        voice.say(&Event::Call { function: function.to_owned() });
    });
    let mut groups = vec![Group::Acl];
    match order.task {
        Task::Ladder if order.rungs.contains(&Rung::Compute) => {
            groups.extend([Group::Nnopbase, Group::Math, Group::Nn]);
        }
        Task::Stress { .. } => groups.extend([Group::Nnopbase, Group::Nn]),
        Task::Ladder | Task::Peers { .. } | Task::Rank { .. } => {}
    }
    reporter.stage(Rung::Load, "load", || {
        groups.into_iter().try_for_each(|group| vendor.load(group, order.allow_simulated))?;
        Ok(passed())
    })?;
    reporter.say(&Event::Loaded { libraries: vendor.loaded.clone(), simulated: vendor.simulated });
    match (&order.task, order.device) {
        (Task::Ladder, _) if order.rungs.iter().all(|rung| *rung == Rung::Load) => Ok(()),
        (Task::Ladder, None) => count(&vendor, reporter),
        (Task::Ladder, Some(device)) => device_rungs(device, &mut vendor, order, reporter),
        (Task::Peers { devices }, _) => peers(&vendor, reporter, devices),
        (Task::Rank { rank: own, ranks, root }, _) => {
            let sums = optional(&mut vendor, Group::Hccl, order, reporter)?;
            if !sums {
                return Ok(());
            }
            rank(&vendor, reporter, order, [*own, *ranks], root.as_deref())
        }
        (Task::Stress { milliseconds }, _) => {
            stress(&vendor, reporter, order, Duration::from_millis(*milliseconds))
        }
    }
}

/// Counts the devices.
fn count(vendor: &Vendor, reporter: &Reporter) -> Result<(), Stopped> {
    reporter.stage(Rung::Runtime, "start", || {
        vendor.init()?;
        reporter.say(&Event::Interface { version: vendor.version()? });
        if let Some(version) = vendor.cann_version()? {
            reporter.say(&Event::Cann { version });
        }
        let count = vendor.devices()?;
        reporter.say(&Event::Devices { count });
        if count == 0 { Err(Fault::NoDevice) } else { Ok(passed()) }
    })?;
    reporter.stage(Rung::Runtime, "end", || vendor.finalize().map(|()| passed()))
}

/// Climbs the ladder on one device.
fn device_rungs(
    device: i32,
    vendor: &mut Vendor,
    order: &Order,
    reporter: &Reporter,
) -> Result<(), Stopped> {
    let mut opened = None;
    reporter.stage(Rung::Runtime, "open", || {
        vendor.init()?;
        vendor.set_device(device)?;
        let soc = vendor.soc()?.unwrap_or_default();
        reporter.say(&Event::Soc { name: soc.clone() });
        vendor.memory()?;
        opened = Some((vendor.create_stream()?, soc));
        Ok(passed())
    })?;
    let Some((stream, soc)) = opened else { return Err(Stopped) };
    let probe = Probe { vendor: &*vendor, reporter, order, stream, soc };
    reporter.stage(Rung::Runtime, "stream and events", || {
        let device_ms = Some(probe.timed(|| Ok(()))?);
        Ok(Ended::Passed(Measured { device_ms, ..Measured::default() }))
    })?;
    if order.rungs.contains(&Rung::Memory) {
        memory(&probe)?;
        if order.speed {
            speeds(&probe)?;
        }
    }
    if order.rungs.contains(&Rung::Compute) {
        compute(&probe)?;
    }
    let Probe { soc, .. } = probe;
    if order.rungs.contains(&Rung::Kernel) {
        let compiles = optional(vendor, Group::Rtc, order, reporter)?;
        if compiles {
            kernel(&Probe { vendor: &*vendor, reporter, order, stream, soc })?;
        }
    }
    reporter.stage(Rung::Runtime, "close", || {
        vendor.destroy_stream(stream)?;
        vendor.reset_device(device)?;
        vendor.finalize()?;
        Ok(passed())
    })
}

/// Loads a library that not all installations have: that it is not there is no fault. Whether
/// it is.
fn optional(
    vendor: &mut Vendor,
    group: Group,
    order: &Order,
    reporter: &Reporter,
) -> Result<bool, Stopped> {
    let mut there = true;
    reporter.stage(Rung::Load, group.libraries()[0], || {
        match vendor.load(group, order.allow_simulated) {
            Err(Fault::NoLibrary { tried }) => {
                there = false;
                Ok(Ended::NotSupported(tried.join(", ")))
            }
            loaded => loaded.map(|()| passed()),
        }
    })?;
    Ok(there)
}
