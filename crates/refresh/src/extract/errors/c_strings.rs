//! String literals of C and C++ sources.

/// Returns the string literals of a source, with their values. Adjacent literals are joined, as in
/// a compiler. Comments, character literals and digit separators are skipped. Raw strings
/// (`R"x(…)x"`) have no escapes.
pub(super) fn string_literals(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut adjacent = false;
    let mut rest = text;
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        if let Some((value, after)) = raw_string(rest, before).or_else(|| plain_string(rest)) {
            match found.last_mut() {
                Some(last) if adjacent => last.push_str(&value),
                _ => found.push(value),
            }
            (adjacent, rest, before) = (true, after, '"');
            continue;
        }
        if let Some(after) = comment(rest) {
            rest = after;
            continue;
        }
        if c == '\''
            && !before.is_ascii_alphanumeric()
            && let Some(after) = character(rest)
        {
            (adjacent, rest, before) = (false, after, c);
            continue;
        }
        adjacent &= c.is_whitespace();
        before = c;
        rest = &rest[c.len_utf8()..];
    }
    found
}

/// Returns the value of a raw string at the start of `text`, and the text after it.
fn raw_string(text: &str, before: char) -> Option<(String, &str)> {
    if before.is_ascii_alphanumeric() || before == '_' {
        return None;
    }
    let (delimiter, body) = text.strip_prefix("R\"")?.split_once('(')?;
    if delimiter.len() > 16 || delimiter.contains(['"', ' ', ')', '\\', '\n']) {
        return None;
    }
    let (value, after) = body.split_once(&format!("){delimiter}\""))?;
    Some((value.to_owned(), after))
}

/// Returns the value of a string at the start of `text`, and the text after it.
fn plain_string(text: &str) -> Option<(String, &str)> {
    let body = text.strip_prefix('"')?;
    let mut value = String::new();
    let mut chars = body.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, &body[at + 1..])),
            '\n' => return None,
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                'r' => value.push('\r'),
                '0' => value.push('\0'),
                // The literal continues on the next line.
                '\n' => {}
                other => value.push(other),
            },
            c => value.push(c),
        }
    }
    None
}

/// Returns the text after a comment at the start of `text`.
fn comment(text: &str) -> Option<&str> {
    if let Some(body) = text.strip_prefix("//") {
        return Some(body.find('\n').map_or("", |end| &body[end..]));
    }
    let body = text.strip_prefix("/*")?;
    Some(body.find("*/").map_or("", |end| &body[end + 2..]))
}

/// Returns the text after a character literal at the start of `text`.
fn character(text: &str) -> Option<&str> {
    let body = &text[1..];
    let mut chars = body.char_indices();
    match chars.next()?.1 {
        '\n' => return None,
        '\\' => {
            chars.next()?;
        }
        _ => {}
    }
    let (at, _) = chars.find(|(_, c)| matches!(c, '\'' | '\n'))?;
    body[at..].strip_prefix('\'')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_literals_are_one_value() {
        let text = "static const char c[] =\n    \"{\\n\"\n    \"  \\\"a\\\": \\\"b \" // why\n    \"c\\\"}\\n\";\nf(\"x\", \"y\");\n";
        assert_eq!(string_literals(text), ["{\n  \"a\": \"b c\"}\n", "x", "y"]);
    }

    #[test]
    fn raw_strings_have_no_escapes_and_are_joined() {
        let text =
            "const auto a = R\"(\n{\"x\": \"a\\n)\"\nR\"(b\"})\"; auto c = R\"d()\")d\"; FOR\"(\"";
        assert_eq!(string_literals(text), ["\n{\"x\": \"a\\nb\"}", ")\"", "("]);
    }

    #[test]
    fn quotes_outside_of_strings_open_nothing() {
        let text = "// \"a\nchar c = '\"'; char d = '\\''; int n = 1'000; /* \" */ s = \"b\\\"\";\n#error don't \"";
        assert_eq!(string_literals(text), ["b\""]);
    }
}
