//! Whether a project will run on NPUs: combines the reports on its sources, operators and
//! requirements into one verdict.
//!
//! Must not touch: files, the terminal. `cmd` collects the reports.

mod requirements;

use std::collections::{BTreeMap, BTreeSet};

use base::report::{Coverage, Finding, Proof, Report, Severity, Table, Verdict};
use base::text::{Text, shell_quote};
use data::{goals, ui};
use serde::Serialize;
use serde_json::Value;

pub(crate) use requirements::{
    Requirement, RequirementState, judge as judge_requirements, read_requirements,
};

/// The input of a port.
#[derive(Debug)]
pub(crate) struct Sources {
    /// The directory, as the user wrote it.
    pub dir: String,
    /// The report of a preview of `convert`.
    pub convert: Report,
    /// The report of `audit-ops`, or the reason why there is none.
    pub audit: Result<Report, Text>,
    /// The requirements of the project, compared with the matrix.
    pub requirements: Vec<Requirement>,
    /// The report of `check` if this machine has NPUs or Ascend software.
    pub machine: Option<Report>,
}

/// The result of a port in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// It runs after the automatic changes.
    Automatic,
    /// Some places need a manual decision, but do not block the start.
    Decisions,
    /// An obstacle blocks the start or training.
    Blocked,
    /// Not everything was examined.
    Unknown,
}

/// A step of the work, in order.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct WorkStep {
    /// The description.
    pub text: Text,
    /// The command line.
    pub run: String,
}

/// The members of the JSON report that only `port` has.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct PortMembers<'a> {
    /// The result.
    pub outcome: Outcome,
    /// Number of automatic changes.
    pub automatic: u64,
    /// Number of places that need a manual decision.
    pub decisions: u64,
    /// Number of causes that block the start or training.
    pub blocking: u64,
    /// IDs of the findings that block.
    pub blocked_by: &'a [String],
    /// The requirements of the project.
    pub requirements: &'a [Requirement],
    /// The order of work.
    pub steps: &'a [WorkStep],
}

/// Combines all reports into one.
pub(crate) fn combine(sources: Sources) -> Report {
    let Sources { dir, convert, audit, requirements, machine } = sources;
    let mut report = Report::new("port", dir.clone());
    report.about_sources = true;
    let (automatic, decisions) =
        (number(&convert, "counts", "changes"), number(&convert, "counts", "flagged"));
    let blocking = number(&convert, "work", "start") + number(&convert, "work", "training");
    let known: BTreeSet<(String, u32)> = convert.findings.iter().flat_map(places).collect();
    // `convert` reports pins of torch that it cannot change: one root cause is one finding.
    let conflicts = requirements.iter().filter_map(requirements::finding);
    let conflicts = conflicts.filter(|finding| places(finding).is_disjoint(&known));
    report.findings.extend(conflicts);
    report.findings.extend(convert.findings.iter().cloned());
    // An import that `convert` reports needs no second finding.
    let is_new = |finding: &&Finding| {
        let own = places(finding);
        own.is_empty() || !own.iter().all(|place| known.contains(place))
    };
    let audited = audit.iter().flat_map(|audit| &audit.findings);
    report.findings.extend(audited.filter(is_new).cloned());
    if let Some(machine) = &machine {
        report
            .findings
            .extend(machine.findings.iter().filter(|one| one.severity >= Severity::Error).cloned());
    }
    let only_decisions = decisions > 0
        && blocking == 0
        && requirements.iter().all(|one| one.state != RequirementState::Conflict);
    let goal = if only_decisions { "decisions" } else { "project" };
    let proof = prove(goal, &convert, audit.as_ref(), &requirements, machine.as_ref(), decisions);
    let blocked_by = blockers(&proof, &report.findings);
    let outcome = match proof.verdict() {
        _ if blocking > 0 || !blocked_by.is_empty() => Outcome::Blocked,
        _ if decisions > 0 => Outcome::Decisions,
        Verdict::Inconclusive => Outcome::Unknown,
        Verdict::Pass => Outcome::Automatic,
        Verdict::Fail => Outcome::Blocked,
    };
    let steps = steps(&dir, automatic, decisions, &requirements, machine.is_some());
    report.overview = overview(outcome, automatic, decisions, blocking, audit.as_ref().ok());
    report.tables.extend(requirements::table(&requirements));
    report.tables.push(steps_table(&steps));
    report.provenance = convert.provenance;
    report.proof = Some(proof);
    report.add_members(&PortMembers {
        outcome,
        automatic,
        decisions,
        blocking,
        blocked_by: &blocked_by,
        requirements: &requirements,
        steps: &steps,
    });
    report
}

/// A number that a report carries for JSON.
fn number(report: &Report, group: &str, name: &str) -> u64 {
    report.extra.get(group).and_then(|group| group.get(name)).and_then(Value::as_u64).unwrap_or(0)
}

/// File and line of all evidence, without `./`.
pub(crate) fn places(finding: &Finding) -> BTreeSet<(String, u32)> {
    let of = |one: &base::report::Evidence| {
        Some((one.source.trim_start_matches("./").to_owned(), one.line?))
    };
    finding.evidence.iter().filter_map(of).collect()
}

fn prove(
    goal: &str,
    convert: &Report,
    audit: Result<&Report, &Text>,
    requirements: &[Requirement],
    machine: Option<&Report>,
    decisions: u64,
) -> Proof {
    let of = |report: &Report, id: &str| {
        let link = report.proof.as_ref().and_then(|proof| proof.link(id));
        link.map(|link| link.coverage.clone())
    };
    goals::prove("port", goal, BTreeMap::new(), |link| {
        let open = |reason: Text| Coverage::NotExamined { reason, settle: link.settle.clone() };
        let coverage = match link.id.as_str() {
            "files" => of(convert, "files"),
            "changes" => of(convert, "changes"),
            "work" => of(convert, "manual"),
            "mentions" => of(convert, "mentions"),
            "operators" => match audit {
                Ok(audit) => of_audit(audit),
                Err(why) => Some(open(why.clone())),
            },
            "requirements" => Some(requirements::coverage(requirements, convert, &open)),
            "decisions" if decisions > 0 => {
                Some(Coverage::contradicted_because(ui::PortDecisions { n: decisions }.text()))
            }
            "decisions" => Some(Coverage::Shown),
            _ => Some(match machine {
                None => Coverage::NotApplicable { reason: ui::PORT_NO_MACHINE.text() },
                Some(machine) => of_machine(machine, &open),
            }),
        };
        (coverage.unwrap_or(Coverage::Shown), None)
    })
}

/// The coverage of the operators: contradicted or open if the audit of the sources is.
fn of_audit(audit: &Report) -> Option<Coverage> {
    let proof = audit.proof.as_ref()?;
    let verdict = proof.verdict();
    if verdict == Verdict::Pass {
        return Some(Coverage::Shown);
    }
    // Sources without a model have no operators to check.
    proof.deciding().next().map(|link| link.coverage.clone())
}

fn of_machine(machine: &Report, open: &dyn Fn(Text) -> Coverage) -> Coverage {
    match machine.verdict() {
        Some(Verdict::Pass) | None => Coverage::Shown,
        Some(Verdict::Fail) => {
            let errors = machine.findings.iter().filter(|one| one.severity >= Severity::Error);
            let findings: Vec<String> = errors.map(|one| one.id.clone()).collect();
            Coverage::Contradicted { findings, reason: None }
        }
        Some(Verdict::Inconclusive) => open(ui::PORT_MACHINE_UNKNOWN.text()),
    }
}

/// The findings that contradict a required link.
fn blockers(proof: &Proof, findings: &[Finding]) -> Vec<String> {
    let mut all = Vec::new();
    for link in proof.links.iter().filter(|link| link.need == base::report::Need::Required) {
        if let Coverage::Contradicted { findings: own, .. } = &link.coverage {
            let known = own.iter().filter(|id| findings.iter().any(|one| one.id == **id));
            for id in known {
                if !all.contains(id) {
                    all.push(id.clone());
                }
            }
        }
    }
    all
}

fn overview(
    outcome: Outcome,
    automatic: u64,
    decisions: u64,
    blocking: u64,
    audit: Option<&Report>,
) -> Vec<(Text, Text)> {
    let result = match outcome {
        Outcome::Automatic => ui::PORT_AUTOMATIC.text(),
        Outcome::Decisions => ui::PortDecisions { n: decisions }.text(),
        Outcome::Blocked => ui::PORT_BLOCKED.text(),
        Outcome::Unknown => ui::PORT_UNKNOWN.text(),
    };
    let mut overview = vec![(ui::PORT_RESULT.text(), result)];
    let sources = ui::PortSources { automatic, decisions, blocking }.text();
    overview.push((ui::PORT_SOURCES_LABEL.text(), sources));
    // The line of the audit with the shares by place of execution.
    overview.extend(audit.and_then(|audit| audit.overview.last().cloned()));
    overview
}

fn steps(
    dir: &str,
    automatic: u64,
    decisions: u64,
    requirements: &[Requirement],
    has_machine: bool,
) -> Vec<WorkStep> {
    let quoted = shell_quote(dir);
    let mut steps = Vec::new();
    let mut step = |label: ui::Label, run: String| steps.push(WorkStep { text: label.text(), run });
    let torch = requirements.iter().find(|one| one.name == "torch");
    let version = torch.and_then(|torch| torch.fitting.first());
    step(
        ui::PORT_STEP_INSTALL,
        match version {
            Some(version) => format!("ascend-doctor compat --torch {version}"),
            None => "ascend-doctor compat".to_owned(),
        },
    );
    if automatic > 0 {
        step(ui::PORT_STEP_CONVERT, format!("ascend-doctor convert -r {quoted}"));
    }
    if decisions > 0 {
        step(ui::PORT_STEP_DECIDE, format!("ascend-doctor convert {quoted} --ledger work.csv"));
    }
    step(ui::PORT_STEP_AUDIT, format!("ascend-doctor audit-ops {quoted}"));
    if !has_machine {
        step(ui::PORT_STEP_CHECK, "ascend-doctor check".to_owned());
    }
    step(ui::PORT_STEP_VERIFY, "ascend-doctor verify".to_owned());
    steps
}

fn steps_table(steps: &[WorkStep]) -> Table {
    let rows = (1..).zip(steps).map(|(number, step): (u32, _)| {
        vec![Text::same(number.to_string()), step.text.clone(), Text::same(step.run.clone())]
    });
    Table {
        title: ui::PORT_STEPS.text(),
        head: [ui::PORT_NUMBER, ui::PORT_STEP, ui::TRIAGE_COMMAND].map(ui::Label::text).to_vec(),
        rows: rows.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(convert: Report, requirements: Vec<Requirement>) -> Sources {
        let audit = Ok(Report::new("audit-ops", "."));
        Sources { dir: ".".to_owned(), convert, audit, requirements, machine: None }
    }

    fn outcome(report: &Report) -> String {
        report.extra["outcome"].as_str().unwrap_or_default().to_owned()
    }

    #[test]
    fn places_without_a_block_are_decisions() {
        let mut convert = Report::new("convert", ".");
        convert
            .extra
            .insert("counts".to_owned(), serde_json::json!({ "changes": 2, "flagged": 3 }));
        assert_eq!(outcome(&combine(sources(convert.clone(), Vec::new()))), "decisions");
        convert.extra.insert("work".to_owned(), serde_json::json!({ "start": 1 }));
        assert_eq!(outcome(&combine(sources(convert, Vec::new()))), "blocked");
    }

    #[test]
    fn requirements_without_a_release_block() {
        let convert = Report::new("convert", ".");
        let old = judge_requirements(&read_requirements("requirements.txt", "torch==1.2.0\n"));
        assert_eq!(outcome(&combine(sources(convert, old))), "blocked");
    }

    #[test]
    fn an_import_is_one_finding() {
        let mut convert = Report::new("convert", ".");
        let place = || base::report::Evidence::file("train.py").line(2);
        let finding = |id: &str| Finding { evidence: vec![place()], ..Finding::remark(id) };
        convert.findings.push(finding("CV0475"));
        let mut all = sources(convert, Vec::new());
        let mut audit = Report::new("audit-ops", ".");
        audit.findings.push(finding("OPS-LIBRARY"));
        all.audit = Ok(audit);
        assert_eq!(combine(all).findings.len(), 1);
    }
}
