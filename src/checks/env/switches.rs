//! Debugging and profiling switches that are still on.

use crate::Context;
use base::report::{Evidence, Severity};
use data::{Outcome, Reason, findings::env_debug};

/// The effect of a switch.
enum Effect {
    Blocking,
    Caching,
    Dump,
    Log,
    Profiling,
    Stdout,
}

/// A variable, the values that enable something costly, the effect, and the severity.
type Switch = (&'static str, &'static [&'static str], Effect, Severity);

const SWITCHES: &[Switch] = &[
    ("ASCEND_LAUNCH_BLOCKING", &["1"], Effect::Blocking, Severity::Warning),
    ("ASCEND_GLOBAL_LOG_LEVEL", &["0"], Effect::Log, Severity::Warning),
    ("ASCEND_GLOBAL_LOG_LEVEL", &["1"], Effect::Log, Severity::Info),
    ("ASDOPS_LOG_LEVEL", &["TRACE", "DEBUG"], Effect::Log, Severity::Warning),
    ("ASCEND_SLOG_PRINT_TO_STDOUT", &["1"], Effect::Stdout, Severity::Info),
    ("PROFILING_MODE", &["true", "dynamic"], Effect::Profiling, Severity::Warning),
    ("DUMP_GE_GRAPH", &["1", "2", "3"], Effect::Dump, Severity::Warning),
    ("ATB_STREAM_SYNC_EVERY_KERNEL_ENABLE", &["1"], Effect::Blocking, Severity::Warning),
    ("ATB_STREAM_SYNC_EVERY_RUNNER_ENABLE", &["1"], Effect::Blocking, Severity::Warning),
    ("ATB_STREAM_SYNC_EVERY_OPERATION_ENABLE", &["1"], Effect::Blocking, Severity::Warning),
    ("PYTORCH_NO_NPU_MEMORY_CACHING", &["1"], Effect::Caching, Severity::Warning),
];

pub(super) fn debug(ctx: &Context<'_>) -> Outcome {
    let env = &ctx.facts.env;
    if !env.known {
        return Outcome::NotChecked(Reason::EnvUnknown);
    }
    let on = SWITCHES.iter().filter_map(|(name, values, effect, severity)| {
        let value = env.non_empty(name)?;
        let found = match effect {
            Effect::Blocking => env_debug::Blocking { name, value }.at(*severity),
            Effect::Caching => env_debug::Caching { name, value }.at(*severity),
            Effect::Dump => env_debug::Dump { name, value }.at(*severity),
            Effect::Log => env_debug::Log { name, value }.at(*severity),
            Effect::Profiling => env_debug::Profiling { name, value }.at(*severity),
            Effect::Stdout => env_debug::Stdout { name, value }.at(*severity),
        };
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
