//! The report of a run: findings and results of [`judge`], tables, and the fields of the JSON form.

mod tables;

use std::collections::BTreeMap;

use super::judge::{JudgeContext, judge};
use super::libraries::Installation;
use super::members::VerifyMembers;
use super::parent::ChildResult;
use super::protocol::{Dtype, Event, Outcome, Stage};
use super::run::RunResult;
use base::report::{CheckState, Coverage, Proof, Report, Table};
use base::text::{Lang, Text};
use data::{goals, ui};

/// Mark of all output about simulated libraries.
const SIMULATED: &str = "SIMULATED";

/// The host of a run.
#[derive(Debug, Clone)]
pub struct Host {
    /// Name in the report.
    pub name: String,
    /// Digest that identifies the installation of the operating system.
    pub machine: Option<String>,
    /// Digest that identifies the boot.
    pub boot: Option<String>,
    /// End of the run: seconds since 1970, UTC.
    pub taken: Option<u64>,
}

/// Builds the report of a run. `installed` is the installation that the children used although it
/// is outside the search path of the dynamic linker.
pub fn report(
    done: &RunResult,
    stages: &[Stage],
    around: &JudgeContext,
    host: &Host,
    installed: Option<&Installation>,
) -> Report {
    let judgement = judge(done, stages, around);
    let simulated = done
        .children()
        .flat_map(|ran| &ran.events)
        .any(|event| matches!(event, Event::Loaded { simulated: true, .. }));
    let name = &host.name;
    let subject = if simulated { format!("{name} ({SIMULATED})") } else { name.clone() };
    let mut report = Report::new("verify", subject.trim().to_owned());
    report.findings = judgement.findings;
    report.results = judgement.results;
    report.proof = Some(prove(done, stages, &report, &judgement.open));
    if simulated {
        report.notes.push(ui::VERIFY_SIMULATED.text());
        report.provenance.push(("libraries", Text::same(SIMULATED)));
        for finding in &mut report.findings {
            finding.title.en = format!("{SIMULATED} {}", finding.title.en);
            finding.title.zh = format!("{SIMULATED} {}", finding.title.zh);
        }
        for result in &mut report.results {
            result.name.en = format!("{SIMULATED} {}", result.name.en);
            result.name.zh = format!("{SIMULATED} {}", result.name.zh);
        }
    }
    for event in &done.first.events {
        match event {
            Event::Interface { version: [major, minor, patch] } => report.overview.push((
                ui::VERIFY_INTERFACE.text(),
                Text::same(format!("{major}.{minor}.{patch}")),
            )),
            Event::Cann { version } => {
                report.overview.push((Text::same("CANN"), Text::same(version)));
            }
            Event::Loaded { libraries, .. } => {
                let names: Vec<&str> = libraries.iter().map(|lib| lib.name.as_str()).collect();
                report.overview.push((ui::VERIFY_LIBRARIES.text(), Text::same(names.join(", "))));
            }
            _ => {}
        }
    }
    for stage in stages {
        let passed = report.results.iter().any(|result| {
            result.id == stage.finding_id().as_str() && result.state == CheckState::Passed
        });
        if passed {
            report.notes.push(coverage_note(*stage).text());
        }
    }
    if let Some(installed) = installed {
        report.notes.push(ui::VerifyFoundCann { path: &installed.path }.text());
    }
    if !done.left.is_empty() {
        let processes = done.left.join(", ");
        report.notes.push(ui::VerifyLeft { processes }.text());
    }
    if !done.devices.is_empty() {
        report.tables.push(device_table(done, stages));
    }
    report.tables.extend(tables::cards(&around.names));
    report.tables.extend(tables::coverage(done));
    report.tables.extend(tables::times(done, &around.names));
    report.tables.extend(tables::health(done, &around.names));
    report.tables.extend(error_table(done));
    for card in around.names.0.iter().filter(|card| !card.unmatched.is_empty()) {
        let (device, what) = (card.device, card.unmatched.join(", "));
        report.notes.push(ui::VerifyUnmatched { device, what }.text());
    }
    report.notes.extend(tables::peak_shares(done, &around.names));
    if let Some(why) = &done.history.refusal {
        report.notes.push(if why.is_empty() {
            ui::VERIFY_NO_HEALTH.text()
        } else {
            ui::VerifyNoDcmi { why }.text()
        });
    }
    report.add_members(&VerifyMembers::new(done, host, &around.names.0, simulated));
    report
}

/// Proves that the devices compute correctly. A reason for an inconclusive run applies to each
/// stage that did not pass, and to the run.
fn prove(
    done: &RunResult,
    stages: &[Stage],
    report: &Report,
    open: &[(Text, Option<Text>)],
) -> Proof {
    let n = done.devices.len();
    let has_passed = |id: &str| {
        report.results.iter().any(|result| id == result.id && result.state == CheckState::Passed)
    };
    let is_shown = |id: &String| {
        let mut own = stages.iter().filter(|stage| *id == stage.finding_id());
        own.any(|_| has_passed(id))
    };
    // If none of the requested stages could run, loaded libraries and opened devices prove nothing.
    let asked = || stages.iter().filter(|stage| **stage > Stage::Runtime);
    let nothing_ran =
        asked().next().is_some() && !asked().any(|stage| has_passed(stage.finding_id().as_str()));
    let shown = goals::links("verify").filter(|link| link.key.iter().any(is_shown));
    let names: Vec<&Text> = shown.map(|link| &link.name).collect();
    let join =
        |lang, by: &str| names.iter().map(|name| name.get(lang)).collect::<Vec<_>>().join(by);
    let values = BTreeMap::from([
        ("devices", ui::GoalDevices { n }.text()),
        ("stages", Text::new(join(Lang::En, ", "), join(Lang::Zh, "、"))),
    ]);
    goals::prove("verify", "devices", values, |link| {
        let unsettled = || {
            let (reason, settle) = open.first()?.clone();
            let settle = settle.unwrap_or_else(|| link.settle.clone());
            Some(Coverage::NotExamined { reason, settle })
        };
        if link.key.is_empty() {
            let belongs = |id: &str| link.checks.iter().any(|own| own == id);
            let errors = goals::contradictions(&report.findings, &belongs);
            if !errors.is_empty() {
                return (Coverage::Contradicted { findings: errors, reason: None }, None);
            }
            return (unsettled().unwrap_or(Coverage::Shown), None);
        }
        let passed = report.results.iter().any(|result| {
            link.key.iter().any(|id| id == result.id)
                && matches!(result.state, CheckState::Passed | CheckState::NotApplicable)
        });
        let coverage = goals::judge_checks(link, &report.results, &report.findings);
        let is_asked =
            stages.iter().any(|stage| link.key.iter().any(|id| id == stage.finding_id().as_str()));
        let coverage = match coverage {
            Coverage::NotApplicable { reason } if nothing_ran && is_asked => {
                Coverage::NotExamined { reason, settle: link.settle.clone() }
            }
            Coverage::Shown if !passed => unsettled().unwrap_or(Coverage::Shown),
            coverage => coverage,
        };
        (coverage, None)
    })
}

/// Returns the key of the note in `data/ui.toml` on what a passed stage proves.
const fn coverage_note(stage: Stage) -> ui::Label {
    match stage {
        Stage::Load => ui::VERIFY_PROVES_LOAD,
        Stage::Runtime => ui::VERIFY_PROVES_RUNTIME,
        Stage::Memory => ui::VERIFY_PROVES_MEMORY,
        Stage::Compute => ui::VERIFY_PROVES_COMPUTE,
        Stage::Kernel => ui::VERIFY_PROVES_KERNEL,
        Stage::Fabric => ui::VERIFY_PROVES_FABRIC,
        Stage::Stress => ui::VERIFY_PROVES_STRESS,
    }
}

/// Creates the table of devices: chip, result of each stage, duration.
fn device_table(done: &RunResult, stages: &[Stage]) -> Table {
    let of = |device: Option<i32>, stage: Stage| -> Vec<&ChildResult> {
        let own = |ran: &&ChildResult| ran.device == device;
        match stage {
            // One child copies between all of them.
            Stage::Fabric => done.peers.iter().chain(done.ranks.iter().filter(own)).collect(),
            Stage::Stress => done.loads.iter().filter(own).collect(),
            _ => done.devices.iter().filter(own).collect(),
        }
    };
    let mark = |children: &[&ChildResult], stage: Stage| {
        let (mut open, mut seen) = (false, "");
        for event in children.iter().flat_map(|ran| &ran.events) {
            match event {
                Event::Begin { stage: of, .. } if *of == stage => open = true,
                Event::StepEnd { stage: of, outcome, .. } if *of == stage => {
                    open = false;
                    seen = match (outcome, seen) {
                        (Outcome::Failed { .. }, _) | (_, "✗") => "✗",
                        (Outcome::NotSupported { .. }, "") => "–",
                        (Outcome::NotSupported { .. }, before) => before,
                        (Outcome::Passed, _) => "✓",
                    };
                }
                _ => {}
            }
        }
        // A stage without an end terminated the process.
        if open { "✗" } else { seen }.to_owned()
    };
    let row = |ran: &ChildResult| {
        let mut row = vec![
            ran.device.map(|device| device.to_string()).unwrap_or_default(),
            ran.soc().unwrap_or_default().to_owned(),
        ];
        row.extend(stages.iter().map(|stage| mark(&of(ran.device, *stage), *stage)));
        row.push(format!("{:.0}", ran.took.as_secs_f64() * 1e3));
        row.into_iter().map(Text::same).collect::<Vec<_>>()
    };
    let mut head = vec![ui::VERIFY_DEVICE.text(), ui::VERIFY_CHIP.text()];
    head.extend(stages.iter().map(|stage| Text::same(stage.as_str())));
    head.push(Text::same("ms"));
    Table { title: ui::VERIFY_DEVICES.text(), head, rows: done.devices.iter().map(row).collect() }
}

/// Creates the table of the largest relative errors of all devices, by element type.
fn error_table(done: &RunResult) -> Option<Table> {
    let mut most: Vec<(&'static str, f64)> = Vec::new();
    for event in done.devices.iter().flat_map(|ran| &ran.events) {
        let Event::StepEnd { step, relative_error: Some(error), .. } = event else { continue };
        let Some(dtype) = Dtype::ALL.into_iter().find(|dtype| step.contains(dtype.as_str())) else {
            continue;
        };
        match most.iter_mut().find(|(name, _)| *name == dtype.as_str()) {
            Some((_, seen)) => *seen = seen.max(*error),
            None => most.push((dtype.as_str(), *error)),
        }
    }
    let row = |(name, error): &(&'static str, f64)| {
        vec![Text::same(*name), Text::same(format!("{error:.2e}"))]
    };
    let head = vec![ui::VERIFY_TYPE.text(), ui::VERIFY_ERROR.text()];
    let rows: Vec<Vec<Text>> = most.iter().map(row).collect();
    (!rows.is_empty()).then(|| Table { title: ui::VERIFY_ERRORS.text(), head, rows })
}
