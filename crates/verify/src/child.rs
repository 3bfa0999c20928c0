//! The other side: a process that loads the vendor's libraries, does what it was told, and says
//! so line by line.
#![expect(
    clippy::disallowed_methods,
    reason = "takes the pipe of its parent from standard input, which it then closes"
)]

use std::fs::File;
use std::io::Write as _;
use std::time::Duration;

use acl_abi::Group;

use super::protocol::invocation::{ORDER, SUBCOMMAND};
use super::protocol::vendor_output::make_marker;
use super::protocol::{Event, Fault, Order, Stage, Task};
use super::reporter::{Measurements, Reporter, StageAborted, StepResult, passed};
use super::stage::{
    Probe, measure_speeds, run_compute, run_kernel, run_memory, run_peers, run_rank, run_stress,
};
use super::vendor::{Vendor, disable_buffering, exit_process};

/// The order, if this process was started as the other side of `verify`.
pub fn read_order() -> Option<String> {
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
    let reporter = Reporter::new(pipe);
    // What went wrong was said where it happened.
    if run_order(&order, &reporter, mouth).is_ok() {
        reporter.write_event(&Event::Done);
    }
    exit_process(0)
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
    disable_buffering();
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

fn run_order(order: &Order, reporter: &Reporter, mut mouth: File) -> Result<(), StageAborted> {
    let voice = reporter.clone();
    let mut vendor = Vendor::new(move |function| {
        // What is printed from here on is this function's.
        let _ = mouth.write_all(&make_marker(function));
        voice.write_event(&Event::Call { function: function.to_owned() });
    });
    let mut groups = vec![Group::Acl];
    match order.task {
        Task::Ladder if order.stages.contains(&Stage::Compute) => {
            groups.extend([Group::Nnopbase, Group::Math, Group::Nn]);
        }
        Task::Stress { .. } => groups.extend([Group::Nnopbase, Group::Nn]),
        Task::Ladder | Task::Peers { .. } | Task::Rank { .. } => {}
    }
    reporter.run_step(Stage::Load, "load", || {
        groups.into_iter().try_for_each(|group| vendor.load(group, order.allow_simulated))?;
        Ok(passed())
    })?;
    reporter.write_event(&Event::Loaded {
        libraries: vendor.loaded.clone(),
        simulated: vendor.simulated,
    });
    match (&order.task, order.device) {
        (Task::Ladder, _) if order.stages.iter().all(|stage| *stage == Stage::Load) => Ok(()),
        (Task::Ladder, None) => count_devices(&vendor, reporter),
        (Task::Ladder, Some(device)) => run_device_stages(device, &mut vendor, order, reporter),
        (Task::Peers { devices }, _) => run_peers(&vendor, reporter, devices),
        (Task::Rank { rank: own, ranks, root }, _) => {
            let sums = load_optional(&mut vendor, Group::Hccl, order, reporter)?;
            if !sums {
                return Ok(());
            }
            run_rank(&vendor, reporter, order, [*own, *ranks], root.as_deref())
        }
        (Task::Stress { milliseconds }, _) => {
            run_stress(&vendor, reporter, order, Duration::from_millis(*milliseconds))
        }
    }
}

/// Counts the devices.
fn count_devices(vendor: &Vendor, reporter: &Reporter) -> Result<(), StageAborted> {
    reporter.run_step(Stage::Runtime, "start", || {
        vendor.init()?;
        reporter.write_event(&Event::Interface { version: vendor.version()? });
        if let Some(version) = vendor.cann_version()? {
            reporter.write_event(&Event::Cann { version });
        }
        let count = vendor.count_devices()?;
        reporter.write_event(&Event::Devices { count });
        if count == 0 { Err(Fault::NoDevice) } else { Ok(passed()) }
    })?;
    reporter.run_step(Stage::Runtime, "end", || vendor.finalize().map(|()| passed()))
}

/// Runs the stages on one device.
fn run_device_stages(
    device: i32,
    vendor: &mut Vendor,
    order: &Order,
    reporter: &Reporter,
) -> Result<(), StageAborted> {
    let mut opened = None;
    reporter.run_step(Stage::Runtime, "open", || {
        vendor.init()?;
        vendor.set_device(device)?;
        let soc = vendor.soc()?.unwrap_or_default();
        reporter.write_event(&Event::Soc { name: soc.clone() });
        vendor.memory_info()?;
        opened = Some((vendor.create_stream()?, soc));
        Ok(passed())
    })?;
    let Some((stream, soc)) = opened else { return Err(StageAborted) };
    let probe = Probe { vendor: &*vendor, reporter, order, stream, soc };
    reporter.run_step(Stage::Runtime, "stream and events", || {
        let device_ms = Some(probe.measure_time(|| Ok(()))?);
        Ok(StepResult::Passed(Measurements { device_ms, ..Measurements::default() }))
    })?;
    if order.stages.contains(&Stage::Memory) {
        run_memory(&probe)?;
        if order.speed {
            measure_speeds(&probe)?;
        }
    }
    if order.stages.contains(&Stage::Compute) {
        run_compute(&probe)?;
    }
    let Probe { soc, .. } = probe;
    if order.stages.contains(&Stage::Kernel) {
        let compiles = load_optional(vendor, Group::Rtc, order, reporter)?;
        if compiles {
            run_kernel(&Probe { vendor: &*vendor, reporter, order, stream, soc })?;
        }
    }
    reporter.run_step(Stage::Runtime, "close", || {
        vendor.destroy_stream(stream)?;
        vendor.reset_device(device)?;
        vendor.finalize()?;
        Ok(passed())
    })
}

/// Loads a library that not all installations have: that it is not there is no fault. Whether
/// it is.
fn load_optional(
    vendor: &mut Vendor,
    group: Group,
    order: &Order,
    reporter: &Reporter,
) -> Result<bool, StageAborted> {
    let mut there = true;
    reporter.run_step(Stage::Load, group.libraries()[0], || {
        match vendor.load(group, order.allow_simulated) {
            Err(Fault::NoLibrary { tried }) => {
                there = false;
                Ok(StepResult::NotSupported(tried.join(", ")))
            }
            loaded => loaded.map(|()| passed()),
        }
    })?;
    Ok(there)
}
