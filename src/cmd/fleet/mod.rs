//! `fleet`: merges the reports of many hosts.

mod inputs;
mod search;

use anyhow::ensure;
use data::{OrFault as _, faults};
use serde::Deserialize;

use super::argument_file::read_argument;
use super::output::Output;
use super::query;
use crate::cli::{FleetCommand, MergeArgs};
use base::report::ExitStatus;
use checks::site::{self, Expectations};
use data::ui;
use facts::Facts;
use fleet::{Expected, Fleet, GroupBy, Options, ReportedFinding, SiteJudge, SiteJudgement, report};
use machine::collect::read_clock;

/// Maximum size of the file of expected hosts, in bytes.
const EXPECT_LIMIT: u64 = 16 << 20;
/// Maximum length of a shown line that does not belong to a report, in characters.
const SHOWN: usize = 120;

pub(super) fn run(command: &FleetCommand, output: &Output) -> anyhow::Result<ExitStatus> {
    match command {
        FleetCommand::Merge(args) => merge(args, output),
    }
}

/// Checks the facts of a report against the expectations of a site. The result is unknown for a
/// report without facts.
fn judge(bytes: &[u8], site: &Expectations) -> SiteJudgement {
    #[derive(Deserialize)]
    struct Document {
        facts: Facts,
    }
    let Ok(Document { facts }) = serde_json::from_slice(bytes) else {
        return SiteJudgement { findings: Vec::new(), unknown: Some(ui::SITE_NO_FACTS.text()) };
    };
    let (findings, unknown) = site::judge_facts(&facts, site);
    let findings = findings.into_iter().map(|finding| ReportedFinding {
        id: finding.id,
        message: finding.message,
        severity: finding.severity,
        title: finding.title,
        cause: finding.cause,
        fix: finding.fix.into_iter().map(|step| (step.text, step.run)).collect(),
    });
    SiteJudgement { findings: findings.collect(), unknown }
}

fn merge(args: &MergeArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    ensure!(
        args.group_by != Some(GroupBy::Role) || args.expect.is_some(),
        faults::RoleNeedsExpect.fault()
    );
    let expected = args
        .expect
        .as_deref()
        .map(|path| {
            let bytes = read_argument(path, EXPECT_LIMIT)?;
            let parsed = Expected::parse(&String::from_utf8_lossy(&bytes));
            parsed.map_err(|why| anyhow::Error::from(faults::PathBecause { path, why }.fault()))
        })
        .transpose()?;
    if query::asks_for_help(&args.query) {
        return query::print_help();
    }
    let keys = query::find_keys(&args.query)?;
    let mut fleet = Fleet::default();
    let site = output.settings().site.as_ref();
    let judge = site.map(|site| move |bytes: &[u8]| judge(bytes, site));
    let judge = judge.as_ref().map(|judge| judge as SiteJudge<'_>);
    let other = inputs::read_all(&args.inputs, &mut fleet, judge)
        .map_err(super::error_message::as_cause)
        .or_fault(|| faults::CannotMerge.fault())?;
    let now = read_clock().and_then(|now| i64::try_from(now).ok());
    let options = Options { group_by: args.group_by, expected, now };
    let mut report = report(&fleet, &options);
    if let Some(line) = other.first {
        let line: String = line.chars().take(SHOWN).collect();
        let count = other.count;
        report.notes.push(ui::FleetOtherLines { count, line }.text());
    }
    let metrics = args.metrics_file.as_deref();
    if keys.is_empty() {
        return super::finish_with_metrics(report, metrics, output);
    }
    output.settle(&mut report);
    query::write(&report, &fleet, &keys, metrics, output)
}
