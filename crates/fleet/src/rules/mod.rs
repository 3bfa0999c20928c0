//! Findings that need the reports of several hosts: pure functions from a fleet to findings.

mod addresses;
mod clock;
mod components;
mod presence;
mod ranktable;

use data::{
    FindingId, Outcome,
    findings::{
        fleet_address, fleet_binary, fleet_clock, fleet_hosts, fleet_name, fleet_ranktable,
        fleet_read, fleet_subnet, fleet_version,
    },
    ui,
};
use std::collections::BTreeMap;

use super::component::find_component;
use super::fleet_reports::{Fleet, Host};
use super::record::ComponentValue;
use super::{GroupBy, Options};
use base::text::Text;
pub(super) use components::{count_values, value_text};
pub(super) use presence::find_missing;

/// Hosts that are compared with each other.
#[derive(Debug)]
pub(super) struct Group<'a> {
    /// Its name; empty if all hosts are one group.
    pub(super) name: String,
    /// The hosts.
    pub(super) hosts: Vec<(&'a str, &'a Host)>,
}

impl Group<'_> {
    /// A suffix that names the group in a sentence.
    pub(super) fn suffix(&self) -> Text {
        if self.name.is_empty() {
            return Text::default();
        }
        ui::FleetInGroup { group: &self.name }.text()
    }
}

/// The groups of a fleet, by name.
pub(super) fn form_groups<'a>(fleet: &'a Fleet, options: &Options) -> Vec<Group<'a>> {
    let mut groups: BTreeMap<String, Vec<(&str, &Host)>> = BTreeMap::new();
    for (name, host) in &fleet.hosts {
        let group = match options.group_by {
            None => String::new(),
            Some(GroupBy::Soc) => {
                let known = ["chip", "soc"].map(|key| host.value(find_component(key)));
                let value = known.into_iter().find_map(|value| match value {
                    ComponentValue::Is(value) => Some(value.clone()),
                    _ => None,
                });
                value.unwrap_or_else(|| "?".to_owned())
            }
            Some(GroupBy::Role) => {
                let role = options.expected.as_ref().map_or("", |expected| expected.role(name));
                if role.is_empty() { "?".to_owned() } else { role.to_owned() }
            }
        };
        groups.entry(group).or_default().push((name, host));
    }
    groups.into_iter().map(|(name, hosts)| Group { name, hosts }).collect()
}

/// The input of a rule.
pub(super) struct Context<'a> {
    pub(super) fleet: &'a Fleet,
    pub(super) options: &'a Options,
    pub(super) groups: &'a [Group<'a>],
}

/// A rule and its ID.
pub(super) struct Rule {
    pub(super) id: FindingId,
    pub(super) run: fn(&Context<'_>) -> Outcome,
}

/// All rules, in the order of the report.
pub(super) const RULES: &[Rule] = &[
    Rule { id: fleet_read::ID, run: presence::check_unread },
    Rule { id: fleet_hosts::ID, run: presence::check_hosts },
    Rule { id: fleet_name::ID, run: presence::check_names },
    Rule { id: fleet_clock::ID, run: clock::check_clock },
    Rule { id: fleet_version::ID, run: components::check_versions },
    Rule { id: fleet_binary::ID, run: components::check_binaries },
    Rule { id: fleet_address::ID, run: addresses::find_duplicates },
    Rule { id: fleet_subnet::ID, run: addresses::check_networks },
    Rule { id: fleet_ranktable::ID, run: ranktable::check_tables },
];

/// Maximum length of a list of hosts in a sentence, in bytes.
pub(super) const IN_SENTENCE: usize = 160;

/// Hosts as a list that fits into a sentence.
pub(super) fn format_hosts<'a>(hosts: impl IntoIterator<Item = &'a str>) -> String {
    super::hostlist::format_shortened(hosts, IN_SENTENCE)
}

/// Hosts as evidence: a longer list than in a sentence.
pub(super) fn hosts_evidence<'a>(
    hosts: impl IntoIterator<Item = &'a str>,
) -> base::report::Evidence {
    base::report::Evidence::host(super::hostlist::format_shortened(hosts, 2000))
}
