//! Planted secrets of many kinds: all must be removed, and ordinary log lines must stay unchanged.
#![expect(clippy::disallowed_methods, reason = "reads the tables of this project")]
#![expect(clippy::unwrap_used, reason = "a malformed row is a failure")]

use base::redact::{Level, Redactor};

const PLANTED: &str = include_str!("planted_secrets.txt");

/// Generated characters. They are deterministic, so that a failure can be reproduced.
struct Characters(u64);

impl Characters {
    fn next(&mut self, set: &str) -> char {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let set: Vec<char> = set.chars().collect();
        let at = (self.0 >> 16) as usize % set.len();
        set[at]
    }

    /// Replaces `{36A}` and the like.
    fn expand(&mut self, text: &str) -> String {
        let shape = regex::Regex::new(r"\{(\d+)([AhUld])\}").unwrap();
        let (digits, small) = ("0123456789", "abcdefghijklmnopqrstuvwxyz");
        let capitals = small.to_ascii_uppercase();
        shape
            .replace_all(text, |found: &regex::Captures<'_>| {
                let set = match &found[2] {
                    "A" => format!("{small}{capitals}{digits}"),
                    "h" => "0123456789abcdef".to_owned(),
                    "U" => format!("{capitals}{digits}"),
                    "l" => format!("{small}{digits}"),
                    _ => digits.to_owned(),
                };
                (0..found[1].parse().unwrap()).map(|_| self.next(&set)).collect::<String>()
            })
            .into_owned()
    }
}

struct Planted {
    kind: String,
    row: String,
    text: String,
    secrets: Vec<String>,
}

fn planted() -> Vec<Planted> {
    let mut characters = Characters(0x9e37_79b9_7f4a_7c15);
    let rows = PLANTED.lines().filter(|line| !line.starts_with('#'));
    rows.map(|row| {
        let (kind, text) = row.split_once('\t').unwrap();
        let text = text.replace("\\\\", "\u{0}").replace("\\n", "\n").replace("\\t", "\t");
        let text = characters.expand(&text.replace('\u{0}', "\\"));
        let marked = regex::Regex::new("‹([^›]*)›").unwrap();
        let secrets = marked.captures_iter(&text).map(|found| found[1].to_owned()).collect();
        let text = text.replace(['‹', '›'], "");
        Planted { kind: kind.to_owned(), row: row.to_owned(), text, secrets }
    })
    .collect()
}

/// Returns whether a secret, or a considerable part of it, is still in a text.
fn remains(secret: &str, text: &str) -> bool {
    let secret: Vec<char> = secret.chars().collect();
    let part = secret.len().min((secret.len() / 2).max(6));
    secret.windows(part).any(|part| text.contains(&part.iter().collect::<String>()))
}

/// Returns the text as redacted by each method that a bundle uses.
fn ways(planted: &Planted) -> Vec<(&'static str, String)> {
    let redactor = || Redactor::new(Level::Secrets, []);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let bytes = planted.text.as_bytes();
    let mut ways =
        vec![("log", text(&redactor().bytes(bytes))), ("file", text(&redactor().in_place(bytes)))];
    let value = match planted.kind.as_str() {
        "env" => planted.text.split_once('=').map(|(name, value)| {
            serde_json::Value::Object([(name.to_owned(), value.into())].into_iter().collect())
        }),
        "cmd" => {
            let words = planted.text.split(' ').map(|word| word.replace(['\'', '"'], ""));
            Some(words.collect::<Vec<_>>().into()).filter(|_| !planted.text.contains(['\'', '"']))
        }
        _ => serde_json::from_str(&planted.text).ok(),
    };
    if let Some(mut value) = value {
        redactor().json(&mut value);
        ways.push(("json", value.to_string()));
    }
    ways
}

#[test]
fn no_planted_secret_remains() {
    let all = planted();
    assert!(all.len() >= 120, "{}", all.len());
    let failed: Vec<String> = all
        .iter()
        .filter_map(|planted| {
            let ways = ways(planted);
            let failed: Vec<String> = ways
                .iter()
                .filter(|(_, text)| planted.secrets.iter().any(|secret| remains(secret, text)))
                .map(|(way, text)| format!("    {way}: {text}"))
                .collect();
            (!failed.is_empty()).then(|| format!("{}\n{}", planted.row, failed.join("\n")))
        })
        .collect();
    assert!(
        failed.is_empty(),
        "{} of {} planted texts keep a secret:\n{}",
        failed.len(),
        all.len(),
        failed.join("\n")
    );
}

/// Lines of logs without secrets: fixtures, and the healthy lines and examples of the tables.
fn ordinary_lines() -> Vec<String> {
    let home = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut places: Vec<_> =
        ["data/errors/healthy.txt", "data/errors/signatures", "tests/fixtures/logs"]
            .map(|place| home.join(place))
            .into();
    // More logs, for a manual measurement.
    places.extend(std::env::var_os("ASCEND_DOCTOR_ORDINARY_LOGS").map(Into::into));
    let files = places.iter().flat_map(|place| walkdir::WalkDir::new(place).sort_by_file_name());
    let files = files.map(Result::unwrap).filter(|entry| entry.file_type().is_file());
    let mut lines = Vec::new();
    for entry in files {
        let bytes = std::fs::read(entry.path()).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        lines.extend(text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned));
    }
    lines
}

#[test]
fn ordinary_log_lines_stay() {
    let lines = ordinary_lines();
    assert!(lines.len() > 300, "{} lines", lines.len());
    let mut redactor = Redactor::new(Level::Secrets, []);
    let altered: Vec<String> = lines
        .iter()
        .filter_map(|line| {
            let now = String::from_utf8_lossy(&redactor.bytes(line.as_bytes())).into_owned();
            (now != *line).then(|| format!("{line}\n    {now}"))
        })
        .collect();
    println!("{} of {} ordinary lines altered", altered.len(), lines.len());
    let report = altered.join("\n");
    assert!(altered.len() * 1000 < lines.len().max(1001), "{} altered:\n{report}", altered.len());
}
