//! The content of the default public package index: `data/index.tsv` (versions, Python,
//! architecture) and `data/official_pairs.tsv` (whether a resolver can satisfy the official pairs).

use std::sync::LazyLock;

use serde::Serialize;

use crate::data_pack::{Pack, PackError, invalid};
use crate::text;

static BUILTIN: LazyLock<PackageIndex> = LazyLock::new(|| {
    PackageIndex::parse(text(VERSIONS), text(PAIRS)).expect("the tables are proved by a test")
});
const VERSIONS: &str = "index.tsv";
const PAIRS: &str = "official_pairs.tsv";

/// Parses the tables of a pack.
pub(crate) fn check(pack: &'static Pack) -> Result<(), PackError> {
    let index = PackageIndex::parse(pack.text(VERSIONS)?, pack.text(PAIRS)?);
    let index = index.map_err(|(name, why)| invalid(name, why))?;
    for (name, empty) in [(VERSIONS, index.versions.is_empty()), (PAIRS, index.pairs.is_empty())] {
        if empty {
            return Err(invalid(name, "it has no rows"));
        }
    }
    Ok(())
}

/// The default public package index.
#[derive(Debug)]
pub struct PackageIndex {
    versions: Vec<Published>,
    pairs: Vec<OfficialPair>,
}

/// A version in the index.
#[derive(Debug, Clone)]
pub struct Published {
    package: &'static str,
    version: &'static str,
    /// Python versions with a wheel.
    pub pythons: Vec<&'static str>,
    /// Architectures with a wheel.
    pub archs: Vec<&'static str>,
    /// Whether there is a source distribution.
    pub sdist: bool,
}

/// The result of a resolver for a set of requirements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The index has all packages.
    Resolves,
    /// Two packages require different versions of a third one.
    Conflict,
    /// A package, or a wheel of it, is missing in the index.
    Missing,
}

/// A row of `official_pairs.tsv`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OfficialPair {
    /// For example `torch==2.14.0 torch_npu==2.14.0`.
    pub requirements: &'static str,
    #[serde(skip)]
    pythons: Vec<&'static str>,
    #[serde(skip)]
    archs: Vec<&'static str>,
    /// The result of the resolver.
    pub verdict: Verdict,
    /// The missing package, or the contradictory requirements.
    pub reason: &'static str,
    /// The pip options on the official installation page.
    pub options: &'static str,
    /// The official documents.
    pub source: &'static str,
}

impl PackageIndex {
    /// Returns the built-in tables.
    pub fn builtin() -> &'static Self {
        &BUILTIN
    }

    fn parse(versions: &'static str, pairs: &'static str) -> Result<Self, (&'static str, String)> {
        let mut index = Self { versions: Vec::new(), pairs: Vec::new() };
        for (line, cells) in rows(versions) {
            let [package, version, pythons, archs, sdist, _] = cells[..] else {
                return Err((VERSIONS, format!("line {line} has {} cells", cells.len())));
            };
            let (pythons, archs, sdist) = (list(pythons), list(archs), sdist == "yes");
            index.versions.push(Published { package, version, pythons, archs, sdist });
        }
        let sources: Vec<&str> = pairs
            .lines()
            .filter_map(|line| line.strip_prefix("# source ")?.split_once(": "))
            .map(|(_, source)| source)
            .collect();
        for (line, cells) in rows(pairs) {
            let [_, _, requirements, pythons, archs, verdict, reason, options, source] = cells[..]
            else {
                return Err((PAIRS, format!("line {line} has {} cells", cells.len())));
            };
            let verdict = match verdict {
                "resolves" => Verdict::Resolves,
                "conflict" => Verdict::Conflict,
                "missing" => Verdict::Missing,
                other => return Err((PAIRS, format!("line {line}: verdict `{other}`"))),
            };
            let source = source.parse::<usize>().ok().and_then(|number| sources.get(number));
            let source = *source.ok_or_else(|| (PAIRS, format!("line {line}: no source")))?;
            let (pythons, archs) = (list(pythons), list(archs));
            let pair =
                OfficialPair { requirements, pythons, archs, verdict, reason, options, source };
            index.pairs.push(pair);
        }
        Ok(index)
    }

    /// Returns the entry of the index for a version of a package.
    pub fn published(&self, package: &str, version: &str) -> Option<&Published> {
        self.versions.iter().find(|row| row.package == package && row.version == version)
    }

    /// All versions of a package, in the order of the table. Empty for a package without rows.
    pub fn versions(&self, package: &str) -> impl Iterator<Item = &'static str> {
        self.versions.iter().filter(move |row| row.package == package).map(|row| row.version)
    }

    /// Returns why the index cannot satisfy these requirements. For a Python without a resolver
    /// result, those of other Python versions on the same architecture count. Without an
    /// architecture, all results must be negative.
    pub fn gap(
        &self,
        requirements: &str,
        python: Option<&str>,
        arch: Option<&str>,
    ) -> Option<&OfficialPair> {
        let fits = |pair: &&OfficialPair| {
            pair.requirements == requirements && arch.is_none_or(|arch| pair.archs.contains(&arch))
        };
        let exact = |pair: &&OfficialPair| {
            fits(pair) && python.is_some_and(|python| pair.pythons.contains(&python))
        };
        if let Some(pair) = self.pairs.iter().find(exact).filter(|_| arch.is_some()) {
            return (pair.verdict != Verdict::Resolves).then_some(pair);
        }
        let mut all = self.pairs.iter().filter(fits);
        let first = all.next()?;
        let unsatisfied = |pair: &OfficialPair| pair.verdict != Verdict::Resolves;
        (unsatisfied(first) && all.all(unsatisfied)).then_some(first)
    }
}

impl PackageIndex {
    /// Returns the options of the official installation page that a pip command needs in addition
    /// to the default index. `None` if the command names an index, if the default index is
    /// sufficient, or if the packages are unknown.
    pub fn options_for(
        &self,
        command: &str,
        python: Option<&str>,
        arch: Option<&str>,
    ) -> Option<&'static str> {
        let (_, rest) = command.split_once(" pip install ")?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        // Options appended at the end would belong to another command.
        let ends = |word: &&str| word.contains("index-url") || matches!(*word, "-i" | "&&");
        if words.iter().any(ends) {
            return None;
        }
        let alone = words.contains(&"--no-deps");
        let lacking = |name: &str, version: &str| {
            let known = self.versions.iter().any(|row| row.package == name);
            let absent = known && self.published(name, version).is_none();
            let why = format!("{name} {version}");
            let tells = |pair: &&OfficialPair| pair.reason == why && !pair.options.is_empty();
            absent.then(|| self.pairs.iter().find(tells)).flatten()
        };
        words.iter().find_map(|word| {
            let (name, version) = word.trim_matches('\'').split_once("==")?;
            let name = name.replace('_', "-");
            let with_needs = || self.gap(&format!("{name}=={version}"), python, arch);
            let pair = if alone { None } else { with_needs() };
            let options = pair.or_else(|| lacking(&name, version))?.options;
            (!options.is_empty()).then_some(options)
        })
    }
}

/// Returns the rows below the line of column names, with their line numbers.
fn rows(text: &'static str) -> impl Iterator<Item = (usize, Vec<&'static str>)> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.starts_with('#'));
    lines.skip(1).map(|(number, line)| (number, line.split('\t').collect()))
}

fn list(cell: &'static str) -> Vec<&'static str> {
    cell.split(',').filter(|item| !item.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_tables_are_consistent() {
        let index = PackageIndex::builtin();
        assert!(index.versions.len() >= 120 && index.pairs.len() >= 150, "{}", index.pairs.len());
        for pair in &index.pairs {
            let unexplained = pair.reason.is_empty() || pair.reason.starts_with('?');
            assert_eq!(pair.verdict == Verdict::Resolves, unexplained, "{pair:?}");
            assert!(!pair.pythons.is_empty() && !pair.archs.is_empty(), "{pair:?}");
        }
    }

    #[test]
    fn a_command_gets_the_options_that_it_needs() {
        let index = PackageIndex::builtin();
        let options =
            |command: &str| index.options_for(command, Some("3.11"), Some("aarch64")).is_some();
        assert!(options("python -m pip install triton-ascend==3.2.1"));
        assert!(options("python -m pip install --no-deps triton_ascend==3.2.1"));
        assert!(!options("python -m pip install triton-ascend==3.2.0"));
        assert!(options("python -m pip install vllm-ascend==0.23.0"));
        assert!(
            !options("python -m pip install --no-deps vllm-ascend==0.23.0"),
            "no triton-ascend"
        );
        assert!(!options("python -m pip install vllm-ascend==0.23.0 -i https://a.example/simple"));
        assert!(!options("python -m pip install einops==0.8.0"), "nothing is known of it");
        assert!(!options("python -m pip uninstall -y triton-ascend==3.2.1"));
    }

    #[test]
    fn what_the_index_lacks_is_found_by_requirement() {
        let index = PackageIndex::builtin();
        let gap = index.gap("vllm-ascend==0.23.0", Some("3.11"), Some("aarch64")).unwrap();
        assert_eq!((gap.verdict, gap.reason), (Verdict::Missing, "triton-ascend 3.2.2"));
        assert!(gap.options.starts_with("--extra-index-url https://"), "{}", gap.options);
        assert!(gap.source.contains("installation.md"));
        // These are on the default index.
        assert!(index.gap("vllm==0.23.0", Some("3.11"), Some("aarch64")).is_none());
        assert!(index.gap("vllm-ascend==9.9", None, None).is_none());
        let published = index.published("vllm-ascend", "0.23.0").unwrap();
        assert_eq!(published.pythons, ["3.10", "3.11", "3.12"]);
        assert!(index.published("vllm-ascend", "9.9").is_none());
    }

    #[test]
    fn without_architecture_one_that_resolves_is_enough() {
        let versions = "# x\npackage\tversion\tpython\tarch\tsdist\tsource\n";
        let row = |arch: &str, verdict: &str| {
            format!("p\t1\tp==1\t3.11\t{arch}\t{verdict}\tq 1\t-o\t0\n")
        };
        let head = "# source 0: page\npackage\n";
        let parse = |text: String| PackageIndex::parse(versions, text.leak());
        let both =
            parse(format!("{head}{}{}", row("aarch64", "missing"), row("x86_64", "resolves")))
                .unwrap();
        assert!(both.gap("p==1", Some("3.11"), None).is_none());
        assert_eq!(both.gap("p==1", Some("3.12"), Some("aarch64")).unwrap().options, "-o");
        assert!(both.gap("p==1", Some("3.11"), Some("x86_64")).is_none());
        assert!(parse(format!("{head}{}", row("aarch64", "maybe"))).is_err());
        assert!(parse(format!("{head}p\t1\n")).is_err());
    }
}
