//! The proof of a fleet: every expected host reported, each passes, and all are set up alike.

use std::collections::{BTreeMap, BTreeSet};

use super::report::State;
use super::rules::{Context, RULES, format_hosts};
use base::report::{Coverage, Finding, Proof, Severity};
use base::text::Text;
use data::{
    goals::{self, LinkDefinition},
    ui,
};

/// Proves that the fleet is ready. A host without a report, or without a verdict, is never ready.
pub(super) fn prove(context: &Context<'_>, missing: &[&str], findings: &[Finding]) -> Proof {
    let fleet = context.fleet;
    let hosts = ui::FleetHostsLine { n: fleet.hosts.len() }.text();
    goals::prove("fleet", "fleet", BTreeMap::from([("hosts", hosts)]), |link| {
        let open = |reason| Some(Coverage::NotExamined { reason, settle: link.settle.clone() });
        let coverage = match link.id.as_str() {
            "hosts" if fleet.hosts.is_empty() => open(ui::FLEET_NO_REPORTS.text()),
            "hosts" if !missing.is_empty() => {
                let hosts = format_hosts(missing.iter().copied());
                open(ui::FleetSilent { hosts }.text())
            }
            // Without hosts there is nothing to show.
            "verdicts" | "alike" if fleet.hosts.is_empty() => {
                Some(Coverage::NotApplicable { reason: ui::FLEET_NO_REPORTS.text() })
            }
            "alike" if fleet.hosts.len() == 1 && missing.is_empty() => {
                Some(Coverage::NotApplicable { reason: ui::FLEET_ONE_HOST.text() })
            }
            "reports" => unread(context).and_then(open),
            "verdicts" => verdicts(context, findings, link),
            "alike" => outliers(findings, link),
            _ => None,
        };
        (coverage.unwrap_or(Coverage::Shown), None)
    })
}

fn unread(context: &Context<'_>) -> Option<Text> {
    let fleet = context.fleet;
    let unread = fleet.unread.len() + fleet.unread_more + fleet.refused;
    if unread > 0 {
        return Some(ui::FleetUnread { count: unread }.text());
    }
    (fleet.cut > 0).then(|| ui::FleetCut { count: &fleet.cut }.text())
}

/// Failed hosts contradict the link, inconclusive ones leave it open.
fn verdicts(
    context: &Context<'_>,
    findings: &[Finding],
    link: &LinkDefinition,
) -> Option<Coverage> {
    let fleet = context.fleet;
    let failed = fleet.hosts.iter().filter(|(_, host)| State::of(fleet, host) == State::Errors);
    let failed: Vec<&str> = failed.map(|(name, _)| name.as_str()).collect();
    if !failed.is_empty() {
        let own = |finding: &&Finding| {
            finding.severity == Severity::Error
                && RULES.iter().all(|rule| rule.id.as_str() != finding.id)
        };
        let mut ids: Vec<String> =
            findings.iter().filter(own).map(|finding| finding.id.clone()).collect();
        ids.dedup();
        let hosts = format_hosts(failed.iter().copied());
        let reason = ids.is_empty().then(|| ui::FleetFailed { hosts }.text());
        return Some(Coverage::Contradicted { findings: ids, reason });
    }
    // The most frequent reason comes first.
    let mut reasons: BTreeMap<&Text, BTreeSet<&str>> = BTreeMap::new();
    for (name, host) in &fleet.hosts {
        for text in host.all().flat_map(|said| &said.no_verdict) {
            reasons.entry(text).or_default().insert(name);
        }
    }
    let (text, hosts) = reasons.into_iter().max_by_key(|(_, hosts)| hosts.len())?;
    let hosts = format_hosts(hosts);
    let reason = Text::new(format!("{hosts}: {}", text.en), format!("{hosts}：{}", text.zh));
    Some(Coverage::NotExamined { reason, settle: link.settle.clone() })
}

/// A host with other versions or binaries contradicts the claim that hosts are alike. Addresses,
/// names and clocks contradict it by errors only.
fn outliers(findings: &[Finding], link: &LinkDefinition) -> Option<Coverage> {
    let outlier = |finding: &&Finding| {
        (finding.severity >= Severity::Warning && link.key.contains(&finding.id))
            || (finding.severity == Severity::Error && link.checks.contains(&finding.id))
    };
    let mut ids: Vec<String> =
        findings.iter().filter(outlier).map(|finding| finding.id.clone()).collect();
    ids.dedup();
    (!ids.is_empty()).then_some(Coverage::Contradicted { findings: ids, reason: None })
}
