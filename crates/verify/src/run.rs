//! Runs the children: one that loads the libraries and counts the devices, then one for each device
//! at the same time. Then one copies between the healthy devices, and one per rank sums over them.
//! The children of the load test come last.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, ScopedJoinHandle};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::judge::find_slow;
use super::libraries::Installation;
use super::parent::{ChildEnd, ChildResult, orphans, supervise};
use super::plog::{LogTail, last_errors};
use super::protocol::{Dtype, Event, Fault, Health, Level, Order, Outcome, Stage, Task};
use super::timeline::{History, Timeline};

/// Options of a run.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The devices; all if empty.
    pub devices: Vec<i32>,
    /// The stages.
    pub stages: Vec<Stage>,
    /// The element types.
    pub dtypes: Vec<Dtype>,
    /// Extent of the tests.
    pub level: Level,
    /// Whether the speed of copies is measured.
    pub speed: bool,
    /// Time limit of a call without output.
    pub silence: Duration,
    /// The same for ranks, which wait for each other.
    pub patience: Duration,
    /// Whether ranks sum by HCCL.
    pub sums: bool,
    /// Duration of the load test.
    pub load: Duration,
    /// Whether simulated libraries are used.
    pub allow_simulated: bool,
    /// Directory for the CANN logs of the children; `None` for their default directory.
    pub logs: Option<PathBuf>,
    /// Directory of compiled kernels.
    pub cache: Option<String>,
    /// Variables for the children, in addition to those of this process.
    pub env: Vec<(String, String)>,
    /// Variables for the ranks of HCCL.
    pub rank_env: Vec<(String, String)>,
    /// Whether the driver has a library that describes its cards.
    pub cards: bool,
    /// Whether devices whose use is unknown count as idle.
    pub assume_idle: bool,
    /// Whether all calls are recorded.
    pub record: bool,
}

impl RunOptions {
    /// Returns the value of a variable for the children, unless they inherit that of this process.
    pub fn variable(&self, name: &str) -> Option<&str> {
        let last = self.env.iter().rev().find(|(known, _)| known == name);
        last.map(|(_, value)| value.as_str())
    }
}

/// The tests of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestSelection {
    /// The stages.
    pub stages: Vec<Stage>,
    /// Whether the speed of copies is measured.
    pub speed: bool,
    /// Whether ranks sum by HCCL.
    pub sums: bool,
}

impl TestSelection {
    /// Selects the `requested` stages and those that all others need; without any, the stages of
    /// the level. `limited` means that copies have a minimum speed, and adds the stage that
    /// measures it.
    pub fn new(requested: &[Stage], level: Level, limited: bool) -> Self {
        let is_requested =
            |stage: Stage| requested.contains(&stage) || (limited && stage == Stage::Memory);
        let stages = if requested.is_empty() {
            level.stages().to_vec()
        } else {
            let mut all = Stage::ALL.into_iter();
            let highest = all.rfind(|stage| is_requested(*stage)).unwrap_or(Stage::Load);
            let needed =
                |stage: Stage| stage < highest && matches!(stage, Stage::Load | Stage::Runtime);
            let selected = Stage::ALL.into_iter();
            selected.filter(|stage| is_requested(*stage) || needed(*stage)).collect()
        };
        Self {
            stages,
            speed: limited || level >= Level::Standard,
            sums: level == Level::Extended || requested.contains(&Stage::Fabric),
        }
    }
}

/// Result of a run.
#[derive(Debug, Serialize, Deserialize)]
pub struct RunResult {
    /// The child that loaded the libraries and counted the devices.
    pub first: ChildResult,
    /// Number of devices, if known.
    pub count: Option<u32>,
    /// The children of the devices, in the order of the devices.
    pub devices: Vec<ChildResult>,
    /// Requested devices that do not exist.
    pub unknown: Vec<i32>,
    /// The child that copied between devices.
    pub peers: Option<ChildResult>,
    /// The children that summed, in the order of the ranks.
    pub ranks: Vec<ChildResult>,
    /// The children under load, in the order of the devices.
    pub loads: Vec<ChildResult>,
    /// The children that timed single devices again.
    pub retimed: Vec<ChildResult>,
    /// The stages and the cards over time.
    pub history: History,
    /// Use of the devices by other processes before the first test.
    pub in_use: DeviceUse,
    /// Reason for a skipped load test: other processes use the devices, or their use is unknown.
    pub no_load: DeviceUse,
    /// Processes started by vendor code that outlived their parent and were terminated.
    pub left: Vec<String>,
    /// Processes that cannot be terminated.
    unkillable: Vec<u32>,
}

/// Use of the devices by other processes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceUse {
    /// Not queried.
    #[default]
    NotAsked,
    /// No process uses them.
    Idle,
    /// These processes use them.
    Used(String),
    /// Unknown, for this reason.
    Unknown(String),
}

impl DeviceUse {
    /// Interprets the processes in the output of npu-smi; `None` if it has no table of processes.
    pub fn of_processes(processes: Option<&[String]>) -> Self {
        match processes {
            Some([]) => Self::Idle,
            Some(users) => Self::Used(users.join("; ")),
            None => Self::Unknown("npu-smi info: -".to_owned()),
        }
    }

    /// Returns whether another process certainly uses them.
    pub fn is_used(&self) -> bool {
        matches!(self, Self::Used(_))
    }
}

impl RunResult {
    /// Creates the result of a run that has only the first child.
    pub fn of(first: ChildResult) -> Self {
        Self {
            first,
            count: None,
            devices: Vec::new(),
            unknown: Vec::new(),
            peers: None,
            ranks: Vec::new(),
            loads: Vec::new(),
            retimed: Vec::new(),
            history: History::default(),
            in_use: DeviceUse::NotAsked,
            no_load: DeviceUse::NotAsked,
            left: Vec::new(),
            unkillable: Vec::new(),
        }
    }

    /// Returns all children, in the order in which they were started.
    pub fn children(&self) -> impl Iterator<Item = &ChildResult> {
        std::iter::once(&self.first)
            .chain(&self.devices)
            .chain(&self.peers)
            .chain(&self.ranks)
            .chain(&self.retimed)
            .chain(&self.loads)
    }

    /// Returns the step that failed because no library of CANN was found.
    pub fn no_library(&self) -> Option<&Event> {
        self.first.events.iter().find(|event| {
            matches!(
                event,
                Event::StepEnd { outcome: Outcome::Failed { fault: Fault::NoLibrary { .. } }, .. }
            )
        })
    }

    /// Returns the names of the libraries of CANN that were not found; `None` if all were.
    pub fn missing_libraries(&self) -> Option<&[String]> {
        match self.no_library() {
            Some(Event::StepEnd {
                outcome: Outcome::Failed { fault: Fault::NoLibrary { tried } },
                ..
            }) => Some(tried),
            _ => None,
        }
    }

    /// Returns the last errors in the logs of the children below `logs`, by the name of the child.
    pub fn last_log_errors(&self, logs: &Path) -> BTreeMap<String, LogTail> {
        let tail =
            |ran: &ChildResult| Some((ran.name.clone(), last_errors(&log_dir(logs, &ran.name))?));
        self.children().filter_map(tail).collect()
    }

    /// Terminates processes that vendor code left running. No other child runs at this time, except
    /// those that cannot be terminated.
    fn end_orphans(&mut self) {
        let stuck = self.children().filter_map(|ran| match &ran.end {
            ChildEnd::Stuck(stuck) => Some(stuck.pid),
            _ => None,
        });
        let mut known: Vec<u32> = stuck.chain(self.unkillable.iter().copied()).collect();
        let named = orphans::end_orphans(&mut known);
        self.left.extend(named);
        self.unkillable = known;
    }

    /// Returns the devices without a failure so far.
    fn healthy_devices(&self) -> Vec<i32> {
        let sound = self.devices.iter().filter(|ran| ran.is_whole());
        sound.filter_map(|ran| ran.device).collect()
    }
}

/// Receives the events of all children as they arrive, with the device.
pub type EventListener<'a> = &'a (dyn Fn(Option<i32>, &Event) + Sync);

/// Queries the use of the devices, with a time limit.
pub type DeviceUseQuery<'a> = &'a (dyn Fn(Duration) -> DeviceUse + Sync);

/// Reads the state of the cards if the driver has no library for it, or returns the reason of a
/// failure, which is empty if the machine has no program for it.
pub type HealthQuery<'a> = &'a (dyn Fn() -> Result<Vec<Health>, String> + Sync);

/// The queries of the machine by the caller.
#[derive(Clone, Copy)]
pub struct Queries<'a> {
    /// Called before a device is opened, and again before the load test.
    pub device_use: DeviceUseQuery<'a>,
    /// Called before, during and after the tests.
    pub health: HealthQuery<'a>,
}

/// Time limit of the query before the first test. It runs in parallel with the first child, and its
/// result is only informative.
const QUERY_LIMIT: Duration = Duration::from_secs(5);
/// Time limit of the query before the load test, which needs idle devices.
const LOAD_QUERY_LIMIT: Duration = Duration::from_secs(20);

/// Runs all tests, with the installation that `find_installed` returns if the libraries of CANN are
/// not found and `wanted` has no variables for the children. Such an installation is returned.
pub fn run_installed(
    wanted: &mut RunOptions,
    listen: EventListener<'_>,
    queries: &Queries<'_>,
    find_installed: &dyn Fn() -> Option<Installation>,
) -> (RunResult, Option<Installation>) {
    let done = run(wanted, listen, queries);
    if done.no_library().is_none() || !wanted.env.is_empty() {
        return (done, None);
    }
    let Some(installed) = find_installed() else { return (done, None) };
    wanted.env.clone_from(&installed.env);
    (run(wanted, listen, queries), Some(installed))
}

/// Shortest time between two readings of the cards.
const READING_INTERVAL: Duration = Duration::from_millis(200);
/// Time limit of a reading.
const READING_LIMIT: Duration = Duration::from_secs(10);

/// Runs all tests.
pub fn run(wanted: &RunOptions, listen: EventListener<'_>, queries: &Queries<'_>) -> RunResult {
    let look = queries.device_use;
    orphans::adopt();
    let timeline = Timeline::new();
    let note = |device: Option<i32>, event: &Event| {
        timeline.note(device, event);
        listen(device, event);
    };
    let opens_devices = wanted.stages.iter().any(|stage| *stage > Stage::Load);
    let monitor = Monitor::new(wanted, &timeline, queries.health, opens_devices);
    let mut done = std::thread::scope(|scope| {
        let query = move || if opens_devices { look(QUERY_LIMIT) } else { DeviceUse::NotAsked };
        let asked = Builder::new().spawn_scoped(scope, query);
        monitor.read();
        let first = run_child(wanted, &build_order(wanted, Task::Ladder, None), &note);
        // Without threads, the query runs after the child.
        let in_use = asked.map_or_else(|_| query(), |asked| asked.join().unwrap_or_default());
        RunResult { in_use, ..RunResult::of(first) }
    });
    done.end_orphans();
    std::thread::scope(|scope| {
        // Without a thread, the cards are read only before and after.
        let _ = Builder::new().spawn_scoped(scope, || monitor.watch());
        run_devices(&mut done, wanted, &note, look, &monitor);
        monitor.stop();
    });
    monitor.read();
    done.history = timeline.finish();
    done
}

/// Reads the cards while devices are tested.
struct Monitor<'a> {
    wanted: &'a RunOptions,
    timeline: &'a Timeline,
    ask: HealthQuery<'a>,
    /// Whether there is anything to read.
    works: AtomicBool,
    /// Whether the library of the driver is used, so that `ask` is not called.
    has_library: AtomicBool,
    over: (Mutex<bool>, Condvar),
    /// Held while a reading has a separate process: orphans are ended only while it is free.
    running: Mutex<()>,
}

impl<'a> Monitor<'a> {
    fn new(
        wanted: &'a RunOptions,
        timeline: &'a Timeline,
        ask: HealthQuery<'a>,
        opens_devices: bool,
    ) -> Self {
        let works = AtomicBool::new(opens_devices);
        let has_library = AtomicBool::new(wanted.cards);
        let over = (Mutex::new(false), Condvar::new());
        Self { wanted, timeline, ask, works, has_library, over, running: Mutex::new(()) }
    }

    /// Reads once, by the library of the driver or else by npu-smi. A method that fails is not
    /// tried again.
    fn read(&self) {
        if !self.works.load(Ordering::SeqCst) {
            return;
        }
        let _running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let seconds = self.timeline.elapsed().as_secs_f64();
        if self.has_library.load(Ordering::SeqCst) {
            let mut order = build_order(self.wanted, Task::Cards, None);
            order.silence_ms = u64::try_from(READING_LIMIT.as_millis()).unwrap_or(u64::MAX);
            order.record = false;
            let ran = run_child(self.wanted, &order, &|_, _| {});
            let refusal = (!ran.is_whole()).then(|| describe_refusal(&ran));
            let is_refused = refusal.is_some();
            self.timeline.add_reading(seconds, &ran.events, refusal);
            if !is_refused {
                return;
            }
            self.has_library.store(false, Ordering::SeqCst);
            // Counters of two sources cannot be compared.
            if self.timeline.has_samples() {
                self.works.store(false, Ordering::SeqCst);
                return;
            }
        }
        match (self.ask)() {
            Ok(states) => {
                let states = states.into_iter().map(|state| Event::Health(Box::new(state)));
                self.timeline.add_reading(seconds, &states.collect::<Vec<_>>(), None);
            }
            Err(why) => {
                self.works.store(false, Ordering::SeqCst);
                self.timeline.add_reading(seconds, &[], Some(why));
            }
        }
    }

    /// Reads until it is stopped, and pauses at least as long as it reads.
    fn watch(&self) {
        let mut rest = READING_INTERVAL;
        while self.works.load(Ordering::SeqCst) {
            let over = self.over.0.lock().unwrap_or_else(PoisonError::into_inner);
            let waited = self.over.1.wait_timeout_while(over, rest, |over| !*over);
            if *waited.unwrap_or_else(PoisonError::into_inner).0 {
                return;
            }
            let start = Instant::now();
            self.read();
            rest = READING_INTERVAL.max(start.elapsed());
        }
    }

    fn stop(&self) {
        *self.over.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.over.1.notify_all();
    }

    /// Ends processes left behind by vendor code, while no reading is running.
    fn end_orphans(&self, done: &mut RunResult) {
        let _running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        done.end_orphans();
    }
}

/// The maximum number of repeated timings of a slow device.
const RETRIES: usize = 8;
/// The total time limit of these, after the first two.
const RETRY_LIMIT: Duration = Duration::from_secs(6);

/// Times devices that look slow again, one after the other. Other devices and a busy host make
/// times longer and never shorter, so the shortest time counts: a device that is slow only for a
/// while has a normal time in the end. A slow device is slow every time, even without other load.
fn time_again(
    done: &mut RunResult,
    wanted: &RunOptions,
    listen: EventListener<'_>,
    monitor: &Monitor<'_>,
) {
    let start = Instant::now();
    for retry in 0..RETRIES {
        let slow = find_slow(done.devices.iter().chain(&done.retimed));
        if slow.is_empty() || (retry >= 2 && start.elapsed() > RETRY_LIMIT) {
            return;
        }
        for (device, stages) in slow {
            let mut order = build_order(wanted, Task::Times, Some(device));
            order.stages.retain(|stage| *stage <= Stage::Runtime || stages.contains(stage));
            done.retimed.push(run_child(wanted, &order, listen));
            monitor.end_orphans(done);
        }
    }
}

/// The reason why a reading of the cards failed.
fn describe_refusal(ran: &ChildResult) -> String {
    let fault = ran.events.iter().find_map(|event| match event {
        Event::StepEnd { outcome: Outcome::Failed { fault }, .. } => Some(fault),
        _ => None,
    });
    match fault {
        Some(Fault::Call { function, code, .. }) => format!("{function}: {code}"),
        Some(Fault::NoLibrary { tried }) => format!("{}: -", tried.join(", ")),
        Some(Fault::BrokenLibrary { error, .. }) => error.clone(),
        Some(Fault::Simulated { library }) => format!("{library}: simulator"),
        _ => format!("{}: {}", ran.last_call.as_deref().unwrap_or("exec"), ran.end.brief()),
    }
}

/// Runs the children that open devices.
fn run_devices(
    done: &mut RunResult,
    wanted: &RunOptions,
    listen: EventListener<'_>,
    look: DeviceUseQuery<'_>,
    monitor: &Monitor<'_>,
) {
    done.count = done.first.events.iter().find_map(|event| match event {
        Event::Devices { count } => Some(*count),
        _ => None,
    });
    let Some(count) = done.count.filter(|_| done.first.has_counted()) else { return };
    let there = |device: &i32| u32::try_from(*device).is_ok_and(|device| device < count);
    let mut devices = wanted.devices.clone();
    devices.sort_unstable();
    devices.dedup();
    if devices.is_empty() {
        devices = (0..i32::try_from(count).unwrap_or(i32::MAX)).collect();
    }
    (devices, done.unknown) = devices.into_iter().partition(there);
    let ladder = |device: &i32| build_order(wanted, Task::Ladder, Some(*device));
    done.devices = run_children(wanted, devices.iter().map(ladder).collect(), listen);
    monitor.end_orphans(done);
    time_again(done, wanted, listen, monitor);
    let sound = done.healthy_devices();
    if wanted.stages.contains(&Stage::Fabric) && sound.len() > 1 {
        let task = Task::Peers { devices: sound.clone() };
        let peers = done.peers.insert(run_child(wanted, &build_order(wanted, task, None), listen));
        if wanted.sums && peers.is_whole() {
            done.ranks = run_ranks(wanted, &sound, listen);
        }
        monitor.end_orphans(done);
    }
    if wanted.stages.contains(&Stage::Stress) && !sound.is_empty() {
        let seen = match look(LOAD_QUERY_LIMIT) {
            DeviceUse::Unknown(_) if wanted.assume_idle => DeviceUse::Idle,
            seen => seen,
        };
        if seen == DeviceUse::Idle {
            let milliseconds = u64::try_from(wanted.load.as_millis()).unwrap_or(u64::MAX);
            let task = Task::Stress { milliseconds };
            let orders = sound
                .iter()
                .map(|device| build_order(wanted, task.clone(), Some(*device)))
                .collect();
            done.loads = run_children(wanted, orders, listen);
            monitor.end_orphans(done);
        } else {
            done.no_load = seen;
        }
    }
}

impl ChildResult {
    /// Returns whether the child counted the devices. A crash after that, in `aclFinalize`, affects
    /// no other process.
    pub fn has_counted(&self) -> bool {
        let counted = self.events.iter().any(|event| {
            matches!(
                event,
                Event::StepEnd { stage: Stage::Runtime, step, outcome: Outcome::Passed, .. }
                    if step == "start"
            )
        });
        self.is_whole() || counted
    }

    /// Returns whether the child completed all tests without a failure.
    pub fn is_whole(&self) -> bool {
        matches!(self.end, ChildEnd::Reported | ChildEnd::CrashedAtEnd(_) | ChildEnd::SilentAtEnd)
            && self.events.contains(&Event::Done)
    }
}

fn build_order(wanted: &RunOptions, task: Task, device: Option<i32>) -> Order {
    let silence = match task {
        Task::Rank { .. } => wanted.patience,
        _ => wanted.silence,
    };
    Order {
        task,
        device,
        cache: wanted.cache.clone(),
        stages: wanted.stages.clone(),
        dtypes: wanted.dtypes.clone(),
        level: wanted.level,
        speed: wanted.speed,
        silence_ms: u64::try_from(silence.as_millis()).unwrap_or(u64::MAX),
        record: wanted.record,
        allow_simulated: wanted.allow_simulated,
        parent: super::parent::own_pid(),
    }
}

fn run_child(wanted: &RunOptions, order: &Order, listen: EventListener<'_>) -> ChildResult {
    let logs = wanted.logs.as_deref().map(|logs| log_dir(logs, &order.name()));
    let ranks = matches!(order.task, Task::Rank { .. }).then_some(&wanted.rank_env);
    let env: Vec<(String, String)> =
        wanted.env.iter().chain(ranks.into_iter().flatten()).cloned().collect();
    supervise(order, logs.as_deref(), &env, &mut |event| listen(order.device, event))
}

/// Runs children at the same time. Returns their results in the order of `orders`.
fn run_children(
    wanted: &RunOptions,
    orders: Vec<Order>,
    listen: EventListener<'_>,
) -> Vec<ChildResult> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = orders
            .into_iter()
            .map(|order| {
                let order = Arc::new(order);
                let own = Arc::clone(&order);
                let run = move || run_child(wanted, &own, listen);
                Builder::new().spawn_scoped(scope, run).map_err(|_| order)
            })
            .collect();
        let run = |thread: Result<ScopedJoinHandle<'_, ChildResult>, Arc<Order>>| match thread {
            Ok(thread) => thread.join().ok(),
            Err(order) => Some(run_child(wanted, &order, listen)),
        };
        threads.into_iter().filter_map(run).collect()
    })
}

/// Runs a rank on each device. The first one creates the root information, which starts the others.
fn run_ranks(wanted: &RunOptions, devices: &[i32], listen: EventListener<'_>) -> Vec<ChildResult> {
    let count = u32::try_from(devices.len()).unwrap_or(u32::MAX);
    let rank = |rank: u32, device: i32, root: Option<String>| {
        build_order(wanted, Task::Rank { rank, ranks: count, root }, Some(device))
    };
    let (sender, root) = channel();
    let sender = Mutex::new(Some(sender));
    let forward = |device: Option<i32>, event: &Event| match event {
        Event::Root { info } => {
            let sender = sender.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(sender) = sender.as_ref() {
                let _ = sender.send(info.clone());
            }
        }
        event => listen(device, event),
    };
    let mut ranks = Vec::new();
    std::thread::scope(|scope| {
        let (forward, sender) = (&forward, &sender);
        let first = rank(0, devices[0], None);
        let name = first.name();
        let started = Builder::new().spawn_scoped(scope, move || {
            let ran = run_child(wanted, &first, forward);
            // Without root information no other rank is started.
            sender.lock().unwrap_or_else(PoisonError::into_inner).take();
            ran
        });
        let first = match started {
            Ok(first) => first,
            Err(error) => {
                // Ranks wait for each other: they cannot run one after the other.
                let mut ran = ChildResult::new(name, devices.first().copied());
                ran.end = ChildEnd::NotStarted(error.to_string());
                ranks.push(ran);
                return;
            }
        };
        let others = root.recv().map(|root| {
            let orders = (1..).zip(&devices[1..]);
            run_children(
                wanted,
                orders.map(|(number, device)| rank(number, *device, Some(root.clone()))).collect(),
                listen,
            )
        });
        ranks.extend(first.join());
        ranks.extend(others.unwrap_or_default());
    });
    ranks
}

/// Returns the log directory of a child.
pub fn log_dir(logs: &Path, name: &str) -> PathBuf {
    logs.join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requested_stages_include_required_ones() {
        let stages =
            |requested: &[Stage], level| TestSelection::new(requested, level, false).stages;
        let quick = [Stage::Load, Stage::Runtime, Stage::Memory, Stage::Compute];
        assert_eq!(stages(&[], Level::Quick), quick);
        assert_eq!(stages(&[], Level::Standard), Stage::ALL[..6]);
        assert_eq!(stages(&[], Level::Extended), Stage::ALL);
        let compute = [Stage::Load, Stage::Runtime, Stage::Compute];
        assert_eq!(stages(&[Stage::Compute], Level::Extended), compute);
        assert_eq!(stages(&[Stage::Load], Level::Quick), [Stage::Load]);
    }

    #[test]
    fn speed_limits_add_the_memory_stage() {
        let limited = TestSelection::new(&[Stage::Load], Level::Quick, true);
        assert_eq!(limited.stages, [Stage::Load, Stage::Runtime, Stage::Memory]);
        assert!(limited.speed && !limited.sums);
        let level = TestSelection::new(&[], Level::Quick, true);
        assert_eq!(level.stages, Level::Quick.stages());
    }
}
