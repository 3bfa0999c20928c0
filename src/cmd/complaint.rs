//! Why the program could not work, as it is told: every cause once, in the language of the user.

use super::usage::language;
use base::text::Lang;
use data::localize_error;
use data::word;

/// The line that is said of an error; `lang` is what was asked for, else the variables decide.
#[must_use]
pub fn complaint(error: &anyhow::Error, lang: Option<Lang>) -> String {
    let lang = language(lang);
    let mut said: Vec<String> = Vec::new();
    for cause in error.chain() {
        let text = cause.to_string();
        // Some errors end with their cause already.
        if said.last().is_some_and(|last| last.ends_with(&text)) {
            continue;
        }
        said.push(text);
    }
    let colon = if lang == Lang::Zh { "：" } else { ": " };
    let said: Vec<String> =
        said.iter().map(|text| localize_error(text).get(lang).to_owned()).collect();
    format!("{}{colon}{}", word("error", lang), said.join(colon))
}

#[cfg(test)]
mod tests {
    use super::*;
    use treeedit::commit::CommitError;
    use treeedit::journal::JournalError;

    #[test]
    fn a_cause_that_its_error_names_is_said_once() {
        let full = std::io::Error::from_raw_os_error(28);
        let journal = JournalError::Io("j".into(), full);
        let error = anyhow::Error::from(CommitError::from(journal)).context("it failed");
        let said = complaint(&error, Some(Lang::En));
        assert_eq!(said.matches("No space left").count(), 1, "{said}");
        assert!(said.starts_with("error: it failed: the journal for `--undo`"), "{said}");
        let said = complaint(&error, Some(Lang::Zh));
        assert!(said.ends_with("`j`：磁盘空间不足 (os error 28)"), "{said}");
    }
}
