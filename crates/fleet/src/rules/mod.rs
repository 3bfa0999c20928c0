//! What can be seen only from above: pure functions from a fleet to findings.

mod addresses;
mod clock;
mod components;
mod presence;
mod ranktable;

use std::collections::BTreeMap;

use super::fleet_reports::{Fleet, Host};
use super::record::ComponentValue;
use super::{GroupBy, Options};
use base::report::{Outcome, RawFinding, Severity};
use base::text::Text;
pub(super) use components::{count_values, value_text};
use data::words;
pub(super) use presence::find_missing;

/// Where a report says a component.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    /// A member of `fingerprint`.
    Fingerprint(&'static str),
    /// The architecture of the host.
    Arch,
    /// Its operating system.
    Os,
    /// Its kernel.
    Kernel,
    /// The name that the runtime gives the chip (`verify`).
    Soc,
    /// The version of this program.
    Tool,
    /// The compatibility matrix.
    Matrix,
}

/// Something that hosts which work together have in common.
#[derive(Debug)]
pub(super) struct Component {
    /// How it is called in JSON.
    pub(super) key: &'static str,
    /// How it is called in a sentence: a key of `data/ui.toml`, or its name.
    label: Label,
    pub(super) from: Place,
    /// How grave it is that hosts differ.
    pub(super) severity: Severity,
    /// Whether a host without it differs from one with it.
    pub(super) absence: bool,
}

#[derive(Debug, Clone, Copy)]
enum Label {
    Name(&'static str),
    Words(&'static str),
}

impl Component {
    /// How it is called in a sentence.
    pub(super) fn label(&self) -> Text {
        match self.label {
            Label::Name(name) => Text::same(name),
            Label::Words(key) => words(key),
        }
    }
}

const fn row(
    key: &'static str,
    label: Label,
    from: Place,
    severity: Severity,
    absence: bool,
) -> Component {
    Component { key, label, from, severity, absence }
}

/// The components, in the order of the report: from the hardware up.
pub(super) const COMPONENTS: &[Component] = {
    use Label::{Name, Words};
    use Place::{Arch, Fingerprint, Kernel, Matrix, Os, Soc, Tool};
    use Severity::{Info, Warning};
    &[
        row("chip", Words("fleet_chip"), Fingerprint("chip"), Warning, false),
        row("soc", Name("SoC"), Soc, Warning, false),
        row("devices", Words("fleet_devices"), Fingerprint("devices"), Warning, false),
        row("driver", Words("fleet_driver"), Fingerprint("driver"), Warning, true),
        row("firmware", Words("fleet_firmware"), Fingerprint("firmware"), Warning, true),
        row("cann", Name("CANN"), Fingerprint("cann"), Warning, true),
        row("nnal", Name("NNAL"), Fingerprint("nnal"), Warning, true),
        row("torch", Name("torch"), Fingerprint("torch"), Warning, true),
        row("torch_npu", Name("torch_npu"), Fingerprint("torch_npu"), Warning, true),
        row("vllm", Name("vllm"), Fingerprint("vllm"), Warning, true),
        row("vllm_ascend", Name("vllm-ascend"), Fingerprint("vllm_ascend"), Warning, true),
        row("mindspore", Name("MindSpore"), Fingerprint("mindspore"), Warning, true),
        row("triton_ascend", Name("triton-ascend"), Fingerprint("triton_ascend"), Warning, true),
        row("elf_hash", Words("fleet_files"), Fingerprint("elf_hash"), Warning, false),
        row("python", Name("Python"), Fingerprint("python"), Info, true),
        row("arch", Words("fleet_arch"), Arch, Info, false),
        row("os", Words("fleet_os"), Os, Info, false),
        row("kernel", Words("fleet_kernel"), Kernel, Info, false),
        row("glibc", Name("glibc"), Fingerprint("glibc"), Info, false),
        row("env_hash", Words("fleet_environment"), Fingerprint("env_hash"), Info, false),
        row("tool", Name("ascend-doctor"), Tool, Info, false),
        row("matrix", Words("fleet_matrix"), Matrix, Info, false),
    ]
};

/// The place of a component.
pub(super) fn component(key: &str) -> usize {
    COMPONENTS.iter().position(|component| component.key == key).unwrap_or(0)
}

/// Hosts that are compared with each other.
#[derive(Debug)]
pub(super) struct Group<'a> {
    /// Its name; empty if all hosts are one group.
    pub(super) name: String,
    /// The hosts.
    pub(super) hosts: Vec<(&'a str, &'a Host)>,
}

impl Group<'_> {
    /// Words that say of which group a sentence speaks, to put behind it.
    pub(super) fn suffix(&self) -> Text {
        if self.name.is_empty() {
            return Text::default();
        }
        data::sentence("fleet_in_group", &[("group", self.name.clone())])
    }
}

/// The groups of a fleet, by name.
pub(super) fn form_groups<'a>(fleet: &'a Fleet, options: &Options) -> Vec<Group<'a>> {
    let mut groups: BTreeMap<String, Vec<(&str, &Host)>> = BTreeMap::new();
    for (name, host) in &fleet.hosts {
        let group = match options.group_by {
            None => String::new(),
            Some(GroupBy::Soc) => {
                let known = ["chip", "soc"].map(|key| host.value(component(key)));
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

/// What a rule looks at.
pub(super) struct Context<'a> {
    pub(super) fleet: &'a Fleet,
    pub(super) options: &'a Options,
    pub(super) groups: &'a [Group<'a>],
}

/// A rule and its id.
pub(super) struct Rule {
    pub(super) id: &'static str,
    pub(super) run: fn(&Context<'_>) -> Outcome,
}

/// All rules, in the order of the report.
pub(super) const RULES: &[Rule] = &[
    Rule { id: "FLEET-READ", run: presence::check_unread },
    Rule { id: "FLEET-HOSTS", run: presence::check_hosts },
    Rule { id: "FLEET-NAME", run: presence::check_names },
    Rule { id: "FLEET-CLOCK", run: clock::check_clock },
    Rule { id: "FLEET-VERSION", run: components::check_versions },
    Rule { id: "FLEET-BINARY", run: components::check_binaries },
    Rule { id: "FLEET-ADDRESS", run: addresses::find_duplicates },
    Rule { id: "FLEET-SUBNET", run: addresses::check_networks },
    Rule { id: "FLEET-RANKTABLE", run: ranktable::check_tables },
];

/// How long a list of hosts may be in a sentence, in bytes.
pub(super) const IN_SENTENCE: usize = 160;

/// Hosts as a list that fits into a sentence.
pub(super) fn format_hosts<'a>(hosts: impl IntoIterator<Item = &'a str>) -> String {
    super::hostlist::format_shortened(hosts, IN_SENTENCE)
}

/// Hosts as evidence: a list as long as it may be useful.
pub(super) fn hosts_evidence<'a>(
    hosts: impl IntoIterator<Item = &'a str>,
) -> base::report::Evidence {
    base::report::Evidence::host(super::hostlist::format_shortened(hosts, 2000))
}

/// Adds the words for the group.
fn add_group(found: RawFinding, group: &Group<'_>) -> RawFinding {
    found.arg_words("group", group.suffix())
}
