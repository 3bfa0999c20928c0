//! Quotes words for a POSIX shell, for the commands that a fix proposes.

use std::borrow::Cow;

use super::escape_line;

/// Quotes `word` so that a POSIX shell reads it back as one word. Control characters are made
/// visible first: a proposed command must never carry an escape sequence.
pub fn shell_quote(word: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_alphanumeric() || "_-./:=@%+,~".contains(c);
    if !word.is_empty() && !word.starts_with('~') && word.chars().all(plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", escape_line(word).replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_stay() {
        assert_eq!(shell_quote("/usr/local/Ascend/set_env.sh"), "/usr/local/Ascend/set_env.sh");
    }

    #[test]
    fn others_are_quoted() {
        assert_eq!(shell_quote("a b"), "'a b'");
        assert_eq!(shell_quote("a'; rm -rf /"), r"'a'\''; rm -rf /'");
        assert_eq!(shell_quote(""), "''");
    }
}
