//! Which children there are: one that loads the libraries and counts the devices, then one for
//! each device, all at once; then, between the sound ones, one for copies and one for each rank;
//! then the load.

use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::parent::{End, Ran, orphans, supervise};
use super::protocol::{Dtype, Event, Level, Order, Rung, Task};

/// What to try.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// These devices; all of them if empty.
    pub devices: Vec<i32>,
    /// These rungs.
    pub rungs: Vec<Rung>,
    /// With these element types.
    pub dtypes: Vec<Dtype>,
    /// How much.
    pub level: Level,
    /// Whether the speed of copies is measured.
    pub speed: bool,
    /// How long one call may be silent.
    pub silence: Duration,
    /// How long, where ranks wait for each other.
    pub patience: Duration,
    /// Whether ranks sum by HCCL.
    pub sums: bool,
    /// How long a device is under load.
    pub load: Duration,
    /// Whether simulated libraries are used.
    pub allow_simulated: bool,
    /// Below which CANN writes the logs of the children, where there is a place for them.
    pub logs: Option<PathBuf>,
    /// Where compiled kernels are kept.
    pub cache: Option<String>,
    /// Variables that the children get besides ours.
    pub env: Vec<(String, String)>,
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
    /// The child that copied between devices.
    pub peers: Option<Ran>,
    /// The children that summed, in the order of the ranks.
    pub ranks: Vec<Ran>,
    /// The children under load, in the order of the devices.
    pub loads: Vec<Ran>,
    /// Whether others used the devices before anything was tried on them.
    pub in_use: Use,
    /// Why there was no load although it was wanted: others use the devices, or nobody can tell.
    pub no_load: Use,
    /// Processes that the vendor's code left behind, and that were ended.
    pub left: Vec<String>,
    /// Processes that stay whatever is done.
    stay: Vec<u32>,
}

/// Whether others use the devices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Use {
    /// It was of no interest.
    #[default]
    NotAsked,
    /// Nobody does.
    Idle,
    /// These processes do.
    Used(String),
    /// Nobody can tell, for this reason.
    Unknown(String),
}

impl Use {
    /// Whether somebody certainly does.
    pub fn is_used(&self) -> bool {
        matches!(self, Self::Used(_))
    }
}

impl Done {
    /// Nothing yet but what the first child did.
    pub fn of(first: Ran) -> Self {
        Self {
            first,
            count: None,
            devices: Vec::new(),
            unknown: Vec::new(),
            peers: None,
            ranks: Vec::new(),
            loads: Vec::new(),
            in_use: Use::NotAsked,
            no_load: Use::NotAsked,
            left: Vec::new(),
            stay: Vec::new(),
        }
    }

    /// All children, in the order in which they were started.
    pub fn all(&self) -> impl Iterator<Item = &Ran> {
        std::iter::once(&self.first)
            .chain(&self.devices)
            .chain(&self.peers)
            .chain(&self.ranks)
            .chain(&self.loads)
    }

    /// Ends what the vendor's code left behind. No child of ours runs now but those that stay.
    fn bury(&mut self) {
        let stuck = self.all().filter_map(|ran| match &ran.end {
            End::Stuck(stuck) => Some(stuck.pid),
            _ => None,
        });
        let mut known: Vec<u32> = stuck.chain(self.stay.iter().copied()).collect();
        let named = orphans::end(&mut known);
        self.left.extend(named);
        self.stay = known;
    }

    /// The devices of which nothing is wrong so far.
    fn sound(&self) -> Vec<i32> {
        let sound = self.devices.iter().filter(|ran| ran.is_whole());
        sound.filter_map(|ran| ran.device).collect()
    }
}

/// Hears the events of all children as they come, with the device.
pub type Listener<'a> = &'a (dyn Fn(Option<i32>, &Event) + Sync);

/// Tells who uses the devices, within this time.
pub type Look<'a> = &'a (dyn Fn(Duration) -> Use + Sync);

/// How long it may take to tell who uses the devices, before anything is tried: it goes on
/// beside the first child, and what it tells is good to know and no more.
const GLANCE: Duration = Duration::from_secs(5);
/// The same before a load, which is put on idle devices alone.
const LOOK: Duration = Duration::from_secs(20);

/// Runs everything. `look` is asked before a device is opened, and again before a load.
pub fn run(wanted: &Wanted, listen: Listener<'_>, look: Look<'_>) -> Done {
    orphans::adopt();
    let touches = wanted.rungs.iter().any(|rung| *rung > Rung::Load);
    let (first, in_use) = std::thread::scope(|scope| {
        let glance = scope.spawn(move || if touches { look(GLANCE) } else { Use::NotAsked });
        let first = one(wanted, &order(wanted, Task::Ladder, None), listen);
        (first, glance.join().unwrap_or_default())
    });
    let mut done = Done { in_use, ..Done::of(first) };
    done.bury();
    done.count = done.first.events.iter().find_map(|event| match event {
        Event::Devices { count } => Some(*count),
        _ => None,
    });
    let Some(count) = done.count.filter(|_| done.first.is_whole()) else { return done };
    let there = |device: &i32| u32::try_from(*device).is_ok_and(|device| device < count);
    let mut devices = wanted.devices.clone();
    devices.sort_unstable();
    devices.dedup();
    if devices.is_empty() {
        devices = (0..i32::try_from(count).unwrap_or(i32::MAX)).collect();
    }
    (devices, done.unknown) = devices.into_iter().partition(there);
    let ladder = |device: &i32| order(wanted, Task::Ladder, Some(*device));
    done.devices = together(wanted, devices.iter().map(ladder).collect(), listen);
    done.bury();
    let sound = done.sound();
    if wanted.rungs.contains(&Rung::Fabric) && sound.len() > 1 {
        let task = Task::Peers { devices: sound.clone() };
        let peers = done.peers.insert(one(wanted, &order(wanted, task, None), listen));
        if wanted.sums && peers.is_whole() {
            done.ranks = ranks(wanted, &sound, listen);
        }
        done.bury();
    }
    if wanted.rungs.contains(&Rung::Stress) && !sound.is_empty() {
        let seen = look(LOOK);
        if seen == Use::Idle {
            let milliseconds = u64::try_from(wanted.load.as_millis()).unwrap_or(u64::MAX);
            let task = Task::Stress { milliseconds };
            let orders =
                sound.iter().map(|device| order(wanted, task.clone(), Some(*device))).collect();
            done.loads = together(wanted, orders, listen);
            done.bury();
        } else {
            done.no_load = seen;
        }
    }
    done
}

impl Ran {
    /// Whether it did everything, and all of it was right.
    pub fn is_whole(&self) -> bool {
        matches!(self.end, End::Reported | End::CrashedAtEnd(_) | End::SilentAtEnd)
            && self.events.contains(&Event::Done)
    }
}

fn order(wanted: &Wanted, task: Task, device: Option<i32>) -> Order {
    let silence = match task {
        Task::Rank { .. } => wanted.patience,
        _ => wanted.silence,
    };
    Order {
        task,
        device,
        cache: wanted.cache.clone(),
        rungs: wanted.rungs.clone(),
        dtypes: wanted.dtypes.clone(),
        level: wanted.level,
        speed: wanted.speed,
        silence_ms: u64::try_from(silence.as_millis()).unwrap_or(u64::MAX),
        allow_simulated: wanted.allow_simulated,
        parent: super::parent::own_pid(),
    }
}

fn one(wanted: &Wanted, order: &Order, listen: Listener<'_>) -> Ran {
    let logs = wanted.logs.as_deref().map(|logs| log_dir(logs, &order.name()));
    supervise(order, logs.as_deref(), &wanted.env, &mut |event| listen(order.device, event))
}

/// Runs children at the same time; what came of them, in the order of `orders`.
fn together(wanted: &Wanted, orders: Vec<Order>, listen: Listener<'_>) -> Vec<Ran> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = orders
            .into_iter()
            .map(|order| scope.spawn(move || one(wanted, &order, listen)))
            .collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    })
}

/// Runs a rank on each device. The first one makes the root information, which starts the others.
fn ranks(wanted: &Wanted, devices: &[i32], listen: Listener<'_>) -> Vec<Ran> {
    let count = u32::try_from(devices.len()).unwrap_or(u32::MAX);
    let rank = |rank: u32, device: i32, root: Option<String>| {
        order(wanted, Task::Rank { rank, ranks: count, root }, Some(device))
    };
    let (sender, root) = channel();
    let sender = Mutex::new(Some(sender));
    let hear = |device: Option<i32>, event: &Event| match event {
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
        let (hear, sender) = (&hear, &sender);
        let first = rank(0, devices[0], None);
        let first = scope.spawn(move || {
            let ran = one(wanted, &first, hear);
            // Without root information nobody else has to be started.
            sender.lock().unwrap_or_else(PoisonError::into_inner).take();
            ran
        });
        let others = root.recv().map(|root| {
            let orders = (1..).zip(&devices[1..]);
            together(
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

/// Where the logs of a child are.
pub fn log_dir(logs: &Path, name: &str) -> PathBuf {
    logs.join(name)
}
