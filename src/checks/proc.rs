//! A running process (`--pid`): the libraries that it has loaded.

use data::{
    Outcome, Reason,
    findings::{cann_mixed, proc_deleted, proc_mixed},
};
use std::collections::BTreeMap;

use super::{Check, Context, Family};
use base::report::Evidence;
use facts::MappedFile;

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[
    Check::new(Family::Process, proc_deleted::ID, deleted),
    Check::new(Family::Process, proc_mixed::ID, mixed),
];

/// Maximum number of files in the evidence.
const SHOWN: usize = 10;

fn deleted(ctx: &Context<'_>) -> Outcome {
    let Some(pid) = ctx.facts.process.pid else { return Outcome::NotApplicable(Reason::NoPid) };
    let gone: Vec<&MappedFile> =
        ctx.facts.process.mapped.iter().filter(|file| file.deleted && of_the_stack(file)).collect();
    if gone.is_empty() {
        return Outcome::Passed;
    }
    let mut found = proc_deleted::Deleted { count: gone.len(), pid }.error();
    for file in gone.iter().take(SHOWN) {
        found = found.evidence(Evidence::file(&file.path).value("(deleted)"));
    }
    vec![found].into()
}

fn mixed(ctx: &Context<'_>) -> Outcome {
    let Some(pid) = ctx.facts.process.pid else { return Outcome::NotApplicable(Reason::NoPid) };
    let mut roots: BTreeMap<&str, &str> = BTreeMap::new();
    for file in &ctx.facts.process.mapped {
        let install = ctx.facts.cann.installs.iter().find(|install| {
            file.path.strip_prefix(&install.path).is_some_and(|rest| rest.starts_with('/'))
        });
        if let Some(install) = install {
            roots.entry(&install.path).or_insert(&file.path);
        }
    }
    if roots.len() < 2 {
        return Outcome::Passed;
    }
    let mut found =
        proc_mixed::Mixed { count: roots.len(), pid }.error().because(&[cann_mixed::ID]);
    for (root, file) in roots {
        found = found.evidence(Evidence::file(file).value(root));
    }
    vec![found].into()
}

/// Returns whether the library belongs to CANN, the driver, torch or `torch_npu`.
fn of_the_stack(file: &MappedFile) -> bool {
    ["/Ascend/", "/torch/", "/torch_npu/", "/vllm_ascend/", "/mindspore/"]
        .iter()
        .any(|part| file.path.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use facts::{CannInstall, Facts};

    fn facts(mapped: &[(&str, bool)]) -> Facts {
        let mut facts = Facts::default();
        facts.process.pid = Some(7);
        facts.process.mapped = mapped
            .iter()
            .map(|(path, deleted)| MappedFile { path: (*path).to_owned(), deleted: *deleted })
            .collect();
        facts.cann.installs = ["/usr/local/Ascend/cann-8.5.0", "/usr/local/Ascend/cann-8.5"]
            .iter()
            .map(|path| CannInstall { path: (*path).to_owned(), ..CannInstall::default() })
            .collect();
        facts
    }

    fn count(run: fn(&Context<'_>) -> Outcome, facts: &Facts) -> usize {
        match run(&context(facts)) {
            Outcome::Found(found) => found.len(),
            _ => 0,
        }
    }

    fn context(facts: &Facts) -> Context<'_> {
        Context::of(facts, Profile::General)
    }

    #[test]
    fn replaced_libraries_are_found() {
        assert_eq!(count(deleted, &facts(&[("/usr/local/Ascend/x/libhccl.so", true)])), 1);
        assert_eq!(count(deleted, &facts(&[("/usr/lib/libz.so", true)])), 0);
    }

    #[test]
    fn a_root_is_no_prefix_of_another() {
        let one = [("/usr/local/Ascend/cann-8.5.0/lib64/libhccl.so", false)];
        assert_eq!(count(mixed, &facts(&one)), 0);
        let two = [one[0], ("/usr/local/Ascend/cann-8.5/lib64/libge.so", false)];
        assert_eq!(count(mixed, &facts(&two)), 1);
    }
}
