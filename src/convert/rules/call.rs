//! Rules about one parameter of a function: `vllm.LLM(device)`, `ray.remote(num_gpus)`.

use pep440_rs::{Version, VersionSpecifiers};

use super::rule::Rule;

/// A value of any digits with commas between: `0`, `"0,1"`, `[0, 1]`.
pub const INDICES: &str = "#";

/// A parameter of a function, by the name of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Parameter {
    /// Name of the parameter.
    pub name: &'static str,
    /// Position from 0, without `self`; `None` if it is given by name only.
    pub position: Option<usize>,
    /// Number of its rule.
    pub(super) rule: usize,
}

/// Splits `package.function(parameter:position)` into the function and its parameter.
pub(super) fn read(name: &'static str, rule: usize) -> Option<(&'static str, Parameter)> {
    // The results of functions have parentheses too: `package.Class().method(parameter)`.
    let (function, parameter) = name.strip_suffix(')')?.rsplit_once('(')?;
    let (name, position) = match parameter.split_once(':') {
        Some((name, position)) => (name, Some(position.parse().ok()?)),
        None => (parameter, None),
    };
    let valid = !function.is_empty() && !name.is_empty();
    valid.then_some((function, Parameter { name, position, rule }))
}

impl Rule {
    /// Whether a value of the parameter is one that the rule speaks of: the device without its
    /// index, or the text as a whole.
    pub fn speaks_of(&self, value: &str) -> bool {
        let Some(values) = &self.values else { return true };
        let kind = value.split(':').next().unwrap_or(value);
        values.contains(&value) || values.contains(&kind)
    }

    /// The package on whose version the rule depends.
    pub(super) fn needed_package(&self) -> Option<&'static str> {
        self.needs
            .map(|needs| needs.split(['<', '>', '=', '!', '~']).next().unwrap_or(needs).trim())
    }

    /// Whether the version of a package is known not to have what the rule writes, or keeps.
    pub fn is_refused_by(&self, version: impl Fn(&str) -> Option<Version>) -> bool {
        let Some(needs) = self.needs else { return false };
        let end = needs.find(['<', '>', '=', '!', '~']).unwrap_or(needs.len());
        let (name, specifiers) = needs.split_at(end);
        let (Some(version), Ok(specifiers)) =
            (version(name.trim()), specifiers.parse::<VersionSpecifiers>())
        else {
            return false;
        };
        !specifiers.contains(&version)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Match, Rules};
    use super::*;

    #[test]
    fn names_of_parameters_are_read() {
        let (function, parameter) = read("a.B().run(device:1)", 7).unwrap();
        assert_eq!(function, "a.B().run");
        assert_eq!(parameter, Parameter { name: "device", position: Some(1), rule: 7 });
        assert_eq!(read("a.f(x)", 0).unwrap().1.position, None);
        for bad in ["a.f", "a.f()", "(x)", "a.f(x:y)", "a.f(x"] {
            assert!(read(bad, 0).is_none(), "{bad}");
        }
    }

    #[test]
    fn every_rule_of_a_call_can_be_read() {
        for rule in Rules::builtin().rules.iter().filter(|rule| rule.how == Match::Call) {
            for name in rule.names() {
                assert!(read(name, 0).is_some(), "{}: {name}", rule.id);
            }
            if let Some(needs) = rule.needs {
                let end = needs.find(['<', '>', '=', '!', '~']).unwrap();
                assert!(needs[end..].parse::<VersionSpecifiers>().is_ok(), "{}", rule.id);
            }
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
}
