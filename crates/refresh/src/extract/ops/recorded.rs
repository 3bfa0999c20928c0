//! `recorded/wheel_dispatch.tsv`: the dispatcher content after a wheel registered its operators.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};

use super::release::numbers;
use super::runs;
use crate::context::Context;
use crate::refresh::own_table;

const FILE: &str = "ops/recorded/wheel_dispatch.tsv";

/// The recording.
#[derive(Debug)]
pub(super) struct Recording {
    /// Versions of the wheels.
    pub(super) wheels: Vec<String>,
    /// Classes by wheel, for each aten overload.
    pub(super) aten: BTreeMap<String, Vec<Option<String>>>,
    /// Classes by wheel, for each torch_npu operator.
    pub(super) npu: BTreeMap<String, Vec<Option<String>>>,
}

/// Returns the PyTorch version of a wheel: `2.7.1.post11` is for `2.7.1`.
pub(super) fn torch_of(wheel: &str) -> String {
    wheel.split('.').take(3).collect::<Vec<_>>().join(".")
}

/// Reads the recording.
pub(super) fn read(context: &Context) -> Result<Recording> {
    let table = own_table(context, FILE, &["namespace", "overload", "runs"])?;
    let wheels = table.remarks.iter().find_map(|remark| remark.strip_prefix("Wheels: "));
    let wheels: Vec<String> = wheels
        .with_context(|| format!("{FILE} names no wheels"))?
        .split(' ')
        .map(str::to_owned)
        .collect();
    ensure!(wheels.iter().all(|wheel| numbers(wheel).len() >= 3), "{FILE}: {wheels:?}");
    let mut recording = Recording { wheels, aten: BTreeMap::new(), npu: BTreeMap::new() };
    for row in table.rows {
        let [namespace, overload, cell] = &row[..] else { continue };
        let values = runs::values(cell, recording.wheels.len());
        let values = values.with_context(|| format!("{FILE}: {overload}: `{cell}`"))?;
        let target = match namespace.as_str() {
            "aten" => &mut recording.aten,
            "npu" => &mut recording.npu,
            other => anyhow::bail!("{FILE}: {overload}: unknown namespace `{other}`"),
        };
        target.insert(overload.clone(), values);
    }
    ensure!(recording.aten.len() >= 900 && recording.npu.len() >= 300, "{FILE} is not whole");
    Ok(recording)
}
