//! What must not stay behind when a signal ends the program: files and directories that are not
//! whole yet, or that nobody else is to read.
#![expect(
    clippy::disallowed_methods,
    reason = "removes what this program made, and asks which signals it is to ignore"
)]

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// What is removed at a signal.
static LEFT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static START: Once = Once::new();
/// How often what others still write into is removed again.
const TRIES: usize = 200;

/// Something that goes when a signal ends the program, as long as this is there.
#[derive(Debug)]
pub(super) struct Watched<T> {
    what: T,
    watch: Watch,
}

/// The entry of a path in the list.
#[derive(Debug)]
struct Watch(PathBuf);

impl Drop for Watch {
    fn drop(&mut self) {
        left().retain(|path| *path != self.0);
    }
}

impl<T> Watched<T> {
    /// What `make` makes, which lies where `path` says. No signal falls between the two.
    pub(super) fn new(
        make: impl FnOnce() -> io::Result<T>,
        path: impl FnOnce(&T) -> &Path,
    ) -> io::Result<Self> {
        START.call_once(listen);
        let mut left = left();
        let what = make()?;
        let path = path(&what).to_owned();
        left.push(path.clone());
        Ok(Self { what, watch: Watch(path) })
    }

    /// What was made.
    pub(super) fn get(&self) -> &T {
        &self.what
    }

    /// What was made, to be written to.
    pub(super) fn get_mut(&mut self) -> &mut T {
        &mut self.what
    }

    /// Lets `end` do with it what takes it out of its place. Until then it is watched.
    pub(super) fn end<R>(self, end: impl FnOnce(T) -> R) -> R {
        let Self { what, watch } = self;
        let result = end(what);
        drop(watch);
        result
    }
}

fn left() -> MutexGuard<'static, Vec<PathBuf>> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a signal in a thread of its own. Without one (no memory, no threads) everything is as
/// it would be without this: the signal ends the program at once.
fn listen() {
    let ignored = std::fs::read_to_string("/proc/self/status").map_or(0, |status| ignored(&status));
    // What a shell lets a job in the background ignore, and `nohup`, stays ignored.
    let wanted = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|n| ignored >> (n - 1) & 1 == 0);
    let Ok(mut signals) = Signals::new(wanted) else { return };
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            // Held to the end: nothing new is made.
            let left = left();
            left.iter().for_each(|path| remove(path));
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

/// The signals that are ignored, as bits, of `/proc/self/status`.
fn ignored(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Other threads go on meanwhile: what they lay into a directory keeps it, until it is gone and
/// they find it no more.
fn remove(path: &Path) {
    for _ in 0..TRIES {
        let Ok(meta) = path.symlink_metadata() else { return };
        let gone =
            if meta.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
        if gone.is_err() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_read_from_the_mask() {
        let status = "Name:\tx\nSigBlk:\t0000000000000004\nSigIgn:\t0000000000001001\n";
        let ignored = ignored(status);
        assert!(ignored >> (SIGHUP - 1) & 1 == 1 && ignored >> (SIGINT - 1) & 1 == 0);
        assert_eq!(super::ignored("Name:\tx\n"), 0);
    }

    #[test]
    fn a_directory_goes_with_what_is_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(inner.join("c"), "").unwrap();
        remove(&dir.path().join("a"));
        assert!(!dir.path().join("a").exists());
        remove(&dir.path().join("a"));
    }
}
