//! Formats the error that ended a run: every cause once, in the language of the user.

use super::standard_streams::print_to_stderr;
use super::usage::choose_language;
use base::text::{Lang, Text, escape_line};
use data::{Fault, FileError, fault::describe_chain, faults, ui};

/// Returns the line to print for an error. Without `lang`, the environment selects the language.
#[must_use]
pub fn format_error(error: &anyhow::Error, lang: Option<Lang>) -> String {
    let lang = choose_language(lang);
    let colon = if lang == Lang::Zh { "：" } else { ": " };
    format!("{}{colon}{}", ui::ERROR.get(lang), describe_chain(error.chain()).get(lang))
}

/// Prints the error that ended a run.
pub fn print_error(error: &anyhow::Error, lang: Option<Lang>) {
    print_to_stderr(&format_error(error, lang));
}

/// Returns the error as the cause of another. A plain conversion would hide its type and with it
/// its Chinese text.
pub(super) fn as_cause(error: anyhow::Error) -> Box<dyn std::error::Error + Send + Sync> {
    match error.downcast::<Fault>() {
        Ok(fault) => fault.into(),
        Err(error) => error.into(),
    }
}

/// An error in a line of a user's file.
pub(super) fn in_line(file: &str, error: &FileError) -> Fault {
    let FileError { line, what } = error;
    let why = Text::new(escape_line(&what.en), escape_line(&what.zh));
    faults::FileLine { file, line: *line, why }.fault()
}

/// A hint at names that resemble the unknown one.
pub(super) fn did_you_mean(near: &[String]) -> Fault {
    faults::DidYouMean { near: Text::new(near.join("` or `"), near.join("`、`")) }.fault()
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
        let fault = CommitError::from(journal).fault();
        let error = anyhow::Error::from(faults::BundleNotWritten.fault().because(fault));
        let parts = format_error(&error, Some(Lang::En));
        assert_eq!(parts.matches("No space left").count(), 1, "{parts}");
        assert!(
            parts.starts_with("error: the bundle was not written: cannot write the journal"),
            "{parts}"
        );
        let parts = format_error(&error, Some(Lang::Zh));
        assert!(parts.ends_with("`j`：磁盘空间不足 (os error 28)"), "{parts}");
    }
}
