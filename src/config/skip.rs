//! Known findings that are accepted for a reason and for a limited time.

use serde::Deserialize;

use super::Day;
use base::report::{CheckState, Coverage, Finding, Report};
use base::text::{Text, escape_line, nearest};
use data::{Catalog, Fault, OrFault as _, faults, goals, ui};

/// A `[[skip]]` of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skip {
    /// The ID of a finding or the prefix of a family in capitals, or the ID of a link.
    pub id: String,
    /// Whether `id` is a link of a goal.
    pub is_link: bool,
    /// The reason.
    pub reason: String,
    /// The last day on which it holds.
    pub until: Day,
    /// Its line in the file.
    pub line: usize,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written {
    /// The finding or family.
    id: Option<String>,
    /// The link of a goal, instead of `id`.
    link: Option<String>,
    reason: String,
    /// A text, or a TOML date.
    until: String,
}

/// Validates a skip and looks it up.
pub(super) fn read(written: &Written, line: usize) -> Result<Skip, Fault> {
    let (id, is_link) = match (&written.id, &written.link) {
        (Some(id), None) => (id.trim().to_ascii_uppercase(), false),
        (None, Some(link)) => (link.trim().to_ascii_lowercase(), true),
        _ => return Err(faults::SkipIdOrLink.fault()),
    };
    if is_link && !goals::is_link(&id) {
        let near = nearest(&id, goals::link_ids().map(str::to_owned), 1);
        let what = faults::SkipUnknownLink { id: escape_line(&id).into_owned() }.fault();
        return Err(match near.first() {
            Some(near) => {
                faults::WithHint { hint: faults::DidYouMean { near }.fault(), what }.fault()
            }
            None => what,
        });
    }
    if !is_link && !is_known(&id) {
        return Err(unknown(&id));
    }
    if written.reason.trim().is_empty() {
        return Err(faults::SkipReason.fault());
    }
    let until = Day::parse(&written.until);
    let until = until.or_fault(|| faults::SkipUntil.fault())?;
    Ok(Skip { id, is_link, reason: written.reason.trim().to_owned(), until, line })
}

fn is_known(id: &str) -> bool {
    let catalog = Catalog::builtin();
    catalog.entry(id).is_some()
        || catalog.families().any(|family| family.family.eq_ignore_ascii_case(id))
}

fn unknown(id: &str) -> Fault {
    let catalog = Catalog::builtin();
    let ids = catalog.entries().map(|entry| entry.id.clone());
    let families = catalog.families().map(|family| family.family.to_ascii_uppercase());
    let hint = match nearest(id, ids.chain(families), 1).pop() {
        Some(near) => faults::DidYouMean { near }.fault(),
        None => faults::SkipListHint.fault(),
    };
    let what = faults::SkipUnknownId { id: escape_line(id).into_owned() }.fault();
    faults::WithHint { hint, what }.fault()
}

impl Skip {
    /// Whether it names this id, directly or by its family.
    pub fn names(&self, id: &str) -> bool {
        !self.is_link
            && (self.id == id || id.split('-').next().is_some_and(|family| self.id == family))
    }
}

/// The skips of a run: active and expired ones.
#[derive(Debug, Clone, Default)]
pub struct Skips {
    /// The displayed name of their file.
    file: String,
    active: Vec<Skip>,
    ended: Vec<Skip>,
}

impl Skips {
    /// Separates the skips of a file into active and expired ones by the date `today`.
    pub fn new(file: impl Into<String>, skips: Vec<Skip>, today: Day) -> Self {
        let (active, ended) = skips.into_iter().partition(|skip| today <= skip.until);
        Self { file: file.into(), active, ended }
    }

    /// Drops the skips of checks that the user names: an explicit request requires the result.
    pub fn forget(&mut self, asked: &[String]) {
        let is_asked = |id: &str| asked.iter().any(|name| name.trim().eq_ignore_ascii_case(id));
        self.active.retain(|skip| !is_asked(&skip.id));
        self.ended.retain(|skip| !is_asked(&skip.id));
    }

    /// The reason why the findings of this id are skipped, if they are.
    pub fn reason(&self, id: &str) -> Option<Text> {
        let skip = self.active.iter().find(|skip| skip.names(id))?;
        Some(self.waived(skip))
    }

    /// Removes the skipped findings from a report and adds notes. Their consequences become
    /// separate findings again. An expired skip adds a note that it no longer holds.
    pub fn apply(&self, report: &mut Report) {
        let mut taken: Vec<Finding> = Vec::new();
        let mut kept = Vec::new();
        let mut todo = std::mem::take(&mut report.findings);
        while !todo.is_empty() {
            let mut freed = Vec::new();
            for mut finding in todo {
                finding.consequences.retain(|folded| self.reason(&folded.id).is_none());
                if self.reason(&finding.id).is_some() {
                    freed.append(&mut finding.consequences);
                    taken.push(finding);
                } else {
                    kept.push(finding);
                }
            }
            todo = freed;
        }
        report.findings = kept;
        self.waive_links(report, &taken);
        for result in &mut report.results {
            match self.reason(result.id) {
                // A check that passed keeps its result.
                Some(reason) if matches!(result.state, CheckState::Found | CheckState::Folded) => {
                    result.state = CheckState::NotChecked;
                    result.reason = Some(reason);
                }
                None if result.state == CheckState::Folded => {
                    let on_top = report.findings.iter().any(|finding| finding.id == result.id);
                    result.state = if on_top { CheckState::Found } else { result.state };
                }
                _ => {}
            }
        }
        // Findings with a row among the results are shown there.
        taken.retain(|finding| report.results.iter().all(|result| result.id != finding.id));
        for skip in &self.active {
            let n = taken.iter().filter(|finding| skip.names(&finding.id)).count();
            if n > 0 {
                let said = self.waived(skip);
                let count = ui::SkippedFindings { id: &skip.id, n }.text();
                report.notes.push(Text::new(
                    format!("{}: {}", count.en, said.en),
                    format!("{}：{}", count.zh, said.zh),
                ));
            }
        }
        for skip in &self.ended {
            let matters = report.findings.iter().any(|finding| skip.names(&finding.id))
                || report.results.iter().any(|result| skip.names(result.id));
            if matters {
                let (file, Skip { id, reason, until, .. }) = (self.place(skip), skip);
                report.notes.push(ui::SkipEnded { file, id, reason, until }.text());
            }
        }
    }

    /// Removes links from the verdict: those that a skip names, with the findings that contradict
    /// them, and those that only skipped findings contradict.
    fn waive_links(&self, report: &mut Report, taken: &[Finding]) {
        let Some(proof) = &mut report.proof else { return };
        for link in &mut proof.links {
            let named = self.active.iter().find(|skip| skip.is_link && skip.id == link.id);
            let settled = matches!(link.coverage, Coverage::Shown | Coverage::NotApplicable { .. });
            if let Some(skip) = named.filter(|_| !settled) {
                if let Coverage::Contradicted { findings, .. } = &link.coverage {
                    report.findings.retain(|finding| !findings.contains(&finding.id));
                }
                link.coverage = Coverage::Waived { reason: self.waived(skip) };
                continue;
            }
            if let Coverage::Contradicted { findings, reason: None } = &mut link.coverage {
                findings.retain(|id| self.reason(id).is_none());
                let first = taken.iter().find_map(|finding| self.reason(&finding.id));
                if let (true, Some(reason)) = (findings.is_empty(), first) {
                    link.coverage = Coverage::Waived { reason };
                }
            }
        }
    }

    /// The file and line of the skip.
    fn place(&self, skip: &Skip) -> String {
        format!("{}:{}", self.file, skip.line)
    }

    fn waived(&self, skip: &Skip) -> Text {
        let (file, Skip { reason, until, .. }) = (self.place(skip), skip);
        ui::SkippedBySettings { file, reason, until }.text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::report::{RuleResult, fold_consequences};

    fn skips(id: &str, until: &str) -> Skips {
        let until = Day::parse(until).unwrap();
        let skip =
            Skip { is_link: false, id: id.to_owned(), reason: "known".to_owned(), until, line: 3 };
        Skips::new("ascend-doctor.toml", vec![skip], Day::parse("2026-11-22").unwrap())
    }

    fn report() -> Report {
        let found =
            |id: &str, because: Vec<&'static str>| Finding { because, ..Finding::remark(id) };
        let mut report = Report::new("check", "node");
        report.findings = fold_consequences(vec![
            found("CANN-ENV", Vec::new()),
            found("TNPU-LINK", vec!["CANN-ENV"]),
            found("PY-DUP", Vec::new()),
        ]);
        let row = |id, state| RuleResult::new(id, Text::same(id), state);
        report.results = vec![
            row("CANN-ENV", CheckState::Found),
            row("TNPU-LINK", CheckState::Folded),
            row("PY-DUP", CheckState::Found),
        ];
        report
    }

    fn ids(report: &Report) -> Vec<&str> {
        report.findings.iter().map(|finding| finding.id.as_str()).collect()
    }

    #[test]
    fn a_skip_takes_its_finding_and_what_that_explained_comes_back() {
        let mut report = report();
        assert_eq!(ids(&report), ["CANN-ENV", "PY-DUP"]);
        skips("CANN-ENV", "2026-11-22").apply(&mut report);
        assert_eq!(ids(&report), ["PY-DUP", "TNPU-LINK"]);
        let verdicts: Vec<CheckState> = report.results.iter().map(|result| result.state).collect();
        assert_eq!(verdicts, [CheckState::NotChecked, CheckState::Found, CheckState::Found]);
        let reason = report.results[0].reason.clone().unwrap().en;
        for part in ["ascend-doctor.toml:3", "2026-11-22", "known"] {
            assert!(reason.contains(part), "{reason}");
        }
    }

    #[test]
    fn a_skip_that_has_ended_is_said_and_skips_nothing() {
        let mut report = report();
        skips("CANN-ENV", "2026-11-21").apply(&mut report);
        assert_eq!(ids(&report), ["CANN-ENV", "PY-DUP"]);
        assert!(report.notes[0].en.contains("2026-11-21"), "{:?}", report.notes);
        let mut other = self::report();
        skips("VLLM-PLUGIN", "2026-11-21").apply(&mut other);
        assert!(other.notes.is_empty(), "it is of no concern here: {:?}", other.notes);
    }

    #[test]
    fn a_family_skips_all_of_it_and_what_has_no_row_is_counted() {
        let mut report = report();
        report.results.clear();
        skips("PY", "2027-01-01").apply(&mut report);
        assert_eq!(ids(&report), ["CANN-ENV"]);
        assert!(report.notes[0].en.starts_with("1 ") || report.notes[0].en.contains("PY"));
    }

    #[test]
    fn a_consequence_can_be_skipped_alone() {
        let mut report = report();
        skips("TNPU", "2027-01-01").apply(&mut report);
        assert!(report.findings[0].consequences.is_empty());
        assert_eq!(report.results[1].state, CheckState::NotChecked);
    }

    #[test]
    fn who_asks_by_name_gets_an_answer() {
        let mut skips = skips("CANN-ENV", "2027-01-01");
        skips.forget(&["cann".to_owned()]);
        assert!(skips.reason("CANN-ENV").is_some());
        skips.forget(&["cann-env".to_owned()]);
        assert!(skips.reason("CANN-ENV").is_none());
    }
}
