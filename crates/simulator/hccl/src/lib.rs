//! The simulated `libhccl.so`: ranks are processes that meet in a directory, whose name is the root
//! information. Every step of a rank is a file there, created atomically.

use std::ffi::c_void;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use acl_abi::values::{HCCL_DATA_TYPE_FP32, HCCL_DATA_TYPE_INT32, HCCL_E_TIMEOUT, HCCL_REDUCE_SUM};
use acl_abi::{Communicator, RootInfo, Status, Stream};
use sim_core::objects::{STREAM, StreamHead};
use sim_core::{Effect, strike};

sim_core::identify!();

const E_PARAMETER: i32 = 1;
const E_POINTER: i32 = 2;
const E_SYSTEM: i32 = 8;
const LIVE: u64 = 0x4843_434c_0000_0001;

struct Rank {
    magic: u64,
    dir: PathBuf,
    rank: u32,
    ranks: u32,
    sums: AtomicU64,
}

/// The time limit of a rank's wait for the others.
fn limit() -> Duration {
    Duration::from_millis(sim_core::setting("ASCSIM_CONNECT_MS", 20_000))
}

impl Rank {
    fn path(&self, step: &str, rank: u32) -> PathBuf {
        self.dir.join(format!("{step}-{rank}"))
    }

    /// Publishes the data of this rank for a step.
    fn give(&self, step: &str, bytes: &[u8]) -> Result<(), Status> {
        let unfinished = self.dir.join(format!("new-{}", self.rank));
        let give = || {
            std::fs::write(&unfinished, bytes)?;
            std::fs::rename(&unfinished, self.path(step, self.rank))
        };
        give().map_err(|_: std::io::Error| E_SYSTEM)
    }

    /// The data of all ranks for a step, once available.
    fn take(&self, step: &str, limit: Duration) -> Result<Vec<Vec<u8>>, Status> {
        let start = Instant::now();
        (0..self.ranks)
            .map(|rank| {
                loop {
                    if let Ok(bytes) = std::fs::read(self.path(step, rank)) {
                        break Ok(bytes);
                    }
                    if start.elapsed() > limit {
                        break Err(HCCL_E_TIMEOUT);
                    }
                    std::thread::sleep(Duration::from_millis(1));
                }
            })
            .collect()
    }
}

/// # Safety
/// `communicator` is the result of `HcclCommInitRootInfo`, or null.
unsafe fn object<'a>(communicator: Communicator) -> Result<&'a Rank, Status> {
    // SAFETY: by contract; the mark shows misuse.
    let object = unsafe { communicator.0.cast::<Rank>().as_ref() };
    object.filter(|object| object.magic == LIVE).ok_or(E_POINTER)
}

struct Job {
    rank: &'static Rank,
    step: String,
    from: usize,
    to: usize,
    count: usize,
    floats: bool,
}

/// # Safety
/// The argument is a job.
unsafe extern "C" fn run(job: *mut c_void) -> i32 {
    // SAFETY: by contract.
    let job = unsafe { Box::from_raw(job.cast::<Job>()) };
    // SAFETY: the caller passes memory of the declared size, and keeps it.
    let own = unsafe { std::slice::from_raw_parts(job.from as *const u8, job.count * 4) };
    let mut own = own.to_vec();
    match strike("part") {
        Effect::Return(code) => return code,
        Effect::Go(Some(corruption)) => corruption.apply(&mut own, 4),
        Effect::Go(None) => {}
    }
    // As on a device, the wait on the stream ends before this one.
    let long = Duration::from_secs(600);
    let all = job.rank.give(&job.step, &own).and_then(|()| job.rank.take(&job.step, long));
    let all = match all {
        Ok(all) => all,
        Err(code) => return code,
    };
    let mut sum = vec![0u8; job.count * 4];
    for part in all {
        for (sum, part) in sum.chunks_exact_mut(4).zip(part.chunks_exact(4)) {
            let (a, b): ([u8; 4], [u8; 4]) = (sum.try_into().unwrap(), part.try_into().unwrap());
            sum.copy_from_slice(&if job.floats {
                (f32::from_le_bytes(a) + f32::from_le_bytes(b)).to_le_bytes()
            } else {
                i32::from_le_bytes(a).wrapping_add(i32::from_le_bytes(b)).to_le_bytes()
            });
        }
    }
    let mut count = sum.len();
    let mut over = false;
    match strike("sum") {
        Effect::Return(code) => return code,
        Effect::Go(Some(corruption)) => {
            corruption.apply(&mut sum, 4);
            count = corruption.written(count);
            over = corruption == sim_core::Corruption::Over;
        }
        Effect::Go(None) => {}
    }
    // SAFETY: as above; the probe has a guard behind it.
    unsafe {
        std::ptr::copy(sum.as_ptr(), job.to as *mut u8, count);
        if over {
            (job.to as *mut u8).add(sum.len()).write_bytes(0x33, 64);
        }
    }
    0
}

sim_core::export! {
    fn HcclGetRootInfo(info: *mut RootInfo) -> Status |_| {
        // Uses the log directory, which the parent removes, or else the directory for temporary
        // files.
        let base = std::env::var("ASCEND_PROCESS_LOG_PATH").map_or_else(|_| std::env::temp_dir(), PathBuf::from);
        let dir = base.join(format!("ascsim-ranks-{}", std::process::id()));
        if std::fs::create_dir_all(&dir).is_err() {
            return E_SYSTEM;
        }
        let text = dir.display().to_string();
        if info.is_null() || text.len() >= 4108 {
            return E_PARAMETER;
        }
        // SAFETY: the caller passes a valid pointer for the result.
        let bytes = unsafe { &mut (*info).bytes };
        bytes.fill(0);
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        0
    }

    fn HcclCommInitRootInfo(ranks: u32, info: *const RootInfo, rank: u32,
        communicator: *mut Communicator
    ) -> Status |_| {
        if info.is_null() || rank >= ranks {
            return E_PARAMETER;
        }
        // SAFETY: the caller passes the information.
        let text = unsafe { &(*info).bytes }.split(|byte| *byte == 0).next().unwrap_or_default();
        let dir = PathBuf::from(String::from_utf8_lossy(text).into_owned());
        let new = Rank { magic: LIVE, dir, rank, ranks, sums: AtomicU64::new(0) };
        match new.give("join", b"").and_then(|()| new.take("join", limit())) {
            Err(code) => code,
            Ok(_) => {
                // SAFETY: the caller passes a valid pointer for the result.
                unsafe { communicator.write(Communicator(Box::into_raw(Box::new(new)).cast())) };
                0
            }
        }
    }

    fn HcclAllReduce(from: *mut c_void, to: *mut c_void, count: u64, dtype: i32, operation: i32,
        communicator: Communicator, stream: Stream
    ) -> Status |_| {
        // SAFETY: the caller passes a communicator, which it keeps until it leaves it.
        let rank = match unsafe { object(communicator) } {
            Ok(rank) => rank,
            Err(code) => return code,
        };
        let known = [HCCL_DATA_TYPE_INT32, HCCL_DATA_TYPE_FP32].contains(&dtype);
        if from.is_null() || to.is_null() || stream.0.is_null() || !known || operation != HCCL_REDUCE_SUM {
            return E_PARAMETER;
        }
        let step = format!("sum{}", rank.sums.fetch_add(1, Ordering::SeqCst));
        let job = Box::new(Job { rank, step, from: from as usize, to: to as usize,
            count: count as usize, floats: dtype == HCCL_DATA_TYPE_FP32 });
        // SAFETY: the caller passes a stream of this simulator; `run` takes the job.
        unsafe {
            let head = stream.0.cast::<StreamHead>();
            if (*head).magic != STREAM {
                return E_PARAMETER;
            }
            ((*head).enqueue)(stream.0, run, Box::into_raw(job).cast())
        }
    }

    fn HcclCommDestroy(communicator: Communicator) -> Status |_| {
        // SAFETY: the caller passes a communicator, and does not use it again.
        let rank = match unsafe { object(communicator) } {
            Ok(rank) => rank,
            Err(code) => return code,
        };
        let left = rank.give("left", b"").and_then(|()| rank.take("left", limit()));
        // The directory is removed with the logs, so the last rank has nothing to do.
        match left {
            Ok(_) => 0,
            Err(code) => code,
        }
    }
}
