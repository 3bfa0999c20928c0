//! `hccl_stage.tsv`: stages in HCCL logs, and words that the HCCL documents search for. The English
//! names of the stages are in the overlay.

use std::sync::LazyLock;

use anyhow::{Result, ensure};
use regex::Regex;

use crate::context::Context;
use crate::extract::Content;
use crate::table::{Place, SourcedRows};

const STAGES: &str = "docs/zh/user_guide/fault_diagnosis/debug_thinking.md";
const DOCUMENTS: &str = r"^docs/zh/user_guide/fault_diagnosis/[^/]*\.md$";

/// Extracts `hccl_stage.tsv`.
pub(super) fn table(context: &Context) -> Result<Content> {
    let tree = context.tree("hicann-hccl")?;
    let mut rows = SourcedRows::new(&["code", "symbol", "message", "zh"]);
    let stages = stages(&tree.text(STAGES)?);
    ensure!(!stages.is_empty(), "{} has no stage", tree.place(STAGES));
    for (stage, part, name) in stages {
        let code = format!("[{stage}][{part}]");
        rows.push([&code, "", "", &name], Place::file(tree.place(STAGES)));
    }
    // Some documents have no such words.
    for path in tree.find(DOCUMENTS)? {
        for word in searched(&tree.text(path)?) {
            rows.push([&word, "grep keyword", "", ""], Place::file(tree.place(path)));
        }
    }
    Ok(rows.into_table().into())
}

/// Parses rows `| Stage | Part | [Name](link) |`. An empty first cell repeats the stage above.
fn stages(text: &str) -> Vec<(String, String, String)> {
    let mut stage = String::new();
    let mut found = Vec::new();
    for line in text.lines() {
        let Some(row) = line.trim().strip_prefix('|') else {
            stage.clear();
            continue;
        };
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [first, part, name, ..] = cells[..] else { continue };
        if first.ends_with("Stage") {
            stage = first.to_owned();
        } else if !first.is_empty() {
            stage.clear();
        }
        let name = name.strip_prefix('[').and_then(|name| name.split(']').next()).unwrap_or(name);
        if !stage.is_empty() && !part.is_empty() && !name.is_empty() {
            found.push((stage.clone(), part.to_owned(), name.to_owned()));
        }
    }
    found
}

/// Returns the words of `grep -r "WORDS"`.
fn searched(text: &str) -> Vec<String> {
    static GREP: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"grep -rE? "([^"]+)""#).expect("a pattern of commands"));
    GREP.captures_iter(text).map(|found| found[1].to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_with_their_parts_are_read() {
        let text = "| 关键字 | 检索 | 场景 |\n| --- | --- | --- |\n\
                    | InitStage | Config | [配置异常](a.md) |\n|           |Not Supported | 不支持 | |\n\n\
                    | EI0001 | [x](y) |\n| a | b | c |\n";
        let stage =
            |part: &str, name: &str| ("InitStage".to_owned(), part.to_owned(), name.to_owned());
        assert_eq!(stages(text), [stage("Config", "配置异常"), stage("Not Supported", "不支持")]);
    }

    #[test]
    fn searched_words_are_read() {
        let text = "grep -r \"Entry-\" run\ngrep -rE \"socket\\[(0|1)\\]\" .\ngrep -rn \"x\"";
        assert_eq!(searched(text), ["Entry-", "socket\\[(0|1)\\]"]);
    }
}
