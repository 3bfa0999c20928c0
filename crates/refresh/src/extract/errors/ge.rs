//! Codes of the graph engine.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail, ensure};
use regex::Regex;

use super::c_header::{constants, line_of, literals, number};
use super::releases::{Release, spanned};
use crate::context::Context;
use crate::extract::Content;
use crate::repository::Tree;
use crate::table::{Place, SourcedRows};

/// Extracts `acl_ge.tsv`: codes that the ACL interface returns for the graph engine. The torch_npu
/// header has the messages in a second file. Codes that only the graph engine has follow.
pub(super) fn external(context: &Context) -> Result<Content> {
    const BUNDLED: &str = "third_party/acl/inc/ge/ge_error_codes.h";
    const MESSAGES: &str = "third_party/acl/inc/ge/ge_api_error_codes.h";
    const OWN: &str = "inc/external/ge/ge_error_codes.h";
    let bundled = context.tree("ascend-pytorch")?;
    let own = context.tree("hicann-ge")?;
    let messages = descriptions(&bundled.text(MESSAGES)?)?;
    let mut rows = SourcedRows::new(&["code", "symbol", "message"]);
    let mut known: Vec<String> = Vec::new();
    for (tree, path) in [(&bundled, BUNDLED), (&own, OWN)] {
        let codes = constants(&tree.text(path)?);
        ensure!(codes.len() >= 38, "{} has {} codes", tree.place(path), codes.len());
        for code in codes {
            if known.contains(&code.name) {
                continue;
            }
            let message = messages.get(&code.name).cloned().unwrap_or_default();
            let place = Place::line(tree.place(path), code.line);
            rows.push([&code.decimal(), &code.name, &message], place);
            known.push(code.name);
        }
    }
    Ok(rows.into_table().into())
}

/// Extracts `ge_graph.tsv`: status codes of graph operations.
pub(super) fn graph(context: &Context) -> Result<Content> {
    const PATH: &str = "third_party/acl/inc/graph/ge_error_codes.h";
    let tree = context.tree("ascend-pytorch")?;
    let mut rows = SourcedRows::new(&["code", "symbol", "message"]);
    for code in constants(&tree.text(PATH)?) {
        if code.kind == "graphStatus" {
            let place = Place::line(tree.place(PATH), code.line);
            rows.push([&code.decimal(), &code.name, &code.comment], place);
        }
    }
    Ok(rows.into_table().into())
}

/// Modules by their number in a code of the graph engine.
const MODULES: [&str; 11] = [
    "COMMON",
    "CLIENT",
    "INIT",
    "SESSION",
    "GRAPH",
    "ENGINE",
    "OPS",
    "PLUGIN",
    "RUNTIME",
    "EXECUTOR",
    "GENERATOR",
];

/// Extracts `ge_inner.tsv`: codes within the graph engine. Some have a trailing comment with the
/// value, which must equal the computed one. Since 9.0.0 a few are defined in another repository.
pub(super) fn inner(context: &Context) -> Result<Content> {
    const OWN: &str = "inc/graph_metadef/common/ge_common/ge_inner_error_codes.h";
    const MOVED: &str = "pkg_inc/common/ge_common/error_codes_define.h";
    let mut releases = Vec::new();
    for tree in context.releases("hicann-ge")? {
        let mut rows = inner_rows(&tree, OWN)?;
        ensure!(rows.len() >= 180, "{} has {} codes", tree.place(OWN), rows.len());
        let moved = context.releases("hicann-metadef")?;
        let moved = moved.into_iter().find(|moved| moved.label == tree.label);
        if let Some(moved) = moved
            && (moved.label == "master" || moved.has(MOVED)?)
        {
            rows.extend(inner_rows(&moved, MOVED)?);
        }
        releases.push(Release { label: tree.label.clone(), rows });
    }
    let columns = ["code", "symbol", "message", "component"];
    Ok(spanned(&columns, 2, &releases).into_table().into())
}

fn inner_rows(tree: &Tree, path: &str) -> Result<Vec<(Vec<String>, Place)>> {
    let codes = inner_codes(&tree.text(path)?).with_context(|| tree.place(path))?;
    ensure!(!codes.is_empty(), "{} has no code", tree.place(path));
    Ok(codes.into_iter().map(|cells| (cells, Place::file(tree.place(path)))).collect())
}

fn inner_codes(text: &str) -> Result<Vec<Vec<String>>> {
    let definition = Regex::new(
        r#"GE_ERRORNO_([A-Z]+)\(\s*(\w+)\s*,\s*(\d+)U?\s*,\s*((?:"[^"]*"\s*)+)\)\s*;?[ \t]*(?://\s*(\d+))?"#,
    )?;
    let mut rows = Vec::new();
    for found in definition.captures_iter(text) {
        let line = line_of(text, found.get(0).map_or(0, |all| all.start()));
        let module = MODULES.iter().position(|module| *module == &found[1]);
        let module =
            module.with_context(|| format!("line {line}: unknown module {}", &found[1]))?;
        let number: u32 = found[3].parse()?;
        let value = compose([0b01, 0b01, 0, 8, u32::try_from(module)?, number]);
        if let Some(comment) = found.get(5)
            && comment.as_str() != value.to_string()
        {
            bail!("line {line}: {} is {value}, its comment says {}", &found[2], comment.as_str());
        }
        let component = format!("ge-inner/{}", found[1].to_lowercase());
        rows.push(vec![value.to_string(), found[2].to_owned(), literals(&found[4]), component]);
    }
    Ok(rows)
}

/// Returns the value of a code: runtime, type, level, system, module, number.
pub(super) fn compose([runtime, kind, level, system, module, number]: [u32; 6]) -> u32 {
    runtime << 30 | kind << 28 | level << 25 | system << 17 | module << 12 | number
}

/// Returns the value of `GE_ERRORNO_DEFINE` from its arguments before and after the name.
pub(super) fn defined(fields: [&str; 6]) -> Option<u32> {
    let mut values = [0; 6];
    for (value, field) in values.iter_mut().zip(fields) {
        *value = number(field).and_then(|number| u32::try_from(number).ok())?;
    }
    Some(compose(values))
}

/// Returns messages by name: `GE_ERRORNO_EXTERNAL(NAME, "text")`.
pub(super) fn descriptions(text: &str) -> Result<BTreeMap<String, String>> {
    let description = Regex::new(r#"GE_ERRORNO_EXTERNAL\(\s*(\w+)\s*,\s*((?:"[^"]*"\s*)+)\)"#)?;
    let found = description.captures_iter(text);
    let found: BTreeMap<String, String> =
        found.map(|found| (found[1].to_owned(), literals(&found[2]))).collect();
    ensure!(!found.is_empty(), "no description of a code of the graph engine");
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_computed_and_compared_with_the_comments() {
        let text = "GE_ERRORNO_COMMON(A, 0, \"a!\");  // 1343225856\n\
                    GE_ERRORNO_EXTERNAL(E, \"not here\");\n\
                    GE_ERRORNO_CLIENT(B, 6,\n    \"b \"\n \"c\");    // 1343229958\n";
        assert_eq!(
            inner_codes(text).unwrap(),
            [
                ["1343225856", "A", "a!", "ge-inner/common"],
                ["1343229958", "B", "b c", "ge-inner/client"]
            ]
        );
        let wrong = inner_codes(&text.replace("9958", "9959")).unwrap_err();
        assert!(wrong.to_string().contains("line 3"), "{wrong}");
        assert!(inner_codes("GE_ERRORNO_OTHER(A, 0, \"a\");").is_err());
        assert_eq!(descriptions(text).unwrap()["E"], "not here");
        assert_eq!(defined(["0b01", "0b01", "0b000", "8", "11", "1"]), Some(1_343_270_913));
    }
}
