//! Numbers for Prometheus, for the textfile directory of its node exporter.
//!
//! The output is valid in both formats that read such files: OpenMetrics 1.0, and the older text
//! format of Prometheus 0.0.4, which has gauges but no infos, and treats `# EOF` as a comment.
//!
//! `prometheus-client` writes the text. A [`Collector`] fixes the order of families, samples and
//! labels, because the families of that library keep their samples in a hash table.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _, text};
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};
use serde_json::Value;

use base::report::{CheckState, Report, Severity, Verdict};
use base::text::escape_line;

/// The longest value of a label, in characters.
const LABEL_LIMIT: usize = 200;

/// A gauge with its samples, in the order of the text.
#[derive(Debug)]
struct Family {
    name: &'static str,
    unit: Option<Unit>,
    help: &'static str,
    samples: Vec<Sample>,
}

#[derive(Debug)]
struct Sample {
    labels: Vec<(&'static str, String)>,
    value: u64,
}

#[derive(Debug)]
struct Families(Vec<Family>);

impl Collector for Families {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for family in &self.0 {
            let kind = ConstGauge::new(0_u64).metric_type();
            let mut family_encoder =
                encoder.encode_descriptor(family.name, family.help, family.unit.as_ref(), kind)?;
            for sample in &family.samples {
                let gauge = ConstGauge::new(sample.value);
                gauge.encode(family_encoder.encode_family(&sample.labels)?)?;
            }
        }
        Ok(())
    }
}

impl Family {
    fn new(name: &'static str, help: &'static str) -> Self {
        Self { name, unit: None, help, samples: Vec::new() }
    }

    fn sample(mut self, labels: &[(&'static str, &str)], value: impl TryInto<u64>) -> Self {
        let labels = labels.iter().map(|(key, value)| (*key, label(value))).collect();
        self.samples.push(Sample { labels, value: value.try_into().unwrap_or(u64::MAX) });
        self
    }
}

pub(super) fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Families(collect(report))));
    let mut shown = String::new();
    text::encode(&mut shown, &registry).map_err(io::Error::other)?;
    out.write_all(shown.as_bytes())
}

fn collect(report: &Report) -> Vec<Family> {
    let command = report.command;
    let summary = report.summary();
    let mut families = vec![
        [
            (Severity::Error, summary.errors),
            (Severity::Warning, summary.warnings),
            (Severity::Info, summary.infos),
        ]
        .into_iter()
        .fold(
            Family::new("ascend_doctor_findings", "Findings by severity."),
            |family, (severity, count)| {
                let labels = [("command", command), ("severity", severity.as_str())];
                family.sample(&labels, count)
            },
        ),
    ];
    if let Some(verdict) = report.verdict() {
        let goal = report.proof.as_ref().map_or("", |proof| proof.goal.id);
        families.push([Verdict::Pass, Verdict::Fail, Verdict::Inconclusive].into_iter().fold(
            Family::new("ascend_doctor_verdict", "Verdict: 1 for the one that applies."),
            |family, one| {
                let labels = [("command", command), ("goal", goal), ("verdict", one.as_str())];
                family.sample(&labels, u8::from(one == verdict))
            },
        ));
    }
    families.push(
        Family::new(
            "ascend_doctor_exit_status",
            "Exit status of the gate: 0 passed, 1 failed or findings at the fail level, 3 inconclusive.",
        )
        .sample(&[("command", command)], report.exit_status().code()),
    );
    let gate = [
        ("command", command),
        ("fail_on", report.gate.fail_on.as_str()),
        ("on_inconclusive", report.gate.on_inconclusive.as_str()),
        ("changed", if report.gate.is_default() { "no" } else { "yes" }),
    ];
    families.push(
        Family::new("ascend_doctor_gate", "Policy that leads from the verdict to the exit status.")
            .sample(&gate, 1_u8),
    );
    families.extend(collect_checks(report));
    if let Some(Value::Object(fingerprint)) = report.extra.get("fingerprint") {
        let mut labels: Vec<(&'static str, &str)> = vec![("command", command)];
        let named = ["cann", "chip", "driver", "firmware", "torch", "torch_npu", "vllm_ascend"];
        for key in named {
            labels.push((key, fingerprint.get(key).and_then(Value::as_str).unwrap_or_default()));
        }
        let info = Family::new("ascend_doctor_info", "Versions of the stack.");
        families.push(info.sample(&labels, 1_u8));
    }
    if let Some(fleet) = report.extra.get("fleet") {
        families.extend(collect_fleet(fleet));
    }
    let mut last_run = Family::new(
        "ascend_doctor_last_run_timestamp",
        "When this was written, in seconds since 1970.",
    );
    last_run.unit = Some(Unit::Seconds);
    families.push(last_run.sample(&[("command", command)], report.ended.unwrap_or_default()));
    families
}

fn collect_checks(report: &Report) -> Option<Family> {
    let checks: Vec<(&str, u8)> = report
        .results
        .iter()
        .filter_map(|result| match result.state {
            CheckState::Passed => Some((result.id, 0)),
            CheckState::Found | CheckState::Folded => Some((result.id, 1)),
            CheckState::NotChecked => Some((result.id, 2)),
            CheckState::NotApplicable => None,
        })
        .collect();
    let family =
        Family::new("ascend_doctor_check", "Checks: 0 passed, 1 found something, 2 not checked.");
    (!checks.is_empty()).then(|| {
        checks.into_iter().fold(family, |family, (id, state)| {
            family.sample(&[("command", report.command), ("id", id)], state)
        })
    })
}

/// Metrics that only a fleet has: hosts by state, and by finding.
fn collect_fleet(fleet: &Value) -> Vec<Family> {
    let count = |value: &Value| value.as_u64().unwrap_or_default();
    let mut hosts = Family::new("ascend_doctor_fleet_hosts", "Hosts of the fleet by state.");
    for state in ["clean", "warnings", "errors", "inconclusive"] {
        hosts = hosts.sample(&[("state", state)], count(&fleet["states"][state]["count"]));
    }
    hosts = hosts.sample(&[("state", "missing")], count(&fleet["missing_count"]));
    let unreadable = fleet["unreadable"].as_array().map_or(0, Vec::len);
    let mut families = vec![hosts.sample(&[("state", "unreadable")], unreadable)];
    // By id and severity, because several messages may share an id.
    let mut found: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for finding in fleet["findings"].as_array().into_iter().flatten() {
        let text = |key: &str| finding[key].as_str().unwrap_or_default();
        let most = found.entry((text("id"), text("severity"))).or_default();
        *most = (*most).max(count(&finding["count"]));
    }
    if !found.is_empty() {
        families.push(found.into_iter().fold(
            Family::new("ascend_doctor_fleet_finding_hosts", "Hosts that report a finding."),
            |family, ((id, severity), count)| {
                family.sample(&[("id", id), ("severity", severity)], count)
            },
        ));
    }
    families
}

/// The value of a label: one visible line of bounded length. The library escapes its quotes.
fn label(value: &str) -> String {
    escape_line(value).chars().take(LABEL_LIMIT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_cannot_leave_their_quotes() {
        let family =
            Family::new("a", "B.").sample(&[("x", "a\"} 1\n# EOF\\\u{202e}"), ("b", "")], 3_u8);
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Families(vec![family])));
        let mut shown = String::new();
        text::encode(&mut shown, &registry).unwrap();
        assert_eq!(
            shown,
            "# HELP a B.\n# TYPE a gauge\n\
             a{x=\"a\\\"} 1\\\\n# EOF\\\\\\\\u{202e}\",b=\"\"} 3\n# EOF\n"
        );
    }
}
