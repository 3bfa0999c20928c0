//! Waits for a child as long as it reports progress, and never forever.
//!
//! This module is independent of processes: events arrive by a channel, and a kill is a function.
//! So tests can simulate a process that survives SIGKILL.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::{ChildEnd, StuckProcess};
use crate::protocol::{Event, EventReader};

/// The time limit for the exit of a killed process.
const REAP: Duration = Duration::from_secs(2);
/// The time limit for reading pipes after their writer exited: a grandchild may hold them open.
const DRAIN: Duration = Duration::from_secs(1);

/// The time limits of the wait.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Without any event.
    pub(super) silence: Duration,
    /// For the exit after a kill.
    pub(super) reap: Duration,
    /// For the end of the pipes after the exit of the child.
    pub(super) drain: Duration,
}

impl Limits {
    pub(super) const fn new(silence: Duration) -> Self {
        Self { silence, reap: REAP, drain: DRAIN }
    }
}

/// An event of a child.
pub(super) enum ChildEvent {
    /// It wrote this to the pipe of reports.
    ReportData(Vec<u8>),
    /// The pipe of reports ended.
    ReportClosed,
    /// The pipe of its standard output and error ended.
    OutputClosed,
    /// It exited.
    Exited(std::io::Result<ExitStatus>),
}

/// The result of watching.
#[derive(Debug)]
pub(super) struct WatchResult {
    /// Its exit, if it exited.
    ended: Option<std::io::Result<ExitStatus>>,
    /// Whether it was silent for too long.
    killed: bool,
}

/// Waits until the child has exited and all of its output is read, at most for the limits.
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
    /// Determines the end of the child; `done` is whether it reported completion. `stuck` examines
    /// a child that did not exit.
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

    /// The result for the events that `tell` sends; `tell` is also called after a kill.
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

    /// No event after the kill: the process waits in the kernel forever.
    #[test]
    fn a_process_that_stays_is_left_behind() {
        let (end, kills, took) = seen(|_, _| {});
        assert_eq!(
            (end, kills),
            (ChildEnd::Stuck(StuckProcess { pid: 7, ..StuckProcess::default() }), 1)
        );
        assert!(took >= LIMITS.silence + LIMITS.reap, "{took:?}");
        // A child that still writes, or whose pipes end, gets no more time.
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

    /// A grandchild holds the pipes: the reported result still counts.
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
