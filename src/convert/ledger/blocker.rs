//! The effect of manual sites on the program, ordered from start failures to cosmetic issues.

use foldhash::HashMap;
use serde::Deserialize;
use std::sync::LazyLock;

use super::tokens::TABLE;
use crate::rules::{Class, Match, Rule};

/// The effect on the program until the manual work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Blocker {
    /// The program does not start.
    Start,
    /// It starts, but training or inference fails or is wrong.
    Training,
    /// It runs slower.
    Speed,
    /// It runs the same.
    Cosmetic,
}

impl Blocker {
    /// Its name in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Training => "training",
            Self::Speed => "speed",
            Self::Cosmetic => "cosmetic",
        }
    }

    /// Whether it prevents the goal of a conversion.
    pub const fn prevents(self) -> bool {
        matches!(self, Self::Start | Self::Training)
    }

    /// The effect of the manual work that a rule reports.
    pub fn of(rule: &Rule) -> Self {
        static LISTED: LazyLock<HashMap<&'static str, Blocker>> =
            LazyLock::new(|| TABLE.blocks.listed().collect());
        if let Some(listed) = LISTED.get(rule.id) {
            return *listed;
        }
        match (rule.how, rule.class) {
            (Match::Env, _) => Self::Cosmetic,
            (Match::Site, _) => Self::Training,
            (_, Class::Missing) => Self::Start,
            _ => Self::Training,
        }
    }
}

/// The rules that block less or more than their class implies.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Blocks {
    start: Vec<String>,
    training: Vec<String>,
    speed: Vec<String>,
    cosmetic: Vec<String>,
}

impl Blocks {
    fn listed(&'static self) -> impl Iterator<Item = (&'static str, Blocker)> {
        let of = |ids: &'static [String], blocker| {
            ids.iter().map(move |id| (id.as_str(), blocker)).collect::<Vec<_>>()
        };
        of(&self.start, Blocker::Start)
            .into_iter()
            .chain(of(&self.training, Blocker::Training))
            .chain(of(&self.speed, Blocker::Speed))
            .chain(of(&self.cosmetic, Blocker::Cosmetic))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Rules;

    #[test]
    fn every_listed_rule_exists_and_is_listed_once() {
        let mut ids: Vec<&str> = TABLE.blocks.listed().map(|(id, _)| id).collect();
        for id in &ids {
            assert!(Rules::builtin().by_id(id).is_some(), "{id}");
        }
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }

    #[test]
    fn missing_libraries_block_the_start_and_variables_do_not() {
        let of = |id: &str| Blocker::of(Rules::builtin().by_id(id).unwrap());
        assert_eq!(of("CV0471"), Blocker::Start);
        assert_eq!(of("CV0420"), Blocker::Cosmetic);
        assert_eq!(of("CV0332"), Blocker::Speed);
        assert!(of("CV0378").prevents() && !of("CV0420").prevents());
    }
}
