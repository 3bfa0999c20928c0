//! Loads texts that name a cause, and edges between causes: `data/errors/signatures/<what>.toml`,
//! `knowledge.toml`, `words.toml`, and `data/errors/edges.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

use super::signature::{Edge, LITERAL, Signature};
use crate::overlay::overlay;
use data::data_pack::{Pack, PackError, invalid};

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

/// Key, cause, weight, and words that a line contains in this order.
#[derive(Deserialize)]
struct KnowledgeRow(String, String, u8, Vec<String>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EdgeFile {
    #[expect(dead_code, reason = "read so that the file may carry it")]
    schema: u32,
    edge: Vec<Edge>,
}

/// The directory of the files: every file in it is read.
const DIR: &str = "errors/signatures";

static SIGNATURES: LazyLock<Vec<Signature>> = LazyLock::new(|| {
    let read = |name: &String| {
        let file: SignatureFile = data::table(name);
        file.signature
    };
    let own = &overlay().signatures;
    let mut all: Vec<Signature> = data::names_below(DIR).iter().flat_map(read).collect();
    all.extend(read_knowledge());
    all.retain(|signature| own.iter().all(|own| own.id != signature.id));
    all.extend(own.iter().cloned());
    all
});

static EDGES: LazyLock<Vec<Edge>> = LazyLock::new(|| {
    let file: EdgeFile = data::table("errors/edges");
    file.edge
});

/// Decodes the tables of a pack. Expressions are compiled when a log needs them.
pub(crate) fn check(pack: &'static Pack) -> Result<(), PackError> {
    for name in pack.names().filter(|name| name.starts_with("errors/signatures/")) {
        let file: SignatureFile = pack.table(name)?;
        let literal = file.signature.iter().flat_map(|one| &one.literals);
        if let Some(short) = literal.into_iter().find(|literal| literal.len() < LITERAL) {
            return Err(invalid(name, format!("the literal `{short}` is too short")));
        }
    }
    pack.table::<EdgeFile>("errors/edges")?;
    super::end_mark::check(pack)?;
    super::gravity::check(pack)?;
    WORDS.iter().try_for_each(|name| pack.table::<KnowledgeFile>(name).map(drop))
}

/// The tables of words: one imported by a program, one written by hand.
const WORDS: [&str; 2] = ["errors/knowledge", "errors/words"];

/// The words of the knowledge base: each line of these tables is a signature that
/// shows its cause without stating it.
fn read_knowledge() -> impl Iterator<Item = Signature> {
    WORDS.into_iter().flat_map(|name| {
        let file: KnowledgeFile = data::table(name);
        let source = file.source;
        file.rows.into_iter().map(move |KnowledgeRow(id, cause, weight, words)| {
            Signature::from_words(id, cause, weight, &words, source.clone())
        })
    })
}

/// All signatures, in the order of their file, then the user's own.
pub fn signatures() -> &'static [Signature] {
    &SIGNATURES
}

/// The edges from causes to their consequences.
pub fn edges() -> &'static [Edge] {
    &EDGES
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::log::role::Role;
    use crate::{cause, cause_of, causes, families, rows};

    #[test]
    fn every_signature_matches_its_example_and_not_its_counter_example() {
        let mut ids = BTreeSet::new();
        for signature in signatures() {
            let id = &signature.id;
            assert!(ids.insert(id), "{id} occurs twice");
            assert!(!signature.source.is_empty(), "{id}");
            assert!(signature.find_defect().is_none(), "{id}");
            let context = signature.role == Role::Context;
            assert!(context || cause(&signature.cause).is_some(), "{id}: {}", signature.cause);
        }
        assert!(ids.len() >= 450, "{}", ids.len());
    }

    /// Each entry of each file in the directory must be in use, so that no file is forgotten.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "reads the directory of the tables")]
    fn every_file_of_signatures_is_read() {
        let known: BTreeSet<&str> = signatures().iter().map(|one| one.id.as_str()).collect();
        let unread = |text: &str| {
            let ids = text.lines().filter_map(|line| line.strip_prefix("id = "));
            let ids: Vec<&str> = ids.map(|id| id.trim_matches('"')).collect();
            assert!(!ids.is_empty());
            ids.iter().any(|id| !known.contains(id))
        };
        let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/errors/signatures");
        let mut count = 0;
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            assert!(!unread(&std::fs::read_to_string(&path).unwrap()), "{}", path.display());
            count += 1;
        }
        assert_eq!(data::names_below(DIR).len(), count);
        assert!(unread("[[signature]]\nid = \"planted.file\"\n"), "a file that nobody reads");
    }

    /// Causes found only by comparing ranks.
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
        // Removes, until nothing changes, causes that explain none of the remaining ones.
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
