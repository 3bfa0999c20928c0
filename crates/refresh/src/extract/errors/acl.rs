//! Return codes of the ACL interface and of the runtime below it.

use anyhow::{Context as _, Result, ensure};
use regex::Regex;

use super::c_header::{Constant, constants};
use super::releases::{Release, TOOLKIT, only_file, spanned, union};
use crate::context::Context;
use crate::extract::Content;
use crate::markup::{Grid, html_tables};
use crate::repository::Tree;
use crate::table::{Place, SourcedRows};

/// Headers of CANN 8.1.RC1.
pub(super) const HEADERS_8_1: &str = "Ascend/ascend-toolkit/8.1.RC1/aarch64-linux/include";
const RUNTIME: &str = "include/external/acl/error_codes/rt_error_codes.h";
const BASE: &str = "include/external/acl/acl_base_rt.h";

/// Returns the codes of a header in every release: the toolkit of CANN 8.1.RC1, then the releases
/// of a repository.
fn codes_by_release(
    context: &Context,
    (old, repository, new): (&str, &str, &str),
    floor: usize,
    wanted: impl Fn(&Constant) -> bool,
    place: impl Fn(&Tree, &str, &Constant) -> Place,
) -> Result<Vec<Release>> {
    let toolkit = context.tree("cann-8.1.RC1")?;
    let old = format!("{HEADERS_8_1}/{old}");
    let releases = context.releases(repository)?;
    let trees = std::iter::once((TOOLKIT, &toolkit, old.as_str()))
        .chain(releases.iter().map(|tree| (tree.label.as_str(), tree, new)));
    let mut found = Vec::new();
    for (label, tree, path) in trees {
        let codes: Vec<Constant> =
            constants(&tree.text(path)?).into_iter().filter(&wanted).collect();
        let (count, file) = (codes.len(), tree.place(path));
        ensure!(count >= floor, "{file} has {count} codes, expected at least {floor}");
        let row = |constant: Constant| {
            let place = place(tree, path, &constant);
            (vec![constant.decimal(), constant.name, constant.comment], place)
        };
        found.push(Release { label: label.to_owned(), rows: codes.into_iter().map(row).collect() });
    }
    Ok(found)
}

const CODE_SYMBOL_MESSAGE: &[&str] = &["code", "symbol", "message"];

/// Extracts `acl_rt.tsv`: return codes of the runtime, over all releases. The key includes the
/// symbol, because number 107045 has two symbols in two releases.
pub(super) fn runtime(context: &Context) -> Result<Content> {
    let releases = codes_by_release(
        context,
        ("acl/error_codes/rt_error_codes.h", "hicann-runtime", RUNTIME),
        115,
        |constant| constant.name.starts_with("ACL_"),
        |tree, path, _| Place::file(tree.place(path)),
    )?;
    let mut rows = union(CODE_SYMBOL_MESSAGE, 2, &releases);
    rows.sort_by_key(|(cells, _)| (cells[0].parse::<u32>().unwrap_or_default(), cells[1].clone()));
    let mut table = SourcedRows::new(&["code", "symbol", "message", "since", "until"]);
    for (cells, place) in rows {
        table.push_row(cells, place);
    }
    Ok(table.into_table().into())
}

/// Extracts `acl_api.tsv`: return codes of the ACL interface itself.
pub(super) fn interface(context: &Context) -> Result<Content> {
    let releases = codes_by_release(
        context,
        ("acl/acl_base.h", "hicann-runtime", BASE),
        65,
        |constant| constant.name.starts_with("ACL_ERROR") || constant.name == "ACL_SUCCESS",
        |tree, path, constant| Place::line(tree.place(path), constant.line),
    )?;
    Ok(spanned(CODE_SYMBOL_MESSAGE, 2, &releases).into_table().into())
}

/// Extracts `acl_doc.tsv`: the description of each code in the Chinese reference.
pub(super) fn reference(context: &Context) -> Result<Content> {
    let tree = context.tree("hicann-runtime")?;
    let path = only_file(&tree, r"^docs/zh/.*aclError\.md$")?;
    let text = tree.text(path)?;
    let row = Regex::new(
        r"(?m)^\|\s*(?:static const (?:int|int32_t)\s+|static\s+)?(?:#define\s+)?(ACL_\w+)\s*=?\s*(\d+);?[^|]*\|\s*([^|]*?)\s*\|\s*[^|]*?\s*\|",
    )?;
    let mut rows = SourcedRows::new(&["code", "symbol", "message", "zh"]);
    for found in row.captures_iter(&text) {
        rows.push([&found[2], &found[1], "", &found[3]], Place::file(tree.place(path)));
    }
    Ok(rows.into_table().into())
}

/// Extracts `aclrtc.tsv`: return codes of run-time compilation. The document is in Chinese, and the
/// overlay has the English messages.
pub(super) fn compilation(context: &Context) -> Result<Content> {
    let tree = context.tree("asc-devkit")?;
    let path = only_file(&tree, r"^docs/zh/.*/RTC错误码\.md$")?;
    let mut rows = SourcedRows::new(&["code", "symbol", "message", "zh"]);
    let grids = html_tables(&tree.text(path)?);
    for row in grids.iter().flat_map(|grid| &grid.rows) {
        let cells: Vec<String> = (0..row.len()).map(|at| Grid::cell(row, Some(at))).collect();
        let [symbol, code, meaning] = &cells[..] else {
            continue;
        };
        if symbol.starts_with("ACL_ERROR_") {
            rows.push([code, symbol, "", meaning], Place::file(tree.place(path)));
        }
    }
    Ok(rows.into_table().into())
}

/// Extracts `aclnn.tsv`: return codes of the operator interface, with the messages of the English
/// reference.
pub(super) fn operators(context: &Context) -> Result<Content> {
    const HEADER: &str = "include/nnopbase/opdev/op_errno.h";
    let mut releases = codes_by_release(
        context,
        ("aclnn/opdev/op_errno.h", "hicann-opbase", HEADER),
        27,
        |constant| constant.name.starts_with("ACLNN_"),
        |tree, path, _| Place::file(tree.place(path)),
    )?;
    let tree = context.tree("hicann-opbase")?;
    let path = only_file(&tree, r"^docs/en/.*/common_api_return_codes\.md$")?;
    let text = tree.text(path)?;
    let by_symbol = Regex::new(r"\|\s*(ACLNN_\w+)\s*\|\s*\d\w*\s*\|\s*([^|]*?)\s*\|")?;
    let by_code = Regex::new(r"(561\d{3})\s*\(?(?:ACLNN_\w+)?\)?[:：]\s*([^<|]*)")?;
    let messages: Vec<(String, String)> = by_symbol
        .captures_iter(&text)
        .chain(by_code.captures_iter(&text))
        .map(|found| (found[1].to_owned(), found[2].trim().to_owned()))
        .collect();
    ensure!(messages.len() >= 8, "{} has {} messages", tree.place(path), messages.len());
    let message = |name: &str| {
        messages.iter().find(|(key, _)| key == name).map(|(_, message)| message.clone())
    };
    for (cells, _) in releases.iter_mut().flat_map(|release| &mut release.rows) {
        let found = message(&cells[1]).or_else(|| message(&cells[0]));
        let cell = cells.get_mut(2).context("a row without a message")?;
        *cell = found.unwrap_or_default();
    }
    Ok(spanned(CODE_SYMBOL_MESSAGE, 2, &releases).into_table().into())
}
