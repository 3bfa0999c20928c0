//! The texts of a rule: its own note and advice, or texts that follow from its kind.

use super::rule::{Class, Match, Rule};
use base::text::Text;
use data::ui;

impl Rule {
    /// The matched name in readable form.
    pub fn subject(&self) -> String {
        let names: Vec<&str> = self.names().collect();
        match self.how {
            // The internal names of places.
            Match::Site | Match::File => self.name.replace('-', " "),
            // One of the functions represents those with the same meaning.
            Match::Call => {
                let first = names.first().copied().unwrap_or_default();
                let end = first.rfind(':').unwrap_or(first.len());
                let close = if end < first.len() { ")" } else { "" };
                let more = if names.len() > 1 { ", …" } else { "" };
                format!("{}{close}{more}", &first[..end])
            }
            _ => names.join(", "),
        }
    }

    /// The title of a finding, without the places.
    pub fn title(&self) -> Text {
        if matches!(self.how, Match::Site | Match::File | Match::Call | Match::Option)
            && let Some(note) = self.text().note
        {
            return Text::new(first_sentence(note.en), first_sentence(note.zh));
        }
        let name = self.subject();
        match (self.how, self.class) {
            (Match::Site | Match::File | Match::Call | Match::Option, _) => {
                ui::ConvertTitlePlace { name }.text()
            }
            (Match::Library, Class::Missing) => ui::ConvertTitleLibraryMissing { name }.text(),
            (Match::Library, _) => ui::ConvertTitleLibrary { name }.text(),
            (_, Class::Missing) => ui::ConvertTitleMissing { name }.text(),
            (_, Class::Semantics) => ui::ConvertTitleSemantics { name }.text(),
            (_, Class::Keep) => ui::ConvertTitleKeep { name }.text(),
            _ => ui::ConvertTitleOther { name, to: self.to.unwrap_or_default() }.text(),
        }
    }

    /// The reason why the finding matters.
    pub fn cause(&self) -> Text {
        let label = match self.class {
            Class::Missing => ui::CONVERT_CAUSE_MISSING,
            Class::Semantics => ui::CONVERT_CAUSE_SEMANTICS,
            Class::Keep => ui::CONVERT_CAUSE_KEEP,
            Class::Direct | Class::Renamed | Class::Insert => ui::CONVERT_CAUSE_OTHER,
        };
        self.text().note.map_or_else(|| label.text(), Text::from)
    }

    /// The reason why the finding matters, without the part in the title; may be empty.
    pub fn cause_beyond_title(&self) -> Text {
        let cause = self.cause();
        if !matches!(self.how, Match::Site | Match::File | Match::Call | Match::Option)
            || self.text().note.is_none()
        {
            return cause;
        }
        let rest = |text: &str| {
            let rest = &text[first_sentence(text).len()..];
            // Text after a semicolon is only a part of a sentence.
            let whole = rest.starts_with([';', '；']);
            let rest =
                if whole { text } else { rest.trim_start_matches(['.', '。']).trim_start() };
            rest.to_owned()
        };
        Text::new(rest(&cause.en), rest(&cause.zh))
    }

    /// The required manual work, if the place is flagged.
    pub fn fix(&self) -> Text {
        if let Some(advice) = self.text().advice {
            return advice.into();
        }
        let to = self.to.unwrap_or_default();
        match self.class {
            _ if !to.is_empty() => ui::ConvertFixTo { to }.text(),
            Class::Missing => ui::CONVERT_FIX_MISSING.text(),
            _ => ui::CONVERT_FIX_LOOK.text(),
        }
    }
}

/// The text up to the first full stop that ends a sentence.
fn first_sentence(text: &str) -> &str {
    let end = text
        .char_indices()
        .find(|&(at, c)| {
            matches!(c, '。' | ';' | '；') || c == '.' && text[at + 1..].starts_with(' ')
        })
        .map_or(text.len(), |(at, _)| at);
    text[..end].trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rules;
    use base::text::placeholders;

    #[test]
    fn every_rule_has_words_in_both_languages() {
        for rule in &Rules::builtin().rules {
            for text in [rule.title(), rule.cause(), rule.fix()] {
                assert!(!text.en.is_empty() && !text.zh.is_empty(), "{}", rule.id);
                assert!(!placeholders(&text.en).contains("name"), "{}: {}", rule.id, text.en);
            }
        }
    }

    #[test]
    fn a_title_is_one_sentence() {
        assert_eq!(first_sentence("torch.npu has it. But not so."), "torch.npu has it");
        assert_eq!(first_sentence("不支持。请改用其他接口。"), "不支持");
        for rule in &Rules::builtin().rules {
            let (title, cause) = (rule.title(), rule.cause_beyond_title());
            assert_ne!(title.en, cause.en.trim_end_matches('.'), "{}", rule.id);
        }
    }
}
