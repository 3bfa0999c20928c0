//! Goals and their links: `data/goals.toml`.
//!
//! A subcommand names a goal and provides the coverage of each link. The coverage of links that
//! consist of checks follows from the results of these checks. The sentence at the top of a report
//! follows from the finished report.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::data_pack::{Pack, PackError, invalid};
use crate::packed::built_in_table;
use base::report::{
    CheckState, Coverage, Finding, Goal, Link, Need, Proof, Report, RuleResult, Severity, Verdict,
};
use base::text::{Lang, Text, fill};

/// The table of goals.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Goals {
    #[expect(dead_code, reason = "read so that the file may carry it")]
    schema: u32,
    sentence: Sentences,
    link: Vec<LinkDefinition>,
    goal: Vec<GoalDefinition>,
}

/// Sentences of goals that do not define their own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sentences {
    fail: Text,
    fail_more: Text,
    inconclusive: Text,
    others: Text,
    waived: Text,
    not_run: Text,
}

/// The definition of a link.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkDefinition {
    /// The subcommand.
    pub command: String,
    /// The ID, unique in the subcommand.
    pub id: String,
    /// The healthy state in a few words.
    pub name: Text,
    /// IDs of checks that prove the link. All of them must have run.
    #[serde(default)]
    pub key: Vec<String>,
    /// IDs of checks that can only contradict the link.
    #[serde(default)]
    pub checks: Vec<String>,
    /// The evidence that settles the link, as an instruction.
    pub settle: Text,
    /// Whether the link belongs to a proof only if the user requests it.
    #[serde(default)]
    pub asked: bool,
}

/// The definition of a goal.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoalDefinition {
    /// The ID, unique in the subcommand.
    pub id: String,
    /// The subcommand.
    pub command: String,
    /// The claim as a clause.
    pub claim: Text,
    /// The sentence of a pass.
    pub pass: Text,
    /// The sentence of a failure with one problem.
    pub fail: Option<Text>,
    /// The sentence of a failure with several problems.
    pub fail_more: Option<Text>,
    /// The sentence of an inconclusive result.
    pub inconclusive: Option<Text>,
    /// IDs of the required links; `*` means all.
    pub required: Vec<String>,
}

static GOALS: LazyLock<Goals> = LazyLock::new(|| super::table("goals"));

/// The goals of the program.
static NEEDED: LazyLock<Goals> = LazyLock::new(|| built_in_table("goals"));

/// Decodes the table of a pack. It must have all goals and links that the program uses.
pub(crate) fn check(pack: &'static Pack) -> Result<(), PackError> {
    let goals = pack.table::<Goals>("goals")?;
    for needed in &NEEDED.goal {
        let found =
            goals.goal.iter().any(|one| (&one.command, &one.id) == (&needed.command, &needed.id));
        if !found {
            return Err(invalid(
                "goals",
                format!("{} has no goal `{}`", needed.command, needed.id),
            ));
        }
    }
    for needed in &NEEDED.link {
        let found =
            goals.link.iter().any(|one| (&one.command, &one.id) == (&needed.command, &needed.id));
        if !found {
            return Err(invalid(
                "goals",
                format!("{} has no link `{}`", needed.command, needed.id),
            ));
        }
    }
    Ok(())
}

/// Returns the links of a subcommand, in the order of the chain.
pub fn links(command: &str) -> impl Iterator<Item = &'static LinkDefinition> {
    GOALS.link.iter().filter(move |link| link.command == command)
}

/// Returns the goals of a subcommand.
pub fn goals(command: &str) -> impl Iterator<Item = &'static GoalDefinition> {
    GOALS.goal.iter().filter(move |goal| goal.command == command)
}

/// Returns whether a subcommand has a link with this ID.
pub fn is_link(id: &str) -> bool {
    GOALS.link.iter().any(|link| link.id == id)
}

/// Returns the IDs of all links, each once.
pub fn link_ids() -> impl Iterator<Item = &'static str> {
    let mut ids: Vec<&str> = GOALS.link.iter().map(|link| link.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.into_iter()
}

impl GoalDefinition {
    /// Returns the goal with values for its sentences.
    fn goal(&'static self, values: BTreeMap<&'static str, Text>) -> Goal {
        Goal { id: &self.id, claim: self.claim.clone(), values }
    }

    fn need(&self, link: &str) -> Need {
        let required = self.required.iter().any(|id| id == "*" || id == link);
        if required { Need::Required } else { Need::Supporting }
    }
}

fn find_goal(command: &str, id: &str) -> &'static GoalDefinition {
    let found = goals(command).find(|goal| goal.id == id);
    debug_assert!(found.is_some(), "no goal `{id}` of {command} in data/goals.toml");
    // Tests cover all names. The first goal keeps a release running.
    found.unwrap_or(&GOALS.goal[0])
}

/// Returns the proof of the goal `id` of `command`. `cover` returns the coverage of each link and a
/// note on the observations.
pub fn prove(
    command: &str,
    id: &str,
    values: BTreeMap<&'static str, Text>,
    mut cover: impl FnMut(&'static LinkDefinition) -> (Coverage, Option<Text>),
) -> Proof {
    let definition = find_goal(command, id);
    let links = links(command).filter(|link| !link.asked).map(|link| {
        let (coverage, note) = cover(link);
        Link {
            id: link.id.clone(),
            name: link.name.clone(),
            need: definition.need(&link.id),
            coverage,
            note,
            warnings: Vec::new(),
        }
    });
    Proof { goal: definition.goal(values), links: links.collect() }
}

/// Returns the proof of a goal whose links are not in the data, because the user named them.
pub fn prove_links(
    command: &str,
    id: &str,
    values: BTreeMap<&'static str, Text>,
    links: Vec<Link>,
) -> Proof {
    Proof { goal: find_goal(command, id).goal(values), links }
}

/// Returns the coverage of a link that consists of checks.
///
/// An error of any of its checks contradicts the link, even as a consequence of another finding.
/// The link is shown if all of its key checks ran.
pub fn judge_checks(
    link: &LinkDefinition,
    results: &[RuleResult],
    findings: &[Finding],
) -> Coverage {
    let belongs = |id: &str| link.key.iter().chain(&link.checks).any(|own| own == id);
    judge(&belongs, &|id| link.key.iter().any(|own| own == id), results, findings, &link.settle)
}

/// Implements [`judge_checks`] for the checks that `belongs` accepts. `is_key` selects those that
/// must run.
pub fn judge(
    belongs: &dyn Fn(&str) -> bool,
    is_key: &dyn Fn(&str) -> bool,
    results: &[RuleResult],
    findings: &[Finding],
    settle: &Text,
) -> Coverage {
    let contradicting = contradictions(findings, belongs);
    if !contradicting.is_empty() {
        return Coverage::Contradicted { findings: contradicting, reason: None };
    }
    let own: Vec<&RuleResult> = results
        .iter()
        .filter(|result| belongs(result.id) && (result.blocked || is_key(result.id)))
        .collect();
    let Some(first) = own.first() else {
        return Coverage::NotExamined {
            reason: GOALS.sentence.not_run.clone(),
            settle: settle.clone(),
        };
    };
    let reason_of = |result: &RuleResult| {
        result.reason.clone().unwrap_or_else(|| GOALS.sentence.not_run.clone())
    };
    let silent = |result: &&&RuleResult| result.state == CheckState::NotChecked || result.blocked;
    if let Some(result) = own.iter().filter(silent).find(|result| !result.waived) {
        let settle = result.settle.clone().unwrap_or_else(|| settle.clone());
        return Coverage::NotExamined { reason: reason_of(result), settle };
    }
    if let Some(result) = own.iter().find(|result| result.waived) {
        return Coverage::Waived { reason: reason_of(result) };
    }
    if own.iter().all(|result| result.state == CheckState::NotApplicable) {
        return Coverage::NotApplicable { reason: reason_of(first) };
    }
    Coverage::Shown
}

/// Adds to each link of a report the warnings that concern it. Links of a selection are named by
/// check or family.
pub fn mark_warnings(report: &mut Report) {
    let Some(proof) = &mut report.proof else { return };
    let warnings = |belongs: &dyn Fn(&str) -> bool| {
        let own = report
            .findings
            .iter()
            .filter(|finding| finding.severity == Severity::Warning && belongs(&finding.id));
        let mut ids: Vec<String> = own.map(|finding| finding.id.clone()).collect();
        ids.dedup();
        ids
    };
    for link in &mut proof.links {
        let definition = links(report.command).find(|definition| definition.id == link.id);
        link.warnings = match definition {
            Some(definition) => {
                warnings(&|id| definition.key.iter().chain(&definition.checks).any(|own| own == id))
            }
            None => warnings(&|id| {
                id == link.id || id.split('-').next().is_some_and(|family| family == link.id)
            }),
        };
    }
}

/// Returns the IDs of errors that `belongs` accepts, including consequences, each once.
pub fn contradictions(findings: &[Finding], belongs: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    let mut todo: Vec<&Finding> = findings.iter().rev().collect();
    while let Some(finding) = todo.pop() {
        if finding.severity == Severity::Error && belongs(&finding.id) && !ids.contains(&finding.id)
        {
            ids.push(finding.id.clone());
        }
        todo.extend(finding.consequences.iter().rev());
    }
    ids
}

/// Returns the sentence at the top of a report; `None` for reports without a goal.
pub fn headline(report: &Report) -> Option<Text> {
    let proof = report.proof.as_ref()?;
    let definition = find_goal(report.command, proof.goal.id);
    let sentences = &GOALS.sentence;
    let mut values = proof.goal.values.clone();
    values.insert("claim", definition.claim.clone());
    let template = match proof.verdict() {
        Verdict::Pass => &definition.pass,
        Verdict::Inconclusive => {
            let reason = proof.deciding().find_map(|link| match &link.coverage {
                Coverage::NotExamined { reason, .. } => Some(reason.clone()),
                _ => None,
            });
            values.insert("reason", reason.unwrap_or_default());
            definition.inconclusive.as_ref().unwrap_or(&sentences.inconclusive)
        }
        Verdict::Fail => {
            let (problem, problems) = first_problem(proof, &report.findings);
            values.insert("problem", problem);
            if problems > 1 {
                values.insert("n", Text::same((problems - 1).to_string()));
                definition.fail_more.as_ref().unwrap_or(&sentences.fail_more)
            } else {
                definition.fail.as_ref().unwrap_or(&sentences.fail)
            }
        }
    };
    let mut sentence = fill_both(template, &values);
    let errors = report.findings.iter().filter(|finding| finding.severity == Severity::Error);
    let errors = errors.count();
    if proof.verdict() == Verdict::Pass && errors > 0 {
        let n = Text::same(errors.to_string());
        sentence =
            fill_both(&sentences.others, &BTreeMap::from([("sentence", sentence), ("n", n)]));
    }
    let waived: Vec<&Text> = proof
        .links
        .iter()
        .filter(|link| {
            link.need == Need::Required && matches!(link.coverage, Coverage::Waived { .. })
        })
        .map(|link| &link.name)
        .collect();
    if waived.is_empty() {
        return Some(sentence);
    }
    let join =
        |lang, by: &str| waived.iter().map(|name| name.get(lang)).collect::<Vec<_>>().join(by);
    let links = Text::new(join(Lang::En, ", "), join(Lang::Zh, "、"));
    Some(fill_both(&sentences.waived, &BTreeMap::from([("sentence", sentence), ("links", links)])))
}

/// Returns the first problem that contradicts a required link, and the number of problems: findings
/// that are not consequences, and contradictions in words.
fn first_problem(proof: &Proof, findings: &[Finding]) -> (Text, usize) {
    fn contains(finding: &Finding, ids: &[&str]) -> bool {
        (finding.severity == Severity::Error && ids.contains(&finding.id.as_str()))
            || finding.consequences.iter().any(|below| contains(below, ids))
    }
    let mut ids: Vec<&str> = Vec::new();
    let mut problems: Vec<&Text> = Vec::new();
    for link in proof.deciding() {
        if let Coverage::Contradicted { findings, reason } = &link.coverage {
            ids.extend(findings.iter().map(String::as_str));
            problems.extend(reason);
        }
    }
    // A contradiction by warnings names findings that are not errors.
    let named = |finding: &&Finding| contains(finding, &ids) || ids.contains(&finding.id.as_str());
    problems.splice(0..0, findings.iter().filter(named).map(|finding| &finding.title));
    (problems.first().map(|&text| text.clone()).unwrap_or_default(), problems.len())
}

fn fill_both(template: &Text, values: &BTreeMap<&'static str, Text>) -> Text {
    let of =
        |lang| values.iter().map(|(name, value)| (*name, value.get(lang).to_owned())).collect();
    Text { en: fill(&template.en, &of(Lang::En)), zh: fill(&template.zh, &of(Lang::Zh)) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Catalog;
    use base::text::placeholders;

    #[test]
    fn links_and_goals_are_unique_and_refer_to_each_other() {
        let mut links_seen = BTreeSet::new();
        let mut checks = BTreeSet::new();
        for link in &GOALS.link {
            assert!(links_seen.insert((&link.command, &link.id)), "{} twice", link.id);
            for id in link.key.iter().chain(&link.checks) {
                assert!(Catalog::builtin().entry(id).is_some(), "{}: no finding {id}", link.id);
                assert!(checks.insert((&link.command, id)), "{id} belongs to two links");
            }
        }
        let mut goals_seen = BTreeSet::new();
        for goal in &GOALS.goal {
            assert!(goals_seen.insert((&goal.command, &goal.id)), "{} twice", goal.id);
            assert!(!goal.required.is_empty(), "{} requires nothing", goal.id);
            for id in goal.required.iter().filter(|id| *id != "*") {
                let known = links_seen.contains(&(&goal.command, id));
                assert!(known, "{} of {}: no link {id}", goal.id, goal.command);
            }
        }
    }

    #[test]
    fn sentences_have_the_same_placeholders_in_both_languages() {
        let own = GOALS.goal.iter().flat_map(|goal| {
            [
                Some(&goal.pass),
                goal.fail.as_ref(),
                goal.fail_more.as_ref(),
                goal.inconclusive.as_ref(),
            ]
        });
        let shared = &GOALS.sentence;
        let shared =
            [&shared.fail, &shared.fail_more, &shared.inconclusive, &shared.others, &shared.waived];
        for text in own.flatten().chain(shared) {
            assert_eq!(placeholders(&text.en), placeholders(&text.zh), "{text:?}");
        }
    }

    fn result(id: &'static str, state: CheckState) -> RuleResult {
        let reason = Some(Text::same("because"));
        RuleResult { reason, ..RuleResult::new(id, Text::default(), state) }
    }

    fn link() -> &'static LinkDefinition {
        links("check").find(|link| link.id == "operators").unwrap()
    }

    #[test]
    fn a_link_needs_all_of_its_key_checks() {
        use CheckState::{NotApplicable, NotChecked, Passed};
        let judge = |first, second| {
            judge_checks(link(), &[result("CANN-OPS", first), result("CANN-OPS-CHIP", second)], &[])
                .as_str()
        };
        assert_eq!(judge(Passed, Passed), "shown");
        assert_eq!(judge(Passed, NotApplicable), "shown");
        assert_eq!(judge(NotApplicable, NotApplicable), "not_applicable");
        assert_eq!(judge(Passed, NotChecked), "not_examined");
        assert_eq!(judge_checks(link(), &[], &[]).as_str(), "not_examined");
        // Other checks of the link need not have run.
        let other = [
            result("CANN-OPS", Passed),
            result("CANN-OPS-CHIP", Passed),
            result("CANN-CUSTOMOPP", NotChecked),
        ];
        assert_eq!(judge_checks(link(), &other, &[]).as_str(), "shown");
    }

    #[test]
    fn errors_contradict_a_link_also_as_consequences() {
        let mut root = Finding { severity: Severity::Error, ..Finding::remark("CANN-ENV") };
        root.consequences =
            vec![Finding { severity: Severity::Error, ..Finding::remark("CANN-OPS") }];
        let covered = judge_checks(link(), &[result("CANN-OPS", CheckState::Folded)], &[root]);
        assert_eq!(covered, Coverage::contradicted("CANN-OPS"));
        let warning = Finding { severity: Severity::Warning, ..Finding::remark("CANN-OPS") };
        let results =
            [result("CANN-OPS", CheckState::Found), result("CANN-OPS-CHIP", CheckState::Passed)];
        assert_eq!(judge_checks(link(), &results, &[warning]), Coverage::Shown);
    }

    #[test]
    fn headline_follows_the_verdict_and_names_waivers() {
        let mut report = Report::new("check", "node");
        let values = BTreeMap::from([("npus", Text::same("8 × 910B3"))]);
        report.proof = Some(prove("check", "node", values, |_| (Coverage::Shown, None)));
        assert!(headline(&report).unwrap().en.contains("8 × 910B3"));
        let change = |report: &mut Report, coverage| {
            let proof = report.proof.as_mut().unwrap();
            proof.link_mut("driver").unwrap().coverage = coverage;
        };
        change(&mut report, Coverage::Waived { reason: Text::same("known") });
        assert!(headline(&report).unwrap().en.ends_with("(waived: Driver)"));
        let (reason, settle) = (Text::same("no permission"), Text::same("sudo"));
        change(&mut report, Coverage::NotExamined { reason, settle });
        assert!(headline(&report).unwrap().en.starts_with("Cannot tell whether driver"));
        report.findings = vec![Finding {
            severity: Severity::Error,
            title: Text::same("No driver"),
            ..Finding::remark("DRV-PRESENT")
        }];
        change(&mut report, Coverage::contradicted("DRV-PRESENT"));
        assert_eq!(headline(&report).unwrap().en, "Not ready: No driver");
    }
}
