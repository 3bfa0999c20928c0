//! Hosts that answered, and their names.

use super::{Context, format_hosts, hosts_evidence};
use base::report::Evidence;
use data::{
    Outcome, Reason,
    findings::{fleet_hosts, fleet_name, fleet_read},
};

/// Maximum number of named documents.
const NAMED: usize = 20;

/// Finds inputs that are not reports.
pub(super) fn check_unread(ctx: &Context<'_>) -> Outcome {
    let fleet = ctx.fleet;
    let mut out = Vec::new();
    let total = fleet.unread.len() + fleet.unread_more;
    if total > 0 {
        let names = format_hosts(fleet.unread.iter().map(|unread| unread.source.as_str()));
        let mut found = fleet_read::Unreadable { count: total, sources: names }.warning();
        for unread in fleet.unread.iter().take(NAMED) {
            found = found.evidence(Evidence::host(&unread.source).says(unread.why.clone()));
        }
        out.push(found);
    }
    if fleet.refused > 0 {
        out.push(fleet_read::TooMany { count: fleet.refused }.warning());
    }
    if fleet.cut > 0 {
        out.push(fleet_read::Cut { count: fleet.cut }.warning());
    }
    out.into()
}

/// Finds expected hosts without a report, and unexpected hosts with one.
pub(super) fn check_hosts(ctx: &Context<'_>) -> Outcome {
    let Some(expected) = &ctx.options.expected else {
        return Outcome::NotApplicable(Reason::FleetNoExpect);
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
        let found = fleet_hosts::Missing {
            count: missing.len(),
            expected: expected.names().count().to_string(),
            hosts: format_hosts(missing.iter().copied()),
        }
        .warning();
        out.push(found.evidence(hosts_evidence(missing)));
    }
    if !strange.is_empty() {
        let found = fleet_hosts::Unexpected {
            count: strange.len(),
            hosts: format_hosts(strange.iter().copied()),
        }
        .info();
        out.push(found.evidence(hosts_evidence(strange)));
    }
    out.into()
}

/// The expected hosts without any report.
pub(crate) fn find_missing<'a>(ctx: &Context<'a>) -> Vec<&'a str> {
    let Some(expected) = &ctx.options.expected else { return Vec::new() };
    let heard = ctx.fleet.hosts.keys().map(String::as_str);
    let heard = heard.chain(ctx.fleet.aliases.iter().map(String::as_str));
    let heard = heard.chain(ctx.fleet.unread.iter().map(|unread| unread.source.as_str()));
    let heard: std::collections::BTreeSet<&str> =
        heard.filter_map(|host| expected.name(host)).collect();
    expected.names().filter(|name| !heard.contains(name)).collect()
}

/// Finds different machines with the same name: the reports of one hide those of the other.
pub(super) fn check_names(ctx: &Context<'_>) -> Outcome {
    let doubles = &ctx.fleet.doubles;
    if doubles.is_empty() {
        return Outcome::Passed;
    }
    let mut found = fleet_name::Double {
        count: doubles.len(),
        hosts: format_hosts(doubles.keys().map(String::as_str)),
    }
    .warning();
    for (name, ids) in doubles.iter().take(NAMED) {
        found = found.evidence(Evidence::host(name).value(ids.join(", ")));
    }
    vec![found].into()
}
