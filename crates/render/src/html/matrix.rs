//! The hosts of a fleet and the areas of their checks: the member `fleet.matrix` of a report, and
//! its view.

use serde::Deserialize;

use super::state::State;
use super::words::{Words, words};
use base::text::Text;
use data::ui;

/// The shown part of the member `fleet`.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct FleetPart {
    /// `None` in reports from before the matrix.
    #[serde(default)]
    matrix: Option<Matrix>,
}

#[derive(Debug, Clone, Deserialize)]
struct Matrix {
    areas: Vec<Area>,
    rows: Vec<MatrixRow>,
    #[serde(default)]
    more_hosts: usize,
}

#[derive(Debug, Clone, Deserialize)]
struct Area {
    title: Text,
}

#[derive(Debug, Clone, Deserialize)]
struct MatrixRow {
    hosts: Vec<String>,
    count: usize,
    result: CellState,
    cells: Vec<CellState>,
}

/// The state of a cell. A value of a newer version is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CellState {
    Pass,
    Warn,
    Fail,
    NotApplicable,
    #[serde(other)]
    Unknown,
}

/// The view of the matrix.
pub(super) struct MatrixView<'a> {
    pub(super) heading: Words,
    pub(super) about: Words,
    pub(super) hosts_label: Words,
    pub(super) columns: Vec<Words>,
    pub(super) more: Option<Words>,
    rows: &'a [MatrixRow],
}

/// The maximum length of a list of hosts in a row, in bytes. The count includes all of them.
const HOSTS: usize = 300;

/// Hosts with equal cells.
pub(super) struct RowView {
    /// The list in parts between which it may wrap.
    pub(super) hosts: Vec<String>,
    pub(super) count: usize,
    pub(super) cells: Vec<Cell>,
}

/// A result as sign and word.
pub(super) struct Cell(CellState);

impl<'a> MatrixView<'a> {
    pub(super) fn new(part: &'a FleetPart) -> Option<Self> {
        let Matrix { areas, rows, more_hosts } = part.matrix.as_ref()?;
        if rows.is_empty() {
            return None;
        }
        let titles = areas.iter().map(|area| words(&area.title));
        let result = words(&ui::FLEET_RESULT.text());
        Some(Self {
            heading: words(&ui::FLEET_MATRIX_HEADING.text()),
            about: words(&ui::FLEET_MATRIX_ABOUT.text()),
            hosts_label: words(&ui::FLEET_HOSTS.text()),
            columns: std::iter::once(result).chain(titles).collect(),
            more: (*more_hosts > 0).then(|| words(&ui::FleetMoreHosts { n: *more_hosts }.text())),
            rows,
        })
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = RowView> {
        // As many cells as the head has, even if a file has another number.
        let cells = self.columns.len() - 1;
        self.rows.iter().map(move |row| {
            let missing = std::iter::repeat(CellState::Unknown);
            let areas = row.cells.iter().copied().chain(missing).take(cells);
            RowView {
                hosts: list_hosts(&row.hosts),
                count: row.count,
                cells: std::iter::once(row.result).chain(areas).map(Cell).collect(),
            }
        })
    }
}

/// The parts of a list of hosts, up to [`HOSTS`].
fn list_hosts(hosts: &[String]) -> Vec<String> {
    let mut list = hosts.join(", ");
    if list.len() > HOSTS {
        list.truncate(list.floor_char_boundary(HOSTS));
        list.push('…');
    }
    list.split_inclusive(',').map(str::to_owned).collect()
}

impl Cell {
    const fn state(&self) -> State {
        match self.0 {
            CellState::Pass => State::Good,
            CellState::Warn => State::Warning,
            CellState::Fail => State::Error,
            CellState::Unknown => State::Unknown,
            CellState::NotApplicable => State::Nothing,
        }
    }

    pub(super) const fn class(&self) -> &'static str {
        self.state().class()
    }

    pub(super) const fn sign(&self) -> &'static str {
        self.state().sign()
    }

    pub(super) fn word(&self) -> Words {
        let label = match self.0 {
            CellState::Pass => ui::CELL_PASS,
            CellState::Warn => ui::CELL_WARN,
            CellState::Fail => ui::CELL_FAIL,
            CellState::Unknown => ui::CELL_UNKNOWN,
            CellState::NotApplicable => ui::CELL_NOT_APPLICABLE,
        };
        words(&label.text())
    }
}
