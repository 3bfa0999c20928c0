//! Numbers for Prometheus, for the textfile directory of its node exporter.
//!
//! What is written is valid in both formats that read such files: OpenMetrics 1.0, and the older
//! text format of Prometheus 0.0.4, which knows gauges and no infos, and takes `# EOF` as a remark.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::Value;

use base::report::{CheckState, Report, Severity, Verdict};

pub(super) fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let command = report.command;
    let mut family = Families { out };
    let summary = report.summary();
    family.begin("ascend_doctor_findings", "Findings by severity.")?;
    for (severity, count) in [
        (Severity::Error, summary.errors),
        (Severity::Warning, summary.warnings),
        (Severity::Info, summary.infos),
    ] {
        let labels = [("command", command), ("severity", severity.as_str())];
        family.write_sample("ascend_doctor_findings", &labels, count)?;
    }
    if let Some(verdict) = report.verdict() {
        family.begin("ascend_doctor_verdict", "Verdict: 1 for the one that applies.")?;
        for one in [Verdict::Pass, Verdict::Fail, Verdict::Inconclusive] {
            let goal = report.proof.as_ref().map_or("", |proof| proof.goal.id);
            let labels = [("command", command), ("goal", goal), ("verdict", one.as_str())];
            family.write_sample("ascend_doctor_verdict", &labels, usize::from(one == verdict))?;
        }
    }
    family.begin(
        "ascend_doctor_exit_status",
        "Exit status of the gate: 0 passed, 1 failed or findings at the fail level, 3 inconclusive.",
    )?;
    let status = usize::from(report.exit_status().code());
    family.write_sample("ascend_doctor_exit_status", &[("command", command)], status)?;
    family.begin("ascend_doctor_gate", "Policy that leads from the verdict to the exit status.")?;
    let labels = [
        ("command", command),
        ("fail_on", report.gate.fail_on.as_str()),
        ("on_inconclusive", report.gate.on_inconclusive.as_str()),
        ("changed", if report.gate.is_default() { "no" } else { "yes" }),
    ];
    family.write_sample("ascend_doctor_gate", &labels, 1)?;
    let checks: Vec<_> = report
        .results
        .iter()
        .filter_map(|result| {
            let state = match result.state {
                CheckState::Passed => 0,
                CheckState::Found | CheckState::Folded => 1,
                CheckState::NotChecked => 2,
                CheckState::NotApplicable => return None,
            };
            Some((result.id, state))
        })
        .collect();
    if !checks.is_empty() {
        family
            .begin("ascend_doctor_check", "Checks: 0 passed, 1 found something, 2 not checked.")?;
        for (id, state) in checks {
            let labels = [("command", command), ("id", id)];
            family.write_sample("ascend_doctor_check", &labels, state)?;
        }
    }
    if let Some(Value::Object(fingerprint)) = report.extra.get("fingerprint") {
        let mut labels: Vec<(&str, &str)> = vec![("command", command)];
        let named = ["cann", "chip", "driver", "firmware", "torch", "torch_npu", "vllm_ascend"];
        for key in named {
            labels.push((key, fingerprint.get(key).and_then(Value::as_str).unwrap_or_default()));
        }
        family.begin("ascend_doctor_info", "Versions of the stack.")?;
        family.write_sample("ascend_doctor_info", &labels, 1)?;
    }
    if let Some(fleet) = report.extra.get("fleet") {
        write_fleet(fleet, &mut family)?;
    }
    family.begin(
        "ascend_doctor_last_run_timestamp_seconds",
        "When this was written, in seconds since 1970.",
    )?;
    let now = usize::try_from(report.ended.unwrap_or_default()).unwrap_or_default();
    family.write_sample(
        "ascend_doctor_last_run_timestamp_seconds",
        &[("command", command)],
        now,
    )?;
    writeln!(family.out, "# EOF")
}

/// What only a fleet has: hosts by state, and by finding.
fn write_fleet(fleet: &Value, family: &mut Families<'_>) -> io::Result<()> {
    let count = |value: &Value| {
        value.as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or_default()
    };
    let listed = |value: &Value| value.as_array().map_or(0, Vec::len);
    family.begin("ascend_doctor_fleet_hosts", "Hosts of the fleet by state.")?;
    for state in ["clean", "warnings", "errors", "inconclusive"] {
        let hosts = count(&fleet["states"][state]["count"]);
        family.write_sample("ascend_doctor_fleet_hosts", &[("state", state)], hosts)?;
    }
    let missing = count(&fleet["missing_count"]);
    family.write_sample("ascend_doctor_fleet_hosts", &[("state", "missing")], missing)?;
    let unreadable = listed(&fleet["unreadable"]);
    family.write_sample("ascend_doctor_fleet_hosts", &[("state", "unreadable")], unreadable)?;
    // By id and severity: messages of one id may be several.
    let mut hosts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for finding in fleet["findings"].as_array().into_iter().flatten() {
        let text = |key: &str| finding[key].as_str().unwrap_or_default();
        let sum = hosts.entry((text("id"), text("severity"))).or_default();
        *sum = (*sum).max(count(&finding["count"]));
    }
    if !hosts.is_empty() {
        family.begin("ascend_doctor_fleet_finding_hosts", "Hosts that report a finding.")?;
        for ((id, severity), count) in hosts {
            let labels = [("id", id), ("severity", severity)];
            family.write_sample("ascend_doctor_fleet_finding_hosts", &labels, count)?;
        }
    }
    Ok(())
}

struct Families<'a> {
    out: &'a mut dyn Write,
}

impl Families<'_> {
    fn begin(&mut self, name: &str, help: &str) -> io::Result<()> {
        writeln!(self.out, "# HELP {name} {help}\n# TYPE {name} gauge")
    }

    fn write_sample(
        &mut self,
        name: &str,
        labels: &[(&str, &str)],
        value: usize,
    ) -> io::Result<()> {
        let labels: Vec<String> = labels
            .iter()
            .map(|(key, value)| format!("{key}=\"{}\"", escape_label(value)))
            .collect();
        writeln!(self.out, "{name}{{{}}} {value}", labels.join(","))
    }
}

/// The value of a label: what the format escapes, and no control characters.
fn escape_label(value: &str) -> String {
    let value: String = value.chars().filter(|c| !c.is_control()).take(200).collect();
    value.replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_cannot_leave_their_quotes() {
        assert_eq!(escape_label("a\"} 1\n# EOF\\"), "a\\\"} 1# EOF\\\\");
    }
}
