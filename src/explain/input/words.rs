//! Inputs that are not files: codes, names, versions, lines of logs, words.

use super::{Found, InputType, Route};
use crate::{SheetKind, Topic, find, sheets, variable_within};
use rules::{Match, Rules};

/// Maximum length of an input that is classified as words, in bytes. Longer texts are logs.
const WORDS: usize = 1000;

/// Finds out what a text is.
pub fn detect(text: &str) -> Found {
    let original = text;
    let text = &normalize(text);
    let one = |kind, command, input: &str| Found::One(Route::new(kind, command, input));
    if text.is_empty() {
        return Found::Nothing;
    }
    if text.contains('\n') || text.len() > WORDS {
        if super::issue::is_issue(text) {
            return one(InputType::Issue, &["triage"], original);
        }
        return one(InputType::LogText, &["translate-error", "--as", "text"], text);
    }
    if is_name(text) {
        return one(InputType::Name, &["explain"], text);
    }
    let sheets = sheets(text);
    // Versions within a line of a log are not what is asked about.
    let is_log = !errcodes::answer(text).is_known() && errcodes::log::states_cause(text);
    let named = errcodes::find_codes(text);
    let is_version = sheets.iter().all(|sheet| sheet.about == SheetKind::Release);
    if let Some(sheet) = sheets.first()
        && (!is_version || named.is_empty() && !is_log)
    {
        let route = Route::new(InputType::Fact, &["explain"], text);
        return Found::One(route.of_form(sheet.about.label()));
    }
    if !is_log && let Some(variable) = variable_within(text) {
        return one(InputType::Fact, &["explain"], variable);
    }
    let schemes = ["http://", "https://", "ftp://", "ssh://", "git@"];
    if schemes.iter().any(|scheme| text.starts_with(scheme)) {
        return Found::Address;
    }
    if is_log && text.contains(char::is_whitespace) {
        return one(InputType::LogText, &["translate-error", "--as", "text"], text);
    }
    // A word of a sentence may also be the name of a constant.
    let is_word = text.len() > 2 && text.bytes().all(|byte| byte.is_ascii_lowercase());
    if is_word && !errcodes::suggest(text).is_empty() {
        return one(InputType::Description, &["translate-error", "--as", "text"], text);
    }
    if errcodes::answer(text).is_known() || !named.is_empty() {
        return one(InputType::Code, &["translate-error", "--as", "code"], text);
    }
    if let Some(rule) = rule_of(text) {
        return one(InputType::Api, &["explain"], rule);
    }
    if let Some(route) = super::by_extension(text) {
        return Found::One(route);
    }
    if has_log_extension(text) {
        return one(InputType::Log, &["translate-error"], text);
    }
    if text.contains([' ']) || !text.is_ascii() {
        if !errcodes::suggest(text).is_empty() {
            return one(InputType::Description, &["translate-error", "--as", "text"], text);
        }
        if !errcodes::search(text).is_empty() {
            return one(InputType::Description, &["translate-error", "--search"], text);
        }
    }
    Found::Nothing
}

/// Replaces the characters that Chinese input methods and web pages use instead of ASCII ones, and
/// removes surrounding quotes and punctuation.
fn normalize(text: &str) -> String {
    let plain = |c: char| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{3000}' | '\u{a0}' => ' ',
        '\u{2010}'..='\u{2013}' | '\u{2212}' => '-',
        '“' | '”' => '"',
        '‘' | '’' => '\'',
        '。' => '.',
        '、' => ',',
        c => c,
    };
    let text: String = text.trim().chars().map(plain).collect();
    let mut text = text.trim().trim_end_matches([',', ';', '!']);
    // Only quotes around the whole text, not the last one of a sentence.
    for quote in ['`', '"', '\''] {
        let inner = text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
        text = inner.filter(|inner| !inner.contains(quote)).unwrap_or(text);
    }
    text.trim().trim_end_matches([',', ';', '!']).to_owned()
}

/// Whether a text is a name of a finding, a family, a cause or a rule.
fn is_name(text: &str) -> bool {
    let found = find(text).unwrap_or_default();
    let is_name = |topic: &Topic| !matches!(topic, Topic::Code(_) | Topic::Sheet(_));
    !found.is_empty() && found.iter().all(is_name)
}

/// The rule of `convert` for a function, a package or an execution provider.
fn rule_of(text: &str) -> Option<&'static str> {
    let rules = Rules::builtin();
    let name = text.trim_end_matches("()");
    let kinds = [Match::Api, Match::Library, Match::Package, Match::Provider];
    kinds.into_iter().find_map(|kind| rules.find(kind, name)).map(|rule| rule.id)
}

/// Whether a word has the extension of a log, although the file does not exist: the error for a
/// missing file is more useful than the one for an unknown input.
fn has_log_extension(text: &str) -> bool {
    let endings = [".log", ".txt", ".gz", ".tar", ".tgz", ".zip", ".zst", ".xz"];
    !text.contains(' ') && endings.iter().any(|ending| text.to_ascii_lowercase().ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is(text: &str, kind: InputType) {
        match detect(text) {
            Found::One(route) => assert_eq!(route.kind, kind, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn forms_that_people_type_are_told_apart() {
        is("507035", InputType::Code);
        is("“５０７０３５”，", InputType::Code);
        is("错误码507035", InputType::Code);
        is("CANN-HOME", InputType::Name);
        is("hccl.socket_timeout", InputType::Name);
        is("torch_npu 2.7.1", InputType::Fact);
        is("CUDA_VISIBLE_DEVICES=0", InputType::Fact);
        is("torch.cuda.Event", InputType::Api);
        is("RuntimeError: Failed to infer device type", InputType::LogText);
        is("service hangs at allreduce", InputType::Description);
        is("missing.log", InputType::Log);
    }

    #[test]
    fn nothing_is_said_of_what_is_not_known() {
        for text in ["hello", "weather", "how are you", "  ", "你好", "1.0", "H100"] {
            assert_eq!(detect(text), Found::Nothing, "{text}");
        }
        assert_eq!(detect("https://example.org/x/issues/1"), Found::Address);
    }
}
