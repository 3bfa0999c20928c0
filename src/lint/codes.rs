//! Meanings of error codes, and numbers of symbols.

use std::sync::LazyLock;

use base::text::Text;
use data::findings::lint_code;
use errcodes::Match;
use regex::Regex;

use super::document::{Document, Line, Place, Table, plain};
use super::statement::{Judged, Statement, StatementKind};
use super::table::concepts;

/// Lines below a code in which its cause may stand.
const REACH: usize = 12;
/// The longest claim, in characters.
const CLAIM: usize = 60;

static CODE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(?:E[A-Z]?[0-9]{4,5}|ERR[0-9]{5}|[1-9][0-9]{5})\b").expect("a constant")
});
static SYMBOL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(?:ACL_ERROR|ACLNN_ERR|RT_ERROR|HCCL_E|ACL_ERR)_[A-Z0-9_]+\b")
        .expect("a constant")
});
/// Six digits alone may be anything: these words make them a code.
static CONTEXT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)error|\berr\b|errcode|\bcode\b|\bacl|\bret\b|retcode|exception|错误|报错|异常|返回码|失败")
        .expect("a constant")
});
static CAUSE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^[-*>\s]*(?:\*\*|__)?(?:(?:root |possible |likely |most likely )?causes?|reason|meaning|description|(?:可能|根本|常见|错误)?原因|根因|含义|说明)(?:\*\*|__)?\s*[:：](?:\*\*|__)?\s*(.+)$")
        .expect("a constant")
});
static ERROR_LINE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^[-*>\s]*(?:\*\*|__)?(?:errors?|symptoms?|报错|错误|现象|症状)(?:信息)?(?:\*\*|__)?\s*[:：]").expect("a constant")
});
static OR_CODE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)^(.+?)\s*(?:\bor\b|或|/)\s*[^/]*$").expect("a constant"));
/// What connects a code with its meaning.
static MEANS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^[\s`*'”）)]*(?::|：|=|——|—|–|-\s|→|->|\(|（|\b(?:means?(?: that)?|indicates?|is|represents?|stands for)\b|表示|是指|代表|意味着|即|指的是|通常是|一般是|是)\s*[`*]*(.+)$")
        .expect("a constant")
});
static MEANING_HEAD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)meaning|description|cause|reason|含义|描述|说明|原因|错误信息|错误类型|意义|type",
    )
    .expect("a constant")
});
static CODE_HEAD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)code|error|symptom|错误|报错|现象|异常|返回值|症状").expect("a constant")
});
static DENIED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\bnot\b|n't|\binstead of\b|不是|并非|而非|无关|[?？]").expect("a constant")
});

pub(super) fn read(document: &Document<'_>, found: &mut Vec<Statement>) {
    let mut push = |line: u32, judged: Option<Judged>| {
        found.extend(judged.map(|one| one.at(StatementKind::Code, document.file, line)));
    };
    for table in &document.tables {
        for (line, cells) in &table.rows {
            for (code, claim) in claims_of_row(table, cells) {
                let judged = judge(code, claim);
                // A row that also has the right meaning compares the two.
                let has_right = || {
                    let others = cells.iter().filter(|cell| *cell != claim);
                    others.filter_map(|cell| judge(code, cell)).any(|one| one.is_agreement())
                };
                push(*line, judged.filter(|one| one.is_agreement() || !has_right()));
            }
        }
    }
    for (index, line) in document.lines.iter().enumerate() {
        if line.place == Place::Query {
            continue;
        }
        if line.place != Place::Output {
            push(line.number, number_of_symbol(&plain(line.text)));
        }
        let quoted = || quoted_code(line.text).filter(|_| line.place == Place::Code);
        let Some(code) = only_code(line.text).or_else(quoted) else { continue };
        let claim = match line.place {
            Place::Prose | Place::Comment => claim_of_line(line, code),
            Place::Code => claim_of_literal(document, index, code),
            Place::Heading | Place::Row | Place::Output | Place::Query => None,
        };
        let claim = claim.or_else(|| claim_below(document, index));
        if let Some(claim) = claim {
            push(line.number, judge(code, &claim));
        }
    }
}

/// The code of a text that has exactly one.
fn only_code(text: &str) -> Option<&str> {
    let mut codes: Vec<&str> = CODE
        .find_iter(text)
        .filter(|found| {
            let before = text[..found.start()].chars().next_back();
            let after = text[found.end()..].chars().next();
            let joins =
                |c: Option<char>| c.is_some_and(|c| matches!(c, '-' | '/' | '.' | '#' | '%' | '_'));
            // `507015.` ends a sentence.
            let is_number = text[found.end()..].starts_with('.')
                && text[found.end() + 1..].starts_with(|c: char| c.is_ascii_digit());
            !joins(before) && (!joins(after) || text[found.end()..].starts_with('.')) && !is_number
        })
        .map(|found| found.as_str())
        .collect();
    codes.dedup();
    match codes.as_slice() {
        [code] if code.starts_with('E') || CONTEXT.is_match(text) => Some(code),
        _ => None,
    }
}

static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"["'](E[A-Z]?[0-9]{4,5}|[125]0[0-9]{4})["']"#).expect("a constant")
});

/// The only code in quotes of a line, if the tables have it: a key of a table in code.
fn quoted_code(text: &str) -> Option<&str> {
    let mut found = QUOTED.captures_iter(text).filter_map(|captures| captures.get(1));
    let code = found.next()?.as_str();
    (found.next().is_none() && !errcodes::look_up(code).is_empty()).then_some(code)
}

/// The claims of a row: a cell that is little more than a code, and the cell with its meaning.
fn claims_of_row<'a>(table: &Table, cells: &'a [String]) -> Vec<(&'a str, &'a str)> {
    let mut claims = Vec::new();
    for (at, cell) in cells.iter().enumerate() {
        let head = table.head.get(at).map_or("", String::as_str);
        let context = format!("{head} {cell}");
        let Some(code) = CODE.find(cell).map(|found| found.as_str()) else { continue };
        if CODE.find_iter(cell).count() != 1
            || !CODE_HEAD.is_match(head)
            || !(code.starts_with('E') || CONTEXT.is_match(&context))
        {
            continue;
        }
        let words = cell.replace(code, "");
        let words: String = CONTEXT.replace_all(&words, "").into_owned();
        if words.chars().filter(|c| c.is_alphanumeric()).count() > 8 {
            continue;
        }
        let is_meaning = |index: &usize| {
            *index != at && table.head.get(*index).is_some_and(|head| MEANING_HEAD.is_match(head))
        };
        let meaning = (0..cells.len())
            .find(is_meaning)
            .or_else(|| Some(at + 1).filter(|next| *next < cells.len()));
        if let Some(claim) = meaning.and_then(|at| cells.get(at)) {
            claims.push((code, claim.as_str()));
        }
    }
    claims
}

/// The meaning next to a code in its line.
fn claim_of_line(line: &Line<'_>, code: &str) -> Option<String> {
    let text = plain(line.text);
    let at = text.find(code)?;
    let after = &text[at + code.len()..];
    if let Some(captures) = MEANS.captures(after) {
        return Some(captures[1].to_owned());
    }
    // `**Error**: out of memory or ACL error: 507011`.
    let lead = ERROR_LINE.find(line.text)?;
    let rest = plain(&line.text[lead.end()..]);
    let captures = OR_CODE.captures(&rest)?;
    let is_other = !captures[1].contains(code);
    is_other.then(|| captures[1].to_owned())
}

/// A text in quotes with a space or a Chinese character: a sentence rather than a key.
static LITERAL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"["']([^"']*(?:[A-Za-z] [A-Za-z]|\p{Han})[^"']*)["']"#).expect("a constant")
});

/// The meaning in a table of code: the first sentence in quotes behind a code in quotes, or in the
/// line below it.
fn claim_of_literal(document: &Document<'_>, index: usize, code: &str) -> Option<String> {
    let text = document.lines.get(index)?.text;
    let at = text.find(code)? + code.len();
    let rest = text.get(at..)?;
    let is_key = rest.starts_with(['"', '\'']) || rest.trim_start().starts_with(':');
    if !is_key {
        return None;
    }
    let rest = rest.trim_start_matches(['"', '\'']);
    let own = LITERAL.captures(rest).map(|captures| captures[1].to_owned());
    own.or_else(|| {
        let next = document.lines.get(index + 1).filter(|next| only_code(next.text).is_none())?;
        let is_first = next.text.starts_with(['"', '\'']);
        let captures = LITERAL.captures(next.text).filter(|_| is_first)?;
        Some(captures[1].to_owned())
    })
}

/// The cause that a heading or a quoted error states below it.
fn claim_below(document: &Document<'_>, index: usize) -> Option<String> {
    let own = document.lines.get(index)?;
    if !matches!(own.place, Place::Heading | Place::Code | Place::Output) {
        return None;
    }
    for line in document.lines.iter().skip(index + 1).take(REACH) {
        if line.place == Place::Heading && own.place == Place::Heading {
            return None;
        }
        if let Some(captures) = CAUSE.captures(line.text) {
            return Some(plain(&captures[1]));
        }
        // Another error takes over.
        if only_code(line.text).is_some() {
            return None;
        }
    }
    None
}

/// The first sentence of a claim: what follows explains it further.
fn first_sentence(claim: &str) -> String {
    let end = claim.find(['.', '。', ';', '；', '|', ')', '）']).unwrap_or(claim.len());
    claim[..end].trim().chars().take(CLAIM * 2).collect()
}

fn judge(code: &str, claim: &str) -> Option<Judged> {
    let claim = first_sentence(claim);
    // A symbol is compared by its number.
    if claim.is_empty() || DENIED.is_match(&claim) || SYMBOL.is_match(&claim) {
        return None;
    }
    let stated = concepts(&claim);
    if stated.is_empty() {
        return None;
    }
    let says = format!("{code}: {}", claim.chars().take(CLAIM).collect::<String>());
    let matches = errcodes::look_up(code);
    let Some(first) = matches.first() else {
        return Some(Judged::undecided(says));
    };
    let known: Vec<&str> = matches.iter().flat_map(|found| concepts(&text_of(found))).collect();
    let sources = vec![first.row.source.clone()];
    if stated.iter().any(|concept| known.contains(concept)) {
        return Some(Judged::agrees(says, sources));
    }
    // Nothing to compare with.
    if concepts(&official(first)).is_empty() {
        return Some(Judged::undecided(says));
    }
    let claim: String = claim.chars().take(CLAIM).collect();
    let symbol = if first.row.symbol.is_empty() { code } else { &first.row.symbol };
    let finding = lint_code::Meaning { claim, code, meaning: meaning(first), symbol }.error();
    Some(Judged::contradicts(says, sources, finding))
}

/// The words of the official source.
fn official(found: &Match) -> String {
    let row = &found.row;
    let mut words = format!("{} {} {}", row.symbol.replace('_', " "), row.message, row.zh);
    for (_, other) in &found.also {
        words.push_str(&format!(" {} {}", other.message, other.zh));
    }
    words
}

/// All that the tables hold about a meaning of a code.
fn text_of(found: &Match) -> String {
    let mut words = official(found);
    let mut add = |text: &Text| words.push_str(&format!(" {} {}", text.en, text.zh));
    if let Some(cause) = found.cause {
        add(&cause.title);
        add(&cause.text);
    }
    if let Some(note) = found.note {
        add(&note.text);
    }
    words
}

/// The meaning in a few words.
fn meaning(found: &Match) -> Text {
    let row = &found.row;
    let message = if row.message.is_empty() { &row.symbol } else { &row.message };
    match found.cause {
        Some(cause) => cause.title.clone(),
        None if row.zh.is_empty() => Text::same(message.clone()),
        None => Text::new(message.clone(), row.zh.clone()),
    }
}

/// A symbol and a number next to each other.
static NUMBERED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b([A-Z]+_[A-Z0-9_]+)\b[\s`]*(?:[=:：|,(（]|为|是|\bis\b)[\s`]*([1-9][0-9]{0,5})\b|\b([1-9][0-9]{0,5})\b[\s`]*(?:[=:：|,(（]|\bis\b|是)[\s`]*\b([A-Z]+_[A-Z0-9_]+)\b")
        .expect("a constant")
});

fn number_of_symbol(text: &str) -> Option<Judged> {
    let captures = NUMBERED.captures(text)?;
    let (symbol, code) = match (captures.get(1), captures.get(2)) {
        (Some(symbol), Some(code)) => (symbol.as_str(), code.as_str()),
        _ => (captures.get(4)?.as_str(), captures.get(3)?.as_str()),
    };
    if !SYMBOL.is_match(symbol) {
        return None;
    }
    let says = format!("{symbol} = {code}");
    let matches = errcodes::look_up(symbol);
    let decimal: Vec<&Match> = matches
        .iter()
        .filter(|found| found.row.code.bytes().all(|byte| byte.is_ascii_digit()))
        .collect();
    let Some(first) = decimal.first() else { return Some(other_symbol(symbol, code, says)) };
    let sources = vec![first.row.source.clone()];
    if decimal.iter().any(|found| found.row.code == code) {
        return Some(Judged::agrees(says, sources));
    }
    let right = &first.row.code;
    Some(Judged::contradicts(says, sources, lint_code::Number { code, right, symbol }.error()))
}

/// A symbol that no table has, next to a number that has another one.
fn other_symbol(symbol: &str, code: &str, says: String) -> Judged {
    let prefix = symbol.split('_').take(2).collect::<Vec<_>>().join("_");
    let matches = errcodes::look_up(code);
    let owner = matches.iter().find(|found| found.row.symbol.starts_with(&prefix));
    let Some(found) = owner.filter(|_| code.len() == 6) else { return Judged::undecided(says) };
    let sources = vec![found.row.source.clone()];
    let right = &found.row.symbol;
    let finding =
        lint_code::Meaning { claim: symbol, code, meaning: meaning(found), symbol: right }.error();
    Judged::contradicts(says, sources, finding)
}

#[cfg(test)]
mod tests {
    use super::super::document::parse;
    use super::super::statement::StatementState::{self, Agrees, Contradicts};
    use super::*;

    fn states(text: &str) -> Vec<StatementState> {
        let mut found = Vec::new();
        read(&parse("a.md", text), &mut found);
        found.iter().map(|one| one.state).collect()
    }

    #[test]
    fn wrong_meanings_contradict() {
        for text in [
            "### Error: `RuntimeError: ACL error: 507015`\n\n**Cause**: Device initialization failed.",
            "### Error: `ACL error: 107002`\n\n**Cause**: Invalid parameter for the operation.",
            "| Symptom | Likely Cause |\n|---|---|\n| `ACL error: 507011` | CANN version incompatible |",
            "**Error**: `RuntimeError: NPU out of memory` or `ACL error: 507011`",
            "```\nRuntimeError: NPU error, error code is 107002\n```\n\n**原因**：`LOCAL_RANK` 与实际 NPU 设备编号不匹配。",
            "错误码 507018 表示内存不足",
            "ACL_ERROR_RT_CONTEXT_NULL (107003)",
            "| 107010 | ACL_ERROR_RT_DEV_ALREADY_RUNNING |",
            "| ACL_ERROR_INVALID_PARAM | 1 |",
            "```python\nadd(\"507018\", \"runtime\",\n    \"Device memory allocation failed\")\n```",
            "```python\nCODES = {\n  \"507015\": \"error: out of memory on device\",\n}\n```",
        ] {
            assert_eq!(states(text), [Contradicts], "{text}");
        }
    }

    #[test]
    fn right_meanings_agree() {
        for text in [
            "| 错误码 | 含义 |\n|---|---|\n| 507015 | AI Core 异常 |",
            "- Error 207001: out of memory",
            "EI0006: socket 建链超时",
            "107002 = ACL_ERROR_RT_CONTEXT_NULL",
            "error 107001: invalid device id",
        ] {
            assert_eq!(states(text), [Agrees], "{text}");
        }
    }

    #[test]
    fn other_numbers_and_denials_are_no_statement() {
        for text in [
            "trained for 100000 steps: out of memory after that",
            "507015 是 AI Core 异常，不是内存不足。".replace("AI Core 异常，", "").as_str(),
            "see #107002: timeout",
            "| code | says | header |\n|---|---|---|\n| 507011 | out of memory | MODEL_EXECUTE: model execute failed |",
            "Does error 507015 mean out of memory?",
            "| step | note |\n|---|---|\n| 107002 | timeout |",
        ] {
            assert!(states(text).is_empty(), "{text}: {:?}", states(text));
        }
    }
}
