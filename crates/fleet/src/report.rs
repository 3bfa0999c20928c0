//! The report of a fleet.

use std::collections::{BTreeMap, BTreeSet};

use super::areas;
use super::component::COMPONENTS;
use super::fleet_reports::{Fleet, Host};
use super::hostlist::{format_ranges, format_shortened};
use super::members::{
    Comparison, FindingMember, FleetMembers, GroupMember, HostList, Spread, Unreadable, ValueMember,
};
use super::proof;
use super::record::{ComponentValue, ReportedFinding};
use super::rules::{self, Context, Group, IN_SENTENCE, RULES, count_values, format_hosts};
use super::{GroupBy, Options};
use base::report::{Evidence, Finding, FixStep, Report, Severity, Table};
use base::text::Text;
use data::{Catalog, ui};

/// Maximum number of values of one component in the table.
const VALUES: usize = 8;
/// Maximum number of values of one component in the JSON report.
const MOST_VALUES: usize = 1000;
/// Maximum number of displayed wordings of one finding.
const WORDINGS: usize = 8;
/// Maximum length of a list of hosts in a table or as evidence, in bytes.
const IN_TABLE: usize = 400;

/// Compares the hosts and combines their findings.
pub fn report(fleet: &Fleet, options: &Options) -> Report {
    let groups = rules::form_groups(fleet, options);
    let context = Context { fleet, options, groups: &groups };
    let missing = rules::find_missing(&context);
    let mut report = Report::new("fleet", format_subject(fleet));
    report.invocation = "fleet merge";
    judge(&context, &mut report);
    let said = collect_findings(fleet);
    let total = fleet.hosts.len();
    report.findings.extend(said.iter().map(|said| said.to_finding(total)));
    report.proof = Some(proof::prove(&context, &missing, &report.findings));
    report.overview = list_overview(&context, &missing);
    report.tables.push(state_table(&context, &missing));
    report.tables.extend(version_tables(&groups));
    report.tables.extend(unanswered_table(fleet));
    if !fleet.replaced.is_empty() {
        let hosts = format_hosts(fleet.replaced.keys().map(String::as_str));
        let count = fleet.replaced.len();
        report.notes.push(ui::FleetReplaced { count, hosts }.text());
    }
    report.add_members(&members(&context, &missing, &said));
    report
}

fn format_subject(fleet: &Fleet) -> String {
    let names = fleet.hosts.keys().map(String::as_str);
    format!("{} ({})", format_shortened(names, 60), fleet.hosts.len()).trim().to_owned()
}

/// Runs the rules.
fn judge(context: &Context<'_>, report: &mut Report) {
    let catalog = Catalog::builtin();
    for rule in RULES {
        catalog.record(rule.id, (rule.run)(context), report);
    }
}

/// A finding that hosts report, with all its wordings.
struct SharedFinding<'a> {
    first: &'a ReportedFinding,
    severity: Severity,
    hosts: BTreeSet<&'a str>,
    /// The most frequent first.
    wordings: Vec<Wording<'a>>,
}

/// A wording, and the hosts that use it.
type Wording<'a> = (&'a ReportedFinding, Vec<&'a str>);

impl SharedFinding<'_> {
    fn to_finding(&self, total: usize) -> Finding {
        let hosts = format_shortened(self.hosts.iter().copied(), IN_SENTENCE);
        let head =
            ui::FleetOnHosts { count: self.hosts.len(), hosts, total: total.to_string() }.text();
        let first = self.first;
        let mut evidence: Vec<Evidence> = Vec::new();
        if self.wordings.len() > 1 {
            for (sent, hosts) in self.wordings.iter().take(WORDINGS) {
                let piece = Evidence::host(format_shortened(hosts.iter().copied(), IN_TABLE));
                evidence.push(piece.says(sent.title.clone()));
            }
        }
        if self.wordings.len() > WORDINGS {
            let n = self.wordings.len() - WORDINGS;
            let rest: BTreeSet<&str> =
                self.wordings[WORDINGS..].iter().flat_map(|(_, hosts)| hosts).copied().collect();
            evidence
                .push(Evidence::host(format_shortened(rest, IN_TABLE)).says(ui::More { n }.text()));
        }
        let steps = first.fix.iter();
        Finding {
            id: first.id.clone(),
            message: first.message.clone(),
            severity: self.severity,
            title: Text::new(
                format!("{}{}", head.en, first.title.en),
                format!("{}{}", head.zh, first.title.zh),
            ),
            cause: first.cause.clone(),
            fix: steps
                .map(|(text, run)| FixStep { text: text.clone(), run: run.clone() })
                .collect(),
            evidence,
            refs: Catalog::builtin()
                .entry(&first.id)
                .map(|entry| entry.sources.clone())
                .unwrap_or_default(),
            because: Vec::new(),
            consequences: Vec::new(),
            values: BTreeMap::new(),
        }
    }
}

/// The findings of all hosts by ID, message and severity.
fn collect_findings(fleet: &Fleet) -> Vec<SharedFinding<'_>> {
    let mut wordings: Vec<Vec<&str>> = vec![Vec::new(); fleet.findings.len()];
    for (name, host) in &fleet.hosts {
        for &number in host.all().flat_map(|said| &said.findings) {
            let hosts = &mut wordings[number as usize];
            if hosts.last() != Some(&name.as_str()) {
                hosts.push(name);
            }
        }
    }
    let mut kinds: BTreeMap<_, Vec<Wording<'_>>> = BTreeMap::new();
    for (sent, hosts) in fleet.findings.iter().zip(wordings) {
        if !hosts.is_empty() {
            let kind = (sent.id.as_str(), sent.message.as_str(), sent.severity);
            kinds.entry(kind).or_default().push((sent, hosts));
        }
    }
    let mut said: Vec<SharedFinding<'_>> = kinds
        .into_iter()
        .map(|((.., severity), mut wordings)| {
            wordings.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then(a.0.title.cmp(&b.0.title)));
            let hosts = wordings.iter().flat_map(|(_, hosts)| hosts).copied().collect();
            SharedFinding { first: wordings[0].0, severity, hosts, wordings }
        })
        .collect();
    said.sort_by(|a, b| b.severity.cmp(&a.severity).then(b.hosts.len().cmp(&a.hosts.len())));
    said
}

/// The result of the reports of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    Errors,
    Warnings,
    Inconclusive,
    Clean,
}

impl State {
    const ALL: [Self; 4] = [Self::Errors, Self::Warnings, Self::Inconclusive, Self::Clean];

    const fn key(self) -> &'static str {
        match self {
            Self::Errors => "errors",
            Self::Warnings => "warnings",
            Self::Inconclusive => "inconclusive",
            Self::Clean => "clean",
        }
    }

    pub(super) fn of(fleet: &Fleet, host: &Host) -> Self {
        let findings = host.all().flat_map(|said| &said.findings);
        let gravest = findings.map(|&number| fleet.findings[number as usize].severity).max();
        match gravest {
            Some(Severity::Error) => Self::Errors,
            _ if host.all().any(|said| said.failed) => Self::Errors,
            _ if host.all().any(|said| !said.no_verdict.is_empty()) => Self::Inconclusive,
            Some(Severity::Warning) => Self::Warnings,
            _ => Self::Clean,
        }
    }

    fn words(self) -> Text {
        let label = match self {
            Self::Errors => ui::FLEET_STATE_ERRORS,
            Self::Warnings => ui::FLEET_STATE_WARNINGS,
            Self::Inconclusive => ui::INCONCLUSIVE,
            Self::Clean => ui::FLEET_STATE_CLEAN,
        };
        label.text()
    }
}

fn group_by_state(fleet: &Fleet) -> BTreeMap<State, Vec<&str>> {
    let mut states: BTreeMap<State, Vec<&str>> = BTreeMap::new();
    for (name, host) in &fleet.hosts {
        states.entry(State::of(fleet, host)).or_default().push(name);
    }
    states
}

fn list_overview(context: &Context<'_>, missing: &[&str]) -> Vec<(Text, Text)> {
    let fleet = context.fleet;
    let unread = fleet.unread.len() + fleet.unread_more;
    let mut line = ui::FleetHostsLine { n: fleet.hosts.len() }.text();
    let missing = (!missing.is_empty()).then(|| ui::FleetMissingPart { n: missing.len() }.text());
    let unread = (unread > 0).then(|| ui::FleetUnreadPart { n: unread }.text());
    for part in missing.into_iter().chain(unread) {
        line = Text::new(line.en + ", " + &part.en, line.zh + "，" + &part.zh);
    }
    let mut out = vec![(ui::FLEET_HOSTS.text(), line)];
    if context.options.group_by.is_some() {
        let names: Vec<String> = context
            .groups
            .iter()
            .map(|group| format!("{} ({})", group.name, group.hosts.len()))
            .collect();
        out.push((ui::FLEET_GROUPS.text(), Text::same(names.join(", "))));
    }
    let own: Vec<String> = COMPONENTS
        .iter()
        .enumerate()
        .filter(|(_, component)| {
            ["driver", "firmware", "cann", "torch_npu"].contains(&component.key)
        })
        .filter_map(|(index, component)| {
            let [group] = context.groups else { return None };
            let spread = count_values(group, index);
            let ComponentValue::Is(value) = spread.majority()? else { return None };
            let label = component.label().en;
            Some(format!("{label} {value} ({}/{})", spread.values[0].1.len(), spread.known))
        })
        .collect();
    if !own.is_empty() {
        out.push((ui::FLEET_MOST.text(), Text::same(own.join(", "))));
    }
    out
}

/// The hosts by state.
fn state_table(context: &Context<'_>, missing: &[&str]) -> Table {
    let fleet = context.fleet;
    let states = group_by_state(fleet);
    let row = |label: Text, hosts: &[&str]| {
        let list = format_shortened(hosts.iter().copied(), IN_TABLE);
        vec![label, Text::same(hosts.len().to_string()), Text::same(list)]
    };
    let mut rows: Vec<Vec<Text>> = State::ALL
        .into_iter()
        .filter_map(|state| Some(row(state.words(), states.get(&state)?)))
        .collect();
    if !missing.is_empty() {
        rows.push(row(ui::FLEET_STATE_MISSING.text(), missing));
    }
    if !fleet.unread.is_empty() {
        let names: Vec<&str> = fleet.unread.iter().map(|unread| unread.source.as_str()).collect();
        rows.push(row(ui::FLEET_STATE_UNREAD.text(), &names));
    }
    Table {
        title: ui::FLEET_HOSTS.text(),
        head: vec![ui::FLEET_STATE.text(), ui::FLEET_COUNT.text(), ui::FLEET_HOSTS.text()],
        rows,
    }
}

/// The values of all components.
fn version_tables(groups: &[Group<'_>]) -> Vec<Table> {
    let mut tables = Vec::new();
    for group in groups {
        let mut rows = Vec::new();
        for (index, component) in COMPONENTS.iter().enumerate() {
            let spread = count_values(group, index);
            if let [(ComponentValue::Absent, _)] = spread.values.as_slice() {
                continue;
            }
            for (value, hosts) in spread.values.iter().take(VALUES) {
                rows.push(vec![
                    component.label(),
                    rules::value_text(value, component.key),
                    Text::same(hosts.len().to_string()),
                    Text::same(format_shortened(hosts.iter().copied(), IN_TABLE)),
                ]);
            }
            if spread.values.len() > VALUES {
                let n = spread.values.len() - VALUES;
                let hosts: usize =
                    spread.values[VALUES..].iter().map(|(_, hosts)| hosts.len()).sum();
                let more = ui::More { n }.text();
                let blank = Text::default();
                rows.push(vec![component.label(), more, Text::same(hosts.to_string()), blank]);
            }
        }
        if rows.is_empty() {
            continue;
        }
        let title = ui::FLEET_VERSIONS.text();
        let suffix = group.suffix();
        tables.push(Table {
            title: Text::new(title.en + &suffix.en, title.zh + &suffix.zh),
            head: vec![
                ui::FLEET_COMPONENT.text(),
                ui::VALUE.text(),
                ui::FLEET_COUNT.text(),
                ui::FLEET_HOSTS.text(),
            ],
            rows,
        });
    }
    tables
}

/// Checks that could not run on some hosts but ran on others. They must never be read as passed
/// there.
fn unanswered_table(fleet: &Fleet) -> Option<Table> {
    let answered: BTreeSet<&str> = fleet
        .hosts
        .values()
        .flat_map(Host::all)
        .map(|said| &said.answered)
        .map(|list| (std::sync::Arc::as_ptr(list), list))
        .collect::<BTreeMap<_, _>>()
        .into_values()
        .flat_map(|list| list.iter().map(String::as_str))
        .collect();
    let mut silent: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, host) in &fleet.hosts {
        for id in host.all().flat_map(|said| &said.not_checked) {
            if answered.contains(&**id) {
                silent.entry(id).or_default().insert(name);
            }
        }
    }
    if silent.is_empty() {
        return None;
    }
    let rows = silent.into_iter().take(100).map(|(id, hosts)| {
        let list = format_shortened(hosts.iter().copied(), IN_TABLE);
        vec![Text::same(id), Text::same(hosts.len().to_string()), Text::same(list)]
    });
    Some(Table {
        title: ui::FLEET_NOT_CHECKED.text(),
        head: vec![ui::FINDING.text(), ui::FLEET_COUNT.text(), ui::FLEET_HOSTS.text()],
        rows: rows.collect(),
    })
}

/// The members of the JSON report.
fn members<'a>(
    context: &'a Context<'a>,
    missing: &[&str],
    said: &'a [SharedFinding<'a>],
) -> FleetMembers<'a> {
    let fleet = context.fleet;
    let list = |hosts: &[&str]| format_ranges(hosts.iter().copied());
    let states = group_by_state(fleet)
        .into_iter()
        .map(|(state, hosts)| (state.key(), HostList { count: hosts.len(), hosts: list(&hosts) }));
    let findings = said.iter().map(|said| FindingMember {
        id: &said.first.id,
        message: &said.first.message,
        severity: said.severity,
        count: said.hosts.len(),
        hosts: format_ranges(said.hosts.iter().copied()),
        title: &said.first.title,
    });
    let unreadable =
        fleet.unread.iter().map(|unread| Unreadable { source: &unread.source, why: &unread.why });
    let group_by = context.options.group_by.map(|by| match by {
        GroupBy::Soc => "soc",
        GroupBy::Role => "role",
    });
    FleetMembers {
        fleet: Comparison {
            hosts: fleet.hosts.len(),
            group_by,
            groups: context.groups.iter().map(group_member).collect(),
            states: states.collect(),
            missing: list(missing),
            missing_count: missing.len(),
            unreadable: unreadable.collect(),
            replaced: fleet.replaced.len(),
            findings: findings.collect(),
            matrix: areas::matrix(fleet, missing),
        },
    }
}

fn group_member<'a>(group: &'a Group<'a>) -> GroupMember<'a> {
    let plain = |value: &ComponentValue| match value {
        ComponentValue::Is(text) => Some(text.clone()),
        _ => None,
    };
    let spread = |index: usize| {
        let spread = count_values(group, index);
        let values = spread.values.iter().take(MOST_VALUES).map(|(value, hosts)| ValueMember {
            value: plain(value),
            count: hosts.len(),
            hosts: format_ranges(hosts.iter().copied()),
        });
        (spread.known > 0).then(|| Spread {
            majority: spread.majority().and_then(plain),
            has_majority: spread.majority().is_some(),
            known: spread.known,
            values: values.collect(),
        })
    };
    let components = COMPONENTS
        .iter()
        .enumerate()
        .filter_map(|(index, component)| Some((component.key, spread(index)?)));
    GroupMember { name: &group.name, hosts: group.hosts.len(), components: components.collect() }
}
