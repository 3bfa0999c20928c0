//! Root causes: a finding explained by another one becomes its consequence.

use super::Finding;

/// Moves every finding that names a present finding as its cause under that cause, unless the cause
/// is less severe: an error is never hidden under a warning.
///
/// Chains end at their root: if A explains B and B explains C, both B and C are folded under A. The
/// first member of a cycle stays in place. Order among equals is kept.
pub fn fold_consequences(findings: Vec<Finding>) -> Vec<Finding> {
    let parents: Vec<Option<usize>> = findings
        .iter()
        .enumerate()
        .map(|(index, finding)| {
            finding.because.iter().find_map(|cause| {
                findings.iter().enumerate().position(|(other, candidate)| {
                    other != index
                        && candidate.id == *cause
                        && candidate.severity >= finding.severity
                })
            })
        })
        .collect();
    let roots: Vec<usize> = (0..findings.len()).map(|index| root_of(index, &parents)).collect();

    let mut slots: Vec<Option<Finding>> = findings.into_iter().map(Some).collect();
    for index in 0..slots.len() {
        let root = roots[index];
        if root != index
            && let Some(child) = slots[index].take()
            && let Some(parent) = slots[root].as_mut()
        {
            parent.consequences.push(child);
        }
    }
    slots.into_iter().flatten().collect()
}

/// Follows causes upwards; in a cycle the member with the lowest index is the root.
fn root_of(start: usize, parents: &[Option<usize>]) -> usize {
    let mut path = vec![start];
    let mut at = start;
    while let Some(next) = parents[at] {
        if let Some(entry) = path.iter().position(|&seen| seen == next) {
            return path[entry..].iter().copied().min().unwrap_or(start);
        }
        path.push(next);
        at = next;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Severity;
    use crate::text::Text;

    fn finding(id: &str, because: &[&'static str]) -> Finding {
        Finding {
            id: id.to_owned(),
            message: String::new(),
            severity: Severity::Error,
            title: Text::default(),
            cause: Text::default(),
            fix: Vec::new(),
            evidence: Vec::new(),
            refs: Vec::new(),
            because: because.to_vec(),
            consequences: Vec::new(),
            values: std::collections::BTreeMap::new(),
        }
    }

    fn shape(findings: &[Finding]) -> Vec<(String, Vec<String>)> {
        findings
            .iter()
            .map(|f| (f.id.clone(), f.consequences.iter().map(|c| c.id.clone()).collect()))
            .collect()
    }

    #[test]
    fn chains_end_at_their_root() {
        let folded =
            fold_consequences(vec![finding("C", &["B"]), finding("B", &["A"]), finding("A", &[])]);
        assert_eq!(shape(&folded), [("A".to_owned(), vec!["C".to_owned(), "B".to_owned()])]);
    }

    #[test]
    fn an_absent_cause_folds_nothing() {
        let folded = fold_consequences(vec![finding("B", &["A"])]);
        assert_eq!(shape(&folded), [("B".to_owned(), vec![])]);
    }

    #[test]
    fn a_cycle_keeps_one_member() {
        let folded = fold_consequences(vec![finding("A", &["B"]), finding("B", &["A"])]);
        assert_eq!(shape(&folded), [("A".to_owned(), vec!["B".to_owned()])]);
    }

    #[test]
    fn two_findings_of_one_id_do_not_fold_each_other() {
        let folded = fold_consequences(vec![finding("A", &["A"]), finding("A", &["A"])]);
        assert_eq!(folded.iter().map(|f| 1 + f.consequences.len()).sum::<usize>(), 2);
    }
}
