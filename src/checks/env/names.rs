//! Variables whose names nearly match a variable of the stack.

use crate::Context;
use base::report::Evidence;
use base::text::distance_within;
use data::{EnvVars, Outcome, Reason, findings::env_unknown};

/// Prefixes of names that only the Ascend stack uses.
const PREFIXES: &[&str] =
    &["ASCEND", "HCCL_", "TORCH_NPU_", "TORCH_HCCL_", "PYTORCH_NPU_", "ATB_", "ASDOPS_", "LCCL_"];

/// Minimum length of a compared name; short ones are similar by chance.
const SHORTEST: usize = 9;

pub(super) fn unknown(ctx: &Context<'_>) -> Outcome {
    let env = &ctx.facts.env;
    if !env.known {
        return Outcome::NotChecked(Reason::EnvUnknown);
    }
    let table = EnvVars::builtin();
    let ours = env.vars.iter().filter(|(name, _)| {
        name.len() >= SHORTEST && PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    });
    ours.filter(|(name, _)| table.all().all(|known| known != name.as_str()))
        .filter_map(|(name, value)| {
            let near = table
                .all()
                // If the similar variable is set too, this one is not a typing error.
                .filter(|known| env.get(known).is_none())
                .filter_map(|known| Some((distance_within(name, known, 2)?, known)))
                .min()?;
            let found = env_unknown::Misspelt { name, near: near.1 }.info();
            Some(found.evidence(Evidence::env(name).value(value)))
        })
        .collect::<Vec<_>>()
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use facts::Facts;

    fn names(vars: &[&str]) -> Vec<String> {
        let mut facts = Facts::default();
        facts.env.known = true;
        facts.env.vars = vars.iter().map(|name| ((*name).to_owned(), "1".to_owned())).collect();
        match unknown(&Context::of(&facts, Profile::General)) {
            Outcome::Found(found) => found.iter().map(|found| found.args["near"].clone()).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn slips_are_found_and_other_names_left_alone() {
        assert_eq!(names(&["ASCEND_RT_VISIBLE_DEVICE"]), ["ASCEND_RT_VISIBLE_DEVICES"]);
        assert_eq!(names(&["HCCL_CONECT_TIMEOUT"]), ["HCCL_CONNECT_TIMEOUT"]);
        assert_eq!(names(&["ASCEND_RT_VISIBLE_DEVICES", "ASCEND_MY_OWN_FLAG"]), [] as [&str; 0]);
        assert_eq!(names(&["HCCL_RDMA_TX", "HCCL_RDMA_TC", "HCCL_RDMA_SL"]), [] as [&str; 0]);
    }
}
