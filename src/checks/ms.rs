//! MindSpore: whether its plug-in for Ascend is installed.

use super::pep::not_installed;
use super::{Check, Context, Family};
use base::report::{Evidence, Severity};
use data::{Outcome, Reason, findings::ms_plugin, ui};

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[Check::new(Family::MindSpore, ms_plugin::ID, plugin)];

fn plugin(ctx: &Context<'_>) -> Outcome {
    let python = &ctx.facts.python;
    let Some(mindspore) = python.dist("mindspore") else { return not_installed("MindSpore") };
    let Some(dir) = &python.mindspore.dir else {
        return Outcome::NotChecked(Reason::NoFile {
            what: format!("{}/mindspore", mindspore.site_dir),
        });
    };
    if ctx.facts.cann.active().is_none() {
        return Outcome::NotApplicable(Reason::NoCann);
    }
    let there = python.mindspore.plugins.iter().any(|path| {
        path.rsplit('/').next().is_some_and(|name| name.starts_with("libmindspore_ascend.so"))
    });
    if there {
        return Outcome::Passed;
    }
    // Next to torch_npu, MindSpore may be installed for the CPU only.
    let other = python.dist("torch-npu").is_some();
    let severity = if other { Severity::Warning } else { Severity::Error };
    let interpreter = python.command();
    vec![
        ms_plugin::Absent { dir, interpreter, mindspore: &mindspore.version }
            .at(severity)
            .evidence(
                Evidence::file(format!("{dir}/lib/plugin"))
                    .says(ui::SeenNone { name: "libmindspore_ascend.so.*".to_owned() }.text()),
            )
            .evidence(mindspore.version_place()),
    ]
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use crate::testing::{dist, facts_with, ids, python};
    use facts::CannInstall;

    #[test]
    fn the_processor_build_has_no_plugin() {
        let mut facts = facts_with(python("3.11"), vec![dist("mindspore", "2.7.0")]);
        facts.python.mindspore.dir = Some("/s/mindspore".to_owned());
        let run = |facts: &_| ids(plugin(&Context::of(facts, Profile::General)));
        assert_eq!(run(&facts), ["not applicable: no_cann"]);
        facts.cann.installs.push(CannInstall::default());
        assert_eq!(run(&facts), ["error MS-PLUGIN absent"]);
        facts.python.dists.push(dist("torch-npu", "2.7.1"));
        assert_eq!(run(&facts), ["warning MS-PLUGIN absent"]);
        let path = "/s/mindspore/lib/plugin/libmindspore_ascend.so.2".to_owned();
        facts.python.mindspore.plugins.push(path);
        assert_eq!(run(&facts), [""; 0]);
    }
}
