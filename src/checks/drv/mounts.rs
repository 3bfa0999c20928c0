//! DRV-MOUNTS: parts of the host's driver that are missing in a container.

use crate::chip;
use crate::{Context, npu};
use base::chip::ChipFamily;
use base::report::Evidence;
use data::{Outcome, Reason, findings::drv_mounts, ui};
use facts::Facts;

pub(super) fn mounts(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    if !npu::in_container(facts) {
        return Outcome::NotApplicable(Reason::NoContainer);
    }
    if !npu::has_nodes(facts) {
        return Outcome::NotApplicable(Reason::NoNpu);
    }
    let home = facts.driver.dir.clone().unwrap_or_else(|| facts.driver.home());
    let lib64 = format!("{home}/lib64");
    // The library counts, not the directory: mounting a path that is missing on the host creates an
    // empty directory.
    let has_hal = facts.driver.libraries.contains_key(npu::HAL);
    let mut missing = Vec::new();
    if !has_hal {
        missing.push(lib64.clone());
    }
    missing.extend(optional(facts, &home));
    if missing.is_empty() {
        return Outcome::Passed;
    }
    let options: Vec<String> = missing.iter().map(|path| format!("-v\n{path}:{path}")).collect();
    let nodes: Vec<&str> = facts.devices.nodes.iter().map(|node| node.path.as_str()).collect();
    let options_words = options.join("\n");
    let mut found = if has_hal {
        drv_mounts::Optional { missing: missing.join(", "), options_words }.info()
    } else {
        drv_mounts::Driver { lib64, options_words }
            .error()
            .evidence(Evidence::file("/dev").value(npu::listed(nodes)))
    };
    for path in &missing {
        found = found.evidence(Evidence::file(path).says(ui::SEEN_MISSING.text()));
    }
    vec![found].into()
}

/// Mounts that a workload does not need, but without which npu-smi does not run or versions are
/// unknown (`docker run` line of vllm-ascend; `base.list` and `ub_driver.list` of
/// ascend-docker-runtime).
fn optional(facts: &Facts, home: &str) -> Vec<String> {
    let driver = &facts.driver;
    let lacks = |path: &str| driver.paths.get(path) == Some(&false);
    let mut missing = Vec::new();
    if !driver.libraries.contains_key("libdcmi.so") && lacks("/usr/local/dcmi") {
        missing.push("/usr/local/dcmi".to_owned());
    }
    if driver.npu_smi_path.is_none() {
        missing.push("/usr/local/bin/npu-smi".to_owned());
    }
    if driver.version.is_none() {
        missing.push(format!("{home}/version.info"));
    }
    if driver.install_info.is_none() {
        missing.push("/etc/ascend_install.info".to_owned());
    }
    if chip::chip(facts).is_some_and(|chip| chip.family == ChipFamily::A950) {
        let topo = format!("{home}/topo");
        missing.extend(
            ["/etc/hccl_rootinfo.json", topo.as_str()]
                .into_iter()
                .filter(|path| lacks(path))
                .map(str::to_owned),
        );
    }
    missing
}
