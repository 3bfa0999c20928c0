//! The view of one report. Long lists become views while the template runs: a page of many reports
//! holds only one of their items at a time.

use askama::Template;

use super::Diffs;
use super::diff::DiffView;
use super::document::{self, Check, Document, Table};
use super::finding::FindingView;
use super::matrix::MatrixView;
use super::stack::Stack;
use super::state::State;
use super::tiles::{Tile, tiles};
use super::timeline::TimelineView;
use super::words::{Words, words};
use crate::gate;
use crate::plain::summary_line;
use base::report::CheckState;
use base::text::{Lang, Text};
use data::ui;

/// A report.
#[derive(Template)]
#[template(path = "section.html")]
pub(super) struct Section<'a, 'd> {
    document: &'a Document,
    number: usize,
    /// The file of the report, on a page of files.
    source: Option<&'a str>,
    diffs: Option<Diffs<'d>>,
    state: State,
    title: String,
    label: Words,
    counts: Words,
    created: Option<Created>,
    headline: Option<Words>,
    proof_heading: Words,
    links: Vec<LinkView<'a>>,
    unanswered_label: Words,
    areas_heading: Words,
    tiles: Vec<Tile>,
    stack: Option<Stack<'a>>,
    matrix: Option<MatrixView<'a>>,
    timeline: Option<TimelineView<'a>>,
    findings_heading: Words,
    patches_heading: Words,
    tables_heading: Words,
}

/// When a report was created.
struct Created {
    label: Words,
    machine: String,
    shown: String,
}

/// A link of the goal.
struct LinkView<'a> {
    class: &'static str,
    sign: &'static str,
    name: Words,
    state: Words,
    findings: Vec<&'a str>,
    remarks: Vec<Words>,
}

/// A table.
struct TableView<'a> {
    title: Words,
    /// The anchor of its title on the page.
    anchor: String,
    table: &'a Table,
}

/// The checks with one outcome.
struct CheckList<'a> {
    heading: Words,
    checks: Vec<&'a Check>,
}

/// A check.
struct CheckView<'a> {
    id: &'a str,
    name: Words,
    reason: Option<Words>,
}

impl<'a, 'd> Section<'a, 'd> {
    pub(super) fn new(
        document: &'a Document,
        number: usize,
        source: Option<&'a str>,
        diffs: Option<Diffs<'d>>,
    ) -> Self {
        let state = document.state();
        let sum = document.summary();
        let rules = !document.checks.is_empty();
        let counts = |lang| summary_line(sum, rules, lang);
        let findings_heading = if document.answer { ui::PAGE_ANSWERS } else { ui::PAGE_FINDINGS };
        let is_shown = |link: &&document::Link| link.state != "not_applicable";
        Self {
            document,
            number,
            source,
            diffs,
            state,
            title: document.title(),
            label: words(&state.label().text()),
            counts: words(&Text::new(counts(Lang::En), counts(Lang::Zh))),
            created: document.created.or(document.taken).and_then(Created::new),
            headline: document.headline.as_ref().map(words),
            proof_heading: words(&ui::PAGE_PROOF.text()),
            links: document.coverage.iter().filter(is_shown).map(LinkView::new).collect(),
            unanswered_label: words(&ui::UNANSWERED.text()),
            areas_heading: words(&ui::PAGE_AREAS.text()),
            tiles: tiles(document),
            stack: Stack::new(document, |finding| anchor(number, finding)),
            matrix: document.fleet.as_ref().and_then(MatrixView::new),
            timeline: document.diagnosis.as_ref().and_then(TimelineView::new),
            findings_heading: words(&findings_heading.text()),
            patches_heading: words(&ui::PATCHES.text()),
            tables_heading: words(&ui::PAGE_TABLES.text()),
        }
    }

    fn unanswered(&self) -> impl Iterator<Item = Words> {
        self.document.no_verdict.iter().map(words)
    }

    fn overview(&self) -> impl Iterator<Item = (Words, Words)> {
        self.document.overview.iter().map(|fact| (words(&fact.label), words(&fact.value)))
    }

    fn findings(&self) -> impl Iterator<Item = FindingView<'a>> {
        let (document, section) = (self.document, self.number);
        let findings = document.findings.iter().enumerate();
        findings.map(move |(number, one)| FindingView::new(document, one, anchor(section, number)))
    }

    /// Remarks, and the policy of the run.
    fn notes(&self) -> impl Iterator<Item = Words> {
        let document::Gate { fail_on, on_inconclusive, settings } = self.document.gate.clone();
        // Fail levels of families are among the settings.
        let families = std::collections::BTreeMap::new();
        let policy = base::report::Gate { fail_on, on_inconclusive, families, settings };
        self.document
            .notes
            .iter()
            .map(words)
            .chain(gate::describe(&policy).map(|text| words(&text)))
    }

    fn files(&self) -> impl Iterator<Item = DiffView> {
        self.diffs.into_iter().flat_map(|files| files()).map(DiffView::new)
    }

    fn tables(&self) -> impl Iterator<Item = TableView<'a>> {
        let section = self.number;
        let tables = self.document.tables.iter().enumerate();
        tables.map(move |(number, table)| TableView {
            title: words(&table.title),
            anchor: format!("r{section}-t{number}"),
            table,
        })
    }

    fn check_lists(&self) -> impl Iterator<Item = CheckList<'a>> {
        let lists = [
            (CheckState::NotChecked, ui::NOT_CHECKED),
            (CheckState::Passed, ui::PASSED_LIST),
            (CheckState::NotApplicable, ui::NOT_APPLICABLE_LIST),
        ];
        let document = self.document;
        let list = move |(state, heading): (CheckState, ui::Label)| CheckList {
            heading: words(&heading.text()),
            checks: document.checks.iter().filter(|check| check.state == state).collect(),
        };
        lists.into_iter().map(list).filter(|list| !list.checks.is_empty())
    }

    fn provenance(&self) -> impl Iterator<Item = Words> {
        self.document.provenance.iter().map(|part| {
            let said = |value: &str| format!("{} {value}", part.what);
            words(&Text::new(said(&part.value.en), said(&part.value.zh)))
        })
    }
}

/// The anchor of a finding on a page.
fn anchor(section: usize, finding: usize) -> String {
    format!("r{section}-f{finding}")
}

impl Created {
    /// A time in seconds since 1970, UTC.
    fn new(seconds: i64) -> Option<Self> {
        let time = jiff::Timestamp::from_second(seconds).ok()?;
        let time = jiff::tz::TimeZone::UTC.to_datetime(time);
        Some(Self {
            label: words(&ui::PAGE_CREATED.text()),
            machine: time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            shown: time.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        })
    }
}

impl<'a> LinkView<'a> {
    fn new(link: &'a document::Link) -> Self {
        // The state comes from a file: an unknown one is shown like missing evidence.
        let (class, sign, state) = match link.state.as_str() {
            "shown" if link.warnings.is_empty() => ("good", "✓", ui::LINK_SHOWN),
            "shown" => ("warning", "!", ui::LINK_SHOWN),
            "contradicted" => ("error", "✗", ui::LINK_CONTRADICTED),
            "waived" => ("nothing", "~", ui::LINK_WAIVED),
            _ => ("unknown", "?", ui::LINK_NOT_EXAMINED),
        };
        let remarks = [&link.note, &link.reason, &link.settle];
        let mut findings: Vec<&str> = Vec::new();
        for id in link.findings.iter().chain(&link.warnings) {
            if !findings.contains(&id.as_str()) {
                findings.push(id);
            }
        }
        Self {
            class,
            sign,
            name: words(&link.name),
            state: words(&state.text()),
            findings,
            remarks: remarks.into_iter().flatten().map(words).collect(),
        }
    }
}

impl TableView<'_> {
    fn head(&self) -> impl Iterator<Item = Words> {
        self.table.head.iter().map(words)
    }

    fn rows(&self) -> impl Iterator<Item = impl Iterator<Item = Words>> {
        self.table.rows.iter().map(|row| row.iter().map(words))
    }
}

impl<'a> CheckList<'a> {
    fn checks(&self) -> impl Iterator<Item = CheckView<'a>> {
        self.checks.iter().map(|check| CheckView {
            id: &check.id,
            name: words(&check.name),
            reason: check.reason.as_ref().map(words),
        })
    }
}
