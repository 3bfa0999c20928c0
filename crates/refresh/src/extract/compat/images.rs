//! CANN versions from container images.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};
use regex::Regex;
use toml::Value;

use super::matrix::{list, row};
use super::versions::{cann, numbers};
use crate::context::Context;
use crate::document::Row;

/// The images of one CANN version.
#[derive(Debug, Default)]
struct Images {
    chips: BTreeSet<String>,
    systems: BTreeSet<String>,
    pythons: BTreeSet<String>,
    /// The number of images that select each `cxx_abi_<n>` of ATB.
    abi: BTreeMap<String, usize>,
}

pub(super) fn rows(context: &Context) -> Result<Vec<Row>> {
    let tree = context.tree("cann-images")?;
    let name =
        Regex::new(r"^cann/(.+?)-(310p|910b|910|950|a3)-([a-z]+[\d.]+)-py([\d.]+)/Dockerfile$")?;
    let home = Regex::new(r"ATB_HOME_PATH=\S*cxx_abi_(\d)")?;
    let mut found: BTreeMap<String, Images> = BTreeMap::new();
    for path in tree.find(r"^cann/[^/]+/Dockerfile$")? {
        let Some(parts) = name.captures(path) else { continue };
        let images = found.entry(cann(&parts[1])).or_default();
        images.chips.insert(parts[2].to_owned());
        images.systems.insert(parts[3].to_owned());
        images.pythons.insert(parts[4].to_owned());
        if let Some(abi) = home.captures(&tree.text(path)?) {
            *images.abi.entry(abi[1].to_owned()).or_default() += 1;
        }
    }
    ensure!(found.len() >= 15, "{} has images of {} CANN versions", tree.origin(), found.len());
    let rows = found.into_iter().map(|(version, images)| {
        let early = version.contains("alpha") || version.contains("beta");
        let mut pythons: Vec<String> = images.pythons.into_iter().collect();
        pythons.sort_by_key(|python| numbers(python));
        let mut fields = row([
            ("version", Value::from(version)),
            ("level", Value::from(if early { "prerelease" } else { "measured" })),
            ("chips", list(images.chips)),
            ("image_python", list(pythons)),
            ("image_os", list(images.systems)),
            ("source", Value::from("Ascend/cann-container-image")),
        ]);
        let most = images.abi.iter().max_by_key(|(abi, count)| (**count, (*abi).clone()));
        if let Some(abi) = most.and_then(|(abi, _)| abi.parse::<i64>().ok()) {
            fields.insert("atb_abi_default".to_owned(), Value::from(abi));
        }
        fields
    });
    Ok(rows.collect())
}
