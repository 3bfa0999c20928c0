//! Work that waits for the disk, on threads of its own.
//!
//! The workers of a pool look for more work while others have it; on a machine with few processors
//! they take those from the proofs that are worked out meanwhile.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// As many threads wait at once: a disk has several files as quickly as one.
const THREADS: usize = 8;

/// Does the tasks `0..count`, several at once, and `meanwhile` on this thread; returns what each
/// came to.
pub(super) fn beside<T: Send + Sync, M>(
    count: usize,
    task: impl Fn(usize) -> T + Sync,
    meanwhile: impl FnOnce() -> M,
) -> (Vec<T>, M) {
    let next = AtomicUsize::new(0);
    let done: Vec<OnceLock<T>> = (0..count).map(|_| OnceLock::new()).collect();
    let work = || {
        while let at = next.fetch_add(1, Ordering::Relaxed)
            && let Some(slot) = done.get(at)
        {
            slot.get_or_init(|| task(at));
        }
    };
    let other = std::thread::scope(|scope| {
        for _ in 0..THREADS.min(count) {
            // Without threads it only takes longer.
            if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        let other = meanwhile();
        work();
        other
    });
    let done = done.into_iter().map(|slot| slot.into_inner().expect("each number was taken"));
    (done.collect(), other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_done_once() {
        for count in [0, 1, 7, 8, 100] {
            let runs = AtomicUsize::new(0);
            let (squares, other) = beside(
                count,
                |at| {
                    runs.fetch_add(1, Ordering::Relaxed);
                    at * at
                },
                || "done",
            );
            assert_eq!(squares, (0..count).map(|at| at * at).collect::<Vec<_>>());
            assert_eq!((runs.into_inner(), other), (count, "done"));
        }
    }
}
