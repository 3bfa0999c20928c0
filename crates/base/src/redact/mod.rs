//! Takes secrets out of what is passed on to others.
//!
//! What a secret is, is known by its form (keys of known services, private keys, the user info of a
//! URL) or by its name (`password=…`). A tool that promises to find every secret promises too much:
//! whoever passes a bundle on has to look through it, and the documents say so.

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

/// What is taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Level {
    /// Tokens, keys, passwords, credentials in URLs.
    Secrets,
    /// Also addresses, host names and user names; other machines cannot run checks that need them.
    Hosts,
}

impl Level {
    /// The word that selects it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Secrets => "secrets",
            Self::Hosts => "hosts",
        }
    }
}

/// What a secret becomes, where the length may change.
const MARK: &[u8] = b"***";

/// Keys whose values are names.
const NAMED: [&str; 9] =
    ["user", "username", "login", "owner", "host", "hostname", "name", "node", "subject"];

/// The longest list of words that is read as a command line.
const MOST_WORDS: usize = 4096;

/// How often a text is looked at again after its secrets were taken out. Two passes settle all that
/// the property tests have found; the bound is for hostile texts.
const PASSES: usize = 4;

/// Takes secrets out, and counts them.
#[derive(Debug)]
pub struct Redactor {
    level: Level,
    /// Names of this host and its users.
    names: Names,
    count: usize,
}

impl Redactor {
    /// For texts of a machine with these names of hosts and users. Those that are words, or too
    /// short, go only where it is said that they are names.
    pub fn new(level: Level, names: impl IntoIterator<Item = String>) -> Self {
        let names = match level {
            Level::Secrets => Names::default(),
            Level::Hosts => Names::new(names),
        };
        Self { level, names, count: 0 }
    }

    /// How many were taken out so far.
    pub fn count(&self) -> usize {
        self.count
    }

    /// A text without its secrets.
    pub fn bytes<'a>(&mut self, text: &'a [u8]) -> Cow<'a, [u8]> {
        self.replace(text, |out, _| out.extend_from_slice(MARK))
    }

    /// The same with every secret overwritten in its place: sizes of files are evidence.
    pub fn in_place<'a>(&mut self, text: &'a [u8]) -> Cow<'a, [u8]> {
        self.replace(text, |out, secret| {
            // Lines stay lines.
            out.extend(secret.iter().map(|&b| if matches!(b, b'\n' | b'\r') { b } else { b'*' }));
        })
    }

    /// Every string and every key of a JSON value.
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
                        // `"password": "x"` is one statement in two strings.
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
                            // So is `"user": "li"`, which elsewhere is a word.
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

    /// A list of words may be a command line: an option and its value are two strings.
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
            // The part of a word that is a secret, without what is before it.
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

    /// `{"name": "TOKEN", "value": "x"}`, and a Kubernetes secret.
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

    /// A path below which something is passed on: as in the lists of what is there, and not counted.
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

    /// The text without what is found in it, in the end.
    fn settled(
        &self,
        text: &[u8],
        write: &impl Fn(&mut Vec<u8>, &[u8]),
    ) -> Option<(Vec<u8>, usize)> {
        let (mut now, count) = self.pass(text, write)?;
        // The mark of one secret may complete the form of another (`token=://x@` holds the user
        // info of a URL, and is long enough for a value only with the mark in it): what a second
        // run would take out goes now.
        for _ in 0..PASSES {
            match self.pass(&now, write) {
                Some((next, _)) if next != now => now = next,
                _ => break,
            }
        }
        Some((now, count))
    }

    /// The text without what is found in it now and how many places that were, if there are any.
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

    /// Where something is that goes.
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
