//! `lint`: statements of documents and scripts that contradict the tables.
//!
//! A reader for each subject finds statements and compares them with the tables. It states nothing
//! about sentences that it does not understand.
//!
//! Must not touch: files, the terminal. `cmd` reads the files.

mod codes;
mod commands;
mod defaults;
mod document;
mod pairs;
mod statement;
mod table;
mod versions;

use std::collections::{BTreeMap, BTreeSet};

use base::report::{Coverage, Evidence, Finding, Proof, Report, Table};
use base::text::Text;
use data::data_pack::{Pack, PackError};
use data::{Catalog, goals, ui};
use serde::Serialize;

pub(crate) use statement::{Statement, StatementKind, StatementState};

/// The largest number of places that a finding lists.
const PLACES: usize = 20;
/// The largest number of statements that the table of undecided ones lists.
const UNDECIDED: usize = 20;

/// A document or script.
#[derive(Debug)]
pub(crate) struct Input {
    /// The path as the user wrote it.
    pub name: String,
    /// The text.
    pub text: String,
}

/// The members of the JSON report that `lint` alone has.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct LintMembers<'a> {
    /// Number of files.
    pub files: usize,
    /// Number of statements that a comment takes out.
    pub ignored: usize,
    /// Every statement that was compared with the tables.
    pub statements: &'a [Statement],
}

/// Decodes the tables of a pack whose readers are in this module.
///
/// # Errors
///
/// For a table that its reader rejects.
pub(crate) fn check_pack(pack: &'static Pack) -> Result<(), PackError> {
    table::check(pack)
}

/// Compares the statements of all inputs with the tables. `unread` names files that were not read.
pub(crate) fn lint(subject: &str, inputs: &[Input], unread: &[Text]) -> Report {
    let mut statements = Vec::new();
    let mut ignored = 0;
    let mut gaps: Vec<Text> = unread.to_vec();
    for input in inputs {
        let document = document::parse(&input.name, &input.text);
        let at = statements.len();
        for read in [codes::read, versions::read, pairs::read, defaults::read, commands::read] {
            read(&document, &mut statements);
        }
        if document.is_cut {
            gaps.push(ui::LintCut { file: &input.name }.text());
        }
        once(&mut statements, at);
        ignored += drop_ignored(&document, &mut statements, at);
    }
    let mut report = Report::new("lint", subject.to_owned());
    report.about_sources = true;
    report.findings = findings(&statements);
    report.overview = overview(&statements, inputs.len(), ignored);
    report.tables.extend(undecided_table(&statements));
    report.proof = Some(prove(&statements, &report.findings, gaps));
    report.add_members(&LintMembers { files: inputs.len(), ignored, statements: &statements });
    report
}

/// Removes repetitions from `at` on, and puts the rest in the order of lines.
fn once(statements: &mut Vec<Statement>, at: usize) {
    let mut own = statements.split_off(at);
    own.sort_by_key(|one| (one.line, one.kind));
    let mut known = BTreeSet::new();
    own.retain(|one| known.insert((one.line, one.kind, one.says.clone())));
    statements.append(&mut own);
}

/// The words of a comment that takes out the statements of its line and of the next one.
const IGNORE: &str = "ascend-doctor: ignore";

/// Removes statements that a comment takes out, and returns their number.
fn drop_ignored(
    document: &document::Document<'_>,
    statements: &mut Vec<Statement>,
    at: usize,
) -> usize {
    let marked = document.lines.iter().filter(|line| line.text.contains(IGNORE));
    let marked: BTreeSet<u32> = marked.flat_map(|line| [line.number, line.number + 1]).collect();
    let before = statements.len();
    let own = statements.split_off(at);
    statements.extend(own.into_iter().filter(|one| !marked.contains(&one.line)));
    before - statements.len()
}

/// One finding for each contradiction, with all its places.
fn findings(statements: &[Statement]) -> Vec<Finding> {
    let mut order: Vec<(StatementKind, &str)> = Vec::new();
    let mut groups: BTreeMap<(StatementKind, &str), Vec<&Statement>> = BTreeMap::new();
    for one in statements.iter().filter(|one| one.finding.is_some()) {
        let key = (one.kind, one.says.as_str());
        if !groups.contains_key(&key) {
            order.push(key);
        }
        groups.entry(key).or_default().push(one);
    }
    let of = |key: &(StatementKind, &str)| {
        let places = groups.get(key)?;
        let first = places.first()?;
        let mut raw = first.finding.clone()?;
        raw.evidence = places
            .iter()
            .take(PLACES)
            .map(|one| Evidence::file(&one.file).line(one.line).value(&one.says))
            .collect();
        let mut finding = Catalog::builtin().resolve(raw);
        finding.refs = first.sources.clone();
        Some(finding)
    };
    order.iter().filter_map(of).collect()
}

fn count(statements: &[Statement], state: StatementState) -> usize {
    statements.iter().filter(|one| one.state == state).count()
}

fn overview(statements: &[Statement], files: usize, ignored: usize) -> Vec<(Text, Text)> {
    let n = statements.len();
    let read = ui::LintRead { files, n }.text();
    let result = ui::LintResult {
        agree: count(statements, StatementState::Agrees),
        contradict: count(statements, StatementState::Contradicts),
        open: count(statements, StatementState::Undecided),
    };
    let mut overview =
        vec![(ui::LINT_STATEMENTS.text(), read), (ui::LINT_RESULT_LABEL.text(), result.text())];
    if ignored > 0 {
        overview.push((ui::LINT_IGNORED.text(), Text::same(ignored.to_string())));
    }
    overview
}

fn undecided_table(statements: &[Statement]) -> Option<Table> {
    let undecided = statements.iter().filter(|one| one.state == StatementState::Undecided);
    let rows = undecided.take(UNDECIDED).map(|one| {
        vec![Text::same(format!("{}:{}", one.file, one.line)), Text::same(one.says.clone())]
    });
    let rows: Vec<_> = rows.collect();
    (!rows.is_empty()).then(|| Table {
        title: ui::LINT_UNDECIDED.text(),
        head: [ui::TRIAGE_PLACE, ui::LINT_STATEMENT].map(ui::Label::text).to_vec(),
        rows,
    })
}

fn prove(statements: &[Statement], findings: &[Finding], gaps: Vec<Text>) -> Proof {
    let gap = gaps.into_iter().next();
    let undecided = count(statements, StatementState::Undecided);
    goals::prove("lint", "statements", BTreeMap::new(), |link| {
        let open = |reason: Text| Coverage::NotExamined { reason, settle: link.settle.clone() };
        let coverage = match link.id.as_str() {
            "read" => gap.clone().map(open),
            "found" if statements.is_empty() => Some(open(ui::LINT_NONE.text())),
            "agree" => {
                let found = goals::contradictions(findings, &|_| true);
                let has_none = found.is_empty();
                (!has_none).then_some(Coverage::Contradicted { findings: found, reason: None })
            }
            "decided" if undecided > 0 => Some(open(ui::LintOpen { n: undecided }.text())),
            _ => None,
        };
        (coverage.unwrap_or(Coverage::Shown), None)
    })
}

#[cfg(test)]
mod tests {
    use base::report::Verdict;

    use super::*;

    fn verdict(text: &str) -> Option<Verdict> {
        let input = Input { name: "a.md".to_owned(), text: text.to_owned() };
        lint("a.md", &[input], &[]).verdict()
    }

    #[test]
    fn a_text_passes_only_with_statements_that_agree() {
        assert_eq!(verdict("Hello"), Some(Verdict::Inconclusive));
        assert_eq!(verdict("`pip install torch-npu==2.7.1`"), Some(Verdict::Pass));
        assert_eq!(verdict("`pip install torch-npu==99.1.0`"), Some(Verdict::Inconclusive));
        assert_eq!(verdict("`pip install vllm-ascend==0.11.4`"), Some(Verdict::Fail));
    }

    #[test]
    fn a_comment_takes_statements_out() {
        let text =
            "<!-- ascend-doctor: ignore -->\n`npu-smi list`\n\n`pip install torch-npu==2.7.1`";
        assert_eq!(verdict(text), Some(Verdict::Pass));
        let only = "`npu-smi list` <!-- ascend-doctor: ignore -->";
        assert_eq!(verdict(only), Some(Verdict::Inconclusive));
    }

    #[test]
    fn a_repeated_statement_is_one_finding() {
        let text = "`npu-smi list`\n\n`npu-smi list`\n";
        let input = Input { name: "a.md".to_owned(), text: text.to_owned() };
        let report = lint("a.md", &[input], &[]);
        assert_eq!(report.findings.len(), 1);
        assert_eq!(report.findings[0].evidence.len(), 2);
    }
}
