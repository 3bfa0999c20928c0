//! The child process: loads the vendor's libraries, executes its order, and reports the events line
//! by line.
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
    time_copies, time_operators, time_waiting,
};
use super::vendor::{Vendor, VendorCall, disable_buffering, exit_process};

/// The order, if this process was started as a child of `verify`.
pub fn read_order() -> Option<String> {
    let mut arguments = std::env::args_os().skip(1);
    let own = arguments.next()? == SUBCOMMAND;
    let order = arguments.next().filter(|_| own)?.into_string().ok()?;
    arguments.next().is_none().then_some(order)
}

/// Executes `order`, an [`Order`] in JSON, or `-` for one in [`ORDER`], and ends the process.
pub fn run(order: &str) -> anyhow::Result<std::convert::Infallible> {
    let order: Order = match order {
        "-" => serde_json::from_str(&std::env::var(ORDER)?)?,
        order => serde_json::from_str(order)?,
    };
    let (pipe, mouth) = prepare(order.parent)?;
    let reporter = Reporter::new(pipe);
    // The error was reported where it occurred.
    if run_order(&order, &reporter, mouth).is_ok() {
        reporter.write_event(&Event::Done);
    }
    exit_process(0)
}

/// Takes over the pipe of reports and that of standard output and error, and ensures that nothing
/// of this process remains.
fn prepare(parent: u32) -> anyhow::Result<(File, File)> {
    use rustix::process::{Resource, Rlimit, Signal};
    // The vendor's code may read or close standard input, so the pipe moves to another descriptor.
    let pipe = rustix::io::fcntl_dupfd_cloexec(std::io::stdin(), 3)?;
    let null = File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    // A copy of standard output, which the vendor's code cannot change.
    let mouth = rustix::io::fcntl_dupfd_cloexec(std::io::stdout(), 3)?;
    disable_buffering();
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    let alive = rustix::process::getppid().map(rustix::process::Pid::as_raw_nonzero);
    anyhow::ensure!(
        alive.is_some_and(|pid| u32::try_from(pid.get()) == Ok(parent)),
        "this is started by `ascend-doctor verify` alone"
    );
    // Crashes are expected here; a core file with the vendor's memory is of no use.
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    rustix::process::setrlimit(Resource::Core, none)?;
    Ok((pipe.into(), mouth.into()))
}

fn run_order(order: &Order, reporter: &Reporter, mut mouth: File) -> Result<(), StageAborted> {
    let voice = reporter.clone();
    let record = order.record;
    let mut vendor = Vendor::new(move |call| match call {
        VendorCall::Next(function) => {
            // Output from here on belongs to this function.
            let _ = mouth.write_all(&make_marker(function));
            voice.write_event(&Event::Call { function: function.to_owned() });
        }
        VendorCall::Returned(code, took) if record => {
            let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
            voice.write_event(&Event::Returned { code, us });
        }
        VendorCall::Returned(..) => {}
    });
    let mut groups = vec![if order.task == Task::Cards { Group::Dcmi } else { Group::Acl }];
    match order.task {
        Task::Times => groups.extend([Group::Nnopbase, Group::Math, Group::Nn]),
        Task::Ladder if order.stages.contains(&Stage::Compute) => {
            groups.extend([Group::Nnopbase, Group::Math, Group::Nn]);
        }
        Task::Stress { .. } => groups.extend([Group::Nnopbase, Group::Nn]),
        Task::Ladder | Task::Peers { .. } | Task::Rank { .. } | Task::Cards => {}
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
        (Task::Cards, _) => read_cards(&vendor, reporter),
        (Task::Ladder | Task::Times, None) => count_devices(&vendor, reporter),
        (Task::Ladder | Task::Times, Some(device)) => {
            run_device_stages(device, &mut vendor, order, reporter)
        }
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

/// Reports the cards of this machine and their state.
fn read_cards(vendor: &Vendor, reporter: &Reporter) -> Result<(), StageAborted> {
    reporter.run_step(Stage::Load, "cards", || {
        vendor.start_dcmi()?;
        for (card, chip) in vendor.list_cards()? {
            let card = vendor.describe_card(card, chip)?;
            let mut health = vendor.read_health(card.card, chip)?;
            health.pci_link = card.pci.as_deref().and_then(read_pci_link);
            reporter.write_event(&Event::Card(Box::new(card)));
            reporter.write_event(&Event::Health(Box::new(health)));
        }
        Ok(passed())
    })
}

/// The number of times the host preempted this thread so far.
pub fn count_preemptions() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"));
    line.and_then(|count| count.trim().parse().ok()).unwrap_or_default()
}

/// The speed and the width of a PCI link according to the kernel.
fn read_pci_link(address: &str) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_hexdigit() || b":.".contains(&byte);
    if !address.bytes().all(is_plain) {
        return None;
    }
    let read = |name: &str| {
        let path = format!("/sys/bus/pci/devices/{address}/{name}");
        let text = std::fs::read_to_string(path).ok()?;
        Some(text.trim().to_owned())
    };
    Some(format!("{} x{}", read("current_link_speed")?, read("current_link_width")?))
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
        // Identified before it is opened, so that any failure can be attributed to a card.
        let (logic, physical, pci) = vendor.identify(device)?;
        reporter.write_event(&Event::Identity { logic, physical, pci });
        vendor.set_device(device)?;
        let soc = vendor.soc()?.unwrap_or_default();
        reporter.write_event(&Event::Soc { name: soc.clone() });
        vendor.memory_info()?;
        let [cube, vector] = vendor.count_cores(device)?;
        reporter.write_event(&Event::Cores { cube, vector });
        opened = Some((vendor.create_stream()?, soc, cube, vector));
        Ok(passed())
    })?;
    let Some((stream, soc, cube_cores, vector_cores)) = opened else { return Err(StageAborted) };
    let probe = Probe { vendor: &*vendor, reporter, order, stream, soc, cube_cores, vector_cores };
    if order.task == Task::Times {
        if order.stages.contains(&Stage::Runtime) {
            time_waiting(&probe)?;
        }
        if order.stages.contains(&Stage::Memory) {
            time_copies(&probe)?;
        }
        if order.stages.contains(&Stage::Compute) {
            time_operators(&probe)?;
        }
        return Ok(());
    }
    reporter.run_step(Stage::Runtime, "stream and events", || {
        let device_ms = Some(probe.measure_time(|| Ok(()))?);
        Ok(StepResult::Passed(Measurements { device_ms, ..Measurements::default() }))
    })?;
    time_waiting(&probe)?;
    if order.stages.contains(&Stage::Memory) {
        run_memory(&probe)?;
        time_copies(&probe)?;
        if order.speed {
            measure_speeds(&probe)?;
        }
    }
    if order.stages.contains(&Stage::Compute) {
        run_compute(&probe)?;
        time_operators(&probe)?;
    }
    let Probe { soc, .. } = probe;
    if order.stages.contains(&Stage::Kernel) {
        let compiles = load_optional(vendor, Group::Rtc, order, reporter)?;
        if compiles {
            let vendor = &*vendor;
            run_kernel(&Probe { vendor, reporter, order, stream, soc, cube_cores, vector_cores })?;
        }
    }
    reporter.run_step(Stage::Runtime, "close", || {
        vendor.destroy_stream(stream)?;
        vendor.reset_device(device)?;
        vendor.finalize()?;
        Ok(passed())
    })
}

/// Loads a library that is not part of every installation, so its absence is not a fault. Returns
/// whether it was found.
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
