//! Tiles: a status light for each area of the checks, or for each check if all belong to one area.

use super::document::{Check, Document};
use super::state::State;
use super::words::{Words, words};
use base::report::CheckState;
use base::text::Text;
use data::{Catalog, ui};

/// A light with its title.
pub(super) struct Tile {
    pub(super) title: Words,
    pub(super) state: State,
    pub(super) said: Words,
}

/// The tiles of a report. An area without applicable checks has none.
pub(super) fn tiles(document: &Document) -> Vec<Tile> {
    let mut areas: Vec<String> = Vec::new();
    for check in &document.checks {
        let area = area_of(&check.id);
        if !areas.contains(&area) {
            areas.push(area);
        }
    }
    let tiles: Vec<Tile> = areas.iter().filter_map(|area| area_tile(document, area)).collect();
    if tiles.len() > 1 {
        return tiles;
    }
    document.checks.iter().filter_map(|check| check_tile(document, check)).collect()
}

fn area_tile(document: &Document, area: &str) -> Option<Tile> {
    let state = document.state_of(|id| area_of(id) == area);
    let count = |state| {
        document.checks.iter().filter(|one| one.state == state && area_of(&one.id) == area).count()
    };
    let (passed, n) = (count(CheckState::Passed), count(CheckState::NotChecked));
    // An area is healthy only if all its checks ran.
    let partly = state == State::Good && n > 0;
    let state = if partly { State::Unknown } else { state };
    let reason = partly.then(|| ui::PagePartly { passed: passed.to_string(), n }.text());
    let known = Catalog::builtin().families().find(|known| known.family == area);
    let title = known.map_or_else(|| Text::same(area), |known| known.title.clone());
    tile(&title, area, state, reason.as_ref())
}

fn check_tile(document: &Document, check: &Check) -> Option<Tile> {
    let state = document.state_of(|id| id == check.id);
    tile(&check.name, &check.id, state, check.reason.as_ref())
}

/// A tile; `id` is its title if it has none in either language.
fn tile(title: &Text, id: &str, state: State, reason: Option<&Text>) -> Option<Tile> {
    let said = match (state, reason) {
        (State::Nothing, _) => return None,
        (State::Error, _) => ui::ERROR.text(),
        (State::Warning, _) => ui::WARNING.text(),
        (State::Unknown, Some(reason)) => reason.clone(),
        (State::Unknown, None) => ui::NOT_CHECKED.text(),
        (State::Good, _) => ui::PAGE_GOOD.text(),
    };
    let or_id = |title: &str| if title.trim().is_empty() { id } else { title }.to_owned();
    let title = Text::new(or_id(&title.en), or_id(&title.zh));
    Some(Tile { title: words(&title), state, said: words(&said) })
}

/// The family of an id in the catalog, else the first part of the id: ids of a family need not
/// begin with its name.
fn area_of(id: &str) -> String {
    let known = Catalog::builtin().family_of(id).map(|family| family.family.clone());
    known.unwrap_or_else(|| id.split('-').next().unwrap_or(id).to_ascii_lowercase())
}
