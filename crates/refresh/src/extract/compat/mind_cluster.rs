//! MindCluster and MindFormers: CANN with its driver package, compatible CANN and driver lines,
//! operating systems of products.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value as Json;
use toml::Value;

use super::matrix::{list, row};
use super::versions::{hdk, numbers};
use crate::context::Context;
use crate::document::Row;
use crate::markup::{Grid, html_tables, markdown_tables};

const NOTES: &str = "docs/zh/release_notes.md";
const SYSTEMS: &str = "docs/zh/scheduling/01_introduction/03_supported_product_models_and_os.md";
const VERSION_MAP: &str = "mindformers/VERSION_MAP.json";

/// Returns the preferred versions of `mindformers/VERSION_MAP.json`: for `ms`, CANN by MindSpore;
/// for `cann`, the driver by CANN.
pub(super) fn preferred(context: &Context, kind: &str) -> Result<BTreeMap<String, String>> {
    let tree = context.tree("mindformers")?;
    let map: Json =
        serde_json::from_str(&tree.text(VERSION_MAP)?).with_context(|| tree.place(VERSION_MAP))?;
    let entries = map.get(kind).and_then(Json::as_object);
    let entries =
        entries.with_context(|| format!("{} has no `{kind}`", tree.place(VERSION_MAP)))?;
    let mut found = BTreeMap::new();
    for (version, entry) in entries {
        let prefer = entry.get("prefer").and_then(Json::as_str);
        let prefer = prefer.with_context(|| format!("`{kind}` {version} prefers nothing"))?;
        found.insert(version.clone(), prefer.to_owned());
    }
    ensure!(!found.is_empty(), "{} has no `{kind}`", tree.place(VERSION_MAP));
    Ok(found)
}

pub(super) fn pairs(context: &Context) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let tree = context.tree("mind-cluster")?;
    let found = note_pairs(&tree.text(NOTES)?);
    ensure!(!found.is_empty(), "{} pairs no CANN with a driver", tree.place(NOTES));
    for (cann, product, driver) in found {
        rows.push(row([
            ("cann", Value::from(cann)),
            ("hdk", Value::from(driver)),
            ("product", Value::from(product)),
            ("level", Value::from("recommended")),
            ("source", Value::from(format!("Ascend/mind-cluster@master:{NOTES} table 1"))),
        ]));
    }
    for (cann, driver) in preferred(context, "cann")? {
        rows.push(row([
            ("cann", Value::from(cann)),
            ("hdk", Value::from(hdk(&driver))),
            ("level", Value::from("recommended")),
            ("source", Value::from(format!("mindspore-lab/mindformers:{VERSION_MAP}"))),
        ]));
    }
    Ok(rows)
}

/// Returns CANN, product (empty for all others) and driver from the version table of release notes.
fn note_pairs(text: &str) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for table in markdown_tables(text) {
        let (Some(cann), Some(driver)) =
            (table.column(&["CANN"]), table.column(&["HDK", "AscendHDK"]))
        else {
            continue;
        };
        for cells in &table.rows {
            let cann = Grid::cell(cells, Some(cann));
            for item in cells.get(driver).into_iter().flatten() {
                let (product, version) = item.split_once('：').unwrap_or(("", item));
                // Product names are those of the vendor's tables. The card has its chip in
                // brackets.
                let product = match product.trim() {
                    "其他产品" => "",
                    "Atlas 350 标卡" => "Atlas 350 (950)",
                    product => product,
                };
                let version = hdk(version);
                if !version.is_empty() && !cann.is_empty() {
                    found.push((cann.clone(), product.to_owned(), version));
                }
            }
        }
    }
    found
}

/// Returns the lines of CANN, driver, torch_npu and MindSpore that each MindCluster supports.
pub(super) fn windows(context: &Context) -> Result<Vec<Row>> {
    let tree = context.tree("mind-cluster")?;
    let mut found = note_windows(&tree.text(NOTES)?);
    found.retain(|_, fields| fields.contains_key("cann") && fields.contains_key("hdk"));
    ensure!(found.len() >= 3, "{} has {} MindCluster windows", tree.place(NOTES), found.len());
    let mut versions: Vec<&String> = found.keys().collect();
    versions.sort_by_key(|version| numbers(version));
    let rows = versions.into_iter().map(|version| {
        let mut fields = row([
            ("version", Value::from(version.as_str())),
            ("level", Value::from("compatible")),
            ("source", Value::from(format!("Ascend/mind-cluster:{NOTES}"))),
        ]);
        for (name, lines) in &found[version] {
            fields.insert((*name).to_owned(), list(lines.iter().cloned()));
        }
        fields
    });
    Ok(rows.collect())
}

fn note_windows(text: &str) -> BTreeMap<String, BTreeMap<&'static str, Vec<String>>> {
    let mut found: BTreeMap<String, BTreeMap<&'static str, Vec<String>>> = BTreeMap::new();
    for table in html_tables(text) {
        let [first, last] = table.head.as_slice() else { continue };
        if table.column(&["MindCluster"]) != Some(0) {
            continue;
        }
        let about = first.last().map(|cell| cell.concat()).unwrap_or_default();
        let field = match about.as_str() {
            about if about.contains("950") && about.contains("HDK") => "hdk_950",
            about if about.contains("HDK") => "hdk",
            about if about.contains("CANN") => "cann",
            about if about.contains("TorchNPU") => "torch_npu",
            about if about.contains("MindSpore") => "mindspore",
            _ => continue,
        };
        for cells in &table.rows {
            let accepted = last.iter().zip(cells).skip(1).filter(|(_, cell)| cell.concat() == "Y");
            let lines: Vec<String> = accepted
                .flat_map(|(head, _)| {
                    head.concat().split('/').map(str::to_owned).collect::<Vec<String>>()
                })
                .collect();
            if !lines.is_empty() {
                let version = Grid::cell(cells, Some(0));
                found.entry(version).or_default().entry(field).or_default().extend(lines);
            }
        }
    }
    found
}

/// Returns the operating systems of each product.
pub(super) fn systems(context: &Context) -> Result<Vec<Row>> {
    let tree = context.tree("mind-cluster")?;
    let mut rows = Vec::new();
    for table in html_tables(&tree.text(SYSTEMS)?) {
        let columns =
            (table.column(&["产品系列"]), table.column(&["产品名称"]), table.column(&["操作系统"]));
        let (Some(family), Some(product), Some(system)) = columns else { continue };
        for cells in &table.rows {
            let systems = cells.get(system).into_iter().flatten();
            // A remark such as "depends on the host" is not a name.
            let systems: Vec<String> = systems
                .filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()))
                .cloned()
                .collect();
            if !systems.is_empty() {
                rows.push(row([
                    ("family", Value::from(Grid::cell(cells, Some(family)))),
                    (
                        "product",
                        Value::from(
                            cells.get(product).map(|items| items.join(" / ")).unwrap_or_default(),
                        ),
                    ),
                    ("os", list(systems)),
                    ("level", Value::from("recommended")),
                    ("source", Value::from(format!("mind-cluster:{SYSTEMS}"))),
                ]));
            }
        }
    }
    ensure!(rows.len() >= 25, "{} has {} products", tree.place(SYSTEMS), rows.len());
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_of_products_are_told_apart() {
        let text = "|MindCluster|CANN| HDK |\n|--|--|--|\n\
                    |26.1.0|9.1.0| <ul><li>Atlas 350 标卡：25.7.RC1</li><li>其他产品：26.1.0</li></ul> |\n|26.0.0|9.0.0|26.0.RC1|\n";
        let found = note_pairs(text);
        let found: Vec<(&str, &str, &str)> =
            found.iter().map(|(a, b, c)| (a.as_str(), b.as_str(), c.as_str())).collect();
        assert_eq!(
            found,
            [
                ("9.1.0", "Atlas 350 (950)", "25.7.rc1"),
                ("9.1.0", "", "26.1.0"),
                ("9.0.0", "", "26.0.rc1")
            ]
        );
    }

    #[test]
    fn headings_of_a_window_may_name_several_versions() {
        let text = "<table><tr><th rowspan=\"2\">MindCluster</th><th colspan=\"1\">Ascend 950 系列产品HDK版本</th></tr>\
                    <tr><th>25.1.RC1/25.6.RC1</th></tr><tr><td>26.0.0</td><td>Y</td></tr></table>\
                    <table><tr><th rowspan=\"2\">MindCluster</th><th colspan=\"2\">CANN版本</th></tr>\
                    <tr><th>8.5.X</th><th>9.0.X</th></tr><tr><td>26.0.0</td><td>Y</td><td> </td></tr></table>";
        let found = note_windows(text);
        assert_eq!(found["26.0.0"]["hdk_950"], ["25.1.RC1", "25.6.RC1"]);
        assert_eq!(found["26.0.0"]["cann"], ["8.5.X"]);
    }
}
