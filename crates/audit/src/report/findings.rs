//! Findings about unread inputs, operators and data types.

use std::collections::BTreeMap;
use std::io::ErrorKind;

use base::chip::ChipFamily;
use base::report::{Evidence, Report, Severity};
use data::{
    Catalog, RawFinding,
    findings::{
        ops_aicpu, ops_cann, ops_depends, ops_dtype, ops_fallback, ops_host, ops_install,
        ops_limit, ops_observed, ops_read, ops_unknown, ops_unsupported,
    },
};

use super::input::{AuditTarget, AuditedInput, evidence_at};
use super::{hint_findings, releases, shares};
use crate::cann::Cann;
use crate::class::SupportClass;
use crate::classify::ClassifiedOperator;
use crate::environment::TargetEnvironment;
use crate::inputs::Unread;
use crate::kernel_limits::Limit;
use crate::model::Format;
use crate::ops::{libraries, onnx};
use crate::release::SelectedRelease;
use crate::unreadable::Unreadable;

/// The maximum number of names in one sentence.
const MOST_NAMES: usize = 12;
/// The maximum number of places of one operator in a finding.
const MOST_PLACES: usize = 8;

/// Reports unread inputs: an error for a file named on the command line, a warning for one found in
/// a directory. Either makes the result inconclusive.
pub(super) fn unread(report: &mut Report, unread: &[Unread]) {
    for Unread { path, why, named } in unread {
        let severity = if *named { Severity::Error } else { Severity::Warning };
        let detail = why.fault().text();
        let found = match why {
            Unreadable::Io(error) if error.kind() == ErrorKind::PermissionDenied => {
                ops_read::Denied { detail, path }.at(severity)
            }
            Unreadable::Io(_) => ops_read::Failed { detail, path }.at(severity),
            Unreadable::Damaged { .. } | Unreadable::Empty | Unreadable::Zeros(_) => {
                ops_read::Damaged { detail, path }.at(severity)
            }
            Unreadable::TooLarge { .. } | Unreadable::TooMany { .. } => {
                ops_read::TooLarge { detail, path }.at(severity)
            }
            _ => ops_read::Unreadable { detail, path }.at(severity),
        };
        report.findings.push(Catalog::builtin().resolve(found.evidence(Evidence::file(path))));
    }
}

/// Reports an installation whose library does not register all operators of its registration files.
pub(super) fn installation(report: &mut Report, release: &SelectedRelease) {
    let missing = release.installation.as_ref().and_then(|found| found.missing.as_ref());
    let Some(missing) = missing.filter(|missing| !missing.is_empty()) else { return };
    let found = ops_install::Library {
        count: missing.len(),
        names: some_of(missing.iter().map(String::as_str)),
        path: &release.path,
    }
    .warning();
    let found = found.evidence(Evidence::file(release.path.clone()));
    report.findings.push(Catalog::builtin().resolve(found));
}

/// Lists the first names in one line.
fn some_of<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len() > MOST_NAMES;
    let mut said = names.take(MOST_NAMES).collect::<Vec<_>>().join(", ");
    if more {
        said.push_str(", …");
    }
    said
}

pub(super) fn findings(
    report: &mut Report,
    read: &[AuditedInput],
    place: &AuditTarget<'_>,
    against: TargetEnvironment<'_>,
) {
    let version = &place.release.version;
    let mut found: Vec<RawFinding> = Vec::new();
    // Each operator is one finding, even if several inputs use it.
    let mut by_name: BTreeMap<String, Vec<(&AuditedInput, &ClassifiedOperator)>> = BTreeMap::new();
    for input in read {
        for judged in &input.judged {
            by_name.entry(judged.op.to_string()).or_default().push((input, judged));
        }
    }
    let mut unknown = Vec::new();
    for (name, all) in &by_name {
        // A better class in one input does not improve the class in another.
        let worst = all.iter().map(|(_, judged)| judged.class).max();
        let uses: Vec<_> =
            all.iter().copied().filter(|(_, judged)| Some(judged.class) == worst).collect();
        let (input, judged) = uses[0];
        let (op, count) = (name, uses.iter().map(|(_, judged)| judged.used.count).sum::<u64>());
        let seen = |mut found: RawFinding| {
            for (input, judged) in &uses {
                for place in places(input, judged) {
                    found = found.evidence(place);
                }
            }
            for leaf in &judged.through {
                found = found.evidence(Evidence::data("registrations").value(leaf));
            }
            found
        };
        // Releases that have a kernel.
        let elsewhere = || releases::describe_all(&releases::releases(judged, against.tables));
        match judged.class {
            SupportClass::Native
            | SupportClass::Composed
            | SupportClass::PartlyKnown
            | SupportClass::Setup => {}
            SupportClass::Unknown if shares::is_bookkeeping(&judged.op) => {}
            SupportClass::Unknown => unknown.push(name.as_str()),
            SupportClass::Host => found.push(seen(ops_host::Always { count, op }.info())),
            SupportClass::Observed => {
                found.push(seen(ops_observed::Fixed { count, op, version }.info()));
            }
            SupportClass::AiCpu | SupportClass::Restricted | SupportClass::NeedsCann => {
                found.push(seen(limited(judged, place, op, count)));
            }
            SupportClass::Depends => {
                let through = judged.through.join(", ");
                found.push(seen(ops_depends::Some { count, op, through }.info()));
            }
            SupportClass::Fallback | SupportClass::Unsupported
                if input.model.format != Format::Onnx
                    && !["aten", "npu"].contains(&judged.op.namespace.as_str()) =>
            {
                found.push(seen(of_library(judged, op, count, version)));
            }
            SupportClass::Fallback => found.push(seen(match elsewhere() {
                none if none.is_empty() => ops_fallback::None { count, op, version }.warning(),
                releases => ops_fallback::Later { count, op, releases, version }.warning(),
            })),
            // The opset is one cause, which is reported once per model.
            SupportClass::Unsupported if uses.iter().all(|(input, _)| has_refused_opset(input)) => {
            }
            SupportClass::Unsupported if input.model.format == Format::Onnx => {
                let opset = input.model.opsets.get("onnx").copied().unwrap_or_default();
                found.push(seen(ops_unsupported::Onnx { count, op, opset }.error()));
            }
            SupportClass::Unsupported => found.push(seen(match elsewhere() {
                none if none.is_empty() => ops_unsupported::None { count, op, version }.error(),
                releases => ops_unsupported::Later { count, op, releases, version }.error(),
            })),
        }
    }
    if !unknown.is_empty() {
        let names = some_of(unknown.iter().copied());
        let count = unknown.len();
        found.push(ops_unknown::Names { count, names }.info());
    }
    found.extend(read.iter().filter(|input| has_refused_opset(input)).map(refused_opset));
    found.extend(dtypes(read, against.chip));
    found.extend(hint_findings::findings(read, against.chip));
    report.findings.extend(found.into_iter().map(|found| Catalog::builtin().resolve(found)));
}

/// Returns whether the CANN parser rejects all operators of an ONNX model because of its opset.
fn has_refused_opset(input: &AuditedInput) -> bool {
    let opset = input.model.opsets.get("onnx");
    input.model.format == Format::Onnx && opset.is_some_and(|opset| onnx::is_refused_opset(*opset))
}

fn refused_opset(input: &AuditedInput) -> RawFinding {
    let opset = input.model.opsets.get("onnx").copied().unwrap_or_default();
    let refused = |judged: &&ClassifiedOperator| judged.class == SupportClass::Unsupported;
    let count: u64 = input.judged.iter().filter(refused).map(|judged| judged.used.count).sum();
    ops_unsupported::Opset { count, newest: onnx::newest(), opset, path: &input.path }
        .error()
        .evidence(Evidence::file(input.path.clone()).value(format!("ai.onnx: {opset}")))
}

/// Returns the finding for a library operator without an NPU kernel.
fn of_library(judged: &ClassifiedOperator, op: &str, count: u64, version: &str) -> RawFinding {
    let name = format!("{}::{}", judged.op.namespace, judged.op.name);
    let known = libraries::operator(&name);
    let replacement = known.and_then(|known| known.replacement);
    match (judged.class, replacement) {
        (SupportClass::Fallback, Some(replacement)) => {
            ops_fallback::Replaced { count, op, replacement, version }.warning()
        }
        (SupportClass::Fallback, None) => ops_fallback::None { count, op, version }.warning(),
        (_, Some(replacement)) => {
            ops_unsupported::Replaced { count, op, replacement, version }.error()
        }
        (_, None) => match known {
            Some(known) => {
                ops_unsupported::Library { count, library: known.library, op, version }.error()
            }
            None => ops_unsupported::None { count, op, version }.error(),
        },
    }
}

/// Returns the places of an operator: each line of sources, the first place of other inputs.
fn places(input: &AuditedInput, judged: &ClassifiedOperator) -> Vec<Evidence> {
    let used = &judged.used;
    if input.model.format == Format::Python {
        return used.places.iter().take(MOST_PLACES).map(evidence_at).collect();
    }
    let mut said = used.count.to_string();
    if let Some(place) = used.places.first() {
        said = format!("{said} at {place}");
    }
    if judged.class == SupportClass::Fallback && used.bytes > 0 {
        let bytes = human_bytes(used.bytes);
        said = format!("{said}; copies {bytes} between host and device");
    }
    if used.fell_back > 0 {
        said = format!("{said}; shown {} times to run on the CPU", used.fell_back);
    }
    vec![Evidence::file(input.path.clone()).value(said)]
}

/// Formats a size with the largest unit that is not larger than it: `1.50 KiB`.
#[expect(clippy::cast_precision_loss, reason = "two decimals are shown")]
fn human_bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut size = bytes as f64 / 1024.0;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    format!("{size:.2} {}", UNITS[unit])
}

/// Returns the finding for a kernel with a limit that keeps it from running normally.
fn limited(
    judged: &ClassifiedOperator,
    place: &AuditTarget<'_>,
    op: &str,
    count: u64,
) -> RawFinding {
    match &judged.limit {
        Some(Limit::Dtype { function, argument, dtype, allowed, release }) => {
            let allowed = allowed.join(", ");
            ops_limit::Dtype { allowed, argument, count, dtype, function, op, release }.warning()
        }
        Some(Limit::Chip { function, allowed, release }) => {
            let (allowed, chip) = (allowed.join(", "), place.chip.map_or("", ChipFamily::label));
            ops_limit::Chip { allowed, chip, count, function, op, release }.info()
        }
        Some(Limit::Missing { functions, graph }) => {
            let (functions, cann) = (functions.join(", "), place.cann.map_or("", Cann::name));
            if *graph {
                ops_cann::Graph { cann, count, functions, op }.warning()
            } else {
                ops_cann::None { cann, count, functions, op }.error()
            }
        }
        Some(Limit::AiCpu { dtype: Some(dtype) }) => ops_aicpu::Dtype { count, dtype, op }.info(),
        Some(Limit::AiCpu { dtype: None }) => ops_aicpu::Only { count, op }.info(),
        // A kernel that the log itself reports.
        None => ops_aicpu::Said { count, op }.info(),
    }
}

/// Reports bfloat16 on a chip without it: `IsBF16Supported` of torch_npu requires 910B or later.
fn dtypes(read: &[AuditedInput], chip: Option<ChipFamily>) -> Vec<RawFinding> {
    let Some(chip @ (ChipFamily::A910 | ChipFamily::A310P | ChipFamily::A310)) = chip else {
        return Vec::new();
    };
    let with = read.iter().filter_map(|input| Some((input, *input.model.dtypes.get("bfloat16")?)));
    with.map(|(input, count)| {
        ops_dtype::Bf16 { chip: chip.label(), count, path: &input.path }
            .error()
            .evidence(Evidence::file(input.path.clone()).value(format!("bfloat16: {count}")))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_binary_units() {
        let cases = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.00 KiB"),
            (1536, "1.50 KiB"),
            (3 << 20, "3.00 MiB"),
            (u64::MAX, "16.00 EiB"),
        ];
        for (bytes, text) in cases {
            assert_eq!(human_bytes(bytes), text);
        }
    }
}
