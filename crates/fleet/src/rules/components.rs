//! Values that most hosts share, and the hosts that differ.

use std::collections::BTreeMap;

use super::super::record::ComponentValue;
use super::{Context, Group, format_hosts, hosts_evidence};
use crate::component::{COMPONENTS, Component, find_component};
use base::text::Text;
use data::{
    Outcome, RawFinding, Reason,
    findings::{fleet_binary, fleet_version},
    ui,
};

/// The values of a component in a group, the most frequent first, with their hosts.
pub(crate) struct Spread<'a> {
    /// The values.
    pub(crate) values: Vec<(&'a ComponentValue, Vec<&'a str>)>,
    /// The number of hosts with a known value.
    pub(crate) known: usize,
}

impl Spread<'_> {
    /// The value that more than half of the hosts have.
    pub(crate) fn majority(&self) -> Option<&ComponentValue> {
        let (value, hosts) = self.values.first()?;
        (hosts.len() * 2 > self.known).then_some(*value)
    }
}

/// Counts the values of a component over all hosts of a group.
pub(crate) fn count_values<'a>(group: &Group<'a>, index: usize) -> Spread<'a> {
    let absence = COMPONENTS[index].absence;
    let mut values: BTreeMap<&ComponentValue, Vec<&str>> = BTreeMap::new();
    for (name, host) in &group.hosts {
        let value = host.value(index);
        let known = match value {
            ComponentValue::Unknown => false,
            ComponentValue::Absent => absence,
            ComponentValue::Is(_) => true,
        };
        if known {
            values.entry(value).or_default().push(name);
        }
    }
    let known = values.values().map(Vec::len).sum();
    let mut values: Vec<_> = values.into_iter().collect();
    values.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then(a.0.cmp(b.0)));
    Spread { values, known }
}

/// A value as displayed.
pub(crate) fn value_text(value: &ComponentValue, key: &str) -> Text {
    match value {
        ComponentValue::Unknown => ui::UNKNOWN_VERSION.text(),
        ComponentValue::Absent => ui::FLEET_ABSENT.text(),
        ComponentValue::Is(text) if key.ends_with("_hash") => {
            Text::same(text.get(..12).unwrap_or(text))
        }
        ComponentValue::Is(text) => Text::same(text),
    }
}

/// Maximum number of listed values.
const LISTED: usize = 20;

/// The hosts that differ from the majority.
struct Outliers<'a> {
    /// The value of most hosts.
    usual: Text,
    /// The value of the outliers.
    other: Text,
    /// The outliers as a list.
    hosts: String,
    /// Number of outliers.
    count: usize,
    /// The first host of the most frequent other value.
    host: &'a str,
}

fn outliers<'a>(component: &Component, spread: &Spread<'a>) -> Option<Outliers<'a>> {
    let usual = value_text(spread.majority()?, component.key);
    let outliers = || spread.values.iter().skip(1).flat_map(|(_, hosts)| hosts.iter().copied());
    let others = spread.values[1..].iter().take(4);
    let others: Vec<Text> = others.map(|(value, _)| value_text(value, component.key)).collect();
    let list = |pick: fn(&Text) -> &str| {
        let mut all = others.iter().map(pick).collect::<Vec<_>>().join(", ");
        if spread.values.len() > 5 {
            all.push_str(" …");
        }
        all
    };
    Some(Outliers {
        usual,
        other: Text::new(list(|t| &t.en), list(|t| &t.zh)),
        hosts: format_hosts(outliers()),
        count: outliers().count(),
        host: outliers().next().unwrap_or_default(),
    })
}

/// Adds the values with their hosts to a finding about a component.
fn add_values(mut found: RawFinding, component: &Component, spread: &Spread<'_>) -> RawFinding {
    for (value, hosts) in spread.values.iter().take(LISTED) {
        let value = value_text(value, component.key);
        found = found.evidence(hosts_evidence(hosts.iter().copied()).says(value));
    }
    found
}

/// A component that differs between hosts.
fn version_finding(group: &Group<'_>, index: usize, spread: &Spread<'_>) -> RawFinding {
    let row = &COMPONENTS[index];
    let (component, group, known) = (row.label(), group.suffix(), spread.known);
    let found = if let Some(Outliers { usual, other, hosts, count, host }) = outliers(row, spread) {
        fleet_version::Differs { component, count, group, host, hosts, known, other, usual }
            .at(row.severity)
    } else {
        let values = spread.values.len();
        fleet_version::Split { component, group, known, values }.at(row.severity)
    };
    add_values(found, row, spread)
}

/// Different files of the same version.
fn binary_finding(
    group: &Group<'_>,
    index: usize,
    spread: &Spread<'_>,
    version: Text,
) -> RawFinding {
    let row = &COMPONENTS[index];
    let (group, known) = (group.suffix(), spread.known);
    let found = if let Some(Outliers { usual, other, hosts, count, host }) = outliers(row, spread) {
        fleet_binary::Differs { count, group, host, hosts, known, other, usual, version }
            .at(row.severity)
    } else {
        let values = spread.values.len();
        fleet_binary::Split { group, known, values, version }.at(row.severity)
    };
    add_values(found, row, spread)
}

/// Finds components that differ between hosts, each once.
pub(super) fn check_versions(ctx: &Context<'_>) -> Outcome {
    let several = ctx.groups.iter().filter(|group| group.hosts.len() > 1);
    let mut looked = false;
    let mut out = Vec::new();
    for group in several {
        for (index, component) in COMPONENTS.iter().enumerate() {
            // Files have a separate rule, and chips form the groups.
            if component.key == "elf_hash" {
                continue;
            }
            let spread = count_values(group, index);
            looked |= spread.known > 1;
            if spread.values.len() > 1 {
                out.push(version_finding(group, index, &spread));
            }
        }
    }
    if looked { out.into() } else { Outcome::NotApplicable(Reason::FleetOneHost) }
}

/// Finds hosts with the same version of torch_npu but different files.
pub(super) fn check_binaries(ctx: &Context<'_>) -> Outcome {
    let (hash, version, tool) =
        (find_component("elf_hash"), find_component("torch_npu"), find_component("tool"));
    let mut out = Vec::new();
    let mut looked = false;
    for group in ctx.groups {
        // Other versions have other files, and another version of this program may compute the hash
        // differently.
        let mut alike: BTreeMap<(&ComponentValue, &ComponentValue), Group<'_>> = BTreeMap::new();
        for &(name, host) in &group.hosts {
            let kind = alike.entry((host.value(version), host.value(tool)));
            let group =
                kind.or_insert_with(|| Group { name: group.name.clone(), hosts: Vec::new() });
            group.hosts.push((name, host));
        }
        for ((version, _), group) in alike {
            let spread = count_values(&group, hash);
            looked |= spread.known > 1;
            if spread.values.len() > 1 {
                let version = value_text(version, "torch_npu");
                out.push(binary_finding(&group, hash, &spread, version));
            }
        }
    }
    if looked {
        return out.into();
    }
    if ctx.groups.iter().all(|group| group.hosts.len() < 2) {
        return Outcome::NotApplicable(Reason::FleetOneHost);
    }
    Outcome::NotChecked(Reason::NoHash)
}
