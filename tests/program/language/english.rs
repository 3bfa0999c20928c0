//! Finds English sentences in a Chinese text.
//!
//! A sentence is four consecutive English words, one of which occurs only in sentences. Text in
//! quotation marks or backticks, commands, and quotations in a report (evidence, a log line,
//! official messages) may be English.

use std::sync::LazyLock;

use regex::Regex;

/// Words that do not occur in names, paths, commands and lists of values.
const FUNCTION_WORDS: [&str; 62] = [
    "a", "an", "the", "is", "are", "was", "were", "be", "been", "has", "have", "had", "does",
    "did", "can", "cannot", "could", "will", "would", "should", "must", "may", "not", "no", "of",
    "to", "in", "on", "at", "by", "for", "from", "with", "without", "into", "than", "that", "this",
    "these", "those", "it", "its", "which", "who", "what", "when", "where", "if", "and", "or",
    "but", "as", "so", "only", "all", "any", "each", "every", "there", "they", "you", "your",
];
/// The number of consecutive words in a sentence.
const RUN: usize = 4;

static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(?s)`[^`]*`|“[^”]*”|‘[^’]*’|'[^'\n]*'|"[^"\n]*""#).unwrap());

/// Labels of texts that a report quotes.
const LABELS: [&str; 5] = ["依据", "官方信息", "torch_npu 说明", "参考", "来源"];

static SYMBOL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b[A-Z]+_[A-Z0-9_]+  ").unwrap());

/// Returns the English sentences of a text.
pub(super) fn sentences(text: &str) -> Vec<String> {
    let shown = without_quotations(text);
    let shown = QUOTED.replace_all(&shown, "“”");
    shown.lines().filter_map(sentence).collect()
}

/// Returns a run of English words in a line.
fn sentence(line: &str) -> Option<String> {
    let mut run: Vec<&str> = Vec::new();
    for word in line.split(' ').chain([""]) {
        let bare = word.trim_matches(|c: char| ",.;:!?()（），。；：".contains(c));
        let is_word = !bare.is_empty()
            && bare.chars().all(|c| c.is_ascii_alphabetic() || c == '\'' || c == '-')
            && !bare.starts_with('-');
        // An empty word is the end of the line, or indentation.
        if is_word {
            run.push(bare);
            if !word.ends_with(['.', ';', ':', '。', '；', '：', '，']) {
                continue;
            }
        }
        if is_sentence(&run) {
            return Some(line.trim().to_owned());
        }
        run.clear();
    }
    None
}

fn is_sentence(words: &[&str]) -> bool {
    let common = |word: &&&str| FUNCTION_WORDS.contains(&word.to_ascii_lowercase().as_str());
    words.len() >= RUN && words.iter().any(|word| common(&word))
}

/// Removes the quoted lines of a report: evidence, official messages, references, commands and
/// changes of files, each with the lines that continue it.
fn without_quotations(text: &str) -> String {
    let mut quoted: Option<usize> = None;
    let mut continued = false;
    let mut kept = String::new();
    for line in text.lines() {
        let start = line.len() - line.trim_start().len();
        let words = line.trim_start();
        let goes_on = continued || quoted.is_some_and(|column| start > column && !words.is_empty());
        continued = (goes_on || words.starts_with("$ ") || words.starts_with("ascend-doctor "))
            && words.ends_with('\\');
        if goes_on {
            continue;
        }
        quoted = None;
        // In a list of codes, the official message is behind the symbol.
        if LABELS.iter().any(|label| words.starts_with(label)) || SYMBOL.is_match(words) {
            quoted = Some(start);
            continue;
        }
        if words.starts_with("$ ") || line.starts_with(['+', '-', '@']) || line.starts_with(" \t") {
            continue;
        }
        kept.push_str(line);
        kept.push('\n');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planted_english_is_found() {
        for text in [
            "错误：cannot read the settings file",
            "  --top <N>  Number of causes to show",
            "✗ 错误[DEV-PCI] No NPU is visible on the bus",
            "    原因  The driver does not answer\n",
            "找到 3 个 NPU。Add the user to the group",
            "说明：this machine has no device nodes at all",
        ] {
            assert_eq!(sentences(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn quotations_names_and_commands_are_no_english() {
        for text in [
            "错误：无法读取 `a file that is not there`",
            "说明：“No space left on device”",
            "    依据  train.log:3: the device is not ready for the kernel\n          it was lost in the end",
            "          $ cp the file to the place \\\n              and then to the other",
            "vllm-ascend torch torch_npu CANN",
            "--format text json jsonl junit sarif",
            "官方信息  The stream is not in the current context.",
            "PyTorch、torch_npu 和 CANN",
        ] {
            assert_eq!(sentences(text), Vec::<String>::new(), "{text}");
        }
    }
}
