//! Waits for a child, for as long as it says something, and never for ever.
//!
//! Nothing here knows of processes: what happens comes by a channel, and a kill is a function.
//! So a process that stays after SIGKILL can be had for a test.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::{ChildEnd, StuckProcess};
use crate::protocol::{Event, EventReader};

/// How long a killed process may take to be gone.
const REAP: Duration = Duration::from_secs(2);
/// How long pipes are read after their writer is gone: a grandchild may hold them.
const DRAIN: Duration = Duration::from_secs(1);

/// How long is waited.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// For a word.
    pub(super) silence: Duration,
    /// For the end after a kill.
    pub(super) reap: Duration,
    /// For the end of the pipes after that of the child.
    pub(super) drain: Duration,
}

impl Limits {
    pub(super) const fn new(silence: Duration) -> Self {
        Self { silence, reap: REAP, drain: DRAIN }
    }
}

/// What happens to a child.
pub(super) enum ChildEvent {
    /// It wrote this to the pipe of reports.
    ReportData(Vec<u8>),
    /// Nothing more comes from there.
    ReportClosed,
    /// Nor from its standard output and error.
    OutputClosed,
    /// It is gone.
    Exited(std::io::Result<ExitStatus>),
}

/// What was seen.
#[derive(Debug)]
pub(super) struct WatchResult {
    /// How it ended, if it did.
    ended: Option<std::io::Result<ExitStatus>>,
    /// Whether it was silent for too long.
    killed: bool,
}

/// Stays until the child has ended and all that it said is heard; at most the limits.
pub(super) fn watch(
    news: &Receiver<ChildEvent>,
    limits: Limits,
    kill: &dyn Fn(),
    event_reader: &mut EventReader,
    listen: &mut dyn FnMut(&Event),
) -> WatchResult {
    let mut watched = WatchResult { ended: None, killed: false };
    let (mut report_over, mut chatter_over) = (false, false);
    let mut deadline = Instant::now() + limits.silence;
    while watched.ended.is_none() || !report_over || !chatter_over {
        match news.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(ChildEvent::ReportData(bytes)) => {
                if !watched.killed && watched.ended.is_none() {
                    deadline = Instant::now() + limits.silence;
                }
                event_reader.feed(&bytes, listen);
            }
            Ok(ChildEvent::ReportClosed) => report_over = true,
            Ok(ChildEvent::OutputClosed) => chatter_over = true,
            Ok(ChildEvent::Exited(status)) => {
                watched.ended = Some(status);
                deadline = Instant::now() + limits.drain;
            }
            Err(RecvTimeoutError::Timeout) if watched.ended.is_none() && !watched.killed => {
                watched.killed = true;
                kill();
                deadline = Instant::now() + limits.reap;
            }
            Err(_) => break,
        }
    }
    watched
}

impl WatchResult {
    /// How the child ended, which `done` says all was said of. `stuck` looks at one that stays.
    pub(super) fn end(
        self,
        done: bool,
        silence: Duration,
        stuck: impl FnOnce() -> StuckProcess,
    ) -> ChildEnd {
        match (self.ended, self.killed) {
            (None, _) => ChildEnd::Stuck(stuck()),
            (Some(_), true) if done => ChildEnd::SilentAtEnd,
            (Some(_), true) => ChildEnd::Silent(silence),
            (Some(Err(error)), _) => ChildEnd::NotStarted(error.to_string()),
            (Some(Ok(status)), _) => match (status.signal(), status.code()) {
                (Some(signal), _) if done => ChildEnd::CrashedAtEnd(signal),
                (Some(signal), _) => ChildEnd::Crashed(signal),
                _ if done => ChildEnd::Reported,
                (_, code) => ChildEnd::Exited(code.unwrap_or_default()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::mpsc::{Sender, channel};

    use super::*;

    const LIMITS: Limits = Limits {
        silence: Duration::from_millis(60),
        reap: Duration::from_millis(50),
        drain: Duration::from_millis(40),
    };
    const DONE: &[u8] = b"{\"event\":\"done\"}\n";

    /// What is made of news that come as `tell` sends them; a kill is told to it too.
    fn seen(tell: impl Fn(&Sender<ChildEvent>, bool)) -> (ChildEnd, u32, Duration) {
        let (sender, news) = channel();
        let kills = Cell::new(0);
        let kill = || {
            kills.set(kills.get() + 1);
            tell(&sender, true);
        };
        tell(&sender, false);
        let start = Instant::now();
        let mut event_reader = EventReader::default();
        let watched = watch(&news, LIMITS, &kill, &mut event_reader, &mut |_| {});
        let stuck = || StuckProcess { pid: 7, ..StuckProcess::default() };
        (watched.end(event_reader.done, LIMITS.silence, stuck), kills.get(), start.elapsed())
    }

    fn over(sender: &Sender<ChildEvent>, status: i32) {
        for news in [
            ChildEvent::ReportClosed,
            ChildEvent::OutputClosed,
            ChildEvent::Exited(Ok(ExitStatus::from_raw(status))),
        ] {
            sender.send(news).unwrap();
        }
    }

    #[test]
    fn a_child_ends_as_its_status_and_its_last_word_say() {
        for (said, status, end) in [
            (DONE, 0, ChildEnd::Reported),
            (DONE, 11, ChildEnd::CrashedAtEnd(11)),
            (b"", 11, ChildEnd::Crashed(11)),
            (b"", 3 << 8, ChildEnd::Exited(3)),
            (b"", 0, ChildEnd::Exited(0)),
        ] {
            let found = seen(|sender, _| {
                sender.send(ChildEvent::ReportData(said.to_vec())).unwrap();
                over(sender, status);
            });
            assert_eq!((found.0, found.1), (end, 0));
        }
    }

    #[test]
    fn silence_is_ended_once() {
        let found = seen(|sender, killed| {
            if killed {
                over(sender, 9);
            }
        });
        assert_eq!((found.0, found.1), (ChildEnd::Silent(LIMITS.silence), 1));
        let found = seen(|sender, killed| {
            if killed {
                over(sender, 9);
            } else {
                sender.send(ChildEvent::ReportData(DONE.to_vec())).unwrap();
            }
        });
        assert_eq!((found.0, found.1), (ChildEnd::SilentAtEnd, 1));
    }

    /// Nothing comes after the kill: the process waits in the kernel for what never comes.
    #[test]
    fn a_process_that_stays_is_left_behind() {
        let (end, kills, took) = seen(|_, _| {});
        assert_eq!(
            (end, kills),
            (ChildEnd::Stuck(StuckProcess { pid: 7, ..StuckProcess::default() }), 1)
        );
        assert!(took >= LIMITS.silence + LIMITS.reap, "{took:?}");
        // Nor is more time given to one that still writes, or whose pipes end.
        let (end, _, took) = seen(|sender, killed| {
            sender
                .send(ChildEvent::ReportData(b"{\"event\":\"soc\",\"name\":\"x\"}\n".to_vec()))
                .unwrap();
            if killed {
                sender.send(ChildEvent::ReportClosed).unwrap();
                sender.send(ChildEvent::OutputClosed).unwrap();
            }
        });
        assert!(matches!(end, ChildEnd::Stuck(_)), "{end:?}");
        assert!(took < LIMITS.silence + LIMITS.reap + Duration::from_secs(5), "{took:?}");
    }

    /// A grandchild holds the pipes: what was said counts all the same.
    #[test]
    fn pipes_that_stay_open_are_left() {
        let (end, kills, took) = seen(|sender, _| {
            sender.send(ChildEvent::Exited(Ok(ExitStatus::from_raw(0)))).unwrap();
            sender.send(ChildEvent::ReportData(DONE.to_vec())).unwrap();
        });
        assert_eq!((end, kills), (ChildEnd::Reported, 0));
        assert!(took >= LIMITS.drain, "{took:?}");
    }
}
