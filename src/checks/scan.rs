//! What the scan itself met: files that could not be read or understood.

use super::{Check, Context};
use crate::facts::ProblemKind;
use crate::report::{Evidence, Found, Outcome};

/// The checks of this family.
pub(super) const CHECKS: &[Check] =
    &[Check { id: "SCAN-READ", run: read }, Check { id: "SCAN-FORMAT", run: format }];

fn read(ctx: &Context<'_>) -> Outcome {
    let found = ctx.facts.problems.iter().filter(|problem| problem.kind != ProblemKind::Malformed);
    found
        .map(|problem| {
            let message = if problem.kind == ProblemKind::Denied { "denied" } else { "unreadable" };
            Found::warning("SCAN-READ", message)
                .arg("path", &problem.path)
                .arg("detail", &problem.detail)
                .evidence(
                    Evidence::file(&problem.path).line_if(problem.line).value(&problem.detail),
                )
        })
        .collect::<Vec<_>>()
        .into()
}

fn format(ctx: &Context<'_>) -> Outcome {
    let found = ctx.facts.problems.iter().filter(|problem| problem.kind == ProblemKind::Malformed);
    found
        .map(|problem| {
            Found::warning("SCAN-FORMAT", "malformed")
                .arg("path", &problem.path)
                .arg("detail", &problem.detail)
                .evidence(
                    Evidence::file(&problem.path).line_if(problem.line).value(&problem.detail),
                )
        })
        .collect::<Vec<_>>()
        .into()
}
