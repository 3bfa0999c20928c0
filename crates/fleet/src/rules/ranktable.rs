//! Compares the rank tables of jobs on several servers with the devices of all hosts.

use data::{Outcome, RawFinding, Reason, findings::fleet_ranktable};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::record::Ranks;
use super::{Context, Group, format_hosts, hosts_evidence};
use base::report::Evidence;

/// Maximum number of named devices.
const NAMED: usize = 20;

pub(super) fn check_tables(ctx: &Context<'_>) -> Outcome {
    let mut out = Vec::new();
    let mut looked = false;
    let all = || ctx.groups.iter().flat_map(|group| &group.hosts);
    // Every device of the fleet by its address. Another rule reports addresses that several devices
    // have.
    let mut owners: BTreeMap<&str, Option<(&str, u32)>> = BTreeMap::new();
    for (name, host) in all() {
        for (number, address, ..) in host.check.iter().flat_map(|said| &said.addresses) {
            let owner = owners.entry(address).or_insert(Some((name, *number)));
            if owner.is_some_and(|(host, _)| host != *name) {
                *owner = None;
            }
        }
    }
    for group in ctx.groups {
        let mut tables: BTreeMap<*const Ranks, (&Arc<Ranks>, Vec<&str>)> = BTreeMap::new();
        for (name, host) in &group.hosts {
            if let Some(table) = host.check.as_ref().and_then(|said| said.table.as_ref()) {
                // Equal tables are shared, so that their pointer identifies them.
                tables.entry(Arc::as_ptr(table)).or_insert((table, Vec::new())).1.push(name);
            }
        }
        let mut tables: Vec<_> = tables.into_values().collect();
        tables.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then(a.1.cmp(&b.1)));
        looked |= !tables.is_empty();
        let mut seen_hosts: BTreeSet<&str> = BTreeSet::new();
        for (place, (table, hosts)) in tables.iter().enumerate() {
            let listed_hosts: BTreeSet<&str> = table
                .iter()
                .filter_map(|(address, _)| owners.get(address.as_str()).copied().flatten())
                .map(|(host, _)| host)
                .collect();
            // Hosts of this table that have a different one.
            let others: Vec<&str> = tables[place + 1..]
                .iter()
                .flat_map(|(_, hosts)| hosts.iter().copied())
                .filter(|host| listed_hosts.contains(host) && seen_hosts.insert(host))
                .collect();
            if !others.is_empty() {
                let found = fleet_ranktable::Differs {
                    count: others.len(),
                    group: group.suffix(),
                    hosts: format_hosts(others.iter().copied()),
                    usual: format_hosts(hosts.iter().copied()),
                };
                out.push(found.warning().evidence(hosts_evidence(others)));
            }
            out.extend(compare_table(table, hosts, &owners, group));
        }
    }
    if looked { out.into() } else { Outcome::NotApplicable(Reason::FleetNoTables) }
}

/// Compares a table with the known devices, and lists devices that no host has.
fn compare_table(
    table: &Ranks,
    hosts: &[&str],
    owners: &BTreeMap<&str, Option<(&str, u32)>>,
    group: &Group<'_>,
) -> impl Iterator<Item = RawFinding> {
    let (mut unknown, mut moved) = (Vec::new(), Vec::new());
    for (address, device) in table {
        match owners.get(address.as_str()) {
            None => unknown.push(address.as_str()),
            Some(Some((host, number))) if device.is_some_and(|device| device != *number) => {
                moved.push((address, *host, *number, device.unwrap_or_default()));
            }
            Some(_) => {}
        }
    }
    let mut out = Vec::new();
    // If most devices of a table are unknown, it belongs to hosts that were not checked, and
    // nothing is reported.
    if !unknown.is_empty() && unknown.len() * 2 <= table.len() {
        let found = fleet_ranktable::Unknown {
            addresses: format_hosts(unknown.iter().copied()),
            count: unknown.len(),
            group: group.suffix(),
            hosts: format_hosts(hosts.iter().copied()),
        };
        out.push(found.warning().evidence(hosts_evidence(unknown)));
    }
    if let Some((address, host, number, device)) = moved.first() {
        let (count, group) = (moved.len(), group.suffix());
        let mut found =
            fleet_ranktable::Moved { address, count, device, group, host, number }.warning();
        for (address, host, number, device) in moved.iter().take(NAMED) {
            let value = format!("address_{number}={address}, device_id {device}");
            found = found.evidence(Evidence::host(*host).value(value));
        }
        out.push(found);
    }
    out.into_iter()
}
