//! One report, reduced to the compared values. The input format is that of
//! `docs/schema/report-2.schema.json`, from this version of the program or another one.

use data::fault::Value as _;
use data::{Fault, faults};
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::areas::{self, AreaStates};
use super::component::{COMPONENTS, Place};
use super::hostlist::MAX_NAME;
use base::report::{CheckState, FixStep, Need, Severity, Verdict};
use base::text::Text;
use facts::{HccnConf, NpuChip, RankTable};

/// Maximum number of findings read from one report.
const MAX_FINDINGS: usize = 500;
/// Maximum length of a sentence, in bytes.
const MAX_TEXT: usize = 2 << 10;
/// Maximum length of the value of a component, in bytes.
const MAX_VALUE: usize = 200;
/// Maximum number of devices of one host whose addresses are read.
const MAX_DEVICES: usize = 64;
/// Maximum number of devices in one rank table.
const MAX_TABLE: usize = 100_000;

/// The devices of a rank table: addresses and device IDs, sorted.
pub type Ranks = Vec<(String, Option<u32>)>;

/// The compared content of a report.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// The host, by its own name; empty if the report has none.
    pub host: String,
    /// `check` or `verify`.
    pub command: String,
    /// The collection time by the clock of the machine: seconds since 1970.
    pub taken: Option<i64>,
    /// The arrival time of the report, by the clock of the receiver or by the time of the file.
    pub arrived: Option<i64>,
    /// Digests of the IDs of the installation and of its last boot.
    pub machine: Option<String>,
    /// See [`Record::machine`].
    pub boot: Option<String>,
    /// The values of [`COMPONENTS`], in their order.
    pub values: Vec<ComponentValue>,
    /// Findings.
    pub findings: Vec<ReportedFinding>,
    /// Number of omitted findings.
    pub more_findings: usize,
    /// The reasons why the verdict is inconclusive.
    pub no_verdict: Vec<Text>,
    /// Whether the verdict is a failure; version 1 has no separate verdict.
    pub failed: bool,
    /// The verdict; version 1 has none.
    pub verdict: Option<Verdict>,
    /// The NPUs in the table of npu-smi.
    pub npus: Vec<Npu>,
    /// Checks that could not run.
    pub not_checked: Vec<String>,
    /// Checks that ran.
    pub answered: Vec<String>,
    /// The states of the areas of its checks.
    pub areas: AreaStates,
    /// Device, address, netmask, and whether it has a gateway.
    pub addresses: Vec<(u32, String, Option<String>, bool)>,
    /// A rank table named for a job, if it lists several servers.
    pub table: Option<Ranks>,
}

/// An NPU in the table of npu-smi.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Npu {
    /// The number of the NPU and that of the chip on it.
    pub numbers: (u32, u32),
    /// Name of the chip, such as `910B3`.
    pub name: String,
    /// Health, such as `OK`.
    pub health: String,
    /// PCI address.
    pub bus_id: Option<String>,
    /// Used and total device memory in MB.
    pub memory_mb: Option<(u64, u64)>,
}

/// The value of a component on a host.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ComponentValue {
    /// Unknown.
    #[default]
    Unknown,
    /// Not installed.
    Absent,
    /// Installed, with this value.
    Is(String),
}

/// A finding of a report.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct ReportedFinding {
    /// The ID.
    pub id: String,
    /// The message of that ID.
    #[serde(default)]
    pub message: String,
    /// The severity.
    pub severity: Severity,
    /// The defect.
    pub title: Text,
    /// The cause.
    #[serde(default)]
    pub cause: Text,
    /// The steps of the fix, with their commands.
    #[serde(default, deserialize_with = "read_fixes")]
    pub fix: Vec<(Text, Option<String>)>,
}

fn read_fixes<'de, D: serde::Deserializer<'de>>(
    d: D,
) -> Result<Vec<(Text, Option<String>)>, D::Error> {
    let steps = Vec::<FixStep>::deserialize(d)?;
    Ok(steps.into_iter().map(|step| (step.text, step.run)).collect())
}

/// The reason why a document is not compared.
#[derive(Debug, PartialEq, Eq)]
pub enum RejectReason {
    /// It reports the progress of a run; the report follows.
    Stage,
    /// It is damaged, or has another form.
    Form(Text),
    /// It is of a subcommand that does not examine a machine, or of another version.
    Other(String),
}

impl RejectReason {
    /// The reason as a text for users.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Stage => faults::AStage.fault(),
            Self::Form(why) => faults::NoReport { why }.fault(),
            Self::Other(schema) => faults::OtherDocument { schema }.fault(),
        }
    }
}

data::impl_fault!(RejectReason);

#[derive(Deserialize)]
struct Document {
    schema: String,
    #[serde(default)]
    tool: Tool,
    #[serde(default)]
    subject: String,
    #[serde(default)]
    findings: Vec<SentFinding>,
    #[serde(default)]
    checks: Vec<Checked>,
    /// Version 1: the reasons for an inconclusive verdict.
    #[serde(default)]
    no_verdict: Vec<Text>,
    /// Version 2: `pass`, `fail` or `inconclusive`; version 1 has other words.
    #[serde(default)]
    verdict: String,
    #[serde(default)]
    coverage: Vec<Link>,
    #[serde(default)]
    provenance: Vec<Provenance>,
    #[serde(default)]
    host: Host,
    taken: Option<i64>,
    #[serde(default)]
    fingerprint: BTreeMap<String, Value>,
    #[serde(default)]
    facts: Facts,
    #[serde(default)]
    devices: Vec<Device>,
}

/// A finding with its consequences.
#[derive(Deserialize)]
struct SentFinding {
    #[serde(flatten)]
    finding: ReportedFinding,
    #[serde(default)]
    consequences: Vec<Consequence>,
}

/// A finding explained by another one.
#[derive(Deserialize)]
struct Consequence {
    id: String,
    severity: Severity,
    #[serde(default)]
    consequences: Vec<Consequence>,
}

impl Consequence {
    fn add_to<'a>(&'a self, all: &mut Vec<(&'a str, Severity)>) {
        all.push((&self.id, self.severity));
        for inner in &self.consequences {
            inner.add_to(all);
        }
    }
}

#[derive(Default, Deserialize)]
struct Tool {
    #[serde(default)]
    version: String,
}

#[derive(Deserialize)]
struct Checked {
    id: String,
    // Version 1 uses the name `verdict`.
    #[serde(alias = "verdict")]
    state: CheckState,
}

/// A link of the goal: version 2 and later.
#[derive(Deserialize)]
struct Link {
    need: Need,
    state: String,
    reason: Option<Text>,
}

#[derive(Deserialize)]
struct Provenance {
    what: String,
    #[serde(deserialize_with = "base::text::read_text")]
    value: Text,
}

#[derive(Default, Deserialize)]
struct Host {
    name: Option<String>,
    machine: Option<String>,
    boot: Option<String>,
    arch: Option<String>,
    os: Option<String>,
    kernel: Option<String>,
}

#[derive(Default, Deserialize)]
struct Facts {
    #[serde(default)]
    net: Net,
    #[serde(default)]
    driver: Driver,
}

#[derive(Default, Deserialize)]
struct Driver {
    npu_smi: Option<NpuSmi>,
}

#[derive(Deserialize)]
struct NpuSmi {
    #[serde(default)]
    chips: Vec<NpuChip>,
}

#[derive(Default, Deserialize)]
struct Net {
    hccn: Option<HccnConf>,
    ranktable: Option<RankTable>,
}

#[derive(Deserialize)]
struct Device {
    soc: Option<String>,
}

/// The comparison of the facts of a report with the expectations of a site.
#[derive(Debug, Default)]
pub struct SiteJudgement {
    /// The deviations.
    pub findings: Vec<ReportedFinding>,
    /// The reason why some expectations could not be compared.
    pub unknown: Option<Text>,
}

/// Compares the document of a `check` with the expectations of a site.
pub type SiteJudge<'a> = &'a (dyn Fn(&[u8]) -> SiteJudgement + Sync);

/// Reads one report, and compares it again with the expectations of a site.
pub(super) fn read_and_judge(
    bytes: &[u8],
    judge: Option<SiteJudge<'_>>,
) -> Result<Record, RejectReason> {
    let mut record = read(bytes)?;
    if let Some(judge) = judge.filter(|_| record.command == "check") {
        let SiteJudgement { findings, unknown } = judge(bytes);
        // The host may have used its own expectations.
        record.findings.retain(|finding| !finding.id.starts_with("SITE-"));
        if findings.iter().any(|finding| finding.severity == Severity::Error) {
            record.failed = true;
            record.verdict = record.verdict.map(|_| Verdict::Fail);
        }
        record.findings.extend(findings);
        if let Some(unknown) = unknown {
            record.no_verdict.push(unknown);
            record.verdict = record.verdict.map(|verdict| verdict.max(Verdict::Inconclusive));
        }
    }
    Ok(record)
}

/// Reads one report.
fn read(bytes: &[u8]) -> Result<Record, RejectReason> {
    let document: Document = serde_json::from_slice(bytes).map_err(|error| {
        // Facts and stages do not have the members of a report, or name them differently.
        let schema = read_schema(bytes);
        match schema.as_deref() {
            Some("ascend-doctor/verify-stage/1") => RejectReason::Stage,
            Some(other) if !is_read(other) => {
                RejectReason::Other(truncate_text(other.to_owned(), MAX_VALUE))
            }
            _ => RejectReason::Form(error.value()),
        }
    })?;
    if document.schema == "ascend-doctor/verify-stage/1" {
        return Err(RejectReason::Stage);
    }
    if !is_read(&document.schema) {
        return Err(RejectReason::Other(truncate_text(document.schema, MAX_VALUE)));
    }
    Ok(reduce_document(document))
}

fn is_read(schema: &str) -> bool {
    // The last two versions are accepted, because hosts of a cluster are updated one after the
    // other.
    let Some((command, version)) =
        schema.strip_prefix("ascend-doctor/").and_then(|rest| rest.split_once('/'))
    else {
        return false;
    };
    matches!(command, "check" | "verify") && matches!(version, "1" | "2")
}

fn read_schema(bytes: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Head {
        schema: String,
    }
    serde_json::from_slice::<Head>(bytes).ok().map(|head| head.schema)
}

fn reduce_document(document: Document) -> Record {
    let check = document.schema.starts_with("ascend-doctor/check/");
    let values = COMPONENTS.iter().map(|component| read_value(&document, component.from, check));
    let values = values.collect();
    let name = document
        .host
        .name
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| document.subject.trim_end_matches(" (SIMULATED)").trim().to_owned());
    let mut found = Vec::new();
    for SentFinding { finding, consequences } in &document.findings {
        found.push((finding.id.as_str(), finding.severity));
        for one in consequences {
            one.add_to(&mut found);
        }
    }
    let checks = document.checks.iter().map(|check| (check.id.as_str(), check.state));
    let areas = areas::judge(checks, found.into_iter());
    let mut findings: Vec<ReportedFinding> =
        document.findings.into_iter().map(|sent| sent.finding).collect();
    let more_findings = findings.len().saturating_sub(MAX_FINDINGS);
    findings.truncate(MAX_FINDINGS);
    for finding in &mut findings {
        finding.id = filter_id(&finding.id);
        finding.message = filter_id(&finding.message);
        shorten(&mut finding.title);
        shorten(&mut finding.cause);
        finding.fix.truncate(8);
        for (text, run) in &mut finding.fix {
            shorten(text);
            *run = run.take().map(|run| truncate_text(run, MAX_TEXT));
        }
    }
    let failed = document.verdict == "fail";
    let mut no_verdict = document.no_verdict;
    if document.verdict == "inconclusive" {
        let open = document
            .coverage
            .into_iter()
            .filter(|link| link.need == Need::Required && link.state == "not_examined");
        no_verdict.extend(open.map(|link| link.reason.unwrap_or_default()));
    }
    no_verdict.truncate(20);
    no_verdict.iter_mut().for_each(shorten);
    let (mut not_checked, mut answered) = (Vec::new(), Vec::new());
    for check in document.checks.into_iter().take(1000) {
        match check.state {
            CheckState::NotChecked => not_checked.push(filter_id(&check.id)),
            CheckState::NotApplicable => {}
            CheckState::Passed | CheckState::Found | CheckState::Folded => {
                answered.push(filter_id(&check.id));
            }
        }
    }
    Record {
        host: truncate_text(name, MAX_NAME),
        command: if check { "check" } else { "verify" }.to_owned(),
        taken: document.taken,
        arrived: None,
        machine: document.host.machine.map(|id| truncate_text(id, 64)),
        boot: document.host.boot.map(|id| truncate_text(id, 64)),
        values,
        findings,
        more_findings,
        no_verdict,
        failed,
        verdict: read_verdict(&document.verdict),
        npus: document.facts.driver.npu_smi.map(read_npus).unwrap_or_default(),
        not_checked,
        answered,
        areas,
        addresses: document.facts.net.hccn.map(read_addresses).unwrap_or_default(),
        table: document.facts.net.ranktable.and_then(read_table),
    }
}

/// Returns the value of a component in a report.
fn read_value(document: &Document, from: Place, check: bool) -> ComponentValue {
    let text = |value: &Option<String>| value.clone().map_or(ComponentValue::Unknown, bound_value);
    match from {
        Place::Fingerprint(key) => match document.fingerprint.get(key) {
            Some(Value::String(text)) => bound_value(text.clone()),
            Some(Value::Number(number)) => ComponentValue::Is(number.to_string()),
            Some(Value::Null) => ComponentValue::Absent,
            _ => ComponentValue::Unknown,
        },
        Place::Arch => text(&document.host.arch),
        Place::Os => text(&document.host.os),
        Place::Kernel => text(&document.host.kernel),
        Place::Soc => text(&document.devices.iter().find_map(|device| device.soc.clone())),
        // The version in `verify` would only be another value for the same host.
        Place::Tool if check => bound_value(document.tool.version.clone()),
        Place::Tool => ComponentValue::Unknown,
        Place::Matrix => {
            let matrix = document.provenance.iter().find(|part| part.what == "matrix");
            matrix.map_or(ComponentValue::Unknown, |part| bound_value(part.value.en.clone()))
        }
    }
}

fn read_verdict(word: &str) -> Option<Verdict> {
    [Verdict::Pass, Verdict::Fail, Verdict::Inconclusive].into_iter().find(|v| v.as_str() == word)
}

fn read_npus(table: NpuSmi) -> Vec<Npu> {
    let npu = |chip: NpuChip| Npu {
        numbers: (chip.npu, chip.chip),
        name: truncate_text(chip.name, 64),
        health: truncate_text(chip.health, 64),
        bus_id: chip.bus_id.map(|id| truncate_text(id, 64)),
        memory_mb: chip.hbm_mb,
    };
    table.chips.into_iter().take(MAX_DEVICES).map(npu).collect()
}

fn bound_value(text: String) -> ComponentValue {
    if text.is_empty() {
        ComponentValue::Unknown
    } else {
        ComponentValue::Is(truncate_text(text, MAX_VALUE))
    }
}

fn read_addresses(conf: HccnConf) -> Vec<(u32, String, Option<String>, bool)> {
    let HccnConf { addresses, mut netmasks, gateways, .. } = conf;
    let device = |(device, address): (u32, String)| {
        let mask = netmasks.remove(&device).map(|mask| truncate_text(mask, 64));
        (device, truncate_text(address, 64), mask, gateways.contains_key(&device))
    };
    addresses.into_iter().take(MAX_DEVICES).map(device).collect()
}

/// Returns the devices of a table for a job with several servers. The table at the default path
/// describes only one machine, as does any table with one server.
fn read_table(table: RankTable) -> Option<Ranks> {
    let first = table.devices.first()?.server.clone();
    let several = table.devices.iter().any(|device| device.server != first);
    if table.variable.is_empty() || !several {
        return None;
    }
    let devices = table.devices.into_iter().take(MAX_TABLE);
    let mut devices: Vec<_> = devices
        .filter_map(|device| Some((truncate_text(device.device_ip?, 64), device.device_id)))
        .collect();
    devices.sort();
    Some(devices)
}

fn shorten(text: &mut Text) {
    text.en = truncate_text(std::mem::take(&mut text.en), MAX_TEXT);
    text.zh = truncate_text(std::mem::take(&mut text.zh), MAX_TEXT);
}

/// Cleans an ID, which becomes part of displayed commands: only letters, digits and `-_./` remain.
fn filter_id(id: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    id.chars().take(64).map(|c| if fits(c) { c } else { '?' }).collect()
}

/// At most `limit` bytes, cut between characters.
fn truncate_text(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit));
        text.push('…');
    }
    text.shrink_to_fit();
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_documents_are_refused() {
        let other = |text: &str| match read(text.as_bytes()) {
            Err(RejectReason::Other(schema)) => schema,
            found => panic!("{text}: {found:?}"),
        };
        assert_eq!(
            other(r#"{"schema":"ascend-doctor/facts/1","host":7}"#),
            "ascend-doctor/facts/1"
        );
        assert_eq!(other(r#"{"schema":"ascend-doctor/check/3"}"#), "ascend-doctor/check/3");
        assert_eq!(
            read(br#"{"schema":"ascend-doctor/verify-stage/1","device":0}"#).unwrap_err(),
            RejectReason::Stage
        );
        for text in ["", "{", "[]", "{}", r#"{"schema":"ascend-doctor/check/1","findings":7}"#] {
            assert!(matches!(read(text.as_bytes()), Err(RejectReason::Form(_))), "{text}");
        }
    }

    #[test]
    fn huge_values_are_truncated() {
        let long = "长".repeat(100_000);
        let text = format!(
            r#"{{"schema":"ascend-doctor/check/1","host":{{"name":"{long}"}},
            "fingerprint":{{"cann":"{long}"}},"findings":[{{"id":"{long}","severity":"error",
            "title":{{"en":"{long}","zh":"{long}"}}}}]}}"#
        );
        let record = read(text.as_bytes()).unwrap();
        assert!(record.host.len() < 300 && record.findings[0].title.en.len() < 3000);
        assert!(record.findings[0].id.len() < 80);
    }

    #[test]
    fn simulated_run_keeps_its_host_name() {
        let text = r#"{"schema":"ascend-doctor/verify/1","subject":"n7 (SIMULATED)",
            "devices":[{"soc":"Ascend910B3"}]}"#;
        let record = read(text.as_bytes()).unwrap();
        assert_eq!((record.host.as_str(), record.command.as_str()), ("n7", "verify"));
        assert!(record.values.contains(&ComponentValue::Is("Ascend910B3".to_owned())));
    }
}
