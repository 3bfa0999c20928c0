//! The order of steps.

use super::PlanStep;

/// Sorts steps by their phase, and merges equal ones. Inspections come first, because they decide
/// the next steps. Within a phase the order is kept, but removals precede installations.
pub(super) fn put_in_order(steps: Vec<PlanStep>) -> Vec<PlanStep> {
    let mut all: Vec<PlanStep> = Vec::new();
    for step in steps {
        let same = all.iter_mut().find(|known| match (&known.run, &step.run) {
            (Some(known), Some(run)) => known == run,
            (None, None) => known.text == step.text,
            _ => false,
        });
        let Some(same) = same else {
            all.push(step);
            continue;
        };
        same.phase = same.phase.min(step.phase).or(same.phase).or(step.phase);
        for need in step.needs {
            if !same.needs.contains(&need) {
                same.needs.push(need);
            }
        }
        for finding in step.findings {
            if !same.findings.contains(&finding) {
                same.findings.push(finding);
            }
        }
    }
    let removes =
        |step: &PlanStep| step.run.as_ref().is_some_and(|run| run.contains("-m pip uninstall"));
    all.sort_by_key(|step| (step.phase, !removes(step)));
    all
}
