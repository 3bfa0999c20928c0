//! numpy with the operator compiler of CANN, and with MindSpore.

use super::{Context, InUse, at_most, dist, dist_evidence, matrix_evidence, python};
use base::report::{Outcome, RawFinding, Severity};

pub(super) fn numpy(ctx: &Context<'_>) -> Outcome {
    let Some((package, version)) = dist(ctx.facts, "numpy") else {
        return Outcome::NotApplicable(base::report::Reason {
            key: "no_package",
            what: "numpy".to_owned(),
        });
    };
    let Some(version) = version else {
        return Outcome::not_checked("version_unknown", "numpy");
    };
    let mut all = Vec::new();
    let mut unknown = None;
    match InUse::of(ctx.facts) {
        Ok(cann) => match ctx.matrix.constraint_by_cann("numpy", &cann.version) {
            Some(row) if !row.spec.0.contains(&version) => {
                let limit = if cann.is_prerelease() { Severity::Warning } else { Severity::Error };
                all.push(
                    RawFinding::new("PY-NUMPY", "cann", at_most(row.severity, limit))
                        .arg("numpy", version.to_string())
                        .arg("cann", cann.version.to_string())
                        .arg("spec", row.spec.to_string())
                        .arg("requirement", format!("numpy{}", row.spec))
                        .arg("python", python(ctx.facts))
                        .evidence(dist_evidence(package))
                        .evidence(cann.evidence())
                        .evidence(matrix_evidence(ctx, &row.source)),
                );
            }
            Some(_) => {}
            None => {
                unknown = Some(Outcome::not_checked(
                    "not_in_matrix",
                    format!("numpy with CANN {}", cann.version),
                ));
            }
        },
        Err(outcome) => unknown = Some(outcome),
    }
    if let Some((mindspore, _)) = dist(ctx.facts, "mindspore")
        && let Some(row) = ctx.matrix.mindspore(&mindspore.version)
        && let Some(spec) = &row.numpy
        && !spec.0.contains(&version)
    {
        all.push(
            RawFinding::warning("PY-NUMPY", "mindspore")
                .arg("numpy", version.to_string())
                .arg("mindspore", &mindspore.version)
                .arg("spec", spec.to_string())
                .arg("requirement", format!("numpy{spec}"))
                .arg("python", python(ctx.facts))
                .evidence(dist_evidence(package))
                .evidence(dist_evidence(mindspore))
                .evidence(matrix_evidence(ctx, &row.source)),
        );
    }
    match unknown {
        Some(outcome) if all.is_empty() => outcome,
        _ => all.into(),
    }
}
