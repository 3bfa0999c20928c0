//! Whether a version of torch_npu has the replacement of a rule.

use pep440_rs::Version;

use super::rule::Rule;
use super::table::Rules;

/// Whether a version of torch_npu has the replacement of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It exists.
    Yes,
    /// It does not exist.
    No,
    /// The version was not examined, and the neighboring versions differ; treated as absent.
    Unknown,
}

impl Rules {
    /// Whether torch_npu `target` has the replacement of `rule`, by the examined versions: if the
    /// two neighboring versions agree, the result is theirs. The replacement of a rule without
    /// versions always exists.
    pub fn presence(&self, rule: &Rule, target: &Version) -> Presence {
        let Some(found) = &rule.torch_npu else { return Presence::Yes };
        let target = Version::new(target.release())
            .with_epoch(target.epoch())
            .with_pre(target.pre())
            .with_post(target.post())
            .with_dev(target.dev());
        let has =
            |version: &&str| if found.contains(version) { Presence::Yes } else { Presence::No };
        // The development branch (`master@…`) has no version number: newer than all.
        let mut known: Vec<(Option<Version>, Presence)> =
            self.versions.iter().map(|text| (text.parse().ok(), has(text))).collect();
        known.sort_by(|(a, _), (b, _)| match (a, b) {
            (Some(a), Some(b)) => a.cmp(b),
            (a, b) => a.is_none().cmp(&b.is_none()),
        });
        let above = known
            .iter()
            .position(|(version, _)| version.as_ref().is_none_or(|version| *version >= target));
        match above {
            Some(at) if known[at].0.as_ref() == Some(&target) => known[at].1,
            Some(at) if at > 0 && known[at - 1].1 == known[at].1 => known[at].1,
            // Older than all, newer than all, or between two versions that differ.
            _ => Presence::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn presence(name: &str, target: &str) -> Presence {
        let rules = Rules::builtin();
        let rule = rules.find(super::super::Match::Api, name).unwrap();
        rules.presence(rule, &target.parse().unwrap())
    }

    #[test]
    fn checked_versions_are_known() {
        for target in ["2.1.0.post17", "2.6.0", "2.7.1", "2.14.0"] {
            assert_eq!(presence("torch.cuda.synchronize", target), Presence::Yes, "{target}");
        }
        assert_eq!(presence("torch.cuda.ExternalStream", "2.7.1"), Presence::No);
        assert_eq!(presence("torch.cuda.ExternalStream", "2.14.0"), Presence::Yes);
        assert_eq!(presence("torch.cuda.MemPoolContext", "2.7.1"), Presence::Yes);
        assert_eq!(presence("torch.cuda.MemPoolContext", "2.14.0"), Presence::No);
        assert_eq!(presence("torch.cuda.ipc_collect", "2.6.0"), Presence::No);
    }

    #[test]
    fn versions_between_equal_answers_inherit_them() {
        assert_eq!(presence("torch.cuda.synchronize", "2.5.1"), Presence::Yes);
        assert_eq!(presence("torch.cuda.synchronize", "2.9.0.post2"), Presence::Yes);
        assert_eq!(presence("torch.cuda.ExternalStream", "2.6.0.post3"), Presence::No);
        assert_eq!(presence("torch.cuda.ExternalStream", "2.15.0"), Presence::Yes);
        assert_eq!(presence("torch.cuda.MemPoolContext", "2.15.0"), Presence::No);
    }

    #[test]
    fn versions_between_different_answers_are_unknown() {
        assert_eq!(presence("torch.cuda.ExternalStream", "2.12.0"), Presence::Unknown);
        assert_eq!(presence("torch.cuda.MemPoolContext", "2.12.0"), Presence::Unknown);
        assert_eq!(presence("torch.cuda.ipc_collect", "2.7.0"), Presence::Unknown);
        assert_eq!(presence("torch.cuda.synchronize", "1.11.0"), Presence::Unknown);
    }

    #[test]
    fn builds_and_candidates_count_by_their_order() {
        assert_eq!(presence("torch.cuda.ExternalStream", "2.7.1+git1234abc"), Presence::No);
        assert_eq!(presence("torch.cuda.ipc_collect", "2.7.1rc1"), Presence::Unknown);
        assert_eq!(presence("torch.cuda.ipc_collect", "2.6.0rc1"), Presence::Unknown);
    }

    #[test]
    fn rule_without_versions_is_always_present() {
        let rules = Rules::builtin();
        let rule = rules.site(super::super::Place::DeviceString);
        assert_eq!(rules.presence(rule, &"2.1.0".parse().unwrap()), Presence::Yes);
    }
}
