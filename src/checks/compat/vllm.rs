//! Compatibility of vllm-ascend with vLLM and the rest of its stack.

use pep440_rs::Version;

use super::{
    Context, InUse, at_most, dist, dist_evidence, is_development, matrix_evidence, python,
};
use crate::chip;
use base::chip::ChipFamily;
use base::report::{Evidence, Severity};
use data::{
    Outcome, RawFinding, Reason,
    findings::{
        py_interp, tnpu_matrix, tnpu_wheeltag, torch_version, triton_conflict, vllm_pair,
        vllm_stack, vllm_version,
    },
    matrix::{Support, VllmAscend, base},
};
use facts::Dist;

/// The plugin, its version and its row, or the outcome that states why there is none.
fn plugin<'a>(ctx: &Context<'a>) -> Result<(&'a Dist, Version, &'a VllmAscend), Outcome> {
    let reason = Reason::NoPackage { what: "vllm-ascend".to_owned() };
    let (package, version) =
        dist(ctx.facts, "vllm-ascend").ok_or(Outcome::NotApplicable(reason))?;
    let version = version.ok_or_else(|| {
        Outcome::NotChecked(Reason::VersionUnknown { what: "vllm-ascend".to_owned() })
    })?;
    let Some(row) = ctx.matrix.vllm_ascend(&version) else {
        let what = format!("vllm-ascend {version}");
        return Err(Outcome::NotChecked(if ctx.matrix.is_newer_vllm_ascend(&version) {
            Reason::NewerThanMatrix { what }
        } else {
            Reason::NotInMatrix { what }
        }));
    };
    Ok((package, version, row))
}

fn join<T: ToString>(versions: &[T]) -> String {
    versions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

pub(super) fn pair(ctx: &Context<'_>) -> Outcome {
    let (package, plugin, row) = match plugin(ctx) {
        Ok(all) => all,
        Err(outcome) => return outcome,
    };
    let Some((vllm_package, vllm)) = dist(ctx.facts, "vllm") else {
        let reason = Reason::NoPackage { what: "vllm".to_owned() };
        return Outcome::NotApplicable(reason);
    };
    let Some(vllm) = vllm else {
        return Outcome::NotChecked(Reason::VersionUnknown { what: "vllm".to_owned() });
    };
    let installed = base(&vllm);
    if row.vllm.iter().any(|listed| listed.0 == installed) {
        return Outcome::Passed;
    }
    let line = |version: &Version| version.release().iter().take(2).copied().collect::<Vec<_>>();
    let same_line = row.vllm.iter().any(|listed| line(listed) == line(&installed));
    // A post-release of vllm differs only slightly (vllm-project/vllm-ascend#1033).
    let same_release = row.vllm.iter().any(|listed| listed.release() == installed.release());
    let mut severity = match (same_release && !installed.any_prerelease(), same_line) {
        (true, _) => Severity::Info,
        (false, true) => Severity::Warning,
        (false, false) => Severity::Error,
    };
    if vllm.is_dev() || is_development(&plugin) {
        severity = at_most(severity, Severity::Warning);
    }
    // Another plugin for the installed vLLM: the newest one.
    let other = ctx.matrix.vllm_ascend.iter().find(|row| {
        row.vllm.iter().any(|listed| listed.0 == installed) && !row.version.any_prerelease()
    });
    let other = other.or_else(|| {
        let mut rows = ctx.matrix.vllm_ascend.iter();
        rows.find(|row| row.vllm.iter().any(|listed| listed.0 == installed))
    });
    let (expected, python) = (join(&row.vllm), python(ctx.facts));
    let first = row.vllm.first().map(ToString::to_string).unwrap_or_default();
    let prerelease = vllm.is_dev();
    let found = match other {
        Some(other) => {
            let other = &other.version;
            vllm_pair::Either { expected, first, other, plugin, python, vllm }.at(severity)
        }
        None => vllm_pair::Mismatch { expected, first, plugin, python, vllm }.at(severity),
    };
    let mut found = found
        .evidence(dist_evidence(package))
        .evidence(dist_evidence(vllm_package))
        .evidence(matrix_evidence(ctx, &row.source));
    // A version invented for a checkout without tags carries no information about the pair.
    if prerelease {
        found = found.because(&[vllm_version::ID]);
    }
    vec![found].into()
}

/// Returns whether triton-ascend is missing for a vllm-ascend whose release requires it. Without
/// it, vllm-ascend serves more slowly, and not every model. triton-ascend has no kernels for a
/// 310P, so it is not required there.
pub(crate) fn lacks_triton(ctx: &Context<'_>) -> bool {
    let asks = plugin(ctx).is_ok_and(|(_, _, row)| !row.triton_ascend.is_empty());
    asks && dist(ctx.facts, "triton-ascend").is_none()
        && chip::chip(ctx.facts).is_none_or(|chip| chip.family != ChipFamily::A310P)
}

pub(super) fn stack(ctx: &Context<'_>) -> Outcome {
    let (package, plugin, row) = match plugin(ctx) {
        Ok(all) => all,
        Err(outcome) => return outcome,
    };
    let limit = if is_development(&plugin) { Severity::Info } else { Severity::Warning };
    let (plugin, python) = (&plugin, python(ctx.facts));
    let python = &python;
    let with_evidence = |found: RawFinding| {
        found.evidence(dist_evidence(package)).evidence(matrix_evidence(ctx, &row.source))
    };
    let mut all = Vec::new();
    let npu = dist(ctx.facts, "torch-npu").and_then(|(dist, version)| Some((dist, version?)));
    let cann = InUse::of(ctx.facts);
    if let Ok(cann) = &cann
        && cann.version.line() != row.cann.line()
    {
        // A pair of torch_npu and CANN that the vendor accepts is less of a risk.
        let accepted = npu.as_ref().is_some_and(|(_, npu)| {
            matches!(
                ctx.matrix.torch_npu_with_cann(npu, &cann.version),
                Support::Recommended { .. } | Support::Compatible { .. }
            )
        });
        let severity = if accepted && cann.version.base() >= row.cann.0 {
            Severity::Info
        } else {
            Severity::Warning
        };
        all.push(
            with_evidence(
                vllm_stack::Cann { plugin, found: &cann.version, expected: &row.cann }
                    .at(at_most(severity, limit)),
            )
            .evidence(cann.evidence())
            .because(&[tnpu_matrix::ID]),
        );
    }
    if let Some((dist, version)) = &npu
        && let Some(pinned) = row.torch_npu.first()
        && !row.torch_npu.iter().any(|listed| base(listed) == base(version))
    {
        let same_torch =
            row.torch_npu.iter().any(|listed| listed.only_release() == version.only_release());
        // Its extensions are compiled against one torch, and other releases change the C++
        // interface.
        // A candidate does not have the changes until the release: 2.5.1rc1 has no
        // `_npu_flash_attention` (vllm-project/vllm-ascend#340).
        let is_candidate = version.pre().is_some() && *version < pinned.0;
        let severity = match (same_torch && !is_candidate, limit) {
            (true, _) => Severity::Info,
            (false, Severity::Warning) => Severity::Error,
            (false, limit) => limit,
        };
        // torch_npu needs the torch with the same release number.
        let torch = pinned.only_release().to_string();
        let found =
            vllm_stack::TorchNpu { plugin, found: version, expected: pinned, python, torch };
        all.push(
            with_evidence(found.at(severity))
                .evidence(dist_evidence(dist))
                .because(&[torch_version::ID]),
        );
    }
    if let Some(interpreter) = &ctx.facts.python.interpreter
        && let Some(text) = &interpreter.version
        && let Ok(version) = text.parse::<Version>()
        && !row.python.0.contains(&version)
    {
        all.push(
            with_evidence(
                vllm_stack::Python { plugin, found: text, expected: &row.python }
                    .at(at_most(Severity::Warning, limit)),
            )
            .evidence(Evidence::file(&interpreter.path).value(text))
            .because(&[py_interp::ID, tnpu_wheeltag::ID]),
        );
    }
    if let Some(pinned) = row.triton_ascend.first()
        && lacks_triton(ctx)
    {
        let found = vllm_stack::NoTriton { plugin, expected: pinned, python };
        all.push(with_evidence(found.at(at_most(Severity::Warning, limit))));
    }
    if let Some((dist, Some(version))) = dist(ctx.facts, "triton-ascend")
        && let Some(pinned) = row.triton_ascend.first()
        && !row.triton_ascend.iter().any(|listed| base(listed) == base(&version))
    {
        all.push(
            with_evidence(
                vllm_stack::Triton { plugin, found: &version, expected: pinned, python }
                    .at(at_most(Severity::Warning, limit)),
            )
            .evidence(dist_evidence(dist))
            .because(&[triton_conflict::ID]),
        );
    }
    match cann {
        // The compatible rest does not determine whether a CANN of unknown version is compatible.
        Err(unknown @ Outcome::NotChecked(_)) if all.is_empty() => unknown,
        _ => all.into(),
    }
}
