//! Compatibility of numpy with the operator compiler of CANN, and with MindSpore.

use super::{Context, InUse, at_most, dist, dist_evidence, matrix_evidence, python};
use base::report::Severity;
use data::{Outcome, Reason, findings::py_numpy};

pub(super) fn numpy(ctx: &Context<'_>) -> Outcome {
    let Some((package, version)) = dist(ctx.facts, "numpy") else {
        return Outcome::NotApplicable(Reason::NoPackage { what: "numpy".to_owned() });
    };
    let Some(version) = version else {
        return Outcome::NotChecked(Reason::VersionUnknown { what: "numpy".to_owned() });
    };
    let mut all = Vec::new();
    let mut unknown = None;
    match InUse::of(ctx.facts) {
        Ok(cann) => match ctx.matrix.constraint_by_cann("numpy", &cann.version) {
            Some(row) if !row.spec.0.contains(&version) => {
                let limit = if cann.is_prerelease() { Severity::Warning } else { Severity::Error };
                all.push(
                    py_numpy::Cann {
                        cann: cann.version.to_string(),
                        numpy: version.to_string(),
                        python: python(ctx.facts),
                        requirement: format!("numpy{}", row.spec),
                        spec: row.spec.to_string(),
                    }
                    .at(at_most(row.severity, limit))
                    .evidence(dist_evidence(package))
                    .evidence(cann.evidence())
                    .evidence(matrix_evidence(ctx, &row.source)),
                );
            }
            Some(_) => {}
            None => {
                unknown = Some(Outcome::NotChecked(Reason::NotInMatrix {
                    what: format!("numpy with CANN {}", cann.version),
                }));
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
            py_numpy::Mindspore {
                mindspore: &mindspore.version,
                numpy: version.to_string(),
                python: python(ctx.facts),
                requirement: format!("numpy{spec}"),
                spec: spec.to_string(),
            }
            .warning()
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
