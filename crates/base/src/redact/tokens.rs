//! Tokens of services, known by their form: the table `tokens.tsv`.

use std::sync::LazyLock;

use regex::bytes::Regex;

const TABLE: &str = include_str!("tokens.tsv");

/// A part of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part<'a> {
    Literal(&'a str),
    /// Characters of one class.
    Run {
        class: char,
        least: usize,
        most: Option<usize>,
    },
}

/// Returns the parts of `ghp_<A20-255>`, or `None` if the text is not a form.
fn parts(mut form: &str) -> Option<Vec<Part<'_>>> {
    let mut parts = Vec::new();
    while let Some((literal, rest)) = form.split_once('<') {
        let (run, rest) = rest.split_once('>')?;
        let mut letters = run.chars();
        let class = letters.next().filter(|class| set(*class).is_some())?;
        let range = letters.as_str();
        let (least, most) = range.split_once('-').unwrap_or((range, range));
        let most = if most.is_empty() { None } else { Some(most.parse().ok()?) };
        let run = Part::Run { class, least: least.parse().ok()?, most };
        parts.extend([Part::Literal(literal), run]);
        form = rest;
    }
    parts.push(Part::Literal(form));
    parts.retain(|part| *part != Part::Literal(""));
    Some(parts)
}

const fn set(class: char) -> Option<&'static str> {
    Some(match class {
        'A' => "[A-Za-z0-9]",
        'U' => "[A-Z0-9]",
        'H' => "[0-9a-fA-F]",
        'D' => "[0-9]",
        'B' => "[A-Za-z0-9_-]",
        'T' => "[A-Za-z0-9_.=-]",
        'Z' => "[A-Za-z0-9_.~-]",
        'S' => "[A-Za-z0-9+/=_-]",
        _ => return None,
    })
}

fn forms() -> impl Iterator<Item = Vec<Part<'static>>> {
    let rows = TABLE.lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|line| parts(line.split('\t').next()?))
}

static TOKENS: LazyLock<Regex> = LazyLock::new(|| {
    let expressions: Vec<String> = forms()
        .map(|parts| {
            let expression = |part| match part {
                Part::Literal(text) => regex::escape(text),
                Part::Run { class, least, most } => {
                    let most = most.map_or(String::new(), |most| most.to_string());
                    format!("{}{{{least},{most}}}", set(class).unwrap_or_default())
                }
            };
            parts.into_iter().map(expression).collect()
        })
        .collect();
    // A value longer than the longest token is not a token, but is not harmless either.
    Regex::new(&format!(r"(?-u)\b(?:{})", expressions.join("|")))
        .expect("the expression is proved by a test")
});

/// Returns the byte ranges of the tokens.
pub(super) fn find(text: &[u8]) -> impl Iterator<Item = (usize, usize)> + '_ {
    TOKENS.find_iter(text).map(|found| (found.start(), found.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a token of this form with runs of the minimum or maximum length.
    fn example(parts: &[Part<'_>], longest: bool) -> String {
        let text = |part: &Part<'_>| match *part {
            Part::Literal(text) => text.to_owned(),
            Part::Run { class, least, most } => {
                let letter = if matches!(class, 'H' | 'D') { "3" } else { "A" };
                letter.repeat(if longest { most.unwrap_or(4000) } else { least })
            }
        };
        parts.iter().map(text).collect()
    }

    #[test]
    fn every_token_of_the_table_is_found() {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
        let mut seen = std::collections::BTreeSet::new();
        for line in lines.clone() {
            let fields: Vec<&str> = line.split('\t').filter(|field| !field.is_empty()).collect();
            assert!(fields.len() == 3 && parts(fields[0]).is_some(), "{line}");
            assert!(seen.insert(fields[0]), "twice: {line}");
        }
        assert_eq!(forms().count(), lines.count());
        for form in forms() {
            for longest in [false, true] {
                let token = example(&form, longest);
                let text = format!("use {token} now");
                let found = find(text.as_bytes()).next();
                // A shorter form may match the beginning of a longer one. The whole token must be
                // removed.
                assert!(found.is_some_and(|(from, _)| from == 4), "{text}");
                let whole = find(text.as_bytes()).last();
                assert_eq!(whole.map(|(_, to)| to), Some(text.len() - 4), "{text}");
            }
        }
    }

    /// A token without its last letter does not match, unless another form is shorter.
    #[test]
    fn what_is_too_short_is_no_token() {
        let mut checked = 0;
        for form in forms() {
            let mut token = example(&form, false);
            token.pop();
            let may_match = |other: &[Part<'_>]| match other.first() {
                Some(Part::Literal(text)) => token.starts_with(text),
                _ => false,
            };
            let others = forms().filter(|other| *other != form).any(|other| may_match(&other));
            if !others {
                checked += 1;
                let text = format!("use {token} now");
                assert!(find(text.as_bytes()).next().is_none(), "{text}");
            }
        }
        assert!(checked > 60, "{checked}");
    }

    #[test]
    fn forms_with_a_mistake_are_refused() {
        for form in ["ghp_<A20", "ghp_<20>", "ghp_<A>", "ghp_<A1-x>", "ghp_<Q4>"] {
            assert!(parts(form).is_none(), "{form}");
        }
        let run = Part::Run { class: 'A', least: 2, most: Some(5) };
        assert!(matches!(parts("<A2->").as_deref(), Some([Part::Run { most: None, .. }])));
        assert_eq!(parts("a.<A2-5>.b"), Some(vec![Part::Literal("a."), run, Part::Literal(".b")]));
    }
}
