//! A user's own families, codes, causes, notes and signatures, which override built-in ones.
//!
//! Contains values only: the lookups read it, so it depends on none of them. The file is parsed in
//! `user_table`.

use std::sync::OnceLock;

use super::cause::Cause;
use super::family::{Family, Row};
use super::log::Signature;
use super::note::Note;

/// The entries that override the tables.
#[derive(Debug, Default)]
pub(super) struct Overlay {
    pub(super) families: Vec<Family>,
    /// Rows, with the id of their family.
    pub(super) rows: Vec<(String, Row)>,
    pub(super) causes: Vec<Cause>,
    /// Family, code, id of the cause, weight.
    pub(super) links: Vec<(String, String, String, u8)>,
    pub(super) notes: Vec<Note>,
    pub(super) signatures: Vec<Signature>,
}

static OVERLAY: OnceLock<Overlay> = OnceLock::new();

/// The overlay; empty if none was set before the first use of the tables.
pub(super) fn overlay() -> &'static Overlay {
    OVERLAY.get_or_init(Overlay::default)
}

/// Sets the overlay.
///
/// # Panics
///
/// If the tables were in use already: their values would not agree with the overlay.
pub(super) fn set_overlay(overlay: Overlay) {
    assert!(OVERLAY.set(overlay).is_ok(), "the tables are in use");
}

impl Overlay {
    /// Applies the overlay to the `rows` of a family: drops the replaced rows and appends the
    /// `wanted` ones.
    pub(super) fn apply_overlay(
        &self,
        family: &str,
        mut rows: Vec<Row>,
        wanted: impl Fn(&Row) -> bool,
    ) -> Vec<Row> {
        let own: Vec<&Row> =
            self.rows.iter().filter(|(of, _)| of == family).map(|(_, row)| row).collect();
        if own.is_empty() {
            return rows;
        }
        rows.retain(|row| own.iter().all(|own| own.code != row.code));
        rows.extend(own.into_iter().filter(|row| wanted(row)).cloned());
        rows
    }
}
