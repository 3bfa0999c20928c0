//! The limits of PyTorch APIs in the torch_npu documents: `data/ops/api_docs.tsv`, with the texts
//! of `data/ops/limits.tsv`.
//!
//! The documents are manually maintained lists of tested APIs. An API documented as unsupported may
//! well have a kernel, and vice versa. The registrations decide, and the report shows the documents
//! next to them.

use std::sync::LazyLock;

use foldhash::{HashMap, HashMapExt as _, HashSet};

use super::rows::rows;
use super::tables::Runs;

/// A documented limit that is neither a data type nor a chip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentedLimit {
    /// The key of the limit.
    pub key: &'static str,
    /// The limited argument and its allowed values, if a call can show a different one.
    pub allowed: Option<(&'static str, Vec<&'static str>)>,
    /// The limit in English.
    pub en: &'static str,
    /// The limit in Chinese.
    pub zh: &'static str,
}

/// The support of an API in one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentedSupport {
    /// Whether the document marks the API as supported.
    pub supported: bool,
    /// The documented data types by argument, as short names; `*` where the document names no
    /// argument.
    pub types: Vec<(&'static str, Vec<&'static str>)>,
    /// Chips that are missing from the document: `A2`, `A3`, `950`.
    pub missing: Vec<&'static str>,
    /// Other limits.
    pub limits: Vec<&'static DocumentedLimit>,
}

/// The documents of one release for one PyTorch version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Documents {
    /// The PyTorch version and the release, as in `2.9.0-26.0.0`.
    pub name: &'static str,
    column: usize,
}

struct Table {
    documents: Vec<&'static str>,
    supports: HashMap<&'static str, DocumentedSupport>,
    apis: HashMap<&'static str, Runs<'static>>,
    /// Full names of tensor methods by method name.
    methods: HashMap<&'static str, &'static str>,
}

static LIMITS: LazyLock<HashMap<&'static str, DocumentedLimit>> = LazyLock::new(|| {
    let text = super::table_text("limits");
    let rows = rows(text).filter(|row| row.len() == 4).map(|row| {
        let allowed = row[1].split_once('=');
        let allowed = allowed.map(|(name, values)| (name, values.split(',').collect()));
        (row[0], DocumentedLimit { key: row[0], allowed, en: row[2], zh: row[3] })
    });
    rows.collect()
});

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let text = super::table_text("api_docs");
    let documents = text.lines().find_map(|line| line.strip_prefix("# Documents: "));
    let mut table = Table {
        documents: documents.map_or_else(Vec::new, |line| line.split(' ').collect()),
        supports: HashMap::with_capacity(800),
        apis: HashMap::with_capacity(2_800),
        methods: HashMap::with_capacity(500),
    };
    for row in rows(text) {
        match (row[0].strip_prefix('='), &*row) {
            (Some(number), [_, supported, types, missing, limits]) => {
                let number = number.trim_start_matches('0');
                let number = if number.is_empty() { "0" } else { number };
                table.supports.insert(number, parse_support(supported, types, missing, limits));
            }
            (None, [name, runs]) => {
                table.apis.insert(name, Runs::new(runs));
                if let Some(method) = name.strip_prefix("torch.Tensor.") {
                    table.methods.insert(method, name);
                }
            }
            _ => {}
        }
    }
    table
});

fn cell_words(cell: &'static str) -> impl Iterator<Item = &'static str> {
    cell.split(' ').filter(|word| *word != "-")
}

fn parse_support(
    supported: &str,
    types: &'static str,
    missing: &'static str,
    limits: &'static str,
) -> DocumentedSupport {
    let types = cell_words(types).filter_map(|argument| {
        let (name, types) = argument.split_once(':')?;
        Some((name, types.split(',').collect()))
    });
    DocumentedSupport {
        supported: supported == "yes",
        types: types.collect(),
        missing: cell_words(missing).collect(),
        limits: cell_words(limits).filter_map(|word| LIMITS.get(word)).collect(),
    }
}

/// Returns the numbers of a release for comparison; `None` for the main line.
fn numbers(release: &str) -> Option<Vec<u32>> {
    let parts: Option<Vec<u32>> = release.split('.').map(|part| part.parse().ok()).collect();
    parts.filter(|parts| !parts.is_empty())
}

impl Documents {
    /// Returns the documents for a release: those of the same PyTorch version with the newest
    /// release that is not later, or else with the first one. For the main line and for a wheel,
    /// the newest. `None` if no documents cover this PyTorch version.
    pub fn of(torch: &str, release: &str) -> Option<Self> {
        let all = TABLE.documents.iter().enumerate().filter_map(|(column, name)| {
            let (of, at) = name.split_once('-')?;
            (of == torch).then_some((at, Self { name, column }))
        });
        let all: Vec<(&str, Self)> = all.collect();
        if let Some((_, same)) = all.iter().find(|(at, _)| *at == release) {
            return Some(*same);
        }
        let released = all.iter().filter_map(|(at, one)| Some((numbers(at)?, *one)));
        let released: Vec<(Vec<u32>, Self)> = released.collect();
        let asked = numbers(release).filter(|_| !release.starts_with(torch));
        let found = match &asked {
            Some(asked) => {
                released.iter().rev().find(|(at, _)| at <= asked).or_else(|| released.first())
            }
            None => released.last(),
        };
        found.map(|(_, one)| *one).or_else(|| all.last().map(|(_, one)| *one))
    }

    /// Returns the documented support of an API; `None` if the documents do not limit or do not
    /// list it.
    pub fn support(self, api: &str) -> Option<&'static DocumentedSupport> {
        TABLE.supports.get(TABLE.apis.get(api)?.at(self.column)?)
    }
}

/// Returns the name of an API that some document limits, with static lifetime.
pub fn api(path: &str) -> Option<&'static str> {
    TABLE.apis.get_key_value(path).map(|(name, _)| *name)
}

/// Returns the full name of a tensor method that some document limits.
pub fn method(name: &str) -> Option<&'static str> {
    TABLE.methods.get(name).copied()
}

/// Arguments that have a limit.
static LIMITED: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let named = LIMITS.values().filter_map(|word| word.allowed.as_ref().map(|(name, _)| *name));
    named.chain(["dtype"]).collect()
});

/// Returns whether a limit restricts the values of an argument with this name.
pub fn limits_argument(name: &str) -> bool {
    LIMITED.contains(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_whole() {
        let table = &*TABLE;
        assert_eq!(table.documents.len(), 18);
        assert!(table.apis.len() > 2_500 && table.supports.len() > 500 && LIMITS.len() > 80);
        let text = super::super::table_text("api_docs");
        for row in rows(text).filter(|row| row[0].starts_with('=')) {
            for word in cell_words(row[4]) {
                assert!(LIMITS.contains_key(word), "{word}");
            }
        }
        for row in rows(text).filter(|row| !row[0].starts_with('=')) {
            for (first, last, value) in table.apis[row[0]].iter() {
                assert!(first <= last && last < table.documents.len(), "{row:?}");
                assert!(table.supports.contains_key(value), "{row:?}: {value}");
            }
        }
        let bad = |word: &&DocumentedLimit| word.en.is_empty() || word.zh.is_empty();
        assert_eq!(LIMITS.values().find(bad), None);
    }

    #[test]
    fn selects_the_nearest_documents() {
        let of = |torch, release| Documents::of(torch, release).map(|one| one.name);
        assert_eq!(of("2.9.0", "26.0.0"), Some("2.9.0-26.0.0"));
        assert_eq!(of("2.7.1", "26.0.1"), Some("2.7.1-26.0.0"));
        assert_eq!(of("2.7.1", "7.1.0"), Some("2.7.1-7.3.0"));
        assert_eq!(of("2.9.0", "2.9.0.post9"), Some("2.9.0-26.1.0"));
        assert_eq!(of("2.13.0", "master"), Some("2.13.0-master"));
        assert_eq!(of("2.1.0", "6.0.0"), None);
    }

    #[test]
    fn finds_documented_limits_of_apis() {
        let documents = Documents::of("2.9.0", "7.3.0").unwrap();
        let gelu = documents.support("torch.nn.functional.gelu").unwrap();
        assert_eq!(gelu.types, [("*", vec!["bf16", "fp16", "fp32"])]);
        assert!(!documents.support("torch.nn.DataParallel").unwrap().supported);
        assert_eq!(method("mode"), Some("torch.Tensor.mode"));
        assert!(limits_argument("sorted") && !limits_argument("input"));
        let later = Documents::of("2.9.0", "26.1.0").unwrap();
        assert_eq!(later.support("torch.nn.Linear").unwrap().missing, ["950"]);
    }
}
