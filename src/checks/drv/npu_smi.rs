//! DRV-NPUSMI: what the driver's own tool says.

use crate::{Context, npu};
use base::report::{Evidence, Outcome, RawFinding};
use data::sentence;
use facts::{Facts, NpuSmi};

/// What explains that npu-smi fails.
const CAUSES: &[&str] =
    &["DEV-ACCESS", "DRV-MOUNTS", "DEV-TYPE", "DRV-PRESENT", "HOST-MODULES", "DEV-MANAGER"];

pub(super) fn npu_smi(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    if !npu::has_driver(facts) {
        return Outcome::not_applicable("no_driver");
    }
    if facts.driver.npu_smi_path.is_none() && facts.driver.npu_smi.is_none() {
        // In a container it is one of the mounts, and no workload needs it.
        if npu::in_container(facts) {
            return Outcome::not_applicable("in_container");
        }
        let found = RawFinding::warning("DRV-NPUSMI", "missing")
            .evidence(Evidence::file("/usr/local/bin/npu-smi").says(sentence("seen_missing", &[])))
            .evidence(Evidence::file("/usr/local/sbin/npu-smi").says(sentence("seen_missing", &[])))
            .because(&["DRV-PRESENT"]);
        return vec![found].into();
    }
    let Some(smi) = &facts.driver.npu_smi else {
        return Outcome::not_checked("no_npu_smi", "");
    };
    if let Some(found) = failure(smi) {
        return vec![found.because(CAUSES)].into();
    }
    let mut found = Vec::new();
    found.extend(health(smi));
    if let Some(word) = smi.compatibility.as_deref().filter(|word| word.eq_ignore_ascii_case("NOK"))
    {
        found.push(
            RawFinding::warning("DRV-NPUSMI", "compatibility")
                .evidence(
                    Evidence::command(format!("{} -t board", smi.source))
                        .value(format!("Compatibility: {word}")),
                )
                .because(&["DRV-FIRMWARE"]),
        );
    }
    found.extend(count(facts, smi));
    found.into()
}

/// It gave no table.
fn failure(smi: &NpuSmi) -> Option<RawFinding> {
    let line = smi.error_line.clone().unwrap_or_default();
    let evidence = Evidence::command(&smi.source).value(&line);
    if smi.timed_out {
        let found = RawFinding::warning("DRV-NPUSMI", "timed_out").arg("command", &smi.source);
        return Some(found.evidence(Evidence::command(&smi.source)));
    }
    if let Some(code) = smi.error_code {
        let message = match code {
            -8005 => "inner",
            -8020 => "occupied",
            _ => "code",
        };
        let found = RawFinding::warning("DRV-NPUSMI", message).arg("code", code.to_string());
        return Some(found.arg("line", line).evidence(evidence));
    }
    if smi.chips.is_empty() {
        let found = RawFinding::warning("DRV-NPUSMI", "no_table").arg("line", line);
        return Some(found.evidence(evidence));
    }
    None
}

fn health(smi: &NpuSmi) -> Option<RawFinding> {
    let ill: Vec<String> = smi
        .chips
        .iter()
        .filter(|chip| !chip.health.eq_ignore_ascii_case("OK"))
        .map(|chip| format!("NPU {} Chip {} ({}): {}", chip.npu, chip.chip, chip.name, chip.health))
        .collect();
    let first = smi.chips.iter().find(|chip| !chip.health.eq_ignore_ascii_case("OK"))?;
    let mut found = RawFinding::warning("DRV-NPUSMI", "health")
        .arg("chips", npu::listed(ill.iter().map(String::as_str)))
        .arg("npu", first.npu.to_string())
        .arg("chip", first.chip.to_string());
    for line in ill {
        found = found.evidence(Evidence::command(&smi.source).value(line));
    }
    Some(found)
}

/// A node of a device that the driver does not list has lost its chip.
fn count(facts: &Facts, smi: &NpuSmi) -> Option<RawFinding> {
    let nodes = facts.devices.davinci_ids().len();
    (smi.chips.len() < nodes).then(|| {
        RawFinding::warning("DRV-NPUSMI", "count")
            .arg("chips", smi.chips.len().to_string())
            .arg("nodes", nodes.to_string())
            .evidence(Evidence::command(&smi.source).value(smi.chips.len().to_string()))
            .evidence(Evidence::file("/dev/davinci*").value(nodes.to_string()))
            .because(CAUSES)
    })
}
