//! Prepares the threads for parallel work. If the system refuses to start threads, there are fewer,
//! or the calling thread does the work.

use std::io;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, available_parallelism};

use rayon::{ThreadBuilder, ThreadPoolBuilder};

/// The variable that limits the number of threads.
const LIMIT: &str = "RAYON_NUM_THREADS";

/// Starts the threads. The main thread calls it once, before any parallel work. Returns the number
/// of started threads; the first use would panic if one of them were refused.
pub fn prepare() -> usize {
    // The pool can be built only once, so the threads are started first and wait for their part.
    let (hand, take) = channel::<ThreadBuilder>();
    let take = Arc::new(Mutex::new(take));
    let mut started = 0;
    for _ in 0..wanted() {
        let take = Arc::clone(&take);
        let work = move || {
            let worker = take.lock().unwrap_or_else(PoisonError::into_inner).recv();
            if let Ok(worker) = worker {
                worker.run();
            }
        };
        if Builder::new().spawn(work).is_err() {
            break;
        }
        started += 1;
    }
    let pool = ThreadPoolBuilder::new().num_threads(started.max(1));
    // An error means that the pool already exists.
    let _ = if started == 0 {
        pool.use_current_thread().build_global()
    } else {
        let hand = move |worker| hand.send(worker).map_err(|_| io::ErrorKind::BrokenPipe.into());
        pool.spawn_handler(hand).build_global()
    };
    started
}

#[expect(clippy::disallowed_methods, reason = "this is the layer that the others use")]
fn wanted() -> usize {
    let limit = std::env::var(LIMIT).ok().and_then(|limit| limit.parse().ok());
    let limit = limit.filter(|limit| *limit > 0);
    limit.unwrap_or_else(|| available_parallelism().map_or(1, usize::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pool_has_the_threads_that_could_be_started() {
        let started = prepare();
        assert!(started > 0);
        assert_eq!(rayon::current_num_threads(), started);
        assert_eq!(rayon::join(|| 1, || 2), (1, 2));
    }
}
