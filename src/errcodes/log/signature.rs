//! Texts that name a cause, and which cause explains which: `data/errors/signatures/<what>.toml`
//! and `knowledge.toml`, and `data/errors/edges.toml`.

use std::sync::{LazyLock, OnceLock};

use regex::bytes::Regex;
use serde::Deserialize;

use super::Role;
use crate::overlay::overlay;

/// The least length of a literal, in bytes: shorter ones are on too many lines.
pub(crate) const LITERAL: usize = 6;

/// A text by which a cause is known.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// A stable key.
    pub id: String,
    /// The cause, or what kind of context it is.
    pub cause: String,
    /// What the text is in the course of a failure.
    pub role: Role,
    /// How specific it is, 1 to 100.
    pub weight: u8,
    /// Literals, one of which every line that it matches holds.
    pub literals: Vec<String>,
    /// The expression; bytes, without Unicode.
    pub regex: String,
    /// A line that it matches.
    pub example: String,
    /// A line that it must not match.
    pub counter: String,
    /// Where the text is known from.
    pub source: String,
    /// Packages, one of which raised the exception; none if that does not matter.
    #[serde(default)]
    pub raised_in: Vec<String>,
    /// Whether it says only which part of CANN writes, not what happened.
    #[serde(default)]
    pub place: bool,
    #[serde(skip)]
    compiled: OnceLock<Option<Regex>>,
}

/// The weight of a text that shows no more than that something failed.
const LAST_RESORT: u8 = 13;

impl Signature {
    /// Whether it says no more than that there was an exception.
    pub(super) fn is_last_resort(&self) -> bool {
        matches!(self.role, Role::Symptom | Role::Wrapper) && self.weight <= LAST_RESORT
    }

    /// The expression, compiled on first use: a log needs few of them.
    pub(super) fn regex(&self) -> Option<&Regex> {
        let compiled = self.compiled.get_or_init(|| {
            let regex = Regex::new(&format!("(?-u){}", self.regex));
            debug_assert!(regex.is_ok(), "{}: {regex:?}", self.id);
            regex.ok()
        });
        compiled.as_ref()
    }

    /// What is wrong with it; of the causes only that it names one.
    pub(crate) fn find_defect(&self) -> Option<String> {
        let regex = match Regex::new(&format!("(?-u){}", self.regex)) {
            Ok(regex) => regex,
            Err(error) => return Some(error.to_string()),
        };
        let bad = |literal: &&String| literal.len() < LITERAL || literal.contains(['\n', '\r']);
        if !(1..=100).contains(&self.weight) {
            Some("a weight is 1 to 100".to_owned())
        } else if let Some(literal) = self.literals.iter().find(bad) {
            Some(format!("the literal `{literal}` has less than {LITERAL} bytes, or a line break"))
        } else if !self.literals.iter().any(|literal| self.example.contains(literal)) {
            Some("the example holds none of the literals".to_owned())
        } else if !regex.is_match(self.example.as_bytes()) {
            Some("the expression does not match the example".to_owned())
        } else if regex.is_match(self.counter.as_bytes()) {
            Some("the expression matches the counter-example".to_owned())
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
    /// What follows from it.
    pub to: Vec<String>,
    /// How long after it, in seconds.
    pub window_s: u32,
    /// Where.
    pub scope: Scope,
}

/// Where one cause explains another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// On every rank of the job.
    Job,
    /// On the same rank, device or process only.
    Rank,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignatureFile {
    #[expect(dead_code, reason = "read so that the file may carry it")]
    schema: u32,
    signature: Vec<Signature>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KnowledgeFile {
    #[expect(dead_code, reason = "read so that the file may carry it")]
    schema: u32,
    source: String,
    rows: Vec<KnowledgeRow>,
}

/// Key, cause, weight, and words that a line holds in this order.
#[derive(Deserialize)]
struct KnowledgeRow(String, String, u8, Vec<String>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EdgeFile {
    #[expect(dead_code, reason = "read so that the file may carry it")]
    schema: u32,
    edge: Vec<Edge>,
}

/// The files of `data/errors/signatures`: by what the texts are about.
const FILES: [&str; 29] = [
    "libraries",
    "chips",
    "driver",
    "memory",
    "frameworks",
    "python",
    "operators",
    "aicore",
    "hccl",
    "hccl_ranks",
    "hccl_stages",
    "runtime",
    "hardware",
    "tools",
    "containers",
    "shells",
    "installers",
    "mindspore",
    "inference",
    "transfer",
    "training",
    "packages",
    "torch",
    "build",
    "ge_atc",
    "dvpp",
    "mpi",
    "words",
    "places",
];

static SIGNATURES: LazyLock<Vec<Signature>> = LazyLock::new(|| {
    let read = |name: &&str| {
        let file: SignatureFile = data::table(&format!("errors/signatures/{name}"));
        file.signature
    };
    let own = &overlay().signatures;
    let mut all: Vec<Signature> = FILES.iter().flat_map(read).collect();
    all.extend(read_knowledge());
    all.retain(|signature| own.iter().all(|own| own.id != signature.id));
    all.extend(own.iter().cloned());
    all
});

static EDGES: LazyLock<Vec<Edge>> = LazyLock::new(|| {
    let file: EdgeFile = data::table("errors/edges");
    file.edge
});

/// The words of the knowledge base: each line of `data/errors/knowledge.toml` is a signature that
/// shows its cause without stating it.
fn read_knowledge() -> impl Iterator<Item = Signature> {
    let file: KnowledgeFile = data::table("errors/knowledge");
    let source = file.source;
    file.rows.into_iter().map(move |KnowledgeRow(id, cause, weight, words)| {
        let longest = words.iter().max_by_key(|word| word.len()).cloned().unwrap_or_default();
        let escaped: Vec<String> = words.iter().map(|word| regex::escape(word)).collect();
        let (_, but_last) = words.split_last().unwrap_or((&longest, &[]));
        Signature {
            id,
            cause,
            role: Role::Symptom,
            weight,
            regex: escaped.join(r"[^\n]*?"),
            example: words.join(" "),
            counter: but_last.join(" "),
            literals: vec![longest],
            source: source.clone(),
            raised_in: Vec::new(),
            place: false,
            compiled: OnceLock::new(),
        }
    })
}

/// All signatures, in the order of their file, then the user's own.
pub fn signatures() -> &'static [Signature] {
    &SIGNATURES
}

/// Which cause explains which.
pub fn edges() -> &'static [Edge] {
    &EDGES
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::{cause, cause_of, causes, families, rows};

    #[test]
    fn every_signature_matches_its_example_and_not_its_counter_example() {
        let mut ids = BTreeSet::new();
        for signature in signatures() {
            let id = &signature.id;
            assert!(ids.insert(id), "{id} occurs twice");
            assert!(!signature.source.is_empty(), "{id}");
            assert_eq!(signature.find_defect(), None, "{id}");
            let context = signature.role == Role::Context;
            assert!(context || cause(&signature.cause).is_some(), "{id}: {}", signature.cause);
        }
        assert!(ids.len() >= 450, "{}", ids.len());
    }

    /// Causes that only the comparison of ranks shows.
    const COMPARED: [&str; 2] = ["hccl.op_sequence_mismatch", "hccl.slow_rank"];

    #[test]
    fn every_cause_is_found_by_a_text_a_code_or_a_comparison() {
        let by_text: BTreeSet<&str> = signatures().iter().map(|one| one.cause.as_str()).collect();
        let by_code: BTreeSet<&str> = families()
            .iter()
            .flat_map(|family| {
                let codes = rows(family).iter();
                codes.filter_map(|row| cause_of(&family.id, &row.code))
            })
            .map(|link| link.cause.id.as_str())
            .collect();
        for cause in causes() {
            let id = cause.id.as_str();
            assert!(
                by_text.contains(id) || by_code.contains(id) || COMPARED.contains(&id),
                "nothing finds {id}"
            );
        }
    }

    #[test]
    fn no_cause_explains_itself_in_the_end() {
        let mut explains: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for edge in edges() {
            assert!(cause(&edge.from).is_some(), "there is no cause {}", edge.from);
            let targets = explains.entry(&edge.from).or_default();
            for to in &edge.to {
                assert!(cause(to).is_some(), "there is no cause {to}");
                assert!(!targets.contains(&to.as_str()), "{} -> {to} occurs twice", edge.from);
                targets.push(to);
            }
        }
        // Takes away, as often as possible, what explains nothing that is left.
        loop {
            let before = explains.len();
            let left: BTreeSet<&str> = explains.keys().copied().collect();
            explains.retain(|_, targets| targets.iter().any(|target| left.contains(target)));
            if explains.len() == before {
                break;
            }
        }
        assert!(explains.is_empty(), "a cycle among {:?}", explains.keys());
    }
}
