//! A bar on standard error for work that takes a while, if somebody is watching.
#![expect(clippy::disallowed_methods, reason = "the one place that draws on standard error")]

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use base::progress::Progress;

/// Work that is done sooner shows no bar.
const PATIENCE: Duration = Duration::from_millis(300);

/// The bar; it goes away when this is dropped.
#[derive(Debug)]
pub(super) struct Bar(Option<ProgressBar>);

impl Bar {
    /// A bar, unless standard error is no terminal or the user wants quiet.
    pub(super) fn new(quiet: bool) -> Self {
        let wanted = !quiet && std::io::stderr().is_terminal();
        Self(wanted.then(|| {
            let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes}");
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        }))
    }

    /// What collectors report to.
    pub(super) fn listener(&self) -> Progress {
        let Some(bar) = self.0.clone() else { return Progress::default() };
        let begin = Instant::now();
        Progress::new(move |done, total| {
            if begin.elapsed() < PATIENCE {
                return;
            }
            if bar.is_hidden() {
                bar.set_draw_target(ProgressDrawTarget::stderr());
            }
            bar.set_length(total);
            bar.set_position(done);
        })
    }
}

/// What is being done, in one line; it goes away when this is dropped.
#[derive(Debug)]
pub(super) struct Line(Option<ProgressBar>);

impl Line {
    /// A line, unless standard error is no terminal or the user wants quiet.
    pub(super) fn new(quiet: bool) -> Self {
        let wanted = !quiet && std::io::stderr().is_terminal();
        Self(wanted.then(|| {
            let style = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}");
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
        }))
    }

    /// Shows what is being done now.
    pub(super) fn show(&self, text: &str) {
        if let Some(bar) = &self.0 {
            bar.set_message(base::text::escape_line(text).into_owned());
            bar.tick();
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
