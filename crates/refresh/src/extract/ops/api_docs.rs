//! `api_docs.tsv`: the torch_npu documents about native PyTorch APIs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use anyhow::{Context as _, Result, bail, ensure};
use regex::{Regex, RegexSet};

use super::api_pages::{Row, Status, rows};
use super::limit_patterns::{DTYPES, PATTERNS};
use super::release::{SOURCE, numbers, order};
use super::{runs, unnamed};
use crate::context::Context;
use crate::extract::Content;
use crate::refresh::own_table;

/// Branches whose documents are read. Those of the PyTorch version with the longest support contain
/// the documents for all versions.
const BRANCHES: &str = r"^v2\.7\.1-\d+\.\d+\.\d+$";
/// The first release with such documents.
const FIRST: &str = "7.3.0";
const PAGES: &str = r"^docs/zh/(?:api/)?native_apis?/pytorch_(\d+)-(\d+)-(\d+)/.*\.md$";
/// Chips in the documents since 26.1.0.
const CHIPS: [&str; 3] = ["A2", "A3", "950"];

/// Modules of classes that some pages name without module.
const PLACES: [(&str, &str); 6] = [
    ("Tensor", "torch"),
    ("Optimizer", "torch.optim"),
    ("Function", "torch.autograd"),
    ("FunctionCtx", "torch.autograd.function"),
    ("Node", "torch.autograd.graph"),
    ("profile", "torch.autograd.profiler"),
];

static DTYPE: LazyLock<String> = LazyLock::new(|| format!("(?:{})", DTYPES.join("|")));
static NAMES: LazyLock<Regex> = LazyLock::new(|| Regex::new(&DTYPE).expect("data types"));
/// Matches `self仅支持fp16，fp32`, to the end of the note or to a sentence that follows without
/// punctuation.
static TYPES: LazyLock<Regex> = LazyLock::new(|| {
    let several = format!("{0}(?:[，,、 和]+{0})*", *DTYPE);
    let next = "可能|memory|取值|不支持|world";
    Regex::new(&format!("^([A-Za-z0-9_]*?)仅?支持({several})(?:$|{next})")).expect("a sentence")
});
static LIMITS: LazyLock<RegexSet> = LazyLock::new(|| {
    let patterns = PATTERNS.iter().map(|(pattern, _)| pattern.replace("{DTYPE}", &DTYPE));
    RegexSet::new(patterns).expect("patterns of sentences")
});

/// The entry of an API in one document: support, data types by argument, chips without it, limits.
type Said = [String; 4];

/// The documents of one release for one PyTorch version.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Document {
    order: (Vec<u32>, (Vec<u32>, u8, Vec<u32>)),
    torch: String,
    release: String,
}

/// Returns the sentences of a note, without marks and examples.
fn sentences(note: &str) -> Vec<String> {
    static CODE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?s)```.*?(?:```|$)").expect("a pattern"));
    static MARKS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("[`\"“”]|</?term>|&#8226;").expect("a pattern"));
    static NUMBER: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^[-\d]+\.?\s+").expect("a pattern"));
    let note = note.replace("<br>", "\n");
    let note = CODE.replace_all(&note, "");
    let note = MARKS.replace_all(&note, "");
    let lines = note.split('\n').map(|line| {
        let line = line.trim().trim_start_matches('-').trim();
        NUMBER.replace(line, "").trim_matches(['，', '。', '；', ';', ' ']).to_owned()
    });
    lines.filter(|line| !line.is_empty()).collect()
}

/// The limits in a note: data types by argument (`*` if it names none), and words of `limits.tsv`
/// for the rest.
#[derive(Debug, Default)]
struct Limits {
    types: BTreeMap<String, BTreeSet<String>>,
    words: BTreeSet<&'static str>,
    /// Sentences that match no pattern.
    unknown: Vec<String>,
}

impl Limits {
    fn add(&mut self, note: &str) {
        for line in sentences(note) {
            let mut rest = line.as_str();
            if let Some(found) = TYPES.captures(rest) {
                let argument = if found[1].is_empty() { "*" } else { &found[1] };
                let types = self.types.entry(argument.to_owned()).or_default();
                types.extend(NAMES.find_iter(&found[2]).map(|name| name.as_str().to_owned()));
                let end = found.get(2).map_or(0, |types| types.end());
                rest = &line[end..];
                if rest.is_empty() {
                    continue;
                }
            }
            match LIMITS.matches(rest).iter().next() {
                Some(at) => {
                    let word = PATTERNS[at].1;
                    if !word.is_empty() {
                        self.words.insert(word);
                    }
                }
                None => self.unknown.push(rest.to_owned()),
            }
        }
    }
}

fn joined<'t>(words: impl IntoIterator<Item = &'t str>) -> String {
    let words: Vec<&str> = words.into_iter().collect();
    if words.is_empty() { "-".to_owned() } else { words.join(" ") }
}

/// Returns the entry of an API in one document, which may have several rows for it; `None` if it
/// documents no limit.
fn value(rows: &[Row], limits: &Limits) -> Option<Said> {
    let words = joined(limits.words.iter().copied());
    // Contradictory rows count as no statement.
    if rows.iter().all(|row| row.status == Status::No) {
        return Some(["no".to_owned(), "-".to_owned(), "-".to_owned(), words]);
    }
    let lacks = |chip: &&str| rows.iter().any(|row| row.chips.get(*chip) == Some(&false));
    let mut missing: Vec<&str> = CHIPS.into_iter().filter(lacks).collect();
    missing.sort_unstable();
    if limits.types.is_empty() && limits.words.is_empty() && missing.is_empty() {
        return None;
    }
    let types = limits.types.iter().map(|(argument, types)| {
        let types: Vec<&str> = DTYPES.into_iter().filter(|name| types.contains(*name)).collect();
        format!("{argument}:{}", types.join(","))
    });
    let types: Vec<String> = types.collect();
    let agree = rows.iter().all(|row| !row.chips.is_empty() && row.chips == rows[0].chips);
    if !agree {
        missing.clear();
    }
    let types = joined(types.iter().map(String::as_str));
    Some(["yes".to_owned(), types, joined(missing), words])
}

/// Returns the full name of an API.
fn name_of(api: &str) -> Result<String> {
    let end = api.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
    let name = api[..end.unwrap_or(api.len())].trim_end_matches('.');
    ensure!(!name.is_empty(), "`{api}` is no API");
    if name.starts_with("torch") {
        return Ok(name.to_owned());
    }
    let Some((class, _)) = name.split_once('.') else {
        return Ok(format!("torch.Tensor.{name}"));
    };
    match PLACES.iter().find(|(known, _)| *known == class) {
        Some((_, module)) => Ok(format!("{module}.{name}")),
        None => bail!("class `{class}` of `{name}` has no module"),
    }
}

/// Extracts `api_docs.tsv`.
pub(super) fn extract(context: &Context) -> Result<Content> {
    let pages = Regex::new(PAGES)?;
    let mut trees = vec![("master".to_owned(), context.tree(SOURCE)?)];
    for (name, commit) in context.branches(SOURCE, BRANCHES)? {
        let release = name.trim_start_matches("v2.7.1-").to_owned();
        if order(&release) >= order(FIRST) {
            trees.push((release, context.branch(SOURCE, &name, &commit)?));
        }
    }
    let mut documents: BTreeMap<Document, BTreeMap<String, Vec<Row>>> = BTreeMap::new();
    let mut places = Vec::new();
    for (release, tree) in &trees {
        places.push(format!("{}:docs/zh", tree.origin()));
        for path in tree.find(PAGES)? {
            let Some(torch) = pages.captures(path) else { continue };
            let torch = format!("{}.{}.{}", &torch[1], &torch[2], &torch[3]);
            let key = Document {
                order: (numbers(&torch), order(release)),
                torch,
                release: release.clone(),
            };
            let apis = documents.entry(key).or_default();
            for row in rows(&tree.text(path)?) {
                let name = name_of(&row.api).with_context(|| tree.place(path))?;
                apis.entry(name).or_default().push(row);
            }
        }
    }
    let mut unknown = BTreeSet::new();
    let mut said: BTreeMap<&str, Vec<Option<Said>>> = BTreeMap::new();
    for (at, (Document { torch, release, .. }, apis)) in documents.iter().enumerate() {
        ensure!(
            apis.len() >= 2500,
            "the documents of {release} name {} APIs of PyTorch {torch}, expected 2500",
            apis.len()
        );
        for (name, rows) in apis {
            let mut limits = Limits::default();
            for row in rows {
                limits.add(&row.note);
            }
            unknown.extend(limits.unknown.iter().map(|line| format!("{name}: `{line}`")));
            let values = said.entry(name).or_insert_with(|| vec![None; documents.len()]);
            values[at] = value(rows, &limits);
        }
    }
    if !unknown.is_empty() {
        let first: Vec<String> = unknown.iter().take(20).cloned().collect();
        bail!("{} sentences fit no pattern:\n{}", unknown.len(), first.join("\n"));
    }
    check_words(context, &said)?;
    Ok(table(
        &documents.keys().map(|key| format!("{}-{}", key.torch, key.release)).collect::<Vec<_>>(),
        &said,
        &places,
    )
    .into())
}

/// Checks that `limits.tsv` explains each word to users.
fn check_words(context: &Context, said: &BTreeMap<&str, Vec<Option<Said>>>) -> Result<()> {
    let limits = own_table(context, "ops/limits.tsv", &["word", "allowed", "en", "zh"])?;
    let known: BTreeSet<&str> = limits.rows.iter().map(|row| row[0].as_str()).collect();
    let words = said.values().flatten().flatten().flat_map(|said| said[3].split(' '));
    let missing: BTreeSet<&str> =
        words.filter(|word| *word != "-" && !known.contains(word)).collect();
    ensure!(missing.is_empty(), "ops/limits.tsv does not explain {missing:?}");
    Ok(())
}

/// Returns the values by frequency, and for each API the runs of their numbers.
fn table(
    documents: &[String],
    said: &BTreeMap<&str, Vec<Option<Said>>>,
    places: &[String],
) -> crate::table::Table {
    let mut counts: BTreeMap<&Said, usize> = BTreeMap::new();
    for one in said.values().flatten().flatten() {
        *counts.entry(one).or_default() += 1;
    }
    let mut values: Vec<&Said> = counts.keys().copied().collect();
    values.sort_by_key(|value| (std::cmp::Reverse(counts[value]), *value));
    let numbers: BTreeMap<&Said, String> =
        values.iter().enumerate().map(|(at, value)| (*value, at.to_string())).collect();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (at, value) in values.iter().enumerate() {
        rows.push(std::iter::once(format!("={at:03}")).chain(value.iter().cloned()).collect());
    }
    for (name, values) in said {
        let cells: Vec<Option<&String>> =
            values.iter().map(|value| numbers.get(value.as_ref()?)).collect();
        let cell = runs::runs(&cells);
        if !cell.is_empty() {
            let empty = String::new;
            rows.push(vec![(*name).to_owned(), cell, empty(), empty(), empty()]);
        }
    }
    let places: Vec<String> =
        places.iter().enumerate().map(|(at, place)| format!("source {at}: {place}")).collect();
    let remarks = format!(
        "What the documents of torch_npu state about APIs of PyTorch, for these versions of PyTorch and\n\
         releases of torch_npu:\n\
         Documents: {}\n\
         {}\n\
         Rows `=NUMBER`: a value; yes or no (supported); data types by argument, `*` where none is named;\n\
         chips of 26.1.0 and later that are not named; words that limits.tsv explains.\n\
         Other rows: an API; in which of the documents (numbers from 0) it has which value. Without a value\n\
         it is supported without a limit, or is not named.",
        documents.join(" "),
        places.join("\n")
    );
    unnamed(&["api", "value", "types", "chips", "limits"], &remarks, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_become_types_and_words() {
        let mut limits = Limits::default();
        limits.add("1. `input`仅支持fp16，fp32<br>- 支持bf16、fp64可能回退至CPU执行<br>仅支持推理场景。\n```python\n不明\n```");
        assert_eq!(limits.types["input"], BTreeSet::from(["fp16".into(), "fp32".into()]));
        assert_eq!(limits.types["*"], BTreeSet::from(["bf16".into(), "fp64".into()]));
        assert_eq!(limits.words, BTreeSet::from(["inference_only", "may_fall_back"]));
        limits.add("天气很好");
        assert_eq!(limits.unknown, ["天气很好"]);
    }

    #[test]
    fn names_are_completed() {
        let name = |api: &str| name_of(api).unwrap();
        assert_eq!(name("torch.nn.Linear（x）"), "torch.nn.Linear");
        assert_eq!(name("Tensor.add_"), "torch.Tensor.add_");
        assert_eq!(name("is_npu"), "torch.Tensor.is_npu");
        assert!(name_of("Thing.x").is_err() && name_of("（）").is_err());
    }

    #[test]
    fn patterns_compile() {
        assert_eq!(LIMITS.len(), PATTERNS.len());
    }
}
