//! Placeholders in messages: `{name}`, and `{name:file|files}` for a count with its noun.

use std::collections::{BTreeMap, BTreeSet};

use super::shell_quote;

/// The names of all placeholders in `template`.
pub fn placeholders(template: &str) -> BTreeSet<&str> {
    let placeholder = |piece| match piece {
        Piece::Text(_) => None,
        Piece::Value { name, .. } => Some(name),
    };
    pieces(template).filter_map(placeholder).collect()
}

/// Replaces each `{name}` by its value; a name without a value stays unchanged. `{name:file|files}`
/// becomes the value and one of the words: the first behind `1`, the second behind any other value.
pub fn fill(template: &str, args: &BTreeMap<&'static str, String>) -> String {
    fill_with(template, args, |_, value| value.to_owned())
}

/// A template for the documentation of a message, without values: `… files` for `{n:file|files}`.
pub fn described(template: &str) -> String {
    let shown = |piece| match piece {
        Piece::Text(text) => text.to_owned(),
        Piece::Value { words: None, .. } => "…".to_owned(),
        Piece::Value { words: Some((_, many)), .. } => format!("… {many}"),
    };
    pieces(template).map(shown).collect()
}

/// As [`fill`], with each value quoted for a shell. A value whose name ends in `_words` is a list,
/// one word per line: each word is quoted separately.
pub fn fill_quoted(template: &str, args: &BTreeMap<&'static str, String>) -> String {
    fill_with(template, args, |name, value| {
        if name.ends_with("_words") {
            value.lines().map(shell_quote).collect::<Vec<_>>().join(" ")
        } else {
            shell_quote(value).into_owned()
        }
    })
}

fn fill_with(
    template: &str,
    args: &BTreeMap<&'static str, String>,
    show: impl Fn(&str, &str) -> String,
) -> String {
    let mut out = String::with_capacity(template.len() + 32);
    for piece in pieces(template) {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Value { name, whole, words } => match args.get(name) {
                None => out.push_str(whole),
                Some(value) => {
                    out.push_str(&show(name, value));
                    if let Some((one, many)) = words {
                        out.push(' ');
                        out.push_str(if value == "1" { one } else { many });
                    }
                }
            },
        }
    }
    out
}

/// A part of a template, for matching a sentence against it.
pub enum Part<'t> {
    /// Literal text.
    Text(&'t str),
    /// A placeholder.
    Name(&'t str),
}

/// The parts of a template, in order.
pub fn parts(template: &str) -> impl Iterator<Item = Part<'_>> {
    pieces(template).map(|piece| match piece {
        Piece::Text(text) => Part::Text(text),
        Piece::Value { name, .. } => Part::Name(name),
    })
}

/// A piece of a template.
enum Piece<'t> {
    /// Literal text.
    Text(&'t str),
    /// A placeholder.
    Value {
        name: &'t str,
        /// The source text, with its braces.
        whole: &'t str,
        /// The nouns for one and for any other number.
        words: Option<(&'t str, &'t str)>,
    },
}

/// Splits into literal text and placeholders. A name is made of lower-case letters, digits and `_`;
/// any other use of braces is literal text.
fn pieces(template: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = template;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut search = 0;
        while let Some(open) = rest[search..].find('{').map(|at| at + search) {
            let Some((value, length)) = placeholder(&rest[open..]) else {
                search = open + 1;
                continue;
            };
            if open > 0 {
                let (head, tail) = rest.split_at(open);
                rest = tail;
                return Some(Piece::Text(head));
            }
            rest = &rest[length..];
            return Some(value);
        }
        Some(Piece::Text(std::mem::take(&mut rest)))
    })
}

/// Returns the placeholder at the beginning of a text, and its length.
fn placeholder(text: &str) -> Option<(Piece<'_>, usize)> {
    let inside = text.strip_prefix('{')?;
    let in_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let end = inside.find(|c| !in_name(c)).filter(|end| *end > 0)?;
    let (name, behind) = inside.split_at(end);
    let (words, rest) = match behind.strip_prefix(':') {
        None => (None, behind),
        Some(words) => {
            let (words, _) = words.split_once('}')?;
            (Some(words.split_once('|')?), &behind[1 + words.len()..])
        }
    };
    rest.strip_prefix('}').map(|rest| {
        let length = text.len() - rest.len();
        (Piece::Value { name, whole: &text[..length], words }, length)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_put_in() {
        let args = BTreeMap::from([("path", "/a b".to_owned())]);
        assert_eq!(fill("{path} is {what}, {} {A}", &args), "/a b is {what}, {} {A}");
        assert_eq!(fill_quoted("ls {path}", &args), "ls '/a b'");
        let list = BTreeMap::from([("all_words", "numpy<2\nabsl-py\na b".to_owned())]);
        assert_eq!(fill_quoted("pip {all_words}", &list), "pip 'numpy<2' absl-py 'a b'");
    }

    #[test]
    fn counted_nouns_follow_the_number() {
        let of = |n: &str| {
            let args = BTreeMap::from([("n", n.to_owned())]);
            fill("{n:file holds|files hold} {n} of {m:byte|bytes} {a:b} {n:c", &args)
        };
        assert_eq!(of("1"), "1 file holds 1 of {m:byte|bytes} {a:b} {n:c");
        assert_eq!(of("21"), "21 files hold 21 of {m:byte|bytes} {a:b} {n:c");
        assert_eq!(placeholders("{n:file|files} {a:b}"), BTreeSet::from(["n"]));
        assert_eq!(described("{n:file|files} in {path}, {a:b}"), "… files in …, {a:b}");
    }

    #[test]
    fn a_value_with_braces_is_not_expanded_again() {
        let args = BTreeMap::from([("a", "{b}".to_owned()), ("b", "x".to_owned())]);
        assert_eq!(fill("{a}", &args), "{b}");
    }

    #[test]
    fn names_are_listed() {
        assert_eq!(placeholders("{a} {b}{a} {not closed"), BTreeSet::from(["a", "b"]));
    }
}
