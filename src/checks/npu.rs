//! What there is of an NPU and its driver: the questions that several families ask first.

use super::Context;
use facts::FileKind;
use facts::{Facts, Node, Problem, ProblemKind, is_below};

/// Whether the machine has to have a usable NPU (`--require-npu`, or a profile that needs one).
pub(super) fn wanted(ctx: &Context<'_>) -> bool {
    ctx.require_npu || ctx.profile.needs_npu()
}

/// Whether this is certainly a container.
pub(super) fn in_container(facts: &Facts) -> bool {
    facts.host.container.is_inside()
}

/// Whether the PCI bus shows an NPU that is this machine's own. A container sees the whole bus
/// of its host, whatever was given to it.
pub(super) fn on_bus(facts: &Facts) -> bool {
    !in_container(facts) && facts.devices.pci_count() > 0
}

/// Whether `/dev` holds an NPU or the driver's manager: on a host the driver made it, in a
/// container somebody asked for it.
pub(super) fn has_nodes(facts: &Facts) -> bool {
    !facts.devices.davinci_ids().is_empty() || facts.devices.node("/dev/davinci_manager").is_some()
}

/// Whether an NPU can be seen at all.
pub(super) fn visible(facts: &Facts) -> bool {
    let listed = facts.driver.npu_smi.as_ref().is_some_and(|smi| !smi.chips.is_empty());
    on_bus(facts) || has_nodes(facts) || listed
}

/// Whether the driver's user-space side is here.
pub(super) fn has_driver(facts: &Facts) -> bool {
    facts.driver.dir.is_some()
        && (facts.driver.version.is_some() || facts.driver.libraries.contains_key(HAL))
}

/// What may not be read of the path, of a directory above it, or of what is below it: nothing
/// can be said of its absence then.
pub(super) fn denied<'a>(facts: &'a Facts, path: &str) -> Option<&'a Problem> {
    facts.problems.iter().find(|problem| {
        problem.kind == ProblemKind::Denied
            && (is_below(&problem.path, path) || is_below(path, &problem.path))
    })
}

/// What may not be read where CANN may be installed: nothing can be said of its absence then.
/// Files of the driver and the firmware, which lie beside it, hide none.
pub(super) fn hidden_cann(facts: &Facts) -> Option<&Problem> {
    let driver = facts.driver.home();
    let beside = |path: &str| is_below(path, &driver) || path.contains("/firmware/");
    facts.problems.iter().find(|problem| {
        let path = problem.path.as_str();
        let near = path.contains("/Ascend") || path.contains("/cann");
        problem.kind == ProblemKind::Denied && near && !beside(path)
    })
}

/// The library that everything above the driver loads.
pub(super) const HAL: &str = "libascend_hal.so";

/// Whether software is installed that runs on an NPU.
pub(super) fn has_stack(facts: &Facts) -> bool {
    !facts.cann.installs.is_empty()
        || !facts.cann.nnal.is_empty()
        || ["torch-npu", "vllm-ascend"].iter().any(|name| facts.python.dist(name).is_some())
}

/// Whether any of this concerns the machine: an NPU, its driver, or a wish for one.
pub(super) fn concerned(ctx: &Context<'_>) -> bool {
    visible(ctx.facts) || has_driver(ctx.facts) || wanted(ctx)
}

/// Whether the path is one of the nodes that every process with an NPU opens: the devices
/// themselves, the manager, shared memory and the host-device channel.
pub(super) fn is_core_node(path: &str) -> bool {
    let Some(name) = path.strip_prefix("/dev/") else { return false };
    matches!(name, "davinci_manager" | "devmm_svm" | "asdrv_svm" | "hisi_hdc")
        || name.strip_prefix("davinci").is_some_and(|n| n.parse::<u32>().is_ok())
}

/// The nodes of that kind that are there.
pub(super) fn core_nodes(facts: &Facts) -> impl Iterator<Item = &Node> {
    facts.devices.nodes.iter().filter(|node| is_core_node(&node.path))
}

/// Whether a node is certainly no device. A copied tree may hold an empty file in its place;
/// such a file says nothing.
pub(super) fn is_no_device(facts: &Facts, node: &Node) -> bool {
    match node.kind {
        FileKind::Char => false,
        FileKind::File => facts.source == "live" || node.owner.is_some(),
        _ => true,
    }
}

/// Paths one after the other, shortened where there are many.
pub(super) fn listed<'a>(paths: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 6;
    let paths: Vec<&str> = paths.into_iter().collect();
    let mut text = paths[..paths.len().min(SHOWN)].join(", ");
    if paths.len() > SHOWN {
        text.push_str(&format!(" … ({})", paths.len()));
    }
    text
}
