//! Findings about data types, quantization methods and compilers that sources name.

use data::RawFinding;
use std::collections::BTreeMap;

use base::chip::ChipFamily;
use base::report::Evidence;

use super::input::AuditedInput;
use crate::python::hint_tables::{
    CompileBackend, QuantizationMethod, backend, method, method_chosen_by,
};
use crate::source_notes::HintKind;

/// Places of one hint that a finding shows.
const MOST_PLACES: usize = 8;

/// How many operators of the AI Core of a chip there are, and how many of them take a data type,
/// by the operator descriptions that CANN 8.1.RC1 installs (`aic-<soc>-ops-info.json`).
const AI_CORE: &[(ChipFamily, u32, u32, u32)] = &[
    (ChipFamily::A310, 517, 15, 0),
    (ChipFamily::A310B, 698, 16, 2),
    (ChipFamily::A310P, 846, 21, 5),
    (ChipFamily::A910, 831, 19, 5),
    (ChipFamily::A910B, 1094, 26, 11),
    (ChipFamily::A3, 1072, 26, 11),
];

pub(super) fn findings(read: &[AuditedInput], chip: Option<ChipFamily>) -> Vec<RawFinding> {
    let mut places: BTreeMap<(HintKind, String), Vec<Evidence>> = BTreeMap::new();
    for input in read {
        for (hint, path) in &input.model.hints {
            let word = match hint.kind {
                HintKind::Quantization => {
                    let method = method_chosen_by(&hint.name).or_else(|| method(&hint.name));
                    method.map_or("", |method| method.name).to_owned()
                }
                HintKind::Backend => hint.name.clone(),
                _ => String::new(),
            };
            let evidence = Evidence::file(path.clone()).line(hint.line).value(hint.name.clone());
            let all = places.entry((hint.kind, word)).or_default();
            if !all.contains(&evidence) {
                all.push(evidence);
            }
        }
        // `config.json` of a quantized model names the method.
        if let Some(method) = input.model.says.get("quantization") {
            let evidence = Evidence::file(input.path.clone()).value(method);
            places.entry((HintKind::Quantization, method.clone())).or_default().push(evidence);
        }
    }
    let found = places.into_iter().filter_map(|((kind, word), evidence)| {
        let count = evidence.len();
        let found = of(kind, &word, chip)?.arg("count", count.to_string());
        Some(evidence.into_iter().take(MOST_PLACES).fold(found, RawFinding::evidence))
    });
    found.collect()
}

fn of(kind: HintKind, word: &str, chip: Option<ChipFamily>) -> Option<RawFinding> {
    let counts = AI_CORE.iter().find(|(known, ..)| Some(*known) == chip);
    let partly = |message, takes: fn(&(ChipFamily, u32, u32, u32)) -> u32| {
        let counts = counts?;
        Some(
            RawFinding::info("OPS-DTYPE", message)
                .arg("chip", counts.0.label())
                .arg("takes", takes(counts).to_string())
                .arg("all", counts.1.to_string()),
        )
    };
    match (kind, chip) {
        (
            HintKind::Bfloat16,
            Some(chip @ (ChipFamily::A910 | ChipFamily::A310P | ChipFamily::A310)),
        ) => Some(RawFinding::warning("OPS-DTYPE", "bf16_source").arg("chip", chip.label())),
        (HintKind::Double, _) => partly("double", |row| row.2),
        (HintKind::Complex, _) => partly("complex", |row| row.3),
        (HintKind::Bfloat16, _) | (HintKind::Float8, Some(ChipFamily::A950) | None) => None,
        (HintKind::Float8, Some(chip)) => {
            Some(RawFinding::warning("OPS-DTYPE", "float8").arg("chip", chip.label()))
        }
        (HintKind::Quantization, _) => quantization(word),
        (HintKind::Backend, _) => match backend(word) {
            CompileBackend::TorchNpu => None,
            CompileBackend::Inductor => Some(RawFinding::info("OPS-COMPILE", "inductor")),
            CompileBackend::Eager => {
                Some(RawFinding::info("OPS-COMPILE", "eager").arg("backend", word))
            }
            CompileBackend::Other => {
                Some(RawFinding::warning("OPS-COMPILE", "other").arg("backend", word))
            }
            CompileBackend::Unknown => {
                Some(RawFinding::info("OPS-COMPILE", "unknown").arg("backend", word))
            }
        },
    }
}

/// Returns the finding about a quantization method; nothing for a method without a row.
fn quantization(word: &str) -> Option<RawFinding> {
    let QuantizationMethod { name, known, needs } = method(word)?;
    let found = match known {
        "nf4" => RawFinding::warning("OPS-QUANT", "bitsandbytes"),
        "gptq" => RawFinding::warning("OPS-QUANT", "gptq"),
        "awq" => RawFinding::warning("OPS-QUANT", "awq"),
        "device" => RawFinding::warning("OPS-QUANT", "device").arg("needs", needs),
        "expanded" => RawFinding::warning("OPS-QUANT", "expanded").arg("needs", needs),
        "vllm" => RawFinding::info("OPS-QUANT", "vllm"),
        "open" => RawFinding::info("OPS-QUANT", "open"),
        _ => return None,
    };
    Some(if matches!(known, "nf4" | "gptq" | "awq") { found } else { found.arg("method", name) })
}
