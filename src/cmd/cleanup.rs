//! Removes temporary files and directories when a signal terminates the program.
#![expect(
    clippy::disallowed_methods,
    reason = "removes files of this program, and reads which signals to ignore"
)]

use std::io;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use guard::tree::Place;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Entries of directories to remove at a signal.
static PENDING: Mutex<Vec<(u64, Place)>> = Mutex::new(Vec::new());
static WATCH_SIGNALS: Once = Once::new();
/// Maximum number of attempts to remove a directory into which other threads still write.
const MAX_REMOVALS: usize = 200;

/// A file or directory that is removed if a signal terminates the program before the guard is
/// dropped.
#[derive(Debug)]
pub(super) struct SignalGuard<T> {
    value: T,
    entry: Registration,
}

/// The number of an entry of [`PENDING`], which is removed on drop.
#[derive(Debug)]
struct Registration(u64);

impl Drop for Registration {
    fn drop(&mut self) {
        lock_pending().retain(|(number, _)| *number != self.0);
    }
}

impl<T> SignalGuard<T> {
    /// Creates a value with `make` and registers its `place`. No signal is handled in between.
    pub(super) fn new(
        make: impl FnOnce() -> io::Result<T>,
        place: impl FnOnce(&T) -> Place,
    ) -> io::Result<Self> {
        WATCH_SIGNALS.call_once(start_watching_signals);
        let mut pending = lock_pending();
        let value = make()?;
        let number = pending.last().map_or(0, |(number, _)| number + 1);
        pending.push((number, place(&value)));
        Ok(Self { value, entry: Registration(number) })
    }

    /// The value.
    pub(super) fn get(&self) -> &T {
        &self.value
    }

    /// The value, mutable.
    pub(super) fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// Passes the value to `end`, which moves or keeps it, and then drops the registration.
    pub(super) fn end<R>(self, end: impl FnOnce(T) -> R) -> R {
        let Self { value, entry } = self;
        let result = end(value);
        drop(entry);
        result
    }
}

fn lock_pending() -> MutexGuard<'static, Vec<(u64, Place)>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a thread that waits for signals. If no thread can be started, a signal terminates the
/// program without removing anything.
fn start_watching_signals() {
    let ignored = std::fs::read_to_string("/proc/self/status")
        .map_or(0, |status| parse_ignored_signals(&status));
    // Signals ignored by `nohup` or by a shell for background jobs stay ignored.
    let wanted = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|n| ignored >> (n - 1) & 1 == 0);
    let Ok(mut signals) = Signals::new(wanted) else { return };
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            // Held until the end, so that no new file is registered.
            let pending = lock_pending();
            pending.iter().for_each(|(_, place)| remove(place));
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

/// Returns the mask of ignored signals from the text of `/proc/self/status`.
fn parse_ignored_signals(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Removes a file or directory. Other threads may still create files in it, so removal is
/// repeated.
fn remove(place: &Place) {
    for _ in 0..MAX_REMOVALS {
        if place.dir.kind(&place.name).is_none() {
            return;
        }
        if place.dir.remove_all(&place.name).is_err() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_mask() {
        let status = "Name:\tx\nSigBlk:\t0000000000000004\nSigIgn:\t0000000000001001\n";
        let ignored = parse_ignored_signals(status);
        assert!(ignored >> (SIGHUP - 1) & 1 == 1 && ignored >> (SIGINT - 1) & 1 == 0);
        assert_eq!(parse_ignored_signals("Name:\tx\n"), 0);
    }

    #[test]
    fn directory_is_removed_with_its_content() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(inner.join("c"), "").unwrap();
        let place = guard::named::place(&dir.path().join("a")).unwrap();
        remove(&place);
        assert!(!dir.path().join("a").exists());
        remove(&place);
    }
}
