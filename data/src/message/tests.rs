#![expect(clippy::disallowed_methods, reason = "compares generated code with its tables")]

use std::path::Path;

use base::text::placeholders;

use crate::messages_code;

/// An edited sentence needs no new code, but a new message or value does: `cargo xtask messages`.
#[test]
fn generated_code_is_current() {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/messages");
    let files = crate::generated_messages().unwrap();
    for (name, content) in &files {
        let known = std::fs::read_to_string(home.join(name)).unwrap_or_default();
        assert!(known == *content, "data/src/messages/{name} is stale: run `cargo xtask messages`");
    }
    for entry in walkdir::WalkDir::new(&home).into_iter().map(Result::unwrap) {
        let name = entry.path().strip_prefix(&home).unwrap().to_str().unwrap();
        let known = name == "mod.rs" || files.contains_key(name);
        assert!(known || !entry.file_type().is_file(), "{name} is not generated");
    }
}

#[test]
fn generator_reads_placeholders_as_sentences_are_filled() {
    let texts =
        ["{n:file|files} in {path}, {a:b}", "{} {A} {a{b}", "{a} {b:c|d {e}", "版{版}{x_1}"];
    let tables = crate::built_in_texts().into_values().collect::<Vec<_>>();
    for text in texts.into_iter().chain(tables.iter().flat_map(|text| text.lines())) {
        let found = messages_code::placeholders(text).map(|(name, _)| name);
        assert_eq!(found.collect::<std::collections::BTreeSet<_>>(), placeholders(text), "{text}");
    }
}

#[test]
fn missing_translations_are_refused() {
    let generate = |table: &str| {
        let tables = [("ui.toml".to_owned(), format!("[word]\n{table}"))];
        messages_code::generate(&tables.into_iter().collect()).map(|_| ())
    };
    assert_eq!(generate("a = { en = \"A\", zh = \"甲\" }"), Ok(()));
    let error = generate("a = { en = \"A\" }").unwrap_err();
    assert_eq!(error, "data/ui.toml: a has no `zh`");
    let error = generate("a = { en = \"{n}\", zh = \"{m}\" }").unwrap_err();
    assert_eq!(error, "data/ui.toml: a: only one language has `{m}`");
}
