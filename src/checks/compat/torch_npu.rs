//! Compatibility of torch_npu with CANN.

use super::{Context, InUse, at_most, dist, dist_evidence, is_development, matrix_evidence};
use super::{python, python_minor};
use base::report::Severity;
use data::{
    Outcome, RawFinding, Reason,
    findings::{cann_mixed, tnpu_matrix},
    matrix::{Side, Support},
};

pub(super) fn with_cann(ctx: &Context<'_>) -> Outcome {
    let Some((package, version)) = dist(ctx.facts, "torch-npu") else {
        return Outcome::NotApplicable(Reason::NoTorchNpu);
    };
    let Some(version) = version else {
        return Outcome::NotChecked(Reason::VersionUnknown { what: "torch_npu".to_owned() });
    };
    let cann = match InUse::of(ctx.facts) {
        Ok(cann) => cann,
        Err(outcome) => return outcome,
    };
    let (npu, cann_version) = (&version, &cann.version);
    let with_evidence =
        |found: RawFinding| found.evidence(dist_evidence(package)).evidence(cann.evidence());
    match ctx.matrix.torch_npu_with_cann(&version, &cann.version) {
        Support::Recommended { .. } | Support::Compatible { .. } => Outcome::Passed,
        Support::NewerThanTable(what) => {
            let date = ctx.matrix.overlay.as_ref().map_or(&ctx.matrix.as_of, |over| &over.as_of);
            vec![with_evidence(if what == "cann" {
                tnpu_matrix::NewerCann { npu, cann: cann_version, as_of: date }.info()
            } else {
                tnpu_matrix::Newer { npu, cann: cann_version, as_of: date }.info()
            })]
            .into()
        }
        Support::Unlisted => Outcome::NotChecked(Reason::NotInMatrix {
            what: format!("torch_npu {version} with CANN {}", cann.version),
        }),
        Support::Unsupported { side, accepted, window, source } => {
            // An older CANN does not have functions that torch_npu calls. A newer one usually has
            // all of them, and the vendor has extended windows before, so the check of symbols
            // decides.
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
            let first = accepted.first().cloned().unwrap_or_default();
            let (accepted, python) = (accepted.join(", "), python(ctx.facts));
            let severity = at_most(severity, limit);
            let cann = cann_version;
            let found = match (side, other.map(|row| &row.version)) {
                (Side::Older, Some(other)) => {
                    tnpu_matrix::CannTooOld { accepted, cann, first, npu, other, python }
                        .at(severity)
                }
                (Side::Older, None) => {
                    tnpu_matrix::CannTooOldOnly { accepted, cann, first, npu }.at(severity)
                }
                (Side::Newer, Some(other)) => {
                    tnpu_matrix::CannTooNew { accepted, cann, npu, other, python }.at(severity)
                }
                (Side::Newer, None) => {
                    tnpu_matrix::CannTooNewOnly { accepted, cann, npu }.at(severity)
                }
            };
            let found = with_evidence(found)
                .evidence(matrix_evidence(ctx, &source))
                .because(&[cann_mixed::ID]);
            vec![found].into()
        }
    }
}
