//! Runs I/O tasks on separate threads while the calling thread computes.
//!
//! These are not threads of the rayon pool, because idle pool workers search for work and would take
//! processors from the computation.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of I/O threads. Each task starts long before it waits for the disk, so more threads gain
/// nothing, and a thread costs a tenth of a millisecond.
const THREADS: usize = 4;
/// Tasks per unit of work, and so the files that each thread has open at once.
const PIECE: usize = 64;

/// Runs the tasks `0..count` in pieces on several threads and `meanwhile` on this thread; returns
/// the results in the order of the tasks.
pub(crate) fn overlap_io<T: Send + Sync, M>(
    count: usize,
    tasks: impl Fn(Range<usize>) -> Vec<T> + Sync,
    meanwhile: impl FnOnce() -> M,
) -> (Vec<T>, M) {
    let next = AtomicUsize::new(0);
    let done: Vec<OnceLock<Vec<T>>> = (0..count.div_ceil(PIECE)).map(|_| OnceLock::new()).collect();
    let work = || {
        while let at = next.fetch_add(1, Ordering::Relaxed)
            && let Some(slot) = done.get(at)
        {
            slot.get_or_init(|| tasks(at * PIECE..count.min((at + 1) * PIECE)));
        }
    };
    let other = std::thread::scope(|scope| {
        for _ in 0..THREADS.min(done.len()) {
            // Without threads it only takes longer.
            if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        let other = meanwhile();
        work();
        other
    });
    let done = done.into_iter().flat_map(|slot| slot.into_inner().expect("each piece was taken"));
    (done.collect(), other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_runs_once() {
        for count in [0, 1, 7, 64, 65, 1000] {
            let runs = AtomicUsize::new(0);
            let (squares, other) = overlap_io(
                count,
                |these| {
                    runs.fetch_add(these.len(), Ordering::Relaxed);
                    these.map(|at| at * at).collect()
                },
                || "done",
            );
            assert_eq!(squares, (0..count).map(|at| at * at).collect::<Vec<_>>());
            assert_eq!((runs.into_inner(), other), (count, "done"));
        }
    }
}
