//! Texts in both languages, of which the style sheet shows one, and their escaping.

use std::fmt::{self, Write};

use askama::Template;
use askama::filters::{Escaper, Html, Safe};

use base::text::{Text, escape_line};

/// Escapes every value of a template: control characters become visible, markup becomes text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Visible;

impl Escaper for Visible {
    fn write_escaped_str<W: Write>(&self, out: W, text: &str) -> fmt::Result {
        Html.write_escaped_str(out, &escape_line(text))
    }
}

/// A sentence in both languages. Its own template escapes its parts.
pub(super) type Words = Safe<Bilingual>;

/// A sentence in both languages, or once if they are equal.
#[derive(Debug, Template)]
#[template(path = "words.html")]
pub(super) struct Bilingual {
    en: Vec<Part>,
    zh: Option<Vec<Part>>,
}

/// A part of a sentence.
#[derive(Debug, PartialEq, Eq)]
struct Part {
    /// Whether it was in backticks.
    code: bool,
    text: String,
}

/// Prose, in which backticks mark code.
pub(super) fn words(text: &Text) -> Words {
    bilingual(text, split_code)
}

/// Text that is code or a quotation: its backticks are shown.
pub(super) fn verbatim(text: &Text) -> Words {
    bilingual(text, |text| vec![Part { code: false, text: text.to_owned() }])
}

fn bilingual(text: &Text, split: fn(&str) -> Vec<Part>) -> Words {
    let zh = (text.en != text.zh).then(|| split(&text.zh));
    Safe(Bilingual { en: split(&text.en), zh })
}

/// Splits at pairs of backticks. A backtick without a partner is text.
fn split_code(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut push = |code: bool, text: &str| {
        if !text.is_empty() {
            parts.push(Part { code, text: text.to_owned() });
        }
    };
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('`')
        && let Some((code, behind)) = after.split_once('`')
    {
        push(false, before);
        // An empty pair of backticks is not code: the backticks are shown.
        if code.is_empty() {
            push(false, "``");
        }
        push(true, code);
        rest = behind;
    }
    push(false, rest);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_become_code() {
        let shown = |text: &str| words(&Text::same(text)).to_string();
        assert_eq!(shown("run `a<b` now"), "run <code>a&#60;b</code> now");
        assert_eq!(shown("`a` and `b"), "<code>a</code> and `b");
        assert_eq!(shown("``"), "``");
        assert_eq!(shown(""), "");
    }

    #[test]
    fn both_languages_are_marked_unless_equal() {
        let text = Text::new("the `x`", "其 `x`");
        assert_eq!(
            words(&text).to_string(),
            "<span class=\"en\" lang=\"en\">the <code>x</code></span>\
             <span class=\"zh\" lang=\"zh-CN\">其 <code>x</code></span>"
        );
        assert_eq!(verbatim(&Text::same("`x`")).to_string(), "`x`");
    }

    #[test]
    fn control_characters_are_visible() {
        let shown = verbatim(&Text::same("<b a='x' c=\"y\">&\u{202e}\x1b\n")).to_string();
        let markup = "&#60;b a=&#39;x&#39; c=&#34;y&#34;&#62;&#38;";
        assert_eq!(shown, format!("{markup}\\u{{202e}}\\x1b\\n"));
    }
}
