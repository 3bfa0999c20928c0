//! Codes within the runtime and of the task scheduler on the device, and the codes that they map
//! to.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use regex::Regex;

use super::c_header::{Constant, constants, enumeration, literals, number, words};
use super::releases::{Release, TOOLKIT, only_file, spanned};
use crate::context::Context;
use crate::extract::Content;
use crate::repository::Tree;
use crate::table::{Place, SourcedRows};

/// Maps a symbol of one layer to the symbol of the next layer and a message.
type Links = BTreeMap<String, (String, String)>;

/// Success maps to success and has no row.
const SUCCESS: &str = "0";

/// Codes within the runtime, and their source files in one release.
struct Runtime {
    codes: Vec<Constant>,
    /// ACL return codes by symbol.
    returned: BTreeMap<String, String>,
    links: Links,
    /// Runtime symbols by driver symbol.
    driver: BTreeMap<String, String>,
    place: String,
}

impl Runtime {
    fn read(tree: &Tree) -> Result<Self> {
        let header = only_file(tree, r"^src/runtime/\w+/inc/common/internal_error_define\.hpp$")?;
        let map = only_file(tree, r"^src/runtime/\w+/src/common/errcode_manage\.cc$")?;
        let codes: Vec<Constant> = constants(&tree.text(header)?)
            .into_iter()
            .filter(|code| code.name.starts_with("RT_ERROR_"))
            .collect();
        ensure!(codes.len() >= 400, "{} has {} codes", tree.place(header), codes.len());
        let text = tree.text(map)?;
        let link = Regex::new(
            r#"rtErrMap_\[(\w+)\]\s*=\s*\{\s*(\w+)\s*,\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\}"#,
        )?;
        let links: Links = link
            .captures_iter(&text)
            .map(|found| (found[1].to_owned(), (found[2].to_owned(), literals(&found[3]))))
            .collect();
        ensure!(links.len() >= 300, "{} has {} codes", tree.place(map), links.len());
        let driver = Regex::new(r"drvErrMap_\[(\w+)\]\s*=\s*(\w+)\s*;")?;
        let driver = driver.captures_iter(&text);
        let driver = driver.map(|found| (found[1].to_owned(), found[2].to_owned())).collect();
        let mut returned = BTreeMap::new();
        for path in [
            "include/external/acl/error_codes/rt_error_codes.h",
            "include/external/acl/acl_base_rt.h",
        ] {
            let codes = constants(&tree.text(path)?).into_iter();
            let codes = codes.filter(|code| code.name.starts_with("ACL_"));
            returned.extend(codes.map(|code| (code.name.clone(), code.decimal())));
        }
        let place = format!("{} + {}", tree.place(header), tree.place(map));
        Ok(Self { codes, returned, links, driver, place })
    }

    /// Returns the ACL return code that a runtime symbol maps to; empty if there is none.
    fn returned(&self, symbol: &str) -> String {
        let link = self.links.get(symbol);
        let code = link.and_then(|(acl, _)| self.returned.get(acl));
        code.filter(|code| *code != SUCCESS).cloned().unwrap_or_default()
    }
}

/// Extracts `runtime.tsv`: codes within the runtime, which logs print as `retCode`.
pub(super) fn inner(context: &Context) -> Result<Content> {
    let mut releases = Vec::new();
    for tree in context.releases("hicann-runtime")? {
        let runtime = Runtime::read(&tree)?;
        let row = |code: &Constant| {
            let message = runtime.links.get(&code.name).map(|(_, text)| text.clone());
            let cells = [
                code.hexadecimal(),
                code.name.clone(),
                message.unwrap_or_default(),
                runtime.returned(&code.name),
            ];
            (cells.to_vec(), Place::file(runtime.place.clone()))
        };
        let rows = runtime.codes.iter().map(row).collect();
        releases.push(Release { label: tree.label.clone(), rows });
    }
    let columns = ["code", "symbol", "message", "becomes"];
    Ok(spanned(&columns, 2, &releases).into_table().into())
}

/// Extracts `ts.tsv`: codes of the task scheduler, with the runtime and ACL codes that they map to.
pub(super) fn scheduler(context: &Context) -> Result<Content> {
    let link =
        Regex::new(r#"\{\s*(TS_\w+)\s*,\s*(RT_ERROR_\w+)\s*,\s*\w+\s*,\s*((?:"[^"]*"\s*)+)\}"#)?;
    let mut releases = Vec::new();
    for tree in context.releases("hicann-runtime")? {
        let runtime = Runtime::read(&tree)?;
        let header = only_file(&tree, r"^src/runtime/\w+/inc/task_scheduler_error\.h$")?;
        let map = only_file(&tree, r"^src/runtime/\w+/src/common/error_code\.cc$")?;
        let codes = enumeration(&tree.text(header)?, "enum tag_ts_error");
        let codes = codes.with_context(|| tree.place(header))?;
        let text = tree.text(map)?;
        let links: Links = link
            .captures_iter(&text)
            .map(|found| (found[1].to_owned(), (found[2].to_owned(), literals(&found[3]))))
            .collect();
        ensure!(links.len() >= 100, "{} has {} codes", tree.place(map), links.len());
        let place = format!("{} + {}", tree.place(header), tree.place(map));
        let row = |code: Constant| {
            let (next, message) = links.get(&code.name).cloned().unwrap_or_default();
            let inner = runtime.codes.iter().find(|inner| inner.name == next);
            let inner = inner.filter(|inner| inner.decimal() != SUCCESS);
            let inner = inner.map(Constant::hexadecimal).unwrap_or_default();
            let message = Some(message).filter(|message| !message.is_empty());
            let cells = vec![
                code.hexadecimal(),
                code.name,
                message.unwrap_or_else(|| code.comment.trim_end_matches('.').to_owned()),
                format!("{inner} {}", runtime.returned(&next)).trim().to_owned(),
            ];
            (cells, Place::file(place.clone()))
        };
        // The last enumerator marks the end.
        let codes = codes.into_iter().filter(|code| !code.name.ends_with("_RESERVED"));
        releases.push(Release { label: tree.label.clone(), rows: codes.map(row).collect() });
    }
    let columns = ["code", "symbol", "message", "becomes"];
    Ok(spanned(&columns, 2, &releases).into_table().into())
}

/// Extracts `drv.tsv`: driver codes, with the ACL return code and the E-code that they map to.
pub(super) fn driver(context: &Context) -> Result<Content> {
    const HEADER: &str = "pkg_inc/ascend_hal_error.h";
    const HEADER_8_1: &str = "Ascend/driver/include/ascend_hal_error.h";
    let runtime_tree = context.tree("hicann-runtime")?;
    let runtime = Runtime::read(&runtime_tree)?;
    let (_, manager) = runtime.place.split_once(" + ").context("a source without two files")?;
    let toolkit = context.tree("cann-8.1.RC1")?;
    let mut releases = vec![Release {
        label: TOOLKIT.to_owned(),
        rows: driver_rows(&toolkit, HEADER_8_1, |_| String::new(), "")?,
    }];
    for tree in context.releases("hicann-driver")? {
        let map = only_file(&tree, r"^src/ascend_hal/(\w+/)?commlib/drv_error_map\.c$")?;
        let reported = reported_codes(&tree.text(map)?).with_context(|| tree.place(map))?;
        let becomes = |symbol: &str| {
            let next = runtime.driver.get(symbol).map_or("", String::as_str);
            let reported = reported.get(symbol).map_or("", String::as_str);
            format!("{} {reported}", runtime.returned(next)).trim().to_owned()
        };
        let others = format!(" + {} + {manager}", tree.place(map));
        let rows = driver_rows(&tree, HEADER, becomes, &others)?;
        releases.push(Release { label: tree.label.clone(), rows });
    }
    let columns = ["code", "symbol", "message", "becomes"];
    Ok(spanned(&columns, 2, &releases).into_table().into())
}

/// Returns the rows of the driver header; `others` are the other source files of the rows.
fn driver_rows(
    tree: &Tree,
    path: &str,
    becomes: impl Fn(&str) -> String,
    others: &str,
) -> Result<Vec<(Vec<String>, Place)>> {
    let codes = enumeration(&tree.text(path)?, "enum tagDrvError");
    let codes = codes.with_context(|| tree.place(path))?.into_iter();
    ensure!(codes.len() >= 80, "{} has {} codes", tree.place(path), codes.len());
    let row = |code: Constant| {
        let becomes = becomes(&code.name);
        let place = Place::file(format!("{}{others}", tree.place(path)));
        (vec![code.decimal(), code.name, code.comment, becomes], place)
    };
    // The last enumerator marks the end.
    Ok(codes.filter(|code| !code.name.ends_with("_RESERVED")).map(row).collect())
}

/// Returns E-codes by driver symbol: the number of `[DRV_ERROR_X] = DRV_ERRCOED_Y` after `EL`.
fn reported_codes(text: &str) -> Result<BTreeMap<String, String>> {
    let value = Regex::new(r"(DRV_ERRCO\w+)\s*=\s*(\d+)")?;
    let values: BTreeMap<&str, i64> = value
        .captures_iter(text)
        .filter_map(|found| Some((found.get(1)?.as_str(), number(&found[2])?)))
        .collect();
    let link = Regex::new(r"\[(D\w+_ERROR_\w+)\]\s*=\s*(\w+)")?;
    let mut found = BTreeMap::new();
    for link in link.captures_iter(text) {
        let value = values.get(&link[2]);
        let value = value.with_context(|| format!("`{}` has no value", &link[2]))?;
        if *value != 0 {
            found.insert(link[1].to_owned(), format!("EL{value:04}"));
        }
    }
    ensure!(!found.is_empty(), "no code of the driver is reported");
    Ok(found)
}

/// Extracts `device_map.tsv`: numbers in the completion queue entries of the copy engine (SDMA).
pub(super) fn device(context: &Context) -> Result<Content> {
    const MAP: &str = "cqeErrorMapInfo_";
    let tree = context.tree("hicann-runtime")?;
    let path = only_file(&tree, r"^src/runtime/\w+/src/device/device_error_proc\.cc$")?;
    let text = tree.text(path)?;
    let body = Regex::new(&format!(r"(?s){MAP}\s*=\s*\{{(.*?)\}}\s*;"))?;
    let body = body.captures(&text).with_context(|| format!("{}: no {MAP}", tree.place(path)))?;
    let entry = Regex::new(r#"\{\s*(\d+)U?\s*,\s*((?:"[^"]*"\s*)+)\}"#)?;
    let mut rows = SourcedRows::new(&["code", "symbol", "message"]);
    // The last entry needs its closing brace again.
    for found in entry.captures_iter(&format!("{}}}", &body[1])) {
        rows.push([&found[1], MAP, &literals(&found[2])], Place::file(tree.place(path)));
    }
    Ok(rows.into_table().into())
}

/// Extracts `aicpu.tsv`: codes of the schedulers of AI CPU kernels.
pub(super) fn aicpu(context: &Context) -> Result<Content> {
    let tree = context.tree("hicann-runtime")?;
    let mut rows = SourcedRows::new(&["code", "symbol", "message", "component"]);
    for (part, floor) in [("aicpu_schedule", 50), ("aicpu_cust_schedule", 6)] {
        let path = format!("src/aicpu_sched/{part}/common/aicpusd_status.h");
        let codes: Vec<Constant> = constants(&tree.text(&path)?)
            .into_iter()
            .filter(|code| code.name.starts_with("AICPU_"))
            .collect();
        ensure!(codes.len() >= floor, "{} has {} codes", tree.place(&path), codes.len());
        for code in codes {
            let message = words(&code.name, "AICPU_SCHEDULE_ERROR_");
            let place = Place::file(tree.place(&path));
            rows.push([&code.decimal(), &code.name, &message, part], place);
        }
    }
    Ok(rows.into_table().into())
}

/// Extracts `bqs.tsv`: status codes of the buffer queue scheduler.
pub(super) fn queues(context: &Context) -> Result<Content> {
    let tree = context.tree("hicann-runtime")?;
    let path = "src/queue_schedule/common/bqs_status.h";
    let mut rows = SourcedRows::new(&["code", "symbol", "message"]);
    for code in enumeration(&tree.text(path)?, "enum BqsStatus")? {
        let message = words(&code.name, "BQS_STATUS_");
        rows.push([&code.decimal(), &code.name, &message], Place::file(tree.place(path)));
    }
    Ok(rows.into_table().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn driver_codes_become_reported_codes() {
        let text = "enum { DRV_ERRCOED_NONE = 0, DRV_ERRCOED_NO_DEVICE = 1, DRV_ERRCODE_BUSY = 20, };\n\
                    map[] = {\n [DRV_ERROR_NONE] = DRV_ERRCOED_NONE,\n [DRV_ERROR_NO_DEVICE] = DRV_ERRCOED_NO_DEVICE,\n [DEV_ERROR_X] = DRV_ERRCODE_BUSY };";
        let found = reported_codes(text).unwrap();
        assert_eq!(found["DRV_ERROR_NO_DEVICE"], "EL0001");
        assert_eq!(found["DEV_ERROR_X"], "EL0020");
        assert_eq!(found.len(), 2);
        assert!(reported_codes("[DRV_ERROR_A] = DRV_ERRCOED_B").is_err());
    }
}
