//! Settings of programs that have rules: `--tf32 True` on a command line, `tf32: true` in a
//! configuration.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::rules::{Match, Rule, Rules};
use super::site::Planner;

/// The names of all settings that have rules.
static NAMES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let rules = Rules::builtin().rules.iter().filter(|rule| rule.how == Match::Option);
    AhoCorasick::new(rules.flat_map(Rule::names)).expect("a few names make a small automaton")
});

/// Whether a text may have a setting with a rule. Options may have hyphens.
pub(super) fn mentions(text: &[u8]) -> bool {
    NAMES.is_match(text) || text.contains(&b'-') && NAMES.is_match(&hyphens(text))
}

fn hyphens(text: &[u8]) -> Vec<u8> {
    text.iter().map(|byte| if *byte == b'-' { b'_' } else { *byte }).collect()
}

/// The rule for a value of a setting. An option without a value is `True`.
pub(super) fn rule(planner: &Planner<'_>, name: &str, value: &str) -> Option<&'static Rule> {
    let name = name.trim_start_matches(['-', '+']).replace('-', "_");
    let last = name.rsplit('.').next().unwrap_or(&name);
    let rule = Rules::builtin().find(Match::Option, last)?;
    let value = match value {
        "true" | "yes" | "on" | "1" => "True",
        other => other,
    };
    let concerned = rule.speaks_of(value) && rule.applies(|name| planner.version(name));
    concerned.then_some(rule)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    #[test]
    fn values_decide() {
        let planner = Planner::new("");
        let id = |name: &str, value: &str| rule(&planner, name, value).map(|rule| rule.name);
        assert_eq!(id("--tf32", "True"), Some("tf32"));
        assert_eq!(id("training.tf32", "true"), Some("tf32"));
        assert!(id("--tf32", "False").is_none() && id("--bf16", "True").is_none());
        assert!(id("--use-8bit-adam", "True").is_some());
    }

    #[test]
    fn versions_decide() {
        let packages = [("liger-kernel".to_owned(), "0.6.5".parse().unwrap())];
        let options = Options { packages: packages.into(), ..Options::default() };
        let new = Planner::of("", &options, None);
        assert!(rule(&new, "use_liger_kernel", "true").is_none());
        assert!(rule(&Planner::new(""), "use_liger_kernel", "true").is_some());
    }

    #[test]
    fn names_are_searched_for() {
        assert!(mentions(b"python train.py --use-8bit-adam"));
        assert!(mentions(b"tf32: true") && !mentions(b"bf16: true"));
    }
}
