//! The required device nodes and their types.

use crate::chip;
use crate::{Context, npu};
use base::chip::ChipFamily;
use base::report::Evidence;
use data::{
    Outcome, Reason,
    findings::{dev_manager, dev_type, drv_present, host_modules},
};
use facts::Facts;
use facts::FileKind;

/// DEV-MANAGER: the nodes that a process opens in addition to `/dev/davinciN`.
///
/// They depend on the generation (cann/driver): 950 has `asdrv_svm` instead of `devmm_svm`; boards
/// whose processor is the NPU (310B) have different nodes.
pub(super) fn manager(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    if !npu::visible(facts) {
        return Outcome::NotApplicable(Reason::NoNpu);
    }
    if !facts.devices.dev_listed {
        return Outcome::NotChecked(Reason::DevicesUnknown);
    }
    let missing = missing(facts);
    if missing.is_empty() {
        return Outcome::Passed;
    }
    let inside = npu::in_container(facts);
    let names = missing.join(", ");
    let options =
        missing.iter().map(|path| format!("--device {path}")).collect::<Vec<_>>().join(" ");
    let present = npu::listed(facts.devices.nodes.iter().map(|node| node.path.as_str()));
    let found = if inside {
        dev_manager::Container { missing: names, options }.error()
    } else {
        dev_manager::Host { missing: names }.error()
    };
    let mut found = found
        .evidence(Evidence::file("/dev").value(present))
        .because(&[drv_present::ID, host_modules::ID]);
    if let Some(chip) = chip::chip(facts) {
        found = found.evidence(chip.evidence);
    }
    vec![found].into()
}

fn missing(facts: &Facts) -> Vec<&'static str> {
    let has = |path: &str| facts.devices.node(path).is_some();
    let family = chip::chip(facts).map(|chip| chip.family);
    let svm: &[&'static str] = match family {
        Some(ChipFamily::A950) => &["/dev/asdrv_svm"],
        Some(ChipFamily::A310B) => &[],
        // The chip is unknown, so the existing node is assumed to be the right one.
        None if has("/dev/asdrv_svm") || has("/dev/svm0") => &[],
        _ => &["/dev/devmm_svm"],
    };
    let on_board = family == Some(ChipFamily::A310B) || (family.is_none() && has("/dev/svm0"));
    let hdc: &[&'static str] = if on_board { &[] } else { &["/dev/hisi_hdc"] };
    ["/dev/davinci_manager"]
        .iter()
        .chain(svm)
        .chain(hdc)
        .copied()
        .filter(|path| !has(path))
        .collect()
}

/// DEV-TYPE: `docker run -v` of a path that is missing on the host creates a directory at that
/// path.
pub(super) fn kind(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    if npu::core_nodes(facts).next().is_none() {
        return Outcome::NotApplicable(Reason::NoNpu);
    }
    npu::core_nodes(facts)
        .filter(|node| npu::is_no_device(facts, node))
        .map(|node| {
            let path = &node.path;
            let found = match node.kind {
                FileKind::Directory => dev_type::Directory { path }.error(),
                _ => dev_type::Other { path }.error(),
            };
            found.evidence(Evidence::file(&node.path).value(node.kind.describe()))
        })
        .collect::<Vec<_>>()
        .into()
}
