//! Debugging and profiling that was left on.

use crate::Context;
use base::report::{Evidence, Outcome, RawFinding, Severity};

/// A variable, the values that switch something costly on, the message, and how grave it is.
type Switch = (&'static str, &'static [&'static str], &'static str, Severity);

const SWITCHES: &[Switch] = &[
    ("ASCEND_LAUNCH_BLOCKING", &["1"], "blocking", Severity::Warning),
    ("ASCEND_GLOBAL_LOG_LEVEL", &["0"], "log", Severity::Warning),
    ("ASCEND_GLOBAL_LOG_LEVEL", &["1"], "log", Severity::Info),
    ("ASDOPS_LOG_LEVEL", &["TRACE", "DEBUG"], "log", Severity::Warning),
    ("ASCEND_SLOG_PRINT_TO_STDOUT", &["1"], "stdout", Severity::Info),
    ("PROFILING_MODE", &["true", "dynamic"], "profiling", Severity::Warning),
    ("DUMP_GE_GRAPH", &["1", "2", "3"], "dump", Severity::Warning),
    ("ATB_STREAM_SYNC_EVERY_KERNEL_ENABLE", &["1"], "blocking", Severity::Warning),
    ("ATB_STREAM_SYNC_EVERY_RUNNER_ENABLE", &["1"], "blocking", Severity::Warning),
    ("ATB_STREAM_SYNC_EVERY_OPERATION_ENABLE", &["1"], "blocking", Severity::Warning),
    ("PYTORCH_NO_NPU_MEMORY_CACHING", &["1"], "caching", Severity::Warning),
];

pub(super) fn debug(ctx: &Context<'_>) -> Outcome {
    let env = &ctx.facts.env;
    if !env.known {
        return Outcome::not_checked("env_unknown", "");
    }
    let on = SWITCHES.iter().filter_map(|(name, values, message, severity)| {
        let value = env.non_empty(name)?;
        let found =
            RawFinding::new("ENV-DEBUG", message, *severity).arg("name", *name).arg("value", value);
        values
            .iter()
            .any(|known| known.eq_ignore_ascii_case(value))
            .then(|| found.evidence(Evidence::env(*name).value(value)))
    });
    on.collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use facts::Facts;

    #[test]
    fn only_what_is_on_is_found() {
        let mut facts = Facts::default();
        facts.env.known = true;
        for (name, value) in [
            ("ASCEND_LAUNCH_BLOCKING", "0"),
            ("ASCEND_GLOBAL_LOG_LEVEL", "3"),
            ("ATB_STREAM_SYNC_EVERY_KERNEL_ENABLE", "0"),
            ("PROFILING_MODE", "false"),
        ] {
            facts.env.vars.insert(name.to_owned(), value.to_owned());
        }
        assert_eq!(debug(&Context::of(&facts, Profile::General)), Outcome::Passed);
        facts.env.vars.insert("ASCEND_LAUNCH_BLOCKING".to_owned(), "1".to_owned());
        let Outcome::Found(found) = debug(&Context::of(&facts, Profile::General)) else {
            panic!("nothing found")
        };
        assert_eq!((found.len(), found[0].message), (1, "blocking"));
    }
}
