//! Texts that name a cause, and causes that explain others: types only, without the lookup.

use std::sync::OnceLock;

use regex::bytes::Regex;
use serde::Deserialize;

use data::fault::quote;
use data::{Fault, faults};

use super::role::Role;

/// The least length of a literal, in bytes: shorter ones are on too many lines.
pub(crate) const LITERAL: usize = 6;

/// A text that identifies a cause.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// A stable key.
    pub id: String,
    /// The cause, or the kind of context.
    pub cause: String,
    /// The role of the text in a failure.
    pub role: Role,
    /// How specific it is, 1 to 100.
    pub weight: u8,
    /// Literals; every matching line contains one of them.
    pub literals: Vec<String>,
    /// The expression; bytes, without Unicode.
    pub regex: String,
    /// A line that it matches.
    pub example: String,
    /// A line that it must not match.
    pub counter: String,
    /// The source of the text.
    pub source: String,
    /// Packages, one of which raised the exception; empty if the package does not matter.
    #[serde(default)]
    pub raised_in: Vec<String>,
    /// Whether it only names the part of CANN that writes, without a failure.
    #[serde(default)]
    pub place: bool,
    #[serde(skip)]
    compiled: OnceLock<Option<Regex>>,
}

/// The weight of a text that only shows that something failed.
const LAST_RESORT: u8 = 13;

impl Signature {
    /// Returns a signature that matches `words` in this order: it shows its cause without stating
    /// it.
    pub(super) fn from_words(
        id: String,
        cause: String,
        weight: u8,
        words: &[String],
        source: String,
    ) -> Self {
        let longest = words.iter().max_by_key(|word| word.len()).cloned().unwrap_or_default();
        let escaped: Vec<String> = words.iter().map(|word| regex::escape(word)).collect();
        let (_, but_last) = words.split_last().unwrap_or((&longest, &[]));
        Self {
            id,
            cause,
            role: Role::Symptom,
            weight,
            regex: escaped.join(r"[^\n]*?"),
            example: words.join(" "),
            counter: but_last.join(" "),
            literals: vec![longest],
            source,
            raised_in: Vec::new(),
            place: false,
            compiled: OnceLock::new(),
        }
    }

    /// Whether it only shows that there was an exception.
    pub(super) fn is_last_resort(&self) -> bool {
        matches!(self.role, Role::Symptom | Role::Wrapper) && self.weight <= LAST_RESORT
    }

    /// Whether it matches exceptions only by their type, whatever raised them.
    pub(super) fn is_any_exception(&self) -> bool {
        self.regex.contains("(?P<kind>")
    }

    /// The expression, compiled on first use: a log needs few of them.
    pub(crate) fn regex(&self) -> Option<&Regex> {
        let compiled = self.compiled.get_or_init(|| {
            let regex = Regex::new(&format!("(?-u){}", self.regex));
            debug_assert!(regex.is_ok(), "{}: {regex:?}", self.id);
            regex.ok()
        });
        compiled.as_ref()
    }

    /// Returns its defect; of the cause, only checks that there is one.
    pub(crate) fn find_defect(&self) -> Option<Fault> {
        let regex = match Regex::new(&format!("(?-u){}", self.regex)) {
            Ok(regex) => regex,
            Err(error) => {
                return Some(faults::Plain { why: quote(&error.to_string()) }.fault());
            }
        };
        let bad = |literal: &&String| literal.len() < LITERAL || literal.contains(['\n', '\r']);
        if !(1..=100).contains(&self.weight) {
            Some(faults::UserWeight { most: 100 }.fault())
        } else if let Some(literal) = self.literals.iter().find(bad) {
            Some(faults::SignatureLiteral { least: LITERAL, literal }.fault())
        } else if !self.literals.iter().any(|literal| self.example.contains(literal)) {
            Some(faults::SignatureExampleLiterals.fault())
        } else if !regex.is_match(self.example.as_bytes()) {
            Some(faults::SignatureExample.fault())
        } else if regex.is_match(self.counter.as_bytes()) {
            Some(faults::SignatureCounter.fault())
        } else {
            None
        }
    }
}

/// A cause that explains others.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// The cause that comes first.
    pub from: String,
    /// The causes that follow from it.
    pub to: Vec<String>,
    /// The maximum delay, in seconds.
    pub window_s: u32,
    /// The scope.
    pub scope: Scope,
}

/// The processes on which one cause explains another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// On every rank of the job.
    Job,
    /// On the same rank, device or process only.
    Rank,
}
