//! `switch.tsv`: faults of switches and DPUs, as the plugins of MindCluster classify them.

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use super::knowledge_base;
use super::ordered_json::members;
use crate::context::Context;
use crate::extract::Content;
use crate::table::{Place, SourcedRows};

const SWITCH: &str = "component/ascend-device-plugin/build/SwitchFaultCode.json";
const DPU: &str = "component/k8s-rdma-shared-dev-plugin/pkg/fault/config/fault_code.json";
/// Prefix of switch codes in the knowledge base of ascend-faultdiag.
const KNOWN: &str = "Comp_Switch";

#[derive(Deserialize)]
struct DpuFile {
    faults: Vec<DpuFault>,
}

#[derive(Deserialize)]
struct DpuFault {
    name: String,
    description: String,
    faultcode: String,
    faultlevel: String,
}

/// Extracts `switch.tsv`.
pub(super) fn table(context: &Context) -> Result<Content> {
    let tree = context.tree("mind-cluster")?;
    let mut rows = SourcedRows::new(&["code", "symbol", "message", "zh", "component", "level"]);
    let place = tree.place(SWITCH);
    for (level, codes) in members::<Vec<String>>(&place, &tree.text(SWITCH)?)? {
        for code in codes {
            rows.push([&code, "", "", "", "switch", &level], Place::file(&place));
        }
    }
    let (place, faults) = knowledge_base::read(context)?;
    let switches: Vec<_> = faults.iter().filter(|(code, _)| code.starts_with(KNOWN)).collect();
    ensure!(!switches.is_empty(), "{place} has no fault of a switch");
    for (code, fault) in switches {
        let names = &fault.attribute;
        let cells = [code, "", &names.cause_en, &names.cause_zh, "switch(L1/L2)", ""];
        rows.push(cells, Place::file(&place));
    }
    let place = tree.place(DPU);
    let file: DpuFile = serde_json::from_str(&tree.text(DPU)?).with_context(|| place.clone())?;
    ensure!(!file.faults.is_empty(), "{place} has no fault");
    for fault in file.faults {
        let (code, level) = (&fault.faultcode, &fault.faultlevel);
        let cells = [code, &fault.name, &fault.description, "", "dpu", level];
        rows.push(cells, Place::file(&place));
    }
    Ok(rows.into_table().into())
}
