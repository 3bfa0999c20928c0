//! Why the program could not work, as it is told: every cause once, in the language of the user.

use super::usage::language;
use crate::text::{Lang, faults, word};

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
        said.iter().map(|text| faults::told(text).get(lang).to_owned()).collect();
    format!("{}{colon}{}", word("error", lang), said.join(colon))
}
