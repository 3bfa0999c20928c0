//! Parts of the event numbers of the device management (DMS): node types, sensor types, states.
//! Headers below `src/sdk_driver/` are under GPL-2.0: only numbers and names of constants are read.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use regex::Regex;

use super::c_header::{enumeration, number};
use crate::context::Context;
use crate::extract::Content;
use crate::repository::Tree;
use crate::table::{Place, SourcedRows};

/// Extracts `dms_node.tsv`: types of nodes that raise events.
pub(super) fn nodes(context: &Context) -> Result<Content> {
    let tree = context.tree("hicann-driver")?;
    let mut rows = SourcedRows::new(&["code", "symbol", "message"]);
    // Nodes of the second file are processes on the host or device, not hardware.
    for (path, prefix, remark) in [
        ("pkg_inc/dms_device_node_type.h", "DMS_DEV_TYPE_", ""),
        ("src/sdk_driver/inc/fms/fms_dtm.h", "HAL_DMS_DEV_TYPE_", " (host/user process)"),
    ] {
        let node = Regex::new(&format!(r"\b{prefix}(\w+)\s*=\s*(0[xX][0-9A-Fa-f]+)"))?;
        let text = tree.text(path)?;
        let found: Vec<(i64, String)> = node
            .captures_iter(&text)
            .filter_map(|found| Some((number(&found[2])?, found[1].to_owned())))
            .collect();
        ensure!(found.len() >= 20, "{} has {} nodes", tree.place(path), found.len());
        for (code, name) in found {
            let place = Place::file(tree.place(path));
            rows.push([&format!("{code:#x}"), &format!("{name}{remark}"), ""], place);
        }
    }
    Ok(rows.into_table().into())
}

const SENSORS: &str = "src/sdk_driver/dms/devmng/include/dms_sensor_type.h";

/// Returns numbers and names of sensor types.
fn sensor_types(tree: &Tree) -> Result<Vec<(i64, String)>> {
    const PREFIX: &str = "DMS_SEN_TYPE_";
    let found = enumeration(&tree.text(SENSORS)?, "typedef enum");
    let found = found.with_context(|| tree.place(SENSORS))?;
    let name = |name: &str| name.strip_prefix(PREFIX).map(str::to_owned);
    let types: Vec<(i64, String)> = found
        .iter()
        .filter_map(|sensor| Some((number(&sensor.value)?, name(&sensor.name)?)))
        .collect();
    ensure!(types.len() >= 60, "{} has {} types", tree.place(SENSORS), types.len());
    Ok(types)
}

/// Extracts `dms_sensor.tsv`: sensor types.
pub(super) fn sensors(context: &Context) -> Result<Content> {
    let tree = context.tree("hicann-driver")?;
    let mut rows = SourcedRows::new(&["code", "symbol", "message"]);
    for (code, name) in sensor_types(&tree)? {
        rows.push([&format!("{code:#x}"), &name, ""], Place::file(tree.place(SENSORS)));
    }
    Ok(rows.into_table().into())
}

/// Extracts `dms_state.tsv`: severity of each state of a sensor type. The texts stay in the source.
pub(super) fn states(context: &Context) -> Result<Content> {
    const PATH: &str = "src/sdk_driver/fms/smf/sensor/config/dms_sensor_type.c";
    let tree = context.tree("hicann-driver")?;
    let names: BTreeMap<i64, String> = sensor_types(&tree)?.into_iter().collect();
    let mut rows = SourcedRows::new(&["code", "symbol", "message", "level"]);
    for (sensor, offset, level) in state_numbers(&tree.text(PATH)?)? {
        let name = names.get(&sensor).map_or("?", String::as_str);
        let cells = [&format!("{sensor:#x}+{offset}"), name, "", &level.to_string()];
        rows.push(cells, Place::file(tree.place(PATH)));
    }
    Ok(rows.into_table().into())
}

/// Returns sensor, offset as written, and severity of each state.
fn state_numbers(text: &str) -> Result<Vec<(i64, String, i64)>> {
    let sensor = Regex::new(
        r"(?s)DMS_DECLARE_SEN_TYPE_START\((0x[0-9A-Fa-f]+)\)(.*?)DMS_DECLARE_SEN_TYPE_END",
    )?;
    let state = Regex::new(r#"\{(0x[0-9A-Fa-f]+),\s*(0x[0-9A-Fa-f]+),\s*""#)?;
    let mut found = Vec::new();
    for sensor in sensor.captures_iter(text) {
        let kind = number(&sensor[1]).context("a sensor without a number")?;
        for state in state.captures_iter(&sensor[2]) {
            let level = number(&state[2]).context("a state without a severity")?;
            found.push((kind, state[1].to_owned(), level));
        }
    }
    Ok(found)
}

/// Extracts `bbox.tsv`: codes of the black box, with the events that they map to.
pub(super) fn black_box(context: &Context) -> Result<Content> {
    const PATH: &str = "src/sdk_driver/fms/smf/event/dms_event_distribute_proc.c";
    let tree = context.tree("hicann-driver")?;
    let entry = Regex::new(
        r"\.event_id\s*=\s*0x([0-9A-Fa-f]{8})U?,\s*\.assertion\s*=\s*(\w+),\s*\.bbox_code\s*=\s*(\w+)",
    )?;
    let mut rows = SourcedRows::new(&["code", "symbol", "message", "becomes"]);
    for found in entry.captures_iter(&tree.text(PATH)?) {
        let code = match found[3].trim_end_matches('U').strip_prefix("0x") {
            Some(digits) => format!("0x{}", digits.to_uppercase()),
            None => found[3].to_owned(),
        };
        let message = if found[2].ends_with("OCCUR") { "occurred" } else { "recovered" };
        let event = format!("0x{}", found[1].to_uppercase());
        rows.push([&code, &found[2], message, &event], Place::file(tree.place(PATH)));
    }
    Ok(rows.into_table().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_a_sensor_an_offset_and_a_severity() {
        let text = "#define DMS_DECLARE_SEN_TYPE_START(type) x\n\
                    DMS_DECLARE_SEN_TYPE_START(0x01)\n  {0x00, 0x01, \"a\"},\n  {0x0A, 0x03, \"b\"},\nDMS_DECLARE_SEN_TYPE_END;\n\
                    DMS_DECLARE_SEN_TYPE_START(0xC2)\n {0x05, 0x01, \"c\"},\nDMS_DECLARE_SEN_TYPE_END;\n";
        let row = |sensor, offset: &str, level| (sensor, offset.to_owned(), level);
        assert_eq!(
            state_numbers(text).unwrap(),
            [row(1, "0x00", 1), row(1, "0x0A", 3), row(0xc2, "0x05", 1)]
        );
    }
}
