//! The policy of a gate: fail levels of families, and the goal to prove.

use std::collections::BTreeMap;

use base::report::{Coverage, FailOn, GateSetting, Link, Need, Report};
use base::text::{escape_line, nearest};
use data::{Catalog, Fault, FileError, WithLine, faults, goals, ui};

/// The goal of a run that names its checks; settings cannot require it.
const SELECTION: &str = "selection";

/// The settings of the gate other than levels.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// Fail levels by family, in capitals.
    pub families: BTreeMap<String, FailOn>,
    /// The levels as settings, for reports.
    pub settings: Vec<GateSetting>,
    /// The goal.
    pub goal: Option<ExpectedGoal>,
}

/// The goal that `check` must prove. A machine that lost its driver suggests a smaller goal, and
/// would pass that one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedGoal {
    id: String,
    file: String,
    line: usize,
}

/// Looks up a goal and families.
pub(super) fn read(
    goal: Option<&WithLine<String>>,
    families: Option<&WithLine<BTreeMap<String, FailOn>>>,
    file: &str,
) -> Result<Policy, FileError> {
    let mut policy = Policy::default();
    if let Some(WithLine { line, value }) = goal {
        let error = |what: Fault| FileError::new(*line, what);
        let id = find_goal(value).map_err(error)?;
        policy.goal = Some(ExpectedGoal { id, file: file.to_owned(), line: *line });
    }
    if let Some(WithLine { line, value }) = families {
        for (name, level) in value {
            let error = |what: Fault| FileError::new(*line, what);
            let family = find_family(name).map_err(error)?;
            let (name, word) = (format!("fail-on-family.{family}"), level.as_str().to_owned());
            policy.settings.push(GateSetting::setting(&name, word, file, Some(*line)));
            policy.families.insert(family, *level);
        }
    }
    Ok(policy)
}

fn find_goal(name: &str) -> Result<String, Fault> {
    let id = name.trim().to_ascii_lowercase();
    let known = || goals::goals("check").map(|goal| goal.id.as_str()).filter(|id| *id != SELECTION);
    if known().any(|goal| goal == id) {
        return Ok(id);
    }
    let hint = match nearest(&id, known().map(str::to_owned), 1).pop() {
        Some(near) => faults::DidYouMean { near }.fault(),
        None => faults::PolicyGoals { list: known().collect::<Vec<_>>().join(", ") }.fault(),
    };
    let what = faults::PolicyUnknownGoal { id: escape_line(name).into_owned() }.fault();
    Err(faults::WithHint { hint, what }.fault())
}

fn find_family(name: &str) -> Result<String, Fault> {
    let family = name.trim().to_ascii_uppercase();
    let known = || Catalog::builtin().families().map(|family| family.family.to_ascii_uppercase());
    if known().any(|known| known == family) {
        return Ok(family);
    }
    let hint = match nearest(&family, known(), 1).pop() {
        Some(near) => faults::DidYouMean { near }.fault(),
        None => faults::SkipListHint.fault(),
    };
    let what = faults::PolicyUnknownFamily { id: escape_line(name).into_owned() }.fault();
    Err(faults::WithHint { hint, what }.fault())
}

impl ExpectedGoal {
    /// The goal as a setting, for reports.
    pub fn setting(&self) -> GateSetting {
        GateSetting::setting("goal", self.id.clone(), &self.file, Some(self.line))
    }

    /// Adds a contradicted link to a report that proves another goal.
    pub fn require(&self, report: &mut Report) {
        let Some(proof) = &mut report.proof else { return };
        if proof.goal.id == self.id {
            return;
        }
        let (expected, selected) = (&self.id, proof.goal.id);
        let place = format!("{}:{}", self.file, self.line);
        let reason = ui::GoalUnexpected { place, expected, selected }.text();
        proof.links.push(Link {
            id: "goal".to_owned(),
            name: ui::GOAL_EXPECTED.text(),
            need: Need::Required,
            coverage: Coverage::contradicted_because(reason),
            note: None,
            warnings: Vec::new(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::report::Verdict;

    fn policy(goal: &str, family: &str) -> Result<Policy, FileError> {
        let goal = WithLine { line: 2, value: goal.to_owned() };
        let value = BTreeMap::from([(family.to_owned(), FailOn::Never)]);
        read(Some(&goal), Some(&WithLine { line: 4, value }), "site.toml")
    }

    #[test]
    fn names_are_looked_up() {
        let good = policy("Torch", "net").unwrap();
        assert_eq!(good.families.get("NET"), Some(&FailOn::Never));
        assert_eq!(good.settings[0].to_string(), "fail-on-family.NET never (site.toml:4)");
        assert_eq!(good.goal.unwrap().setting().to_string(), "goal torch (site.toml:2)");
        let error = policy("torhc", "NET").unwrap_err();
        assert!(error.line == 2 && error.what.en.contains("did you mean `torch`?"), "{error}");
        assert_eq!(policy("selection", "NET").unwrap_err().line, 2);
        let error = policy("torch", "NETT").unwrap_err();
        assert!(error.line == 4 && error.what.en.contains("did you mean `NET`?"), "{error}");
    }

    #[test]
    fn another_goal_is_no_pass() {
        let report = |goal| {
            let mut report = Report::new("check", "n1");
            report.proof =
                Some(goals::prove("check", goal, BTreeMap::new(), |_| (Coverage::Shown, None)));
            policy("node", "NET").unwrap().goal.unwrap().require(&mut report);
            report
        };
        assert_eq!(report("node").verdict(), Some(Verdict::Pass));
        let other = report("inventory");
        assert_eq!(other.verdict(), Some(Verdict::Fail));
        let Coverage::Contradicted { reason: Some(reason), .. } =
            &other.proof.as_ref().unwrap().link("goal").unwrap().coverage
        else {
            panic!("no reason")
        };
        assert!(reason.en.contains("site.toml:2") && reason.en.contains("inventory"), "{reason:?}");
    }
}
