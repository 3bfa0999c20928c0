//! `{name}` placeholders in messages.

use std::collections::{BTreeMap, BTreeSet};

use super::shell_quote;

/// The names of all placeholders in `template`.
pub fn placeholders(template: &str) -> BTreeSet<&str> {
    pieces(template).filter_map(Result::err).collect()
}

/// Replaces each `{name}` by its value; a name without a value stays as it is.
pub fn fill(template: &str, args: &BTreeMap<&'static str, String>) -> String {
    fill_with(template, args, |_, value| value.to_owned())
}

/// As [`fill`], with each value quoted for a shell. A value whose name ends in `_words` is a list,
/// one word per line: each is quoted for itself.
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
    pieces(template)
        .map(|piece| match piece {
            Ok(text) => text.to_owned(),
            Err(name) => args.get(name).map_or_else(|| format!("{{{name}}}"), |v| show(name, v)),
        })
        .collect()
}

/// Splits into literal text (`Ok`) and placeholder names (`Err`). A name is made of lower-case
/// letters, digits and `_`; any other use of braces is literal text.
fn pieces(template: &str) -> impl Iterator<Item = Result<&str, &str>> {
    let mut rest = template;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut search = 0;
        while let Some(open) = rest[search..].find('{').map(|at| at + search) {
            let name_len = rest[open + 1..]
                .find(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'))
                .unwrap_or(rest.len() - open - 1);
            let close = open + 1 + name_len;
            if name_len > 0 && rest[close..].starts_with('}') {
                if open > 0 {
                    let (head, tail) = rest.split_at(open);
                    rest = tail;
                    return Some(Ok(head));
                }
                let name = &rest[1..close];
                rest = &rest[close + 1..];
                return Some(Err(name));
            }
            search = open + 1;
        }
        let all = rest;
        rest = "";
        Some(Ok(all))
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
    fn a_value_with_braces_is_not_expanded_again() {
        let args = BTreeMap::from([("a", "{b}".to_owned()), ("b", "x".to_owned())]);
        assert_eq!(fill("{a}", &args), "{b}");
    }

    #[test]
    fn names_are_listed() {
        assert_eq!(placeholders("{a} {b}{a} {not closed"), BTreeSet::from(["a", "b"]));
    }
}
