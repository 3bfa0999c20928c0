//! Return codes of the ACL interface and the runtime.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};

use super::c_header::constants;
use super::releases::span;
use crate::context::Context;
use crate::extract::Content;
use crate::table::{Place, SourcedRows};

const RUNTIME: &str = "include/external/acl/error_codes/rt_error_codes.h";
const RUNTIME_8_1: &str =
    "Ascend/ascend-toolkit/8.1.RC1/aarch64-linux/include/acl/error_codes/rt_error_codes.h";

/// `acl_rt.tsv`: return codes of the runtime, over all releases. The key is the symbol: number
/// 107045 has two symbols in two releases.
pub(super) fn runtime(context: &Context) -> Result<Content> {
    let first = context.tree("cann-8.1.RC1")?;
    let mut seen: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    let mut newest: Vec<(String, String, String, String)> = Vec::new();
    let mut labels = vec!["8.1.RC1".to_owned()];
    let releases = context.releases("hicann-runtime")?;
    labels.extend(releases.iter().map(|tree| tree.label.clone()));
    let trees = std::iter::once(("8.1.RC1", &first, RUNTIME_8_1))
        .chain(releases.iter().map(|tree| (tree.label.as_str(), tree, RUNTIME)));
    for (label, tree, path) in trees {
        let found = constants(&tree.text(path)?);
        let found: Vec<_> = found.into_iter().filter(|c| c.name.starts_with("ACL_")).collect();
        ensure!(
            found.len() >= 115,
            "{} has {} codes, expected at least 115",
            tree.place(path),
            found.len()
        );
        for constant in found {
            let key = (constant.value.clone(), constant.name.clone());
            let versions = seen.entry(key).or_default();
            versions.push(label.to_owned());
            newest.retain(|(code, symbol, ..)| (code, symbol) != (&constant.value, &constant.name));
            newest.push((constant.value, constant.name, constant.comment, tree.place(path)));
        }
    }
    newest.sort_by_key(|(code, symbol, ..)| {
        (code.parse::<u32>().unwrap_or_default(), symbol.clone())
    });
    let mut rows = SourcedRows::new(&["code", "symbol", "message", "since", "until"]);
    for (code, symbol, message, place) in newest {
        let (since, until) = span(&seen[&(code.clone(), symbol.clone())], &labels);
        rows.push([&code, &symbol, &message, &since, &until], Place::file(place));
    }
    Ok(rows.into_table().into())
}
