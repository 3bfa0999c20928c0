//! Formats the error that ended a run: every cause once, in the language of the user.

use super::usage::choose_language;
use base::text::Lang;
use data::localize_error;
use data::word;

/// Returns the line to print for an error. Without `lang`, the environment selects the language.
#[must_use]
pub fn format_error(error: &anyhow::Error, lang: Option<Lang>) -> String {
    let lang = choose_language(lang);
    let mut parts: Vec<String> = Vec::new();
    for cause in error.chain() {
        let text = cause.to_string();
        // Some errors already end with their cause.
        if parts.last().is_some_and(|last| last.ends_with(&text)) {
            continue;
        }
        parts.push(text);
    }
    let colon = if lang == Lang::Zh { "：" } else { ": " };
    let parts: Vec<String> =
        parts.iter().map(|text| localize_error(text).get(lang).to_owned()).collect();
    format!("{}{colon}{}", word("error", lang), parts.join(colon))
}

#[cfg(test)]
mod tests {
    use super::*;
    use treeedit::commit::CommitError;
    use treeedit::journal::JournalError;

    #[test]
    fn cause_named_by_its_error_is_printed_once() {
        let full = std::io::Error::from_raw_os_error(28);
        let journal = JournalError::Io("j".into(), full);
        let error = anyhow::Error::from(CommitError::from(journal)).context("it failed");
        let parts = format_error(&error, Some(Lang::En));
        assert_eq!(parts.matches("No space left").count(), 1, "{parts}");
        assert!(parts.starts_with("error: it failed: the journal for `--undo`"), "{parts}");
        let parts = format_error(&error, Some(Lang::Zh));
        assert!(parts.ends_with("`j`：磁盘空间不足 (os error 28)"), "{parts}");
    }
}
