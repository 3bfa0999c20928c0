//! Work that waits for the disk, on threads of its own.
//!
//! The workers of a pool look for more work while others have it; on a machine with few processors
//! they take those from the proofs that are worked out meanwhile.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// As many threads wait at once. Each starts much before it waits, so that more gain nothing; and a
/// thread costs a tenth of a millisecond.
const THREADS: usize = 4;
/// As many tasks are one piece of work: as many files are open at once in each thread.
const PIECE: usize = 64;

/// Does the tasks `0..count`, some at a time in order, several such pieces at once, and `meanwhile`
/// on this thread; returns what each task came to.
pub(crate) fn beside<T: Send + Sync, M>(
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
    fn every_task_is_done_once() {
        for count in [0, 1, 7, 64, 65, 1000] {
            let runs = AtomicUsize::new(0);
            let (squares, other) = beside(
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
