//! The presence of an NPU and its driver, which several families check first.

use super::Context;
use facts::FileKind;
use facts::{Facts, Node, Problem, ProblemKind, is_below};

/// Returns whether the machine must have a usable NPU (`--require-npu`, or a profile that needs
/// one).
pub(super) fn wanted(ctx: &Context<'_>) -> bool {
    ctx.require_npu || ctx.profile.needs_npu()
}

/// Returns whether this is certainly a container.
pub(super) fn in_container(facts: &Facts) -> bool {
    facts.host.container.is_inside()
}

/// Returns whether the PCI bus has an NPU that belongs to this machine. A container sees the whole
/// bus of its host, including devices that were not passed to it.
pub(super) fn on_bus(facts: &Facts) -> bool {
    !in_container(facts) && facts.devices.pci_count() > 0
}

/// Returns whether `/dev` contains an NPU or the driver's manager. On a host the driver creates
/// them; in a container they were passed through on purpose.
pub(super) fn has_nodes(facts: &Facts) -> bool {
    !facts.devices.davinci_ids().is_empty() || facts.devices.node("/dev/davinci_manager").is_some()
}

/// Returns whether an NPU is visible at all.
pub(super) fn visible(facts: &Facts) -> bool {
    let listed = facts.driver.npu_smi.as_ref().is_some_and(|smi| !smi.chips.is_empty());
    on_bus(facts) || has_nodes(facts) || listed
}

/// Returns whether the driver's user-space side is installed.
pub(super) fn has_driver(facts: &Facts) -> bool {
    facts.driver.dir.is_some()
        && (facts.driver.version.is_some() || facts.driver.libraries.contains_key(HAL))
}

/// The unreadable part of the path: the path itself, a directory above it, or a file below it. Its
/// absence cannot be determined then.
pub(super) fn denied<'a>(facts: &'a Facts, path: &str) -> Option<&'a Problem> {
    facts.problems.iter().find(|problem| {
        problem.kind == ProblemKind::Denied
            && (is_below(&problem.path, path) || is_below(path, &problem.path))
    })
}

/// The unreadable path that may contain CANN. Its absence cannot be determined then. Files of the
/// driver and the firmware in the same directory cannot hide CANN.
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

/// Returns whether software for NPUs is installed.
pub(super) fn has_stack(facts: &Facts) -> bool {
    !facts.cann.installs.is_empty()
        || !facts.cann.nnal.is_empty()
        || ["torch-npu", "vllm-ascend"].iter().any(|name| facts.python.dist(name).is_some())
}

/// Returns whether the machine has an NPU or its driver, or must have one.
pub(super) fn concerned(ctx: &Context<'_>) -> bool {
    visible(ctx.facts) || has_driver(ctx.facts) || wanted(ctx)
}

/// Returns whether the path is one of the nodes that every process with an NPU opens: the devices
/// themselves, the manager, shared memory and the host-device channel.
pub(super) fn is_core_node(path: &str) -> bool {
    let Some(name) = path.strip_prefix("/dev/") else { return false };
    matches!(name, "davinci_manager" | "devmm_svm" | "asdrv_svm" | "hisi_hdc")
        || name.strip_prefix("davinci").is_some_and(|n| n.parse::<u32>().is_ok())
}

/// The existing core nodes.
pub(super) fn core_nodes(facts: &Facts) -> impl Iterator<Item = &Node> {
    facts.devices.nodes.iter().filter(|node| is_core_node(&node.path))
}

/// Returns whether a node is certainly not a device. A copied tree may contain an empty file
/// instead of the device, which proves nothing.
pub(super) fn is_no_device(facts: &Facts, node: &Node) -> bool {
    match node.kind {
        FileKind::Char => false,
        FileKind::File => facts.source == "live" || node.owner.is_some(),
        _ => true,
    }
}

/// Joins paths, shortened if there are many.
pub(super) fn listed<'a>(paths: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 6;
    let paths: Vec<&str> = paths.into_iter().collect();
    let mut text = paths[..paths.len().min(SHOWN)].join(", ");
    if paths.len() > SHOWN {
        text.push_str(&format!(" … ({})", paths.len()));
    }
    text
}
