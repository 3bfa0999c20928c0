//! The reports of a fleet, by host. Texts that many reports contain are stored once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::areas::AreaStates;
use super::record::{ComponentValue, Npu, Ranks, Record, RejectReason, ReportedFinding};
use base::report::Verdict;
use base::text::Text;

/// Maximum number of hosts.
const MAX_HOSTS: usize = 200_000;
/// Maximum number of listed documents that could not be read.
const MAX_UNREAD: usize = 10_000;
/// Maximum number of wordings of a message. Hosts with other wordings count under the last one.
const MAX_WORDINGS: usize = 40;
/// Maximum number of different messages.
const MAX_MESSAGES: usize = 4_000;

/// The compared content of a report. Values of many reports are shared.
#[derive(Debug, Clone, Default)]
pub struct HostReport {
    /// See [`Record::taken`].
    pub taken: Option<i64>,
    /// See [`Record::arrived`].
    pub arrived: Option<i64>,
    /// The values of the components.
    pub values: Vec<Arc<ComponentValue>>,
    /// Numbers of its findings.
    pub findings: Vec<u32>,
    /// The reasons why the result is inconclusive.
    pub no_verdict: Vec<Arc<Text>>,
    /// Whether its verdict is a failure.
    pub failed: bool,
    /// Its verdict, if it has one.
    pub verdict: Option<Verdict>,
    /// The NPUs in the table of npu-smi.
    pub npus: Vec<Npu>,
    /// Checks that could not run.
    pub not_checked: Vec<Arc<str>>,
    /// Checks that ran: the same list for nearly all hosts.
    pub answered: Arc<Vec<String>>,
    /// The states of the areas of its checks: the same for nearly all hosts.
    pub areas: Arc<AreaStates>,
    /// Device, address, netmask, and whether it has a gateway.
    pub addresses: Vec<(u32, String, Option<Arc<str>>, bool)>,
    /// The rank table.
    pub table: Option<Arc<Ranks>>,
    machine: Option<String>,
    boot: Option<String>,
}

/// A host, and the newest report of each kind.
#[derive(Debug, Clone, Default)]
pub struct Host {
    /// Of `check`.
    pub check: Option<HostReport>,
    /// Of `verify`.
    pub verify: Option<HostReport>,
}

impl Host {
    /// All its reports.
    pub fn all(&self) -> impl Iterator<Item = &HostReport> {
        self.check.iter().chain(&self.verify)
    }

    /// Returns the value of a component in the first report that has it.
    pub fn value(&self, component: usize) -> &ComponentValue {
        const UNKNOWN: &ComponentValue = &ComponentValue::Unknown;
        self.all()
            .map(|said| &*said.values[component])
            .find(|value| *value != UNKNOWN)
            .unwrap_or(UNKNOWN)
    }

    /// Returns the digest that identifies the boot of the host.
    pub fn boot(&self) -> Option<&str> {
        self.all().find_map(|said| said.boot.as_deref())
    }
}

/// An input that is not a readable report.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnreadInput {
    /// The file, or the host that a line came from.
    pub source: String,
    /// The reason.
    pub why: Text,
}

/// All reports and unreadable inputs.
#[derive(Debug, Default)]
pub struct Fleet {
    /// The hosts by name.
    pub hosts: BTreeMap<String, Host>,
    /// Inputs that could not be read.
    pub unread: Vec<UnreadInput>,
    /// Number of further such inputs.
    pub unread_more: usize,
    /// Names of files or labels of lines that differ from the host name in the report.
    pub aliases: BTreeSet<String>,
    /// Hosts with several reports of the same kind, and the number of replaced ones.
    pub replaced: BTreeMap<String, u32>,
    /// Host names that several running machines report, with the digests of their boots.
    pub doubles: BTreeMap<String, Vec<String>>,
    /// Number of omitted findings, of reports with too many.
    pub cut: usize,
    /// Number of omitted hosts, of fleets with too many.
    pub refused: usize,
    /// The wordings of all findings.
    pub findings: Vec<ReportedFinding>,
    known: BTreeMap<ReportedFinding, u32>,
    wordings: BTreeMap<(String, String), (u32, u32)>,
    values: Pool<ComponentValue>,
    texts: Pool<Text>,
    names: BTreeSet<Arc<str>>,
    answers: Pool<Vec<String>>,
    areas: Pool<AreaStates>,
    tables: Pool<Ranks>,
}

/// Values that occur many times.
#[derive(Debug)]
struct Pool<T>(BTreeSet<Arc<T>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self(BTreeSet::new())
    }
}

impl<T: Ord> Pool<T> {
    fn share(&mut self, value: T) -> Arc<T> {
        if let Some(known) = self.0.get(&value) {
            return Arc::clone(known);
        }
        let shared = Arc::new(value);
        self.0.insert(Arc::clone(&shared));
        shared
    }
}

impl Fleet {
    /// Adds a report. `source` names the host if the report does not.
    pub fn add(&mut self, record: Record, source: &str) {
        let name = if record.host.is_empty() { source.to_owned() } else { record.host.clone() };
        if !self.hosts.contains_key(&name) && self.hosts.len() >= MAX_HOSTS {
            self.refused += 1;
            return;
        }
        if source != name && self.aliases.len() < MAX_HOSTS {
            self.aliases.insert(source.to_owned());
        }
        let check = record.command == "check";
        let said = self.share_record(record);
        let host = self.hosts.entry(name.clone()).or_default();
        // Two names with the same boot are two views of one machine. Two boots and two
        // installations under one name are two machines.
        for other in host.all() {
            let differ =
                |a: &Option<String>, b: &Option<String>| a.is_some() && b.is_some() && a != b;
            if differ(&other.machine, &said.machine) && differ(&other.boot, &said.boot) {
                let ids = self.doubles.entry(name.clone()).or_default();
                for id in [&other.boot, &said.boot].into_iter().flatten() {
                    if !ids.contains(id) && ids.len() < 1000 {
                        ids.push(id.clone());
                    }
                }
                break;
            }
        }
        let slot = if check { &mut host.check } else { &mut host.verify };
        match slot {
            Some(before) => {
                *self.replaced.entry(name).or_default() += 1;
                // A report without a time has the age of its file.
                let age = |said: &HostReport| (said.taken.or(said.arrived), said.arrived);
                if age(&said) >= age(before) {
                    *before = said;
                }
            }
            None => *slot = Some(said),
        }
    }

    /// Adds a report, or the reason to refuse a document. Stages are ignored, because the report
    /// follows them.
    pub fn add_outcome(&mut self, source: &str, outcome: Result<Record, RejectReason>) {
        match outcome {
            Ok(record) => self.add(record, source),
            Err(RejectReason::Stage) => {}
            Err(refused) => self.refuse(source, refused.fault().text()),
        }
    }

    /// Records an input that could not be read.
    pub fn refuse(&mut self, source: &str, mut why: Text) {
        if self.unread.len() < MAX_UNREAD {
            why.en.truncate(why.en.floor_char_boundary(300));
            why.zh.truncate(why.zh.floor_char_boundary(300));
            self.unread.push(UnreadInput { source: source.to_owned(), why });
        } else {
            self.unread_more += 1;
        }
    }

    fn share_record(&mut self, record: Record) -> HostReport {
        self.cut += record.more_findings;
        let name = |names: &mut BTreeSet<Arc<str>>, text: String| -> Arc<str> {
            if let Some(known) = names.get(text.as_str()) {
                return Arc::clone(known);
            }
            let shared: Arc<str> = Arc::from(text);
            names.insert(Arc::clone(&shared));
            shared
        };
        let names = &mut self.names;
        let not_checked = record.not_checked.into_iter().map(|text| name(names, text)).collect();
        let addresses = record
            .addresses
            .into_iter()
            .map(|(device, address, mask, gateway)| {
                (device, address, mask.map(|mask| name(names, mask)), gateway)
            })
            .collect();
        let findings = record.findings.into_iter();
        let mut numbers: Vec<u32> =
            findings.filter_map(|finding| self.find_number(finding)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        HostReport {
            taken: record.taken,
            arrived: record.arrived,
            values: record.values.into_iter().map(|value| self.values.share(value)).collect(),
            findings: numbers,
            no_verdict: record.no_verdict.into_iter().map(|text| self.texts.share(text)).collect(),
            failed: record.failed,
            verdict: record.verdict,
            npus: record.npus,
            not_checked,
            answered: self.answers.share(record.answered),
            areas: self.areas.share(record.areas),
            addresses,
            table: record.table.map(|table| self.tables.share(table)),
            machine: record.machine,
            boot: record.boot,
        }
    }

    /// Returns the number of a finding. Wordings differ by paths and addresses, and hostile reports
    /// can contain any number of them.
    fn find_number(&mut self, finding: ReportedFinding) -> Option<u32> {
        if let Some(&number) = self.known.get(&finding) {
            return Some(number);
        }
        let key = (finding.id.clone(), finding.message.clone());
        if !self.wordings.contains_key(&key) && self.wordings.len() >= MAX_MESSAGES {
            self.cut += 1;
            return None;
        }
        let next = u32::try_from(self.findings.len()).unwrap_or(u32::MAX);
        let (count, last) = self.wordings.entry(key).or_insert((0, next));
        // A more severe finding is never counted under a less severe one.
        let severity = self.findings.get(*last as usize).map(|kept| kept.severity);
        if *count as usize >= MAX_WORDINGS && severity >= Some(finding.severity) {
            return Some(*last);
        }
        *count += 1;
        *last = next;
        self.known.insert(finding.clone(), next);
        self.findings.push(finding);
        Some(next)
    }
}
