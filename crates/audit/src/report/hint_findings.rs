//! Findings about data types, quantization methods and compilers that sources name.

use data::{
    RawFinding,
    findings::{ops_compile, ops_dtype, ops_library, ops_quant},
};
use std::collections::BTreeMap;

use base::chip::ChipFamily;
use base::report::{Evidence, Severity};

use super::input::AuditedInput;
use crate::ops::libraries::{self, KernelModule};
use crate::python::hint_tables::{
    CompileBackend, QuantizationMethod, backend, method, method_chosen_by,
};
use crate::source_notes::HintKind;

/// The maximum number of places of one hint in a finding.
const MOST_PLACES: usize = 8;

/// The number of AI Core operators of a chip, and how many of them accept a data type, by the
/// operator descriptions that CANN 8.1.RC1 installs (`aic-<soc>-ops-info.json`).
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
                HintKind::Backend | HintKind::Extension => hint.name.clone(),
                HintKind::CudaModule | HintKind::MaybeCudaModule => {
                    let found = libraries::kernel_module(&hint.name);
                    found.map_or("", |found| found.name).to_owned()
                }
                _ => String::new(),
            };
            let evidence = Evidence::file(path.clone()).line(hint.line).value(hint.name.clone());
            // It is unknown which files of a directory belong to the model.
            let kind = match hint.kind {
                HintKind::CudaModule if *path != input.path => HintKind::MaybeCudaModule,
                kind => kind,
            };
            let all = places.entry((kind, word)).or_default();
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
    // A module that one file requires is one finding with all its places.
    for (kind, word) in places.keys().cloned().collect::<Vec<_>>() {
        if kind == HintKind::CudaModule
            && let Some(more) = places.remove(&(HintKind::MaybeCudaModule, word.clone()))
        {
            places.entry((kind, word)).or_default().extend(more);
        }
    }
    let found = places.into_iter().filter_map(|((kind, word), evidence)| {
        let count = evidence.len();
        let found = of(kind, &word, chip, count)?;
        Some(evidence.into_iter().take(MOST_PLACES).fold(found, RawFinding::evidence))
    });
    found.collect()
}

fn of(kind: HintKind, word: &str, chip: Option<ChipFamily>, count: usize) -> Option<RawFinding> {
    let counts = AI_CORE.iter().find(|(known, ..)| Some(*known) == chip);
    match (kind, chip) {
        (
            HintKind::Bfloat16,
            Some(chip @ (ChipFamily::A910 | ChipFamily::A310P | ChipFamily::A310)),
        ) => Some(ops_dtype::Bf16Source { chip: chip.label(), count }.warning()),
        (HintKind::Double, _) => {
            let (chip, all, takes, _) = counts?;
            Some(ops_dtype::Double { all, chip: chip.label(), count, takes }.info())
        }
        (HintKind::Complex, _) => {
            let (chip, all, _, takes) = counts?;
            Some(ops_dtype::Complex { all, chip: chip.label(), count, takes }.info())
        }
        // An unread packaged model is reported in the verdict.
        (HintKind::Bfloat16 | HintKind::PackagedModel, _)
        | (HintKind::Float8, Some(ChipFamily::A950) | None) => None,
        (HintKind::Float8, Some(chip)) => {
            Some(ops_dtype::Float8 { chip: chip.label(), count }.warning())
        }
        (HintKind::CudaModule | HintKind::MaybeCudaModule, _) => {
            let severity =
                if kind == HintKind::CudaModule { Severity::Error } else { Severity::Warning };
            let KernelModule { name: module, partly, replacement } =
                libraries::kernel_module(word)?;
            Some(match replacement {
                _ if partly => ops_library::Partly { count, module }.at(severity),
                Some(replacement) => {
                    ops_library::CudaReplaced { count, module, replacement }.at(severity)
                }
                None => ops_library::Cuda { count, module }.at(severity),
            })
        }
        (HintKind::Triton, _) => Some(ops_library::Triton { count }.warning()),
        (HintKind::Extension, _) => {
            Some(ops_library::Extension { count, function: word }.warning())
        }
        (HintKind::Quantization, _) => quantization(word, count),
        (HintKind::Backend, _) => match backend(word) {
            CompileBackend::TorchNpu => None,
            CompileBackend::Inductor => Some(ops_compile::Inductor { count }.info()),
            CompileBackend::Eager => Some(ops_compile::Eager { backend: word, count }.info()),
            CompileBackend::Other => Some(ops_compile::Other { backend: word, count }.warning()),
            CompileBackend::Unknown => Some(ops_compile::Unknown { backend: word, count }.info()),
        },
    }
}

/// Returns the finding about a quantization method; `None` for a method without a row.
fn quantization(word: &str, count: usize) -> Option<RawFinding> {
    let QuantizationMethod { name: method, known, needs } = method(word)?;
    Some(match known {
        "nf4" => ops_quant::Bitsandbytes { count }.warning(),
        "gptq" => ops_quant::Gptq { count }.warning(),
        "awq" => ops_quant::Awq { count }.warning(),
        "device" => ops_quant::Device { count, method, needs }.warning(),
        "expanded" => ops_quant::Expanded { count, method, needs }.warning(),
        "vllm" => ops_quant::Vllm { count, method }.info(),
        "open" => ops_quant::Open { count, method }.info(),
        _ => return None,
    })
}
