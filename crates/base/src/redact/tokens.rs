//! Tokens of services, known by how they begin: the table `tokens.tsv`.

use std::sync::LazyLock;

use regex::bytes::Regex;

const TABLE: &str = include_str!("tokens.tsv");

/// A row of the table.
#[derive(Debug)]
struct Row<'a> {
    prefix: &'a str,
    characters: &'a str,
    least: usize,
    most: usize,
}

fn rows() -> impl Iterator<Item = Row<'static>> {
    TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut fields = line.split('\t');
        Some(Row {
            prefix: fields.next()?,
            characters: fields.next()?,
            least: fields.next()?.parse().ok()?,
            most: fields.next()?.parse().ok()?,
        })
    })
}

static TOKENS: LazyLock<Regex> = LazyLock::new(|| {
    let forms: Vec<String> = rows()
        .map(|row| {
            let set = match row.characters {
                "A" => "[A-Za-z0-9]",
                "U" => "[A-Z0-9]",
                "H" => "[0-9a-fA-F]",
                "B" => "[A-Za-z0-9_-]",
                _ => "[A-Za-z0-9_.=-]",
            };
            format!("{}{set}{{{},{}}}", regex::escape(row.prefix), row.least, row.most)
        })
        .collect();
    // What is longer than the longest token is none, but nothing harmless either.
    Regex::new(&format!(r"(?-u)\b(?:{})", forms.join("|")))
        .expect("the expression is proved by a test")
});

/// Where tokens are.
pub(super) fn find(text: &[u8]) -> impl Iterator<Item = (usize, usize)> + '_ {
    TOKENS.find_iter(text).map(|found| (found.start(), found.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_of_the_table_is_found() {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
        for line in lines.clone() {
            assert_eq!(line.split('\t').filter(|field| !field.is_empty()).count(), 6, "{line}");
        }
        assert_eq!(rows().count(), lines.count());
        for Row { prefix, characters, least, most } in rows() {
            let digit = if characters == "H" { "3" } else { "A" };
            for length in [least, most] {
                let text = format!("use {prefix}{} now", digit.repeat(length));
                let found = find(text.as_bytes()).next();
                assert_eq!(found, Some((4, text.len() - 4)), "{text}");
            }
            // Unless it has the form of another row.
            if rows().any(|row| row.prefix != prefix && prefix.starts_with(row.prefix)) {
                continue;
            }
            let text = format!("use {prefix}{} now", digit.repeat(least - 1));
            assert!(find(text.as_bytes()).next().is_none(), "{text}");
        }
    }
}
