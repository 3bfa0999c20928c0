//! DRV-NPUSMI: the output of npu-smi.

use crate::{Context, npu};
use base::report::Evidence;
use data::{
    FindingId, Outcome, RawFinding, Reason,
    findings::{
        dev_access, dev_manager, dev_type, drv_firmware, drv_mounts, drv_npusmi, drv_present,
        host_modules,
    },
    ui,
};
use facts::{Facts, NpuSmi};

/// Findings that explain a failure of npu-smi.
const CAUSES: &[FindingId] = &[
    dev_access::ID,
    drv_mounts::ID,
    dev_type::ID,
    drv_present::ID,
    host_modules::ID,
    dev_manager::ID,
];

pub(super) fn npu_smi(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    if !npu::has_driver(facts) {
        return Outcome::NotApplicable(Reason::NoDriver);
    }
    if facts.driver.npu_smi_path.is_none() && facts.driver.npu_smi.is_none() {
        // In a container, npu-smi is an optional mount that no workload needs.
        if npu::in_container(facts) {
            return Outcome::NotApplicable(Reason::InContainer);
        }
        let found = drv_npusmi::Missing
            .warning()
            .evidence(Evidence::file("/usr/local/bin/npu-smi").says(ui::SEEN_MISSING.text()))
            .evidence(Evidence::file("/usr/local/sbin/npu-smi").says(ui::SEEN_MISSING.text()))
            .because(&[drv_present::ID]);
        return vec![found].into();
    }
    let Some(smi) = &facts.driver.npu_smi else {
        return Outcome::NotChecked(Reason::NoNpuSmi);
    };
    if let Some(found) = failure(smi) {
        return vec![found.because(CAUSES)].into();
    }
    let mut found = Vec::new();
    found.extend(health(smi));
    if let Some(word) = smi.compatibility.as_deref().filter(|word| word.eq_ignore_ascii_case("NOK"))
    {
        found.push(
            drv_npusmi::Compatibility
                .warning()
                .evidence(
                    Evidence::command(format!("{} -t board", smi.source))
                        .value(format!("Compatibility: {word}")),
                )
                .because(&[drv_firmware::ID]),
        );
    }
    found.extend(count(facts, smi));
    found.into()
}

/// The finding if npu-smi printed no table.
fn failure(smi: &NpuSmi) -> Option<RawFinding> {
    let line = smi.error_line.clone().unwrap_or_default();
    let evidence = Evidence::command(&smi.source).value(&line);
    if smi.timed_out {
        let found = drv_npusmi::TimedOut { command: &smi.source }.warning();
        return Some(found.evidence(Evidence::command(&smi.source)));
    }
    if let Some(code) = smi.error_code {
        let found = match code {
            -8005 => drv_npusmi::Inner { code, line }.warning(),
            -8020 => drv_npusmi::Occupied { code, line }.warning(),
            _ => drv_npusmi::Code { code, line }.warning(),
        };
        return Some(found.evidence(evidence));
    }
    if smi.chips.is_empty() {
        let found = drv_npusmi::NoTable { line }.warning();
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
    let mut found = drv_npusmi::Health {
        chip: first.chip.to_string(),
        chips: npu::listed(ill.iter().map(String::as_str)),
        npu: first.npu.to_string(),
    }
    .warning();
    for line in ill {
        found = found.evidence(Evidence::command(&smi.source).value(line));
    }
    Some(found)
}

/// The finding for device nodes whose chip the driver does not list.
fn count(facts: &Facts, smi: &NpuSmi) -> Option<RawFinding> {
    let nodes = facts.devices.davinci_ids().len();
    (smi.chips.len() < nodes).then(|| {
        drv_npusmi::Count { chips: smi.chips.len().to_string(), nodes: nodes.to_string() }
            .warning()
            .evidence(Evidence::command(&smi.source).value(smi.chips.len().to_string()))
            .evidence(Evidence::file("/dev/davinci*").value(nodes.to_string()))
            .because(CAUSES)
    })
}
