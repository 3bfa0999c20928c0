//! What most hosts have, and those that have something else.

use std::collections::BTreeMap;

use super::super::record::ComponentValue;
use super::{Context, Group, add_group, format_hosts, hosts_evidence};
use crate::component::{COMPONENTS, find_component};
use base::text::Text;
use data::{Outcome, RawFinding, Reason, ui};

/// The values of a component in a group, the most frequent first, with their hosts.
pub(crate) struct Spread<'a> {
    /// The values.
    pub(crate) values: Vec<(&'a ComponentValue, Vec<&'a str>)>,
    /// Of how many hosts something is known.
    pub(crate) known: usize,
}

impl Spread<'_> {
    /// The value that more than half of the hosts have.
    pub(crate) fn majority(&self) -> Option<&ComponentValue> {
        let (value, hosts) = self.values.first()?;
        (hosts.len() * 2 > self.known).then_some(*value)
    }
}

/// Looks at a component of all hosts of a group.
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

/// A value as it is shown.
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

/// As many values as are listed.
const LISTED: usize = 20;

/// A finding about a component that is not the same everywhere.
fn difference_finding(
    id: &'static str,
    group: &Group<'_>,
    index: usize,
    spread: &Spread<'_>,
) -> Option<RawFinding> {
    if spread.values.len() < 2 {
        return None;
    }
    let component = &COMPONENTS[index];
    let message = if spread.majority().is_some() { "differs" } else { "split" };
    let mut found = RawFinding::new(id, message, component.severity)
        .arg_words("component", component.label())
        .arg("known", spread.known.to_string());
    if let Some(majority) = spread.majority() {
        let outliers = || spread.values.iter().skip(1).flat_map(|(_, hosts)| hosts.iter().copied());
        found = found
            .arg_words("usual", value_text(majority, component.key))
            .arg("hosts", format_hosts(outliers()))
            .arg("count", outliers().count().to_string());
        if let [_, (value, _)] = spread.values.as_slice() {
            found = found.arg_words("other", value_text(value, component.key));
        } else {
            let others = spread.values[1..].iter().take(4);
            let others: Vec<Text> =
                others.map(|(value, _)| value_text(value, component.key)).collect();
            let list = |pick: fn(&Text) -> &str| {
                let mut all = others.iter().map(pick).collect::<Vec<_>>().join(", ");
                if spread.values.len() > 5 {
                    all.push_str(" …");
                }
                all
            };
            found = found.arg_words("other", Text::new(list(|t| &t.en), list(|t| &t.zh)));
        }
    } else {
        found = found.arg("values", spread.values.len().to_string());
    }
    for (value, hosts) in spread.values.iter().take(LISTED) {
        let value = value_text(value, component.key);
        let mut piece = hosts_evidence(hosts.iter().copied()).value(value.en.clone());
        piece.said = (value.en != value.zh).then_some(value);
        found = found.evidence(piece);
    }
    if let Some((_, hosts)) = spread.values.get(1) {
        found = found.arg("host", hosts.first().copied().unwrap_or_default());
    }
    Some(add_group(found, group))
}

/// Components whose hosts differ, each once.
pub(super) fn check_versions(ctx: &Context<'_>) -> Outcome {
    let several = ctx.groups.iter().filter(|group| group.hosts.len() > 1);
    let mut looked = false;
    let mut out = Vec::new();
    for group in several {
        for (index, component) in COMPONENTS.iter().enumerate() {
            // Files have a rule of their own; chips are what groups are made by.
            if component.key == "elf_hash" {
                continue;
            }
            let spread = count_values(group, index);
            looked |= spread.known > 1;
            out.extend(difference_finding("FLEET-VERSION", group, index, &spread));
        }
    }
    if looked { out.into() } else { Outcome::NotApplicable(Reason::FleetOneHost) }
}

/// The same version of torch_npu with other files.
pub(super) fn check_binaries(ctx: &Context<'_>) -> Outcome {
    let (hash, version, tool) =
        (find_component("elf_hash"), find_component("torch_npu"), find_component("tool"));
    let mut out = Vec::new();
    let mut looked = false;
    for group in ctx.groups {
        // Other versions have other files, and another program may count them in another way.
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
            let version = value_text(version, "torch_npu");
            let found = difference_finding("FLEET-BINARY", &group, hash, &spread);
            out.extend(found.map(|found| found.arg_words("version", version)));
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
