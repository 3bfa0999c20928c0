//! Removes secrets from texts that are passed on to others.
//!
//! Secrets are recognized by their form (keys of known services, private keys, the user info of a
//! URL) or by their name (`password=…`). No tool finds every secret, so the documentation asks
//! users to review a bundle before they pass it on.

mod context;
mod domain;
mod names;
mod opaque;
mod patterns;
mod tokens;

use std::borrow::Cow;

use serde_json::Value;

use names::Names;
pub use names::{hosts, last, people, short};
use patterns::{HOSTS, SECRETS};

/// The kinds of data to redact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Level {
    /// Tokens, keys, passwords, credentials in URLs.
    Secrets,
    /// Also addresses, host names and user names; other machines cannot run checks that need them.
    Hosts,
}

impl Level {
    /// The word that selects the level.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Secrets => "secrets",
            Self::Hosts => "hosts",
        }
    }
}

/// The replacement for a secret where the length may change.
const MARK: &[u8] = b"***";

/// Keys whose values are names of users or hosts.
const NAMED: [&str; 9] =
    ["user", "username", "login", "owner", "host", "hostname", "name", "node", "subject"];

/// Maximum length of a list of words that is read as a command line.
const MOST_WORDS: usize = 4096;

/// Maximum number of further passes over a text after its secrets were removed. Two passes are
/// enough for all cases that the property tests have found; the limit is for hostile texts.
const PASSES: usize = 4;

/// Removes secrets and counts them.
#[derive(Debug)]
pub struct Redactor {
    level: Level,
    /// Names of this host and its users.
    names: Names,
    count: usize,
}

impl Redactor {
    /// Creates a redactor for texts of a machine with these names of hosts and users. Names that
    /// are words, or too short, are removed only where the context marks them as names.
    pub fn new(level: Level, names: impl IntoIterator<Item = String>) -> Self {
        let names = match level {
            Level::Secrets => Names::default(),
            Level::Hosts => Names::new(names),
        };
        Self { level, names, count: 0 }
    }

    /// The number of secrets removed so far.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns a text without its secrets.
    pub fn bytes<'a>(&mut self, text: &'a [u8]) -> Cow<'a, [u8]> {
        self.replace(text, |out, _| out.extend_from_slice(MARK))
    }

    /// As [`Self::bytes`], but overwrites every secret in place, because sizes of files are
    /// evidence.
    pub fn in_place<'a>(&mut self, text: &'a [u8]) -> Cow<'a, [u8]> {
        self.replace(text, |out, secret| {
            // Line breaks are kept.
            out.extend(secret.iter().map(|&b| if matches!(b, b'\n' | b'\r') { b } else { b'*' }));
        })
    }

    /// Redacts every string and every key of a JSON value.
    pub fn json(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(list) => {
                self.arguments(list);
                for inner in list {
                    self.json(inner);
                }
            }
            Value::Object(map) => {
                self.pair(map);
                *map = std::mem::take(map)
                    .into_iter()
                    .map(|(key, mut inner)| {
                        // `"password": "x"` is one assignment in two strings.
                        match &mut inner {
                            Value::String(text)
                                if patterns::names_a_secret(&key) && !text.is_empty() =>
                            {
                                self.mark(text);
                            }
                            Value::Array(list) if patterns::names_a_secret(&key) => {
                                for inner in list {
                                    match inner {
                                        Value::String(text) if !text.is_empty() => self.mark(text),
                                        inner => self.json(inner),
                                    }
                                }
                            }
                            // The same holds for `"user": "li"`; elsewhere `li` is a word.
                            Value::String(text)
                                if NAMED.contains(&&*key) && self.names.is_marked(text) =>
                            {
                                self.mark(text);
                            }
                            inner => self.json(inner),
                        }
                        (self.text(&key), inner)
                    })
                    .collect();
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Redacts a list of words, which may be a command line: an option and its value are two
    /// strings.
    fn arguments(&mut self, list: &mut [Value]) {
        let words: Option<Vec<&str>> = list.iter().map(Value::as_str).collect();
        let Some(words) = words.filter(|words| (2..=MOST_WORDS).contains(&words.len())) else {
            return;
        };
        let joined = words.join(" ");
        let mut spans = self.spans(joined.as_bytes());
        spans.sort_unstable();
        let mut start = 0;
        for word in list {
            let Value::String(text) = word else { continue };
            let range = start..start + text.len();
            start = range.end + 1;
            // The secret part of a word, without the text before it.
            let hit = spans.iter().find(|(from, to)| *from < range.end && *to > range.start);
            if let Some((from, _)) = hit {
                let kept = from.saturating_sub(range.start);
                if text.is_char_boundary(kept) && text[kept..] != *"***" {
                    text.truncate(kept);
                    text.push_str("***");
                    self.count += 1;
                }
            }
        }
    }

    /// Redacts `{"name": "TOKEN", "value": "x"}` and Kubernetes secrets.
    fn pair(&mut self, map: &mut serde_json::Map<String, Value>) {
        let says = |map: &serde_json::Map<String, Value>, key: &str, is: &dyn Fn(&str) -> bool| {
            map.get(key).and_then(Value::as_str).is_some_and(is)
        };
        if ["name", "key"].iter().any(|key| says(map, key, &patterns::names_a_secret))
            && let Some(Value::String(text)) = map.get_mut("value")
            && !text.is_empty()
        {
            self.mark(text);
        }
        if says(map, "kind", &|kind| kind == "Secret") {
            for block in ["data", "stringData"] {
                if let Some(Value::Object(values)) = map.get_mut(block) {
                    for value in values.values_mut() {
                        if let Value::String(text) = value {
                            self.mark(text);
                        }
                    }
                }
            }
        }
    }

    /// Redacts a path of a file in the bundle, as the file lists do, without counting it.
    pub fn path(&self, path: &str) -> String {
        let mark = |out: &mut Vec<u8>, _: &[u8]| out.extend_from_slice(MARK);
        let found = self.settled(path.as_bytes(), &mark);
        found.map_or_else(|| path.to_owned(), |(now, _)| String::from_utf8_lossy(&now).into_owned())
    }

    fn mark(&mut self, text: &mut String) {
        self.count += 1;
        "***".clone_into(text);
    }

    fn text(&mut self, text: &str) -> String {
        String::from_utf8_lossy(&self.bytes(text.as_bytes())).into_owned()
    }

    fn replace<'a>(
        &mut self,
        text: &'a [u8],
        write: impl Fn(&mut Vec<u8>, &[u8]),
    ) -> Cow<'a, [u8]> {
        let Some((now, count)) = self.settled(text, &write) else { return Cow::Borrowed(text) };
        self.count += count;
        Cow::Owned(now)
    }

    /// Returns the redacted text after repeated passes, or `None` if it has no secrets.
    fn settled(
        &self,
        text: &[u8],
        write: &impl Fn(&mut Vec<u8>, &[u8]),
    ) -> Option<(Vec<u8>, usize)> {
        let (mut now, count) = self.pass(text, write)?;
        // The mark of one secret may complete the form of another: `token=://x@` holds the user
        // info of a URL, and is long enough for a value only with the mark in it. The loop removes
        // everything that a second run would remove.
        for _ in 0..PASSES {
            match self.pass(&now, write) {
                Some((next, _)) if next != now => now = next,
                _ => break,
            }
        }
        Some((now, count))
    }

    /// Returns the text after one pass and the number of redacted places, if there are any.
    fn pass(&self, text: &[u8], write: impl Fn(&mut Vec<u8>, &[u8])) -> Option<(Vec<u8>, usize)> {
        let mut spans = self.spans(text);
        if spans.is_empty() {
            return None;
        }
        spans.sort_unstable();
        let mut out = Vec::with_capacity(text.len());
        let mut count = 0;
        let mut done = 0;
        let mut spans = spans.into_iter().peekable();
        while let Some((start, mut end)) = spans.next() {
            while let Some((_, later)) = spans.next_if(|(next, _)| *next <= end) {
                end = end.max(later);
            }
            out.extend_from_slice(&text[done..start]);
            write(&mut out, &text[start..end]);
            done = end;
            count += 1;
        }
        out.extend_from_slice(&text[done..]);
        Some((out, count))
    }

    /// Returns the byte ranges to redact.
    fn spans(&self, text: &[u8]) -> Vec<(usize, usize)> {
        let mut spans = patterns::find(&SECRETS, text);
        spans.extend(tokens::find(text));
        spans.extend(opaque::find(text));
        spans.extend(context::find_manifests(text));
        if self.level >= Level::Hosts {
            spans.extend(patterns::find(&HOSTS, text));
            spans.extend(domain::find(text));
            spans.extend(self.names.find(text));
        }
        spans
    }
}

#[cfg(test)]
mod tests;
