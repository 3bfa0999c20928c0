//! The view of a file that changes: old and new side by side, with remarks in their places.

use askama::Template;

use super::words::{Words, words};
use crate::plain::labeled_sentence;
use base::report::{DiffRow, FileDiff, LinePart};
use base::text::{Lang, Text};
use data::ui;

/// A file, old and new.
#[derive(Template)]
#[template(path = "diff.html")]
pub(super) struct DiffView {
    file: FileDiff,
    counts: Words,
    before_label: Words,
    after_label: Words,
}

impl DiffView {
    pub(super) fn new(file: FileDiff) -> Self {
        Self {
            counts: words(&file.counts),
            before_label: words(&ui::DIFF_BEFORE.text()),
            after_label: words(&ui::DIFF_AFTER.text()),
            file,
        }
    }

    fn rows(&self) -> &[DiffRow] {
        &self.file.rows
    }

    #[expect(clippy::unused_self, reason = "templates call methods of their view")]
    fn words(&self, text: &Text) -> Words {
        words(text)
    }

    /// The manual work, behind its label.
    #[expect(clippy::unused_self, reason = "templates call methods of their view")]
    fn advice(&self, text: &Text) -> Words {
        let said = |lang| labeled_sentence(&ui::FIX.get(lang), text.get(lang), lang);
        words(&Text::new(said(Lang::En), said(Lang::Zh)))
    }
}
