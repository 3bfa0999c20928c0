//! torch_npu with CANN.

use super::{Context, InUse, at_most, dist, dist_evidence, is_development, matrix_evidence};
use super::{python, python_minor};
use base::report::{Outcome, RawFinding, Severity};
use data::matrix::{Side, Support};

pub(super) fn with_cann(ctx: &Context<'_>) -> Outcome {
    let Some((package, version)) = dist(ctx.facts, "torch-npu") else {
        return Outcome::not_applicable("no_torch_npu");
    };
    let Some(version) = version else {
        return Outcome::not_checked("version_unknown", "torch_npu");
    };
    let cann = match InUse::of(ctx.facts) {
        Ok(cann) => cann,
        Err(outcome) => return outcome,
    };
    let found = |severity, message| {
        RawFinding::new("TNPU-MATRIX", message, severity)
            .arg("npu", version.to_string())
            .arg("cann", cann.version.to_string())
            .evidence(dist_evidence(package))
            .evidence(cann.evidence())
    };
    match ctx.matrix.torch_npu_with_cann(&version, &cann.version) {
        Support::Recommended { .. } | Support::Compatible { .. } => Outcome::Passed,
        Support::NewerThanTable(what) => {
            let message = if what == "cann" { "newer_cann" } else { "newer" };
            let date = ctx.matrix.overlay.as_ref().map_or(&ctx.matrix.as_of, |over| &over.as_of);
            vec![found(Severity::Info, message).arg("as_of", date)].into()
        }
        Support::Unlisted => Outcome::not_checked(
            "not_in_matrix",
            format!("torch_npu {version} with CANN {}", cann.version),
        ),
        Support::Unsupported { side, accepted, window, source } => {
            // An older CANN lacks functions that torch_npu calls. A newer one usually has them
            // all, and the vendor has extended windows before: whether it fits is then for the
            // check of symbols to say.
            let severity = match (side, window) {
                (Side::Older, true) => Severity::Error,
                _ => Severity::Warning,
            };
            let mut limit = Severity::Error;
            if cann.is_prerelease() {
                limit = Severity::Warning;
            }
            if is_development(&version) {
                limit = Severity::Info;
            }
            let torch = version.only_release();
            let arch = ctx.facts.host.arch.as_deref();
            let minor = python_minor(ctx.facts);
            let other = ctx.matrix.best_torch_npu(&torch, &cann.version, arch, minor.as_deref());
            let message = match (side, other.is_some()) {
                (Side::Older, true) => "cann_too_old",
                (Side::Older, false) => "cann_too_old_only",
                (Side::Newer, true) => "cann_too_new",
                (Side::Newer, false) => "cann_too_new_only",
            };
            let mut found = found(at_most(severity, limit), message)
                .arg("accepted", accepted.join(", "))
                .arg("first", accepted.first().cloned().unwrap_or_default())
                .arg("python", python(ctx.facts))
                .evidence(matrix_evidence(ctx, &source))
                .because(&["CANN-MIXED"]);
            if let Some(other) = other {
                found = found.arg("other", other.version.to_string());
            }
            vec![found].into()
        }
    }
}
