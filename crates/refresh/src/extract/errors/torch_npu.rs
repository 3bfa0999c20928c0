//! Codes and texts of torch_npu and its bundled headers. Its wheels are newer than the public
//! branches, so both are read.

use anyhow::{Context as _, Result, ensure};
use regex::Regex;

use super::c_header::{constants, enumeration, line_of};
use crate::context::Context;
use crate::extract::Content;
use crate::package::Archive;
use crate::table::{Place, SourcedRows};

const TEXTS: &str = "torch_npu/csrc/core/npu/NPUErrorCodes.h";

/// Returns the newest torch_npu wheel. All platforms and Python versions have the same headers.
fn newest_wheel(context: &Context) -> Result<Archive> {
    let package = &context.manifest.source("index-torch-npu")?.name;
    let wheel = context.packages.newest_wheel(package, "cp311", "manylinux", "x86_64")?;
    Archive::open(&context.packages.download(&wheel)?)
}

/// Extracts `torch_npu_text.tsv`: the first sentence of the text that torch_npu prints below each
/// code. HCCL has keys of one and two digits.
pub(super) fn texts(context: &Context) -> Result<Content> {
    let tree = context.tree("ascend-pytorch")?;
    let wheel = newest_wheel(context)?;
    let member = format!("torch_npu/include/{TEXTS}");
    let mut rows = SourcedRows::new(&["code", "symbol", "message"]);
    let mut known: Vec<String> = Vec::new();
    for (place, text) in
        [(tree.place(TEXTS), tree.text(TEXTS)?), (wheel.place(&member), wheel.text(&member)?)]
    {
        let found = entries(&text)?;
        let long = found.iter().filter(|(code, ..)| code.len() == 6).count();
        ensure!(long >= 161, "{place} has {long} codes of six digits, expected at least 161");
        for (code, message, line) in found {
            if !known.contains(&code) {
                rows.push([&code, "", &message], Place::line(place.clone(), line));
                known.push(code);
            }
        }
    }
    Ok(rows.into_table().into())
}

/// Returns code, first sentence and line of each entry `{100000, "text"}`.
fn entries(text: &str) -> Result<Vec<(String, String, usize)>> {
    let entry = Regex::new(r#"\{\s*(\d{1,6})\s*,\s*"((?:[^"\\]|\\.|\\\n)*)"\s*\}"#)?;
    let found = entry.captures_iter(text).map(|found| {
        // `\n` breaks the message, a backslash at the end of a line continues the literal.
        let message = found[2].replace("\\n\\\n", " ").replace("\\n", " ").replace("\\\n", "");
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        let end = message.find(". ").map_or(message.len(), |at| at + 1);
        let line = line_of(text, found.get(0).map_or(0, |all| all.start()));
        (found[1].to_owned(), message[..end].to_owned(), line)
    });
    Ok(found.collect())
}

/// Extracts `torch_npu_fault.tsv`: the words that torch_npu prints for device faults, and the
/// return codes that they replace.
pub(super) fn faults(context: &Context) -> Result<Content> {
    const PATH: &str = "torch_npu/csrc/core/npu/NPUException.cpp";
    const CODES: &str = "include/external/acl/error_codes/rt_error_codes.h";
    let tree = context.tree("ascend-pytorch")?;
    let runtime = context.tree("hicann-runtime")?;
    let codes = constants(&runtime.text(CODES)?);
    let mut rows = SourcedRows::new(&["code", "symbol", "message", "becomes"]);
    for (symbol, words) in fault_words(&tree.text(PATH)?).with_context(|| tree.place(PATH))? {
        let code = codes.iter().find(|code| code.name == symbol);
        let code = code.with_context(|| format!("{} has no {symbol}", runtime.place(CODES)))?;
        for words in words {
            let place = Place::file(tree.place(PATH));
            rows.push([&words, &symbol, &words, &code.value], place);
        }
    }
    Ok(rows.into_table().into())
}

/// Returns symbols of return codes, with the uppercase words that their handlers return.
fn fault_words(text: &str) -> Result<Vec<(String, Vec<String>)>> {
    let handler = Regex::new(r"\{\s*(ACL_ERROR_RT_\w+)\s*,\s*std::bind\(\s*&(\w+)")?;
    let log = Regex::new(r"(?s)ASCEND_LOG\w\(.*?\);")?;
    let words = Regex::new(r#""([A-Z]+(?: [A-Z]+)+)\.?""#)?;
    let mut found = Vec::new();
    for handler in handler.captures_iter(text) {
        let name = &handler[2];
        let body = Regex::new(&format!(r"(?ms)^std::string {name}\([^)]*\) \{{\n(.*?)^\}}"))?;
        let body = body.captures(text).with_context(|| format!("`{name}` is not defined"))?;
        let code = log.replace_all(&body[1], "");
        let mut names: Vec<String> =
            words.captures_iter(&code).map(|words| words[1].to_owned()).collect();
        names.sort();
        ensure!(!names.is_empty(), "`{name}` returns no words");
        found.push((handler[1].to_owned(), names));
    }
    ensure!(!found.is_empty(), "no handler of a return code");
    Ok(found)
}

/// Extracts `torch_npu.tsv`: codes `ERR` + submodule + error that torch_npu raises.
pub(super) fn raised(context: &Context) -> Result<Content> {
    const PATH: &str = "torch_npu/utils/_error_code.py";
    let tree = context.tree("ascend-pytorch")?;
    let mut rows = SourcedRows::new(&["code", "symbol", "message"]);
    for cells in raised_codes(&tree.text(PATH)?)? {
        rows.push_row(cells.to_vec(), Place::file(tree.place(PATH)));
    }
    Ok(rows.into_table().into())
}

fn raised_codes(text: &str) -> Result<Vec<[String; 3]>> {
    let submodule = Regex::new(r"(?m)^ {4}([A-Z]+) = (\d+)$")?;
    let error = Regex::new(r#"(?m)^ {4}([A-Z_]+)\s*=\s*\((\d+),\s*"([^"]*)"\)"#)?;
    let mut found = Vec::new();
    for submodule in submodule.captures_iter(text) {
        for error in error.captures_iter(text) {
            // `UNKNOWN` is printed for exceptions of other packages, and only as `EXCEPT`.
            if (&submodule[1] == "UNKNOWN") != (&error[1] == "EXCEPT") || &error[2] == "0" {
                continue;
            }
            let (module, number): (u32, u32) = (submodule[2].parse()?, error[2].parse()?);
            found.push([
                format!("ERR{module:02}{number:03}"),
                format!("{}.{}", &submodule[1], &error[1]),
                format!("{} {}", &submodule[1], &error[3]),
            ]);
        }
    }
    Ok(found)
}

/// Extracts `hccl.tsv`: return codes of HCCL.
pub(super) fn collectives(context: &Context) -> Result<Content> {
    const PATH: &str = "third_party/hccl/inc/hccl/hccl_types.h";
    let tree = context.tree("ascend-pytorch")?;
    let wheel = newest_wheel(context)?;
    let member = format!("torch_npu/include/{PATH}");
    let mut rows = SourcedRows::new(&["code", "symbol", "message"]);
    let mut known: Vec<String> = Vec::new();
    for (place, text) in
        [(tree.place(PATH), tree.text(PATH)?), (wheel.place(&member), wheel.text(&member)?)]
    {
        // The name of the type follows its body. It is the first enumeration.
        let codes = enumeration(&text, "typedef enum").with_context(|| place.clone())?;
        ensure!(codes.len() >= 25, "{place} has {} codes", codes.len());
        for code in codes {
            if !code.name.ends_with("_RESERVED") && !known.contains(&code.name) {
                let cells = [code.decimal(), code.name.clone(), code.comment];
                rows.push_row(cells.to_vec(), Place::file(place.clone()));
                known.push(code.name);
            }
        }
    }
    Ok(rows.into_table().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_layouts_of_texts_are_read() {
        let text = "map = {\n  {100000, \"Bad value. \\n\\\n    Check it.\"},\n  {1,\n   \"Long \\\ntext\"},\n  {1234567, \"no\"}};";
        let row = |code: &str, message: &str, line| (code.to_owned(), message.to_owned(), line);
        assert_eq!(
            entries(text).unwrap(),
            [row("100000", "Bad value.", 2), row("1", "Long text", 4)]
        );
    }

    #[test]
    fn words_of_faults_are_found_in_handlers_and_not_in_logs() {
        let text = "m = {\n    {ACL_ERROR_RT_A,\n     std::bind(&one, std::placeholders::_1)},\n    {ACL_ERROR_RT_B, std::bind(&two, _1)}};\n\
                    std::string one(int code) {\n  ASCEND_LOGE(\"throw %s\", \"NOT THIS\");\n  return \"FORCE STOP.\" + x;\n}\n\
                    std::string two(int code) {\n  return ok() ? \"Z LINK\" : \"A LINK\";\n}\n";
        let found = fault_words(text).unwrap();
        assert_eq!(found[0], ("ACL_ERROR_RT_A".to_owned(), vec!["FORCE STOP".to_owned()]));
        assert_eq!(found[1].1, ["A LINK", "Z LINK"]);
        assert!(fault_words("").is_err());
    }

    #[test]
    fn errors_are_combined_with_submodules() {
        let text = "class _S(Enum):\n    PTA = 0\n    UNKNOWN = 99\n\nclass E(Enum):\n    SUCCESS = (0, \"success\")\n    PARAM = (1, \"invalid parameter\")\n    EXCEPT = (999, \"exception\")\n";
        let found = raised_codes(text).unwrap();
        assert_eq!(
            found,
            [
                ["ERR00001", "PTA.PARAM", "PTA invalid parameter"],
                ["ERR99999", "UNKNOWN.EXCEPT", "UNKNOWN exception"]
            ]
        );
    }
}
