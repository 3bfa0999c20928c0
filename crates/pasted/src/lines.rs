//! The lines of a text without Markdown and HTML. Line numbers are those of the text.

use std::sync::LazyLock;

use regex::Regex;

use crate::kind::{self, Kind};
use crate::version::regex;
use crate::{MAX_LINE, MAX_TEXT};

/// A line in the form that all readers expect.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// From 1.
    pub(crate) number: u32,
    /// ASCII punctuation, without emphasis, bullets and tags.
    pub(crate) text: String,
    /// The kind of the line.
    pub(crate) kind: Kind,
    /// Number of the paragraph: a blank line, a fence and a heading begin a new one.
    pub(crate) block: u32,
    /// Whether a bullet or a number preceded the text.
    pub(crate) bullet: bool,
}

static TAG: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)</?(?:details|summary|p|div|span|pre|code|b|i|u|em|strong|a|img|table|thead|tbody|h[1-6]|ul|ol|li|sub|sup|font|center|kbd|hr)(?:\s[^<>]*)?/?>",
    )
});
static BREAK: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)</?br\s*/?>"));
static CELL: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)(?:\s*</?(?:td|th|tr)(?:\s[^<>]*)?>\s*)+"));
static ANSI: LazyLock<Regex> = LazyLock::new(|| regex(r"\x1b\[[0-9;?]*[A-Za-z]"));
static BULLET: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^\s*(?:(?:[-*+•●▪·–]|--|\d{1,2}[.)、]|\(\d{1,2}\)|[①-⑳]|\[[ xX]\])\s+)+")
});
/// `1)版本`, `2.torch`: a number without a blank that is not a version.
static NUMBER: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s*\d{1,2}[.)、]\s*([^\d\s.])"));
/// A number of `cat -n`, two blanks or a tab, and text.
static NUMBERED: LazyLock<Regex> = LazyLock::new(|| regex(r"^(\d{1,4})\s{2,}"));
/// Some authors mark pasted text as a quotation: `pip list:` and then lines with `>`.
static ANNOUNCED: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)(?:\b(?:pip3? list|pip3? freeze|conda list|npu-smi info|collect_env(?:\.py)?|env(?:ironment)?|versions?)\b|环境|版本)[^.。?:]{0,20}:$",
    )
});
/// Words that introduce a quotation of another author.
static SPEAKER: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\b(?:wrote|writes|said|says|replied|quot\w*|docs?|readme|guide)\b|写道|说|回复|文档|@\w",
    )
});
/// Sections about machines other than that of the author.
static ELSEWHERE: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r"(?i)^(?:version )?(?:compatibility(?: matrix| table)?|requirements|prerequisites?|change ?logs?|release notes?|what'?s (?:new|changed)|supported versions?|dependenc(?:y|ies)(?: versions?)?|roadmap)\b[^:]{0,24}$",
        r"|^(?:版本)?(?:配套(?:关系|表|版本)?|兼容性|依赖要求|版本要求|更新日志|发布说明|支持的?版本|前置条件)[^。]{0,12}$"
    ))
});
static STRUCK: LazyLock<Regex> = LazyLock::new(|| regex(r"~~[^~]+~~"));
static LINK: LazyLock<Regex> = LazyLock::new(|| regex(r"!?\[([^\[\]]*)\]\(([^()\s]*)\)"));

/// Splits a text into lines and removes decoration.
pub(crate) fn split(text: &str) -> Vec<Line> {
    let text = cut(text, MAX_TEXT);
    let mut lines = Vec::new();
    let (mut block, mut fenced, mut comment) = (0, false, false);
    // Whether the quotation above is by the author, and whether the line above may introduce one.
    let (mut own, mut announced) = (false, false);
    // The state of a section about other machines: up to the next heading, or to the end of the
    // paragraph.
    let (mut elsewhere, mut list_elsewhere) = (false, None);
    for (index, raw) in text.lines().enumerate() {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        let raw = normalize(cut(raw, MAX_LINE));
        let visible = outside_comments(&raw, &mut comment);
        let trimmed = visible.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            // Text after the marks is the language, or a line without its line break.
            fenced = !fenced;
            block += 1;
            continue;
        }
        if trimmed.is_empty() {
            block += 1;
            continue;
        }
        let (bare, marked) = unquote(trimmed);
        own = marked && (own || announced);
        let quoted = marked && !own;
        let heading = bare.starts_with('#') && bare.trim_start_matches('#').starts_with(' ');
        if heading {
            block += 1;
        }
        // Inside a fence, a single `#` begins a shell comment, and several begin a heading in a
        // text whose fences are unbalanced.
        let remark = bare.starts_with('#') && !bare.starts_with("##") && (fenced || !heading);
        let (clean, bullet) = plain(bare);
        // A command after a single `#` is commented out, also if the fence is missing.
        let remark = remark
            || heading && !bare.starts_with("##") && kind::of(&clean, false) == Kind::Command;
        let about_others = ELSEWHERE.is_match(clean.split(':').next().unwrap_or_default());
        if heading {
            elsewhere = about_others;
        } else if about_others && clean.ends_with(':') && !marked {
            list_elsewhere = Some(block);
        }
        let other = elsewhere || about_others || list_elsewhere == Some(block);
        let kind = if quoted || other && !heading {
            Kind::Quotation
        } else if remark {
            Kind::Comment
        } else {
            kind::of(&clean, heading)
        };
        announced = !marked && ANNOUNCED.is_match(&clean) && !SPEAKER.is_match(&clean);
        if !clean.is_empty() {
            lines.push(Line { number, text: clean, kind, block, bullet });
        }
        if heading {
            block += 1;
        }
    }
    without_numbers(&mut lines);
    lines
}

/// Removes the numbers that `cat -n` puts before lines: at least three, from 1.
fn without_numbers(lines: &mut [Line]) {
    let number = |line: &Line| {
        let number = NUMBERED.captures(&line.text)?;
        // Rows of numbers are a table.
        let rest = line.text.get(number.get(0)?.end()..)?;
        (!rest.starts_with(|c: char| c.is_ascii_digit())).then(|| number[1].parse().ok())?
    };
    let mut from = 0;
    while from < lines.len() {
        let rest = lines.get(from..).unwrap_or_default();
        let run = rest.iter().zip(1_u32..).take_while(|(line, n)| number(line) == Some(*n)).count();
        if run >= 3 {
            for line in lines.iter_mut().skip(from).take(run) {
                line.text = NUMBERED.replace(&line.text, "").into_owned();
                if line.kind != Kind::Quotation {
                    let remark = line.text.starts_with('#');
                    line.kind = if remark { Kind::Comment } else { kind::of(&line.text, false) };
                }
            }
        }
        from += run.max(1);
    }
}

/// The longest prefix of at most `limit` bytes that ends at a character boundary.
fn cut(text: &str, limit: usize) -> &str {
    text.get(..text.floor_char_boundary(limit)).unwrap_or(text)
}

/// Replaces full-width forms, blanks, hyphens and quotation marks by ASCII.
fn normalize(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            '\u{ff01}'..='\u{ff5e}' => {
                out.push(char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c));
            }
            '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => {
                out.push(' ');
            }
            // A tab becomes two spaces, so that gaps between columns stay wider than those between
            // words.
            '\t' => out.push_str("  "),
            '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe63}' => out.push('-'),
            '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}' | '\u{fe0f}' => {}
            '\u{2018}' | '\u{2019}' => out.push('\''),
            '\u{201c}' | '\u{201d}' => out.push('"'),
            '\u{3010}' => out.push('['),
            '\u{3011}' => out.push(']'),
            '\u{2236}' | '\u{fe55}' => out.push(':'),
            '\u{00d7}' => out.push('*'),
            _ => out.push(c),
        }
    }
    if out.contains('\u{1b}') { ANSI.replace_all(&out, "").into_owned() } else { out }
}

/// The line without `<!-- … -->`, which may span several lines.
fn outside_comments(line: &str, inside: &mut bool) -> String {
    let mut out = String::new();
    let mut rest = line;
    loop {
        if *inside {
            let Some((_, after)) = rest.split_once("-->") else { return out };
            (rest, *inside) = (after, false);
        } else {
            let Some((before, after)) = rest.split_once("<!--") else {
                out.push_str(rest);
                return out;
            };
            out.push_str(before);
            (rest, *inside) = (after, true);
        }
    }
}

/// The line without quotation marks (`>`), and whether it had any. `>>>` is the prompt of Python.
fn unquote(line: &str) -> (&str, bool) {
    if line.starts_with(">>>") || !line.starts_with('>') {
        return (line, false);
    }
    (line.trim_start_matches(['>', ' ']), true)
}

/// The line without heading, bullet, emphasis and tags; and whether it had a bullet.
fn plain(line: &str) -> (String, bool) {
    let mut text = line.replace("**", "").replace('`', "");
    if text.contains('<') {
        text = BREAK.replace_all(&text, " ").into_owned();
        text = CELL.replace_all(&text, "|").into_owned();
        text = TAG.replace_all(&text, " ").into_owned();
    }
    if text.contains('&') {
        for (entity, c) in
            [("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")]
        {
            text = text.replace(entity, c);
        }
    }
    if text.contains("~~") {
        text = STRUCK.replace_all(&text, " ").into_owned();
    }
    if text.contains("](") {
        text = LINK.replace_all(&text, "$1 $2").into_owned();
    }
    let text = text.trim();
    let text = if text.starts_with('#') { text.trim_start_matches('#').trim_start() } else { text };
    let bullet = BULLET.is_match(text) || NUMBER.is_match(text);
    let text = BULLET.replace(text, "");
    let text = NUMBER.replace(&text, "$1");
    (text.trim().to_owned(), bullet)
}
