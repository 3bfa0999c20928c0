//! Who answered, and under which name.

use super::{Context, format_hosts, hosts_evidence};
use base::report::{Evidence, Outcome, RawFinding};

/// As many documents as are named.
const NAMED: usize = 20;

/// What was given and is no report.
pub(super) fn check_unread(ctx: &Context<'_>) -> Outcome {
    let fleet = ctx.fleet;
    let mut out = Vec::new();
    let total = fleet.unread.len() + fleet.unread_more;
    if total > 0 {
        let names = format_hosts(fleet.unread.iter().map(|unread| unread.source.as_str()));
        let mut found = RawFinding::warning("FLEET-READ", "unreadable")
            .arg("count", total.to_string())
            .arg("sources", names);
        for unread in fleet.unread.iter().take(NAMED) {
            found = found.evidence(Evidence::host(&unread.source).says(unread.why.clone()));
        }
        out.push(found);
    }
    if fleet.refused > 0 {
        out.push(
            RawFinding::warning("FLEET-READ", "too_many").arg("count", fleet.refused.to_string()),
        );
    }
    if fleet.cut > 0 {
        out.push(RawFinding::warning("FLEET-READ", "cut").arg("count", fleet.cut.to_string()));
    }
    out.into()
}

/// Hosts that were expected and did not answer, or answered and were not expected.
pub(super) fn check_hosts(ctx: &Context<'_>) -> Outcome {
    let Some(expected) = &ctx.options.expected else {
        return Outcome::not_applicable("fleet_no_expect");
    };
    let missing = find_missing(ctx);
    let strange: Vec<&str> = ctx
        .fleet
        .hosts
        .keys()
        .map(String::as_str)
        .filter(|host| expected.name(host).is_none())
        .collect();
    let mut out = Vec::new();
    if !missing.is_empty() {
        let found = RawFinding::warning("FLEET-HOSTS", "missing")
            .arg("count", missing.len().to_string())
            .arg("expected", expected.names().count().to_string())
            .arg("hosts", format_hosts(missing.iter().copied()));
        out.push(found.evidence(hosts_evidence(missing)));
    }
    if !strange.is_empty() {
        let found = RawFinding::info("FLEET-HOSTS", "unexpected")
            .arg("count", strange.len().to_string())
            .arg("hosts", format_hosts(strange.iter().copied()));
        out.push(found.evidence(hosts_evidence(strange)));
    }
    out.into()
}

/// The expected hosts of which nothing came.
pub(crate) fn find_missing<'a>(ctx: &Context<'a>) -> Vec<&'a str> {
    let Some(expected) = &ctx.options.expected else { return Vec::new() };
    let heard = ctx.fleet.hosts.keys().map(String::as_str);
    let heard = heard.chain(ctx.fleet.aliases.iter().map(String::as_str));
    let heard = heard.chain(ctx.fleet.unread.iter().map(|unread| unread.source.as_str()));
    let heard: std::collections::BTreeSet<&str> =
        heard.filter_map(|host| expected.name(host)).collect();
    expected.names().filter(|name| !heard.contains(name)).collect()
}

/// Different machines that call themselves the same: the reports of one hide those of the other.
pub(super) fn check_names(ctx: &Context<'_>) -> Outcome {
    let doubles = &ctx.fleet.doubles;
    if doubles.is_empty() {
        return Outcome::Passed;
    }
    let mut found = RawFinding::warning("FLEET-NAME", "double")
        .arg("hosts", format_hosts(doubles.keys().map(String::as_str)))
        .arg("count", doubles.len().to_string());
    for (name, ids) in doubles.iter().take(NAMED) {
        found = found.evidence(Evidence::host(name).value(ids.join(", ")));
    }
    vec![found].into()
}
