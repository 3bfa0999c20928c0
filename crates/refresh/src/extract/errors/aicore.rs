//! Bits of the AI Core error registers.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use regex::Regex;

use super::c_header::{enumeration, literals};
use super::releases::only_file;
use crate::context::Context;
use crate::extract::Content;
use crate::table::{Place, SourcedRows};

/// Error register values in logs and the names of their bits, as users reported them. They prove
/// the layout.
const DECODED: [([u64; 3], &[&str]); 6] = [
    ([0x80_0000, 0x4000, 0], &["MTE_BIU_RDWR_RESP", "CCU_ADDR_ERR"]),
    ([0, 0x8000, 0], &["CCU_BUS_ERR"]),
    ([0, 0x1000, 0], &["VEC_INSTR_ILLEGAL_CFG"]),
    ([0x2_0000_0000, 0, 0], &["MTE_GDMA_WRITE_OVERFLOW"]),
    ([0x10, 0, 0], &["CCU_ILLEGAL_INSTR"]),
    ([0x20_0000_0000_0000, 0, 0], &["VEC_ILLEGAL_MASK"]),
];

/// Extracts `aicore_bit.tsv`: name and meaning of each bit, such as `w1.14` for bit 14 of the
/// second word.
pub(super) fn bits(context: &Context) -> Result<Content> {
    let tree = context.tree("hicann-runtime")?;
    let path = only_file(&tree, r"^src/runtime/\w+/src/device/device_error_core_proc\.cc$")?;
    let text = tree.text(path)?;
    let names: Vec<String> = enumeration(&text, "enum RtCoreErrorType")
        .with_context(|| tree.place(path))?
        .into_iter()
        .map(|name| name.name)
        .collect();
    check_layout(&names)?;
    let messages = messages(&text).with_context(|| tree.place(path))?;
    let chinese = chinese(context)?;
    let mut rows = SourcedRows::new(&["code", "symbol", "message", "zh"]);
    for (index, name) in names.iter().enumerate() {
        let (word, bit) = position(index);
        let message = messages.get(name).map_or("", String::as_str);
        let zh = reduced(word, bit).and_then(|place| chinese.get(&place));
        let code = format!("w{word}.{bit}");
        let cells = [code.as_str(), name, message, zh.map_or("", String::as_str)];
        rows.push(cells, Place::file(tree.place(path)));
    }
    Ok(rows.into_table().into())
}

/// Returns word and bit of an enumerator. Words have 64 bits; the third one has 17 bits and
/// continues at 32 (`ProcessStarsCoreErrorMapInfo`).
fn position(index: usize) -> (usize, usize) {
    match (index / 64, index % 64) {
        (0 | 1, bit) => (index / 64, bit),
        _ if index - 128 < 17 => (2, index - 128),
        _ => (2, index - 128 - 17 + 32),
    }
}

/// Returns the bit in the numbering of ascend-faultdiag, whose third word does not have the first
/// bit (`MTE_TIMEOUT`), and has no gap between bits 15 and 32.
fn reduced(word: usize, bit: usize) -> Option<(usize, usize)> {
    match (word, bit) {
        (0 | 1, bit) => Some((word, bit)),
        (word, bit @ 32..) => Some((word, bit - 14)),
        (word, bit) => Some((word, bit.checked_sub(1)?)),
    }
}

fn check_layout(names: &[String]) -> Result<()> {
    for (words, expected) in DECODED {
        let is_set = |index: &usize| {
            let (word, bit) = position(*index);
            words[word] >> bit & 1 == 1
        };
        let found: Vec<&str> =
            (0..names.len()).filter(is_set).map(|index| names[index].as_str()).collect();
        ensure!(found == expected, "{words:x?} decodes to {found:?}, expected {expected:?}");
    }
    Ok(())
}

/// Returns messages by name, from `errorMapInfo_`.
fn messages(text: &str) -> Result<BTreeMap<String, String>> {
    let body = Regex::new(r"(?s)errorMapInfo_ = \{(.*?)\n?\};")?;
    let body = body.captures(text).context("no `errorMapInfo_`")?;
    let entry = Regex::new(r#"\{\s*(\w+)\s*,\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\}"#)?;
    let body = format!("{}}}", &body[1]);
    let found = entry.captures_iter(&body);
    let found: BTreeMap<String, String> =
        found.map(|found| (found[1].to_owned(), literals(&found[2]))).collect();
    ensure!(found.len() >= 100, "`errorMapInfo_` has {} entries", found.len());
    Ok(found)
}

/// Returns the Chinese texts of ascend-faultdiag by word and highest bit.
fn chinese(context: &Context) -> Result<BTreeMap<(usize, usize), String>> {
    const PATH: &str =
        "component/ascend-faultdiag/src/ascend_fd/configuration/aicore-error-code-config-zh.json";
    let tree = context.tree("mind-cluster")?;
    let texts: BTreeMap<String, String> =
        serde_json::from_str(&tree.text(PATH)?).with_context(|| tree.place(PATH))?;
    let found = by_bit(&texts)?;
    ensure!(found.len() >= 150, "{} has {} bits", tree.place(PATH), found.len());
    Ok(found)
}

fn by_bit(texts: &BTreeMap<String, String>) -> Result<BTreeMap<(usize, usize), String>> {
    let word = Regex::new(r"0x([0-9a-fA-F]+)|(\d+)")?;
    let mut found = BTreeMap::new();
    for (key, text) in texts {
        for (at, word) in word.captures_iter(key).enumerate() {
            let value = match (word.get(1), word.get(2)) {
                (Some(hex), _) => u64::from_str_radix(hex.as_str(), 16)?,
                (_, Some(decimal)) => decimal.as_str().parse()?,
                _ => 0,
            };
            if let Some(bit) = value.checked_ilog2() {
                let first = text.lines().next().unwrap_or_default();
                found.insert((at, usize::try_from(bit)?), first.to_owned());
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_counted_over_words_with_a_gap_in_the_third() {
        for (index, expected) in [
            (0, (0, 0)),
            (63, (0, 63)),
            (64, (1, 0)),
            (127, (1, 63)),
            (128, (2, 0)),
            (144, (2, 16)),
            (145, (2, 32)),
            (175, (2, 62)),
        ] {
            assert_eq!(position(index), expected);
        }
        assert_eq!(reduced(1, 3), Some((1, 3)));
        assert_eq!(reduced(2, 0), None);
        assert_eq!(reduced(2, 16), Some((2, 15)));
        assert_eq!(reduced(2, 32), Some((2, 18)));
    }

    #[test]
    fn another_order_of_names_is_an_error() {
        let names: Vec<String> = (0..176).map(|at| format!("N{at}")).collect();
        let error = check_layout(&names).unwrap_err().to_string();
        assert!(error.contains("expected"), "{error}");
    }

    #[test]
    fn texts_are_found_by_their_highest_bit() {
        let texts = [("(0x0, 0x18, 0)", "一\n二"), ("(0x1,0,0)", "三")];
        let texts = texts.map(|(key, text)| (key.to_owned(), text.to_owned())).into();
        let found = by_bit(&texts).unwrap();
        assert_eq!(found[&(1, 4)], "一");
        assert_eq!(found[&(0, 0)], "三");
        assert_eq!(found.len(), 2);
    }
}
