//! Chip names: the enumeration of torch_npu, and the device types of vllm-ascend.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use regex::Regex;
use toml::Value;

use super::matrix::row;
use crate::context::Context;
use crate::document::Row;

const ENUMERATION: &str = "torch_npu/csrc/core/npu/NpuVariables.h";
const NAMES: &str = "torch_npu/csrc/core/npu/NpuVariables.cpp";
const DEVICES: &str = "vllm_ascend/device/hardware.py";

/// The prefix of a name, its family, the chip in package names, and the first CANN with packages or
/// images for that chip. The first match counts.
const FAMILIES: &[(&str, &str, &str, &str)] = &[
    ("ascend950", "Ascend 950", "950", "9.0.0"),
    ("ascend910_93", "Atlas A3", "a3", "8.1.RC1"),
    ("ascend910b1", "Atlas A2", "910b", "7.0.0"),
    ("ascend910b2", "Atlas A2", "910b", "7.0.0"),
    ("ascend910b3", "Atlas A2", "910b", "7.0.0"),
    ("ascend910b4", "Atlas A2", "910b", "7.0.0"),
    ("ascend910", "Atlas training (910A)", "910", ""),
    ("ascend310b", "Atlas 200I/500 A2 (310B)", "310b", ""),
    ("ascend310p", "Atlas inference (310P)", "310p", ""),
];

pub(super) fn rows(context: &Context) -> Result<Vec<Row>> {
    let torch_npu = context.tree("ascend-pytorch")?;
    let numbers = enumeration(&torch_npu.text(ENUMERATION)?);
    ensure!(numbers.len() >= 29, "{} has {} chips", torch_npu.place(ENUMERATION), numbers.len());
    let vllm_ascend = context.tree("vllm-ascend")?;
    let pair = Regex::new(r#""(ascend[\w\-]+)": AscendDeviceType\.(\w+)"#)?;
    let text = vllm_ascend.text(DEVICES)?;
    let devices: Vec<(String, String)> =
        pair.captures_iter(&text).map(|found| (found[1].to_owned(), found[2].to_owned())).collect();
    ensure!(devices.len() >= 15, "{} has {} chips", vllm_ascend.place(DEVICES), devices.len());
    let mut rows = Vec::new();
    let mut named = Vec::new();
    let pair = Regex::new(r#"\{"(Ascend[\w\-]+)", SocVersion::(\w+)\}"#)?;
    for found in pair.captures_iter(&torch_npu.text(NAMES)?) {
        let device = devices.iter().find(|(name, _)| *name == found[1].to_lowercase());
        let device = device.map_or("", |(_, device)| device);
        rows.push(chip(&found[1], numbers.get(&found[2]).copied(), device));
        named.push(found[1].to_lowercase());
    }
    ensure!(rows.len() >= 28, "{} has {} names", torch_npu.place(NAMES), rows.len());
    for (name, device) in devices.iter().filter(|(name, _)| !named.contains(name)) {
        rows.push(chip(name, None, device));
    }
    Ok(rows)
}

fn chip(name: &str, number: Option<i64>, device: &str) -> Row {
    let lower = name.to_lowercase();
    let family = FAMILIES.iter().find(|(start, ..)| lower.starts_with(start));
    let (_, family, chip, since) = family.copied().unwrap_or(("", "", "", ""));
    let source = if number.is_some() { "Ascend/pytorch: enum SocVersion" } else { "vllm-ascend" };
    let mut fields = row([
        ("name", Value::from(name)),
        ("family", Value::from(family)),
        ("chip", Value::from(chip)),
        ("vllm_ascend_device", Value::from(device)),
        ("since_cann", Value::from(since)),
        ("level", Value::from("measured")),
        ("source", Value::from(source)),
    ]);
    if let Some(number) = number {
        fields.insert("enum".to_owned(), Value::from(number));
    }
    fields
}

/// Returns the values of `enum class SocVersion`. A name without a value is one more than the name
/// before it.
fn enumeration(text: &str) -> BTreeMap<String, i64> {
    let body = text.split("enum class SocVersion").nth(1).and_then(|rest| rest.split('}').next());
    let mut found = BTreeMap::new();
    let mut next = 0;
    for line in body.unwrap_or_default().lines() {
        let line = line.split("//").next().unwrap_or_default();
        for item in line.trim().trim_start_matches('{').split(',') {
            let (name, value) = item.split_once('=').unwrap_or((item, ""));
            let name = name.trim();
            if name.is_empty() {
                continue;
            }
            next = value.trim().parse().unwrap_or(next);
            found.insert(name.to_owned(), next);
            next += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_an_enumeration_are_counted() {
        let text = "namespace x {\nenum class SocVersion {\n  None = -1,\n  A = 100, // a, b\n  B,\r\n  C, D\n};\n";
        let found = enumeration(text);
        assert_eq!((found["None"], found["A"], found["B"], found["D"]), (-1, 100, 101, 103));
    }

    #[test]
    fn the_longest_beginning_of_a_name_counts() {
        for (name, family) in [
            ("Ascend910B", "Atlas training (910A)"),
            ("Ascend910B4-1", "Atlas A2"),
            ("Ascend910_9391", "Atlas A3"),
            ("Ascend310B1", "Atlas 200I/500 A2 (310B)"),
            ("ascend310p3vir01", "Atlas inference (310P)"),
        ] {
            assert_eq!(chip(name, None, "")["family"].as_str(), Some(family));
        }
    }
}
