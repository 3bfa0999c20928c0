//! The proof behind a verdict: a goal, the closed list of its links, and the outcome of each.
//!
//! Only required links decide. A link without evidence is never shown: it is not examined, and has
//! the reason and the evidence that would settle it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::text::Text;

/// The result of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Each required link is shown, does not apply or is waived.
    Pass,
    /// No required link is contradicted, at least one is not examined.
    Inconclusive,
    /// At least one required link is contradicted.
    Fail,
}

impl Verdict {
    /// The word used in every format.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Inconclusive => "inconclusive",
            Self::Fail => "fail",
        }
    }
}

/// Whether a link decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Need {
    /// The verdict follows from it.
    Required,
    /// Reported, without influence on the verdict.
    Supporting,
}

/// The claim that a report proves or contradicts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Goal {
    /// ID in `data/goals.toml`.
    pub id: &'static str,
    /// The claim as a clause: "PyTorch can use the NPUs of this machine".
    pub claim: Text,
    /// Values for the sentences of the goal.
    #[serde(skip)]
    pub values: BTreeMap<&'static str, Text>,
}

/// The evidence for a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Coverage {
    /// Examined, and it holds.
    Shown,
    /// Examined, and it does not hold.
    Contradicted {
        /// IDs of the findings that contradict it, each once.
        findings: Vec<String>,
        /// The contradiction in words, if no finding has them.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<Text>,
    },
    /// Not examined, or not completely.
    NotExamined {
        /// Why.
        reason: Text,
        /// The evidence that would settle it, as an instruction.
        settle: Text,
    },
    /// The goal does not need it here.
    NotApplicable {
        /// Why.
        reason: Text,
    },
    /// A setting takes it out of the verdict.
    Waived {
        /// Reason and expiry date of the setting.
        reason: Text,
    },
}

impl Coverage {
    /// The word used in every format.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Shown => "shown",
            Self::Contradicted { .. } => "contradicted",
            Self::NotExamined { .. } => "not_examined",
            Self::NotApplicable { .. } => "not_applicable",
            Self::Waived { .. } => "waived",
        }
    }

    /// Contradicted by one finding.
    pub fn contradicted(finding: impl Into<String>) -> Self {
        Self::Contradicted { findings: vec![finding.into()], reason: None }
    }

    /// Contradicted in words.
    pub const fn contradicted_because(reason: Text) -> Self {
        Self::Contradicted { findings: Vec::new(), reason: Some(reason) }
    }
}

/// One fact that the goal needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Link {
    /// ID in `data/goals.toml`.
    pub id: String,
    /// The healthy state in a few words.
    pub name: Text,
    /// Whether it decides.
    pub need: Need,
    /// Its outcome.
    #[serde(flatten)]
    pub coverage: Coverage,
    /// Observed facts: versions, counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Text>,
    /// IDs of warnings that concern it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A goal with its links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The goal.
    pub goal: Goal,
    /// All links of the goal, in the order of the chain.
    pub links: Vec<Link>,
}

impl Proof {
    /// The verdict: it follows from the required links and nothing else.
    pub fn verdict(&self) -> Verdict {
        self.verdict_without(|_| false)
    }

    /// The verdict if the contradictions of some links did not count.
    pub fn verdict_without(&self, excused: impl Fn(&Link) -> bool) -> Verdict {
        let required = self.links.iter().filter(|link| link.need == Need::Required);
        required
            .map(|link| match link.coverage {
                Coverage::Contradicted { .. } if excused(link) => Verdict::Pass,
                Coverage::Contradicted { .. } => Verdict::Fail,
                Coverage::NotExamined { .. } => Verdict::Inconclusive,
                Coverage::Shown | Coverage::NotApplicable { .. } | Coverage::Waived { .. } => {
                    Verdict::Pass
                }
            })
            .max()
            // A goal without links makes no claim that could be shown.
            .unwrap_or(Verdict::Inconclusive)
    }

    /// The link with this ID.
    pub fn link(&self, id: &str) -> Option<&Link> {
        self.links.iter().find(|link| link.id == id)
    }

    /// The link with this ID, to change it.
    pub fn link_mut(&mut self, id: &str) -> Option<&mut Link> {
        self.links.iter_mut().find(|link| link.id == id)
    }

    /// The required links that decided against a pass: the contradicted ones of a failure, the
    /// unexamined ones of an inconclusive result.
    pub fn deciding(&self) -> impl Iterator<Item = &Link> {
        let verdict = self.verdict();
        self.links.iter().filter(move |link| {
            link.need == Need::Required
                && match verdict {
                    Verdict::Fail => matches!(link.coverage, Coverage::Contradicted { .. }),
                    Verdict::Inconclusive => matches!(link.coverage, Coverage::NotExamined { .. }),
                    Verdict::Pass => false,
                }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proof(links: &[(Need, Coverage)]) -> Proof {
        let goal = Goal { id: "goal", claim: Text::same("it works"), values: BTreeMap::new() };
        let links = links.iter().enumerate().map(|(number, (need, coverage))| Link {
            id: number.to_string(),
            name: Text::default(),
            need: *need,
            coverage: coverage.clone(),
            note: None,
            warnings: Vec::new(),
        });
        Proof { goal, links: links.collect() }
    }

    fn unexamined() -> Coverage {
        Coverage::NotExamined { reason: Text::same("why"), settle: Text::same("how") }
    }

    #[test]
    fn only_required_links_decide() {
        let against = [Coverage::contradicted("A"), unexamined()];
        for coverage in against {
            let supporting =
                proof(&[(Need::Required, Coverage::Shown), (Need::Supporting, coverage)]);
            assert_eq!(supporting.verdict(), Verdict::Pass);
            assert_eq!(supporting.deciding().count(), 0);
        }
    }

    #[test]
    fn contradiction_outweighs_missing_evidence() {
        let both = proof(&[
            (Need::Required, unexamined()),
            (Need::Required, Coverage::contradicted("A")),
            (Need::Required, Coverage::Shown),
        ]);
        assert_eq!(both.verdict(), Verdict::Fail);
        assert_eq!(both.deciding().map(|link| link.id.as_str()).collect::<Vec<_>>(), ["1"]);
        let missing = proof(&[(Need::Required, unexamined()), (Need::Required, Coverage::Shown)]);
        assert_eq!(missing.verdict(), Verdict::Inconclusive);
    }

    #[test]
    fn waived_and_inapplicable_links_do_not_stand_in_the_way() {
        let reason = Text::same("accepted");
        let fine = proof(&[
            (Need::Required, Coverage::Waived { reason: reason.clone() }),
            (Need::Required, Coverage::NotApplicable { reason }),
        ]);
        assert_eq!(fine.verdict(), Verdict::Pass);
    }

    #[test]
    fn nothing_examined_is_no_pass() {
        assert_eq!(proof(&[]).verdict(), Verdict::Inconclusive);
        assert_eq!(proof(&[(Need::Supporting, Coverage::Shown)]).verdict(), Verdict::Inconclusive);
    }
}
