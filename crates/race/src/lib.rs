//! A race for tests of all code that writes: a thread replaces a directory below a root by a link
//! that leads out of it, and back, as fast as possible.
#![expect(
    clippy::disallowed_methods,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "plays the attacker, outside of the layer that it attacks; a race that cannot be set up fails"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use rustix::fs::{CWD, RenameFlags, renameat_with};

/// The minimum number of exchanges for a meaningful race.
const ENOUGH: u64 = 200;

/// The minimum number of rounds: the variable `ASCEND_DOCTOR_ROUNDS`, or few enough for every run
/// of the tests.
fn least_rounds() -> u64 {
    let asked = std::env::var("ASCEND_DOCTOR_ROUNDS").ok();
    asked.and_then(|asked| asked.parse().ok()).unwrap_or(1_000)
}

/// A running race.
pub struct Race {
    base: tempfile::TempDir,
    name: String,
    stop: Arc<AtomicBool>,
    swaps: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Race {
    /// Creates a root in which `name` is alternately a directory and a link to a directory outside.
    #[must_use]
    pub fn start(name: &str) -> Self {
        // In memory, so that waiting for the disk does not reduce the number of rounds.
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let base = tempfile::Builder::new().prefix("race-").tempdir_in(place).unwrap();
        let base_path = base.path().canonicalize().unwrap();
        let (root, outside) = (base_path.join("root"), base_path.join("outside"));
        std::fs::create_dir_all(root.join(name)).unwrap();
        std::fs::create_dir(&outside).unwrap();
        let other = root.join(format!("{name}.other"));
        std::os::unix::fs::symlink(&outside, &other).unwrap();
        let (stop, swaps) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stopped, count, path) = (Arc::clone(&stop), Arc::clone(&swaps), root.join(name));
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                // One of them may be missing for a moment, if the writer removes it.
                if renameat_with(CWD, &path, CWD, &other, RenameFlags::EXCHANGE).is_ok() {
                    count.fetch_add(1, Ordering::Relaxed);
                }
                std::thread::yield_now();
            }
        });
        Self { base, name: name.to_owned(), stop, swaps, thread: Some(thread) }
    }

    /// The rounds. On a busy machine there are few exchanges, and therefore more rounds, up to a
    /// hundred times as many.
    pub fn rounds(&self) -> impl Iterator<Item = u64> + '_ {
        let least = least_rounds();
        let goes_on =
            move |round: &u64| *round < least || self.swaps.load(Ordering::Relaxed) < ENOUGH;
        (0..least * 100).take_while(goes_on)
    }

    /// The root.
    pub fn root(&self) -> PathBuf {
        self.base.path().canonicalize().unwrap().join("root")
    }

    /// The directory outside.
    pub fn outside(&self) -> PathBuf {
        self.base.path().canonicalize().unwrap().join("outside")
    }

    /// Writes a file into the exchanged directory, and one with the same content outside, so that
    /// comparing contents cannot distinguish them.
    pub fn lay(&self, file: &str, content: &str) {
        std::fs::write(self.outside().join(file), content).unwrap();
        let kinds = ["", ".other"].map(|end| self.root().join(format!("{}{end}", self.name)));
        // One of them is the directory; an exchange may happen in between.
        for _ in 0..1_000 {
            for path in &kinds {
                let Ok(dir) = rustix::fs::open(
                    path,
                    rustix::fs::OFlags::DIRECTORY
                        | rustix::fs::OFlags::NOFOLLOW
                        | rustix::fs::OFlags::PATH,
                    rustix::fs::Mode::empty(),
                ) else {
                    continue;
                };
                let flags = rustix::fs::OFlags::WRONLY
                    | rustix::fs::OFlags::CREATE
                    | rustix::fs::OFlags::TRUNC;
                let mode = rustix::fs::Mode::from_raw_mode(0o644);
                let file = rustix::fs::openat(&dir, file, flags, mode).unwrap();
                std::io::Write::write_all(&mut std::fs::File::from(file), content.as_bytes())
                    .unwrap();
                return;
            }
        }
        panic!("the directory is never there");
    }

    /// Checks that the outside contains only the files of [`Race::lay`] with `content`.
    pub fn assert_outside(&self, content: Option<&str>) {
        for entry in std::fs::read_dir(self.outside()).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(Some(text.as_str()), content, "written outside: {}", path.display());
        }
        let laid = std::fs::read_dir(self.outside()).unwrap().count();
        assert_eq!(laid, usize::from(content.is_some()), "number of files outside");
    }

    /// Ends the race. Returns the number of exchanges, which is at least the minimum.
    pub fn finish(mut self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
        let swaps = self.swaps.load(Ordering::Relaxed);
        assert!(swaps >= ENOUGH, "{swaps} exchanges are no race");
        swaps
    }
}
