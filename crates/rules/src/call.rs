//! Rules about one parameter of a function, or about its calls: `vllm.LLM(device)`,
//! `ray.remote(num_gpus)`, `ray.get_gpu_ids()`.

use pep440_rs::{Version, VersionSpecifiers};

use super::rule::{Action, Match, Rule};
use super::table::Unusable;

/// A value of digits with commas between: `0`, `"0,1"`, `[0, 1]`.
pub const INDICES: &str = "#";

/// A parameter of a function, with the rules for its values.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Parameter {
    /// Name of the parameter; empty for rules about the call itself.
    pub name: &'static str,
    /// Position from 0, without `self`; `None` if it is keyword-only.
    pub position: Option<usize>,
    /// Numbers of its rules. A rule for all values is the last one.
    pub(super) rules: Vec<usize>,
}

impl Parameter {
    /// Whether the rules are about the call itself.
    pub fn is_call(&self) -> bool {
        self.name.is_empty()
    }

    /// Adds `rule` for the parameter `name` of a function to the known ones.
    pub(super) fn add(
        known: &mut Vec<Self>,
        (name, position): (&'static str, Option<usize>),
        rules: &[Rule],
        rule: usize,
    ) -> Result<(), Unusable> {
        let Some(same) = known.iter_mut().find(|one| one.name == name) else {
            known.push(Self { name, position, rules: vec![rule] });
            return Ok(());
        };
        let new = &rules[rule];
        let others = || same.rules.iter().map(|other| &rules[*other]);
        let clash = others().find(|other| same.position != position || other.shares_values(new));
        if let Some(other) = clash {
            return Err(Unusable::Duplicate(other.id, new.id, name));
        }
        let at = same.rules.iter().position(|other| rules[*other].values.is_none());
        let at = at.filter(|_| new.values.is_some()).unwrap_or(same.rules.len());
        same.rules.insert(at, rule);
        Ok(())
    }
}

/// Splits `package.function(parameter:position)` into the function, the name of its parameter and
/// the position. `package.function()` is the call itself.
pub(super) fn read(name: &'static str) -> Option<(&'static str, &'static str, Option<usize>)> {
    // The results of functions have parentheses too: `package.Class().method(parameter)`.
    let (function, parameter) = name.strip_suffix(')')?.rsplit_once('(')?;
    let (name, position) = match parameter.split_once(':') {
        Some((name, position)) => (name, Some(position.parse().ok()?)),
        None => (parameter, None),
    };
    let valid = !(function.is_empty() || name.is_empty() && position.is_some());
    valid.then_some((function, name, position))
}

/// Whether the version of a package meets a requirement such as `transformers>=4.51`; `None` if the
/// version is unknown.
fn meets(requirement: &str, version: impl Fn(&str) -> Option<Version>) -> Option<bool> {
    let end = requirement.find(['<', '>', '=', '!', '~']).unwrap_or(requirement.len());
    let (name, specifiers) = requirement.split_at(end);
    let specifiers: VersionSpecifiers = specifiers.parse().ok()?;
    Some(specifiers.contains(&version(name.trim())?))
}

impl Rule {
    /// Whether the rule is about calls that omit the parameter.
    pub fn is_for_omitted(&self) -> bool {
        self.omitted || self.how == Match::Call && self.action == Action::Insert
    }

    /// Whether the rule is about values of the parameter.
    pub fn is_for_given(&self) -> bool {
        self.action != Action::Insert && self.values.as_ref().is_none_or(|all| !all.is_empty())
    }

    /// Whether the rule only keeps certain texts. A variable that holds one may have other uses.
    pub fn keeps_texts(&self) -> bool {
        self.action == Action::Keep && self.needs.is_none() && self.values.is_some()
    }

    /// Whether the rule applies to `value` of a parameter: the device without its index, or the
    /// text as a whole.
    pub fn speaks_of(&self, value: &str) -> bool {
        let Some(values) = &self.values else { return self.is_for_given() };
        let kind = value.split(':').next().unwrap_or(value);
        values.contains(&value) || values.contains(&kind)
    }

    /// Whether two rules are about the same values, with the same versions of a package.
    fn shares_values(&self, other: &Self) -> bool {
        if self.applies_to != other.applies_to
            && self.applies_to.is_some()
            && other.applies_to.is_some()
        {
            return false;
        }
        let given = match (&self.values, &other.values) {
            (Some(one), Some(two)) => one.iter().any(|value| two.contains(value)),
            (None, None) => self.is_for_given() && other.is_for_given(),
            _ => false,
        };
        given || self.is_for_omitted() && other.is_for_omitted()
    }

    /// The packages on whose versions the rule depends.
    pub(super) fn needed_packages(&self) -> impl Iterator<Item = &'static str> + use<> {
        [self.needs, self.applies_to]
            .into_iter()
            .flatten()
            .map(|needs| needs.split(['<', '>', '=', '!', '~']).next().unwrap_or(needs).trim())
    }

    /// Whether the known version of a package does not support the replacement, or the kept
    /// value, of the rule.
    pub fn is_refused_by(&self, version: impl Fn(&str) -> Option<Version>) -> bool {
        self.needs.is_some_and(|needs| meets(needs, version) == Some(false))
    }

    /// Whether the rule applies to the version of a package, as far as it is known.
    pub fn applies(&self, version: impl Fn(&str) -> Option<Version>) -> bool {
        self.applies_to.is_none_or(|versions| meets(versions, version) != Some(false))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Match, Rules};
    use super::*;

    #[test]
    fn names_of_parameters_are_read() {
        assert_eq!(read("a.B().run(device:1)"), Some(("a.B().run", "device", Some(1))));
        assert_eq!(read("a.f(x)"), Some(("a.f", "x", None)));
        assert_eq!(read("a.f()"), Some(("a.f", "", None)));
        for bad in ["a.f", "(x)", "a.f(x:y)", "a.f(x", "a.f(:1)"] {
            assert!(read(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn every_rule_of_a_call_can_be_read() {
        for rule in Rules::builtin().rules.iter().filter(|rule| rule.how == Match::Call) {
            for name in rule.names() {
                assert!(read(name).is_some(), "{}: {name}", rule.id);
            }
            for needs in [rule.needs, rule.applies_to].into_iter().flatten() {
                let end = needs.find(['<', '>', '=', '!', '~']).unwrap();
                assert!(needs[end..].parse::<VersionSpecifiers>().is_ok(), "{}", rule.id);
            }
            // An inserted argument, or one that replaces another, is a keyword argument.
            let to = rule.to.unwrap_or_default();
            assert!(rule.action != Action::Insert || to.contains('='), "{}: {to}", rule.id);
        }
    }

    #[test]
    fn only_rules_of_calls_have_conditions_of_calls() {
        for rule in Rules::builtin().rules.iter().filter(|rule| rule.how != Match::Call) {
            let versions = rule.applies_to.is_some() && rule.how != Match::Option;
            assert!(!rule.omitted && !versions, "{}", rule.id);
        }
    }

    #[test]
    fn a_version_can_refuse() {
        let rule = Rules::builtin().by_id("CV0476").unwrap();
        let refused = |version: Option<&str>| {
            rule.is_refused_by(|name| {
                assert_eq!(name, "transformers");
                version.map(|version| version.parse().unwrap())
            })
        };
        assert!(refused(Some("4.50.3")));
        assert!(!refused(Some("4.51.0")) && !refused(None));
    }

    #[test]
    fn one_parameter_has_several_rules() {
        let rule = |row: &str| -> Rule {
            let row = format!(
                "match = \"call\"\nname = \"a.f(x)\"\nclass = \"missing\"\naction = \"flag\"\n{row}"
            );
            toml::from_str(row.leak()).unwrap()
        };
        let add = |rows: &[&str]| {
            let rules: Vec<Rule> = rows.iter().map(|row| rule(row)).collect();
            let mut known = Vec::new();
            for at in 0..rules.len() {
                Parameter::add(&mut known, ("x", None), &rules, at)?;
            }
            Ok::<_, Unusable>(known[0].rules.clone())
        };
        let all = "id = \"CV1\"";
        let one = "id = \"CV2\"\nvalues = [\"a\"]";
        let omitted = "id = \"CV3\"\nvalues = []\nomitted = true";
        // The rule for all values is the last one.
        assert_eq!(add(&[all, one, omitted]).unwrap(), [1, 2, 0]);
        assert!(add(&[one, one]).is_err() && add(&[all, all]).is_err());
        assert!(add(&[omitted, omitted]).is_err());
        let old = format!("{one}\napplies_to = \"a<2\"");
        let new = format!("{one}\napplies_to = \"a>=2\"");
        assert!(add(&[&old, &new]).is_ok() && add(&[&old, &old]).is_err());
    }
}
