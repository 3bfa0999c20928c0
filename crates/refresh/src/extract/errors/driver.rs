//! Codes of the management interface (DCMI), of npu-smi and of the microcontroller of a card.

use anyhow::{Context as _, Result, ensure};
use regex::Regex;

use super::c_header::{literals, number, words};
use crate::context::Context;
use crate::extract::Content;
use crate::table::{Place, SourcedRows};

/// Extracts `dcmi.tsv`: return codes of DCMI and of npu-smi.
pub(super) fn management(context: &Context) -> Result<Content> {
    let tree = context.tree("hicann-driver")?;
    let mut rows = SourcedRows::new(&["code", "symbol", "message", "component"]);
    for (path, prefix, base, component) in [
        (
            "src/custom/include/dcmi_interface_api.h",
            "DCMI_ERR_CODE_",
            "DCMI_ERROR_CODE_BASE",
            "dcmi",
        ),
        (
            "src/custom/dev_prod/user/npucli/inc/npu_smi.h",
            "NPU_ERR_CODE_",
            "NPU_ERR_CODE_BASE",
            "npu-smi",
        ),
    ] {
        let found = relative(&tree.text(path)?, prefix, base).with_context(|| tree.place(path))?;
        for (code, symbol) in found {
            let message = words(&symbol, prefix);
            let place = Place::file(tree.place(path));
            rows.push([&code.to_string(), &symbol, &message, component], place);
        }
    }
    Ok(rows.into_table().into())
}

/// Returns codes and symbols of `#define NAME (BASE - 1)`.
fn relative(text: &str, prefix: &str, base: &str) -> Result<Vec<(i64, String)>> {
    let start = Regex::new(&format!(r"#define\s+{base}\s+\(?(-?\d+)\)?"))?;
    let start = start.captures(text).and_then(|found| number(&found[1]));
    let start = start.with_context(|| format!("`{base}` has no value"))?;
    let definition = Regex::new(&format!(r"#define\s+({prefix}\w+)\s+\(?{base}\s*-\s*(\d+)\)?"))?;
    let found = definition.captures_iter(text);
    let found: Vec<(i64, String)> =
        found.filter_map(|found| Some((start - number(&found[2])?, found[1].to_owned()))).collect();
    ensure!(found.len() >= 20, "{} codes of `{prefix}`", found.len());
    Ok(found)
}

/// Extracts `mcu.tsv`: health codes of the microcontroller, by kind of card.
pub(super) fn microcontroller(context: &Context) -> Result<Content> {
    let tree = context.tree("hicann-driver")?;
    let mut rows = SourcedRows::new(&["code", "symbol", "message", "component"]);
    let files = tree.find(r"/dcmi_interface/inc/dcmi_mcu_health_error_info(_\d+)?\.h$")?;
    for path in files {
        let found = health(&tree.text(path)?)?;
        ensure!(!found.is_empty(), "{} has no code", tree.place(path));
        for (code, message, card) in found {
            let place = Place::file(tree.place(path));
            rows.push([&code.to_string(), "", &message, &card], place);
        }
    }
    Ok(rows.into_table().into())
}

/// Returns code, message and card of the entries of
/// `struct dcmi_health_info g_CARD_health_…[] = {…};`.
fn health(text: &str) -> Result<Vec<(i64, String, String)>> {
    let list = Regex::new(r"(?s)struct\s+dcmi_health_info\s+(\w+)\[\]\s*=\s*\{(.*?)\};")?;
    let entry = Regex::new(r#"\{\s*(0x[0-9A-Fa-f]+|\d+)\s*,\s*("[^"]*")"#)?;
    let mut found = Vec::new();
    for list in list.captures_iter(text) {
        let card = list[1].trim_start_matches("g_");
        let card = card.find("_health").map_or(card, |at| &card[..at]);
        for entry in entry.captures_iter(&list[2]) {
            let code = number(&entry[1]).with_context(|| format!("code `{}`", &entry[1]))?;
            found.push((code, literals(&entry[2]), card.to_owned()));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_relative_to_their_base() {
        let mut text = "#define X_BASE (-8000)\n".to_owned();
        for number in 1..=20 {
            text += &format!("#define X_CODE_{number}   (X_BASE - {number})\n");
        }
        let found = relative(&text, "X_CODE_", "X_BASE").unwrap();
        assert_eq!(found[19], (-8020, "X_CODE_20".to_owned()));
        assert!(relative(&text, "X_CODE_", "Y_BASE").is_err());
        assert!(relative("#define X_BASE 1", "X_CODE_", "X_BASE").is_err());
    }

    #[test]
    fn health_codes_are_read_by_card() {
        let text = "struct dcmi_health_info {\n int a;\n};\n\
                    struct dcmi_health_info g_910b_card_health_error_info[] = {\n {7196, \"flash\"},\n {0x10, \"b\"}\n};\n";
        let row = |code, message: &str| (code, message.to_owned(), "910b_card".to_owned());
        assert_eq!(health(text).unwrap(), [row(7196, "flash"), row(16, "b")]);
    }
}
