//! Codes of libraries and daemons next to the runtime.

use std::sync::LazyLock;

use anyhow::{Context as _, Result, ensure};
use regex::Regex;

use super::acl::HEADERS_8_1;
use super::c_header::{Constant, constants, enumeration, words};
use super::ge::{defined, descriptions};
use super::releases::{Release, spanned};
use crate::context::Context;
use crate::extract::Content;
use crate::repository::Tree;
use crate::table::{Place, SourcedRows};

/// Extracts `atb.tsv`: error types of the transformer library.
pub(super) fn transformer_boost(context: &Context) -> Result<Content> {
    const PATH: &str = "include/atb/types.h";
    let tree = context.tree("hicann-atb")?;
    let mut rows = SourcedRows::new(&["code", "symbol", "message"]);
    let codes = enumeration(&tree.text(PATH)?, r"enum ErrorType\b");
    for code in codes.with_context(|| tree.place(PATH))? {
        let message = words(&code.name, "ERROR_");
        let message = if code.name == "NO_ERROR" { "no error" } else { message.as_str() };
        rows.push([&code.decimal(), &code.name, message], Place::file(tree.place(PATH)));
    }
    Ok(rows.into_table().into())
}

/// Extracts `hixl.tsv`: status codes of LLM-DataDist, HIXL and ADXL.
pub(super) fn transfer(context: &Context) -> Result<Content> {
    let columns = ["code", "symbol", "message", "component"];
    let mut releases = Vec::new();
    for tree in context.releases("hicann-hixl")? {
        let mut rows = data_dist(&tree)?;
        for (path, component) in
            [("include/hixl/hixl_types.h", "hixl"), ("include/adxl/adxl_types.h", "adxl")]
        {
            let codes = constants(&tree.text(path)?);
            let codes: Vec<Constant> =
                codes.into_iter().filter(|code| code.kind == "Status").collect();
            ensure!(!codes.is_empty(), "{} has no status code", tree.place(path));
            rows.extend(codes.into_iter().map(|code| {
                let place = Place::line(tree.place(path), code.line);
                (vec![code.decimal(), code.name, code.comment, component.to_owned()], place)
            }));
        }
        // The key consists of three cells, without the message.
        for (cells, _) in &mut rows {
            cells.swap(2, 3);
        }
        releases.push(Release { label: tree.label.clone(), rows });
    }
    let mut table = spanned(&["code", "symbol", "component", "message"], 3, &releases).into_table();
    for row in table.rows.iter_mut().chain([&mut table.columns]) {
        row.swap(2, 3);
    }
    debug_assert_eq!(table.columns[..4], columns);
    Ok(table.into())
}

fn data_dist(tree: &Tree) -> Result<Vec<(Vec<String>, Place)>> {
    const HEADER: &str = "include/llm_datadist/llm_error_codes.h";
    const MESSAGES: &str = "src/llm_datadist/llm_error_codes.cc";
    let definition = Regex::new(
        r"GE_ERRORNO_DEFINE\((\w+),\s*(\w+),\s*(\w+),\s*(\d+),\s*(\d+),\s*(\w+),\s*(\d+)\)",
    )?;
    let messages = descriptions(&tree.text(MESSAGES)?).with_context(|| tree.place(MESSAGES))?;
    let mut rows = Vec::new();
    for found in definition.captures_iter(&tree.text(HEADER)?) {
        let fields = [1, 2, 3, 4, 5, 7].map(|at| found.get(at).map_or("", |field| field.as_str()));
        let value = defined(fields).with_context(|| format!("fields of {}", &found[6]))?;
        let message = messages.get(&found[6]).cloned().unwrap_or_default();
        let cells = [value.to_string(), found[6].to_owned(), message, "llm-datadist".to_owned()];
        rows.push((cells.to_vec(), Place::file(tree.place(HEADER))));
    }
    ensure!(!rows.is_empty(), "{} has no code", tree.place(HEADER));
    Ok(rows)
}

/// Extracts `dvpp.tsv`: codes of image and video processing, from the toolkit of CANN 8.1.RC1.
pub(super) fn media(context: &Context) -> Result<Content> {
    let tree = context.tree("cann-8.1.RC1")?;
    let mut rows = SourcedRows::new(&["code", "symbol", "message", "component"]);
    for file in [
        "hi_dvpp_vpc.h",
        "hi_dvpp_venc.h",
        "hi_dvpp_vdec.h",
        "hi_dvpp_pngd.h",
        "hi_region.h",
        "hi_mpi_sys.h",
    ] {
        let path = format!("{HEADERS_8_1}/acl/dvpp/{file}");
        let found = media_codes(&tree.text(&path)?);
        ensure!(!found.is_empty(), "{} has no code", tree.place(&path));
        for (code, symbol, message) in found {
            rows.push([&code, &symbol, &message, "dvpp"], Place::file(tree.place(&path)));
        }
    }
    let path = format!("{HEADERS_8_1}/acldvppop/acldvpp_base.h");
    for code in constants(&tree.text(&path)?) {
        if code.name.starts_with("ACLDVPP_ERR_") {
            let message = words(&code.name, "ACLDVPP_ERR_");
            let place = Place::file(tree.place(&path));
            rows.push([&code.hexadecimal(), &code.name, &message, "acldvpp"], place);
        }
    }
    // The last bits of a code are the same in every module.
    let path = format!("{HEADERS_8_1}/acl/dvpp/hi_media_common.h");
    let numbers = enumeration(&tree.text(&path)?, "typedef enum");
    for code in numbers.with_context(|| tree.place(&path))? {
        if code.name.starts_with("HI_ERR_") {
            let message = Some(code.comment.clone()).filter(|text| !text.is_empty());
            let message = message.unwrap_or_else(|| words(&code.name, "HI_ERR_"));
            let number = format!("err_id {}", code.decimal());
            let place = Place::file(tree.place(&path));
            rows.push([&number, &code.name, &message, "dvpp-errid"], place);
        }
    }
    Ok(rows.into_table().into())
}

/// Returns codes, symbols and messages of `#define HI_ERR_… 0x…`. The comment above is the message.
fn media_codes(text: &str) -> Vec<(String, String, String)> {
    static COMMENT: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\s*(?:/\*\s*(.*?)\s*\*/|//\s*(.*?))\s*$").expect("a comment pattern")
    });
    let mut found = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    for code in constants(text) {
        if !code.name.starts_with("HI_ERR_") || !code.value.starts_with("0x") {
            continue;
        }
        let above = code.line.checked_sub(2).and_then(|at| COMMENT.captures(lines[at]));
        let above = above.and_then(|comment| {
            Some(comment.get(1).or(comment.get(2))?.as_str().trim().to_owned())
        });
        let message = above.unwrap_or_else(|| words(&code.name, "HI_ERR_"));
        found.push((code.value.to_lowercase(), code.name, message));
    }
    found
}

/// Extracts `misc.tsv`: codes of components with few codes.
pub(super) fn other(context: &Context) -> Result<Content> {
    let toolkit = context.tree("cann-8.1.RC1")?;
    let runtime = context.tree("hicann-runtime")?;
    let driver = context.tree("hicann-driver")?;
    let operators = context.tree("hicann-opbase")?;
    let mut rows = SourcedRows::new(&["code", "symbol", "message", "component"]);
    let mut add =
        |tree: &Tree, path: &str, component: &str, with_line, codes: Vec<(Constant, String)>| {
            ensure!(!codes.is_empty(), "{} has no code", tree.place(path));
            for (code, message) in codes {
                let line = Some(code.line).filter(|_| with_line);
                let place = Place { source: tree.place(path), line };
                rows.push([&code.decimal(), &code.name, &message, component], place);
            }
            Ok(())
        };
    let named = |code: Constant, prefix: &str| {
        let message = words(&code.name, prefix);
        (code, message)
    };

    let path = format!("{HEADERS_8_1}/flow_func/flow_func_defines.h");
    let codes = constants(&toolkit.text(&path)?).into_iter();
    let codes = codes.map(|code| (code.clone(), code.comment)).collect();
    add(&toolkit, &path, "udf-flowfunc", true, codes)?;

    // The comments of this header are in Chinese.
    let path = format!("{HEADERS_8_1}/aoe/external/aoe_errcodes.h");
    let codes = constants(&toolkit.text(&path)?).into_iter();
    let codes = codes.map(|code| named(code, "AOE_ERROR_")).collect();
    add(&toolkit, &path, "aoe", true, codes)?;

    let path = format!("{HEADERS_8_1}/experiment/tprt/src/api/c/error.h");
    let codes = constants(&toolkit.text(&path)?).into_iter();
    let codes = codes.filter(|code| code.kind == "int32_t");
    let codes = codes.map(|code| (code.clone(), code.comment)).collect();
    add(&toolkit, &path, "tprt", true, codes)?;

    let path = "src/tsd/common/error_code.h";
    let codes = enumeration(&runtime.text(path)?, r"enum ErroCode\b");
    let codes = codes.with_context(|| runtime.place(path))?.into_iter();
    add(&runtime, path, "tsd", false, codes.map(|code| named(code, "TSD_")).collect())?;

    let path = format!("{HEADERS_8_1}/experiment/datagw/aicpu/tsd/status.h");
    let text = toolkit.text(&path)?;
    let external = enumeration(&text, "enum ErroCodeExt").with_context(|| toolkit.place(&path))?;
    let codes = constants(&text).into_iter().chain(external);
    let codes = codes.filter(|code| code.name.starts_with("TSD_"));
    add(&toolkit, &path, "tsd", false, codes.map(|code| named(code, "TSD_")).collect())?;

    let path = "src/custom/network/inc/ra_rs_err.h";
    let codes = constants(&driver.text(path)?).into_iter();
    let codes = codes.map(|code| (code.clone(), code.name)).collect();
    add(&driver, path, "hccp(ra/rs)", false, codes)?;

    // The numbers of E-codes.
    let path = "include/op_common/log/error_code.h";
    let codes = enumeration(&operators.text(path)?, "enum ViewErrorCode");
    let codes = codes.with_context(|| operators.place(path))?.into_iter();
    let codes = codes.map(|mut code| {
        code.value = format!("E{}", code.value);
        named(code, "")
    });
    add(&operators, path, "op-view-error", false, codes.collect())?;

    let path = "src/platform/platform_error_define.h";
    let codes = constants(&runtime.text(path)?).into_iter();
    let codes = codes.filter(|code| code.name != "PLATFORM_SUCCESS");
    add(&runtime, path, "platform", false, codes.map(|code| named(code, "")).collect())?;
    Ok(rows.into_table().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_above_media_codes_are_their_messages() {
        let text = "/* channel exists  */\n#define HI_ERR_VPC_EXIST   0xA0078004\n\
                    #define HI_ERR_SYS_NO_MEM 0xA002800C\n#define HI_ERR_MODULES 5\n";
        let row = |code: &str, symbol: &str, message: &str| {
            (code.to_owned(), symbol.to_owned(), message.to_owned())
        };
        assert_eq!(
            media_codes(text),
            [
                row("0xa0078004", "HI_ERR_VPC_EXIST", "channel exists"),
                row("0xa002800c", "HI_ERR_SYS_NO_MEM", "sys no mem")
            ]
        );
    }
}
