//! `aicore_tuple.tsv`: error registers of the AI Core, as ascend-faultdiag explains them.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};

use super::ordered_json::members;
use crate::context::Context;
use crate::extract::Content;
use crate::table::{Place, SourcedRows};

const ENGLISH: &str =
    "component/ascend-faultdiag/src/ascend_fd/configuration/aicore-error-code-config-en.json";
const CHINESE: &str =
    "component/ascend-faultdiag/src/ascend_fd/configuration/aicore-error-code-config-zh.json";

/// Extracts `aicore_tuple.tsv`: the first line of each explanation by the values of the three
/// registers.
pub(super) fn table(context: &Context) -> Result<Content> {
    let tree = context.tree("mind-cluster")?;
    let read = |path: &str| members::<String>(&tree.place(path), &tree.text(path)?);
    let chinese: BTreeMap<String, String> = read(CHINESE)?.into_iter().collect();
    let mut rows = SourcedRows::new(&["code", "symbol", "message", "zh"]);
    for (code, text) in read(ENGLISH)? {
        let values = code.trim_matches(['(', ')']).split(',').count();
        ensure!(values == 3, "{}: `{code}` has {values} values", tree.place(ENGLISH));
        let zh = chinese.get(&code).map_or("", |text| first_line(text));
        rows.push([&code, "", first_line(&text), zh], Place::file(tree.place(ENGLISH)));
    }
    Ok(rows.into_table().into())
}

fn first_line(text: &str) -> &str {
    text.split('\n').next().unwrap_or_default()
}
