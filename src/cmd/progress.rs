//! A line on standard error for work that takes longer than a second, if a terminal shows it.
//!
//! Only one line exists at a time. All other output ends it first.
#![expect(clippy::disallowed_methods, reason = "the one place that draws on standard error")]

use std::io::IsTerminal as _;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};

use base::progress::Progress;

/// Work that ends earlier shows no line.
const PATIENCE: Duration = Duration::from_secs(1);
/// The interval between two drawings.
const TICK: Duration = Duration::from_millis(100);

static ACTIVITY: Mutex<Option<Activity>> = Mutex::new(None);

/// A running line.
struct Activity {
    name: &'static str,
    text: Arc<Mutex<String>>,
    end: Sender<()>,
    drawing: JoinHandle<()>,
}

/// Starts the line of a subcommand, unless standard error is not a terminal or `quiet` is set.
pub(super) fn start(name: &'static str, quiet: bool) {
    if quiet || !std::io::stderr().is_terminal() {
        return;
    }
    let text = Arc::new(Mutex::new(name.to_owned()));
    let (end, ended) = mpsc::channel();
    let shared = Arc::clone(&text);
    let drawing = std::thread::Builder::new().spawn(move || {
        if ended.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        let style = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}");
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        loop {
            bar.set_message(shared.lock().unwrap_or_else(PoisonError::into_inner).clone());
            bar.tick();
            if ended.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout) {
                break;
            }
        }
        bar.finish_and_clear();
    });
    // If the thread cannot be started, there is no line.
    let Ok(drawing) = drawing else { return };
    let activity = Activity { name, text, end, drawing };
    *ACTIVITY.lock().unwrap_or_else(PoisonError::into_inner) = Some(activity);
}

/// Removes the line before other output.
pub(super) fn stop() {
    let activity = ACTIVITY.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(Activity { end, drawing, .. }) = activity {
        drop(end);
        let _ = drawing.join();
    }
}

/// Shows the current step.
pub(super) fn show(step: &str) {
    let activity = ACTIVITY.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(Activity { name, text, .. }) = activity.as_ref() {
        let step = base::text::escape_line(step);
        *text.lock().unwrap_or_else(PoisonError::into_inner) = format!("{name}: {step}");
    }
}

/// Returns the listener for collectors, which shows the progress of reading files.
pub(super) fn listener() -> Progress {
    if ACTIVITY.lock().unwrap_or_else(PoisonError::into_inner).is_none() {
        return Progress::default();
    }
    Progress::new(|done, total| show(&format!("{} / {}", HumanBytes(done), HumanBytes(total))))
}
