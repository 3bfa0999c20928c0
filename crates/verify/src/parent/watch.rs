//! Waits for a child, for as long as it says something, and never for ever.
//!
//! Nothing here knows of processes: what happens comes by a channel, and a kill is a function.
//! So a process that stays after SIGKILL can be had for a test.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::{End, Stuck};
use crate::protocol::{Event, Hearing};

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
pub(super) enum News {
    /// It wrote this to the pipe of reports.
    Said(Vec<u8>),
    /// Nothing more comes from there.
    ReportEnds,
    /// Nor from its standard output and error.
    ChatterEnds,
    /// It is gone.
    Ended(std::io::Result<ExitStatus>),
}

/// What was seen.
#[derive(Debug)]
pub(super) struct Watched {
    /// How it ended, if it did.
    ended: Option<std::io::Result<ExitStatus>>,
    /// Whether it was silent for too long.
    killed: bool,
}

/// Stays until the child has ended and all that it said is heard; at most the limits.
pub(super) fn watch(
    news: &Receiver<News>,
    limits: Limits,
    kill: &dyn Fn(),
    hearing: &mut Hearing,
    listen: &mut dyn FnMut(&Event),
) -> Watched {
    let mut watched = Watched { ended: None, killed: false };
    let (mut report_over, mut chatter_over) = (false, false);
    let mut deadline = Instant::now() + limits.silence;
    while watched.ended.is_none() || !report_over || !chatter_over {
        match news.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(News::Said(bytes)) => {
                if !watched.killed && watched.ended.is_none() {
                    deadline = Instant::now() + limits.silence;
                }
                hearing.feed(&bytes, listen);
            }
            Ok(News::ReportEnds) => report_over = true,
            Ok(News::ChatterEnds) => chatter_over = true,
            Ok(News::Ended(status)) => {
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

impl Watched {
    /// How the child ended, which `done` says all was said of. `stuck` looks at one that stays.
    pub(super) fn end(self, done: bool, silence: Duration, stuck: impl FnOnce() -> Stuck) -> End {
        match (self.ended, self.killed) {
            (None, _) => End::Stuck(stuck()),
            (Some(_), true) if done => End::SilentAtEnd,
            (Some(_), true) => End::Silent(silence),
            (Some(Err(error)), _) => End::NotStarted(error.to_string()),
            (Some(Ok(status)), _) => match (status.signal(), status.code()) {
                (Some(signal), _) if done => End::CrashedAtEnd(signal),
                (Some(signal), _) => End::Crashed(signal),
                _ if done => End::Reported,
                (_, code) => End::Exited(code.unwrap_or_default()),
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
    fn seen(tell: impl Fn(&Sender<News>, bool)) -> (End, u32, Duration) {
        let (sender, news) = channel();
        let kills = Cell::new(0);
        let kill = || {
            kills.set(kills.get() + 1);
            tell(&sender, true);
        };
        tell(&sender, false);
        let start = Instant::now();
        let mut hearing = Hearing::default();
        let watched = watch(&news, LIMITS, &kill, &mut hearing, &mut |_| {});
        let stuck = || Stuck { pid: 7, ..Stuck::default() };
        (watched.end(hearing.done, LIMITS.silence, stuck), kills.get(), start.elapsed())
    }

    fn over(sender: &Sender<News>, status: i32) {
        for news in
            [News::ReportEnds, News::ChatterEnds, News::Ended(Ok(ExitStatus::from_raw(status)))]
        {
            sender.send(news).unwrap();
        }
    }

    #[test]
    fn a_child_ends_as_its_status_and_its_last_word_say() {
        for (said, status, end) in [
            (DONE, 0, End::Reported),
            (DONE, 11, End::CrashedAtEnd(11)),
            (b"", 11, End::Crashed(11)),
            (b"", 3 << 8, End::Exited(3)),
            (b"", 0, End::Exited(0)),
        ] {
            let found = seen(|sender, _| {
                sender.send(News::Said(said.to_vec())).unwrap();
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
        assert_eq!((found.0, found.1), (End::Silent(LIMITS.silence), 1));
        let found = seen(|sender, killed| {
            if killed {
                over(sender, 9);
            } else {
                sender.send(News::Said(DONE.to_vec())).unwrap();
            }
        });
        assert_eq!((found.0, found.1), (End::SilentAtEnd, 1));
    }

    /// Nothing comes after the kill: the process waits in the kernel for what never comes.
    #[test]
    fn a_process_that_stays_is_left_behind() {
        let (end, kills, took) = seen(|_, _| {});
        assert_eq!((end, kills), (End::Stuck(Stuck { pid: 7, ..Stuck::default() }), 1));
        assert!(took >= LIMITS.silence + LIMITS.reap, "{took:?}");
        // Nor is more time given to one that still writes, or whose pipes end.
        let (end, _, took) = seen(|sender, killed| {
            sender.send(News::Said(b"{\"event\":\"soc\",\"name\":\"x\"}\n".to_vec())).unwrap();
            if killed {
                sender.send(News::ReportEnds).unwrap();
                sender.send(News::ChatterEnds).unwrap();
            }
        });
        assert!(matches!(end, End::Stuck(_)), "{end:?}");
        assert!(took < LIMITS.silence + LIMITS.reap + Duration::from_secs(5), "{took:?}");
    }

    /// A grandchild holds the pipes: what was said counts all the same.
    #[test]
    fn pipes_that_stay_open_are_left() {
        let (end, kills, took) = seen(|sender, _| {
            sender.send(News::Ended(Ok(ExitStatus::from_raw(0)))).unwrap();
            sender.send(News::Said(DONE.to_vec())).unwrap();
        });
        assert_eq!((end, kills), (End::Reported, 0));
        assert!(took >= LIMITS.drain, "{took:?}");
    }
}
