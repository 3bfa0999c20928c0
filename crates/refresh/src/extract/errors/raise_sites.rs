//! E-codes in the CANN sources: catch-all codes, and codes that no registry has.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use anyhow::{Result, ensure};
use regex::Regex;

use super::ecode_messages::Messages;
use crate::context::Context;
use crate::extract::Content;
use crate::repository::Tree;
use crate::table::{Place, SourcedRows};

/// Repositories that raise E-codes.
const SOURCES: [&str; 9] = [
    "hicann-runtime",
    "hicann-ge",
    "hicann-hccl",
    "hicann-driver",
    "hicann-metadef",
    "hicann-hixl",
    "hicann-atb",
    "hicann-opbase",
    "hicann-oam-tools",
];

/// Files with code, and files that contain only tests.
const CODE: &str = r"\.(h|hpp|cc|cpp|c)$";
const TESTS: &str = r"(^|/)(tests?|ut|st|stubs?)/";

/// Modules by the first two characters of a catch-all code, named after the classes in the
/// registries (errors/module_prefix.tsv). `EU` is the segment for user-defined codes:
/// error_manager.cc of hicann/runtime reports EU0000 for user-defined codes outside of it.
const MODULES: [(&str, &str); 27] = [
    ("E1", "GE (graph engine)"),
    ("E2", "FE (fusion engine)"),
    ("E3", "AI CPU / TSD"),
    ("E4", "TEFusion"),
    ("E5", "Cube op plugin"),
    ("E6", "Cube ops (TBE)"),
    ("E7", "Vector op plugin"),
    ("E8", "Vector ops"),
    ("E9", "TBE compile"),
    ("EA", "TBE pass tool"),
    ("EB", "TBE pass compiler"),
    ("EC", "Auto Tune"),
    ("ED", "RL Tune"),
    ("EE", "RTS (runtime)"),
    ("EF", "LxFusion / deploy"),
    ("EG", "AOE"),
    ("EH", "ACL API"),
    ("EI", "HCCL"),
    ("EJ", "HCCP (HCCL device process)"),
    ("EK", "Profiling"),
    ("EL", "Driver"),
    ("EM", "Queue schedule"),
    ("EN", "DVPP"),
    ("EO", "AMCT"),
    ("EP", "DUMP"),
    ("EU", "User-defined codes"),
    ("EZ", "Operator / aclnn / NPU common"),
];

/// A code in a string literal.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Literal {
    code: String,
    /// Name of the constant with this value.
    constant: String,
    /// Argument names of the reported message.
    arguments: String,
    /// Line, counted from 1.
    line: usize,
}

/// A code that the sources raise and no registry has.
#[derive(Debug)]
pub(super) struct Unregistered {
    pub(super) code: String,
    pub(super) symbol: String,
    pub(super) arguments: String,
    pub(super) place: Place,
    /// Releases whose copy of the file has the code, and all releases that were read.
    pub(super) seen: Vec<String>,
    pub(super) labels: Vec<String>,
}

/// Extracts `ecode_inner.tsv`: codes whose only information is the text after them, with the
/// repositories that raise them.
pub(super) fn inner(context: &Context) -> Result<Content> {
    let mut raised: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in SOURCES {
        let tree = context.tree(source)?;
        let mut codes = BTreeSet::new();
        for path in code_files(&tree)? {
            codes.extend(literals(&tree, path)?.into_iter().map(|literal| literal.code));
        }
        for code in codes.into_iter().filter(|code| title(code).is_some()) {
            raised.entry(code).or_default().push(format!("{}:string literals", tree.origin()));
        }
    }
    let mut rows = SourcedRows::new(&["code", "symbol", "message", "component"]);
    for (code, places) in raised {
        let Some((symbol, message)) = title(&code) else { continue };
        let module = MODULES.iter().find(|(prefix, _)| code.starts_with(prefix));
        let component = match module {
            Some((_, module)) => (*module).to_owned(),
            None => format!("warning of {}", &code[1..2]),
        };
        rows.push([&code, symbol, message, &component], Place::file(places.join(" + ")));
    }
    Ok(rows.into_table().into())
}

/// Returns title and message of a catch-all code.
fn title(code: &str) -> Option<(&'static str, &'static str)> {
    match code.get(2..)? {
        "9999" => Some(("inner error catch-all", "Inner Error!")),
        "8888" => Some(("call-failed catch-all", "Inner Error!")),
        "0000" if code.starts_with("EU") => {
            Some(("replaces a user-defined code outside of the segment EU", ""))
        }
        _ => None,
    }
}

/// Returns codes that no registry has, by code and constant.
pub(super) fn unregistered(context: &Context, known: &Messages) -> Result<Vec<Unregistered>> {
    let mut found = Vec::new();
    for source in SOURCES {
        let tree = context.tree(source)?;
        let mut releases = None;
        for path in code_files(&tree)? {
            for literal in literals(&tree, path)? {
                let code = &literal.code;
                let same = |other: &Unregistered| {
                    other.code == *code
                        && (other.symbol == literal.constant || literal.constant.is_empty())
                };
                if known.codes.contains_key(code) || title(code).is_some() || found.iter().any(same)
                {
                    continue;
                }
                let trees = match &releases {
                    Some(trees) => trees,
                    None => releases.insert(context.releases(source)?),
                };
                let quoted = format!("\"{code}\"");
                let mut seen = Vec::new();
                for tree in trees {
                    if tree.has(path)? && tree.text(path)?.contains(&quoted) {
                        seen.push(tree.label.clone());
                    }
                }
                found.push(Unregistered {
                    symbol: literal.constant,
                    arguments: literal.arguments,
                    place: Place::line(tree.place(path), literal.line),
                    seen,
                    labels: trees.iter().map(|tree| tree.label.clone()).collect(),
                    code: literal.code,
                });
            }
        }
    }
    found.sort_by(|a, b| (&a.code, &a.symbol).cmp(&(&b.code, &b.symbol)));
    ensure!(found.len() >= 20, "{} codes have no registry, expected at least 20", found.len());
    Ok(found)
}

/// Returns files with code, without tests.
fn code_files<'t>(tree: &'t Tree<'_>) -> Result<Vec<&'t str>> {
    tree.find_except(CODE, Some(TESTS))
}

/// Returns the codes in the string literals of a file. Comments may use encodings other than UTF-8.
fn literals(tree: &Tree<'_>, path: &str) -> Result<Vec<Literal>> {
    Ok(parse(&String::from_utf8_lossy(&tree.bytes(path)?)))
}

fn parse(text: &str) -> Vec<Literal> {
    static CODE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?:([A-Za-z_]\w*)\s*=\s*)?"([EW][0-9A-Z][0-9A-F]{4})""#)
            .expect("a pattern of codes")
    });
    // Matches the names after a code:
    // `REPORT_PREDEFINED_ERR_MSG("E1", std::vector<const char *>({"a"}), …`.
    static NAMES: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\s*,\s*(?:std::)?vector<[^<>]*>\s*\(?\{([^{}]*)\}")
            .expect("a pattern of names")
    });
    let mut found = Vec::new();
    for captures in CODE.captures_iter(text) {
        let (Some(all), Some(code)) = (captures.get(0), captures.get(2)) else { continue };
        let names = NAMES
            .captures(&text[all.end()..])
            .map_or("", |names| names.get(1).map_or("", |names| names.as_str()));
        let names: Vec<&str> = names.split(',').map(|name| name.trim().trim_matches('"')).collect();
        found.push(Literal {
            code: code.as_str().to_owned(),
            constant: captures.get(1).map_or(String::new(), |name| name.as_str().to_owned()),
            arguments: names.join(","),
            line: text[..code.start()].matches('\n').count() + 1,
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_and_arguments_of_codes_are_read() {
        let text = "const std::string EM_A = \"E2100C\";\r\n  REPORT_PREDEFINED_ERR_MSG(\n      \
                    \"E11019\", std::vector<const char *>({\"opname\", \"index\"}),\n\
                    f(\"E10001X\", \"E19999\");\n";
        let literal = |code: &str, constant: &str, arguments: &str, line| Literal {
            code: code.to_owned(),
            constant: constant.to_owned(),
            arguments: arguments.to_owned(),
            line,
        };
        assert_eq!(
            parse(text),
            [
                literal("E2100C", "EM_A", "", 1),
                literal("E11019", "", "opname,index", 3),
                literal("E19999", "", "", 4),
            ]
        );
    }

    #[test]
    fn catch_all_codes_have_a_title() {
        assert_eq!(title("EE9999").unwrap().0, "inner error catch-all");
        assert_eq!(title("E18888").unwrap().0, "call-failed catch-all");
        assert!(
            title("EU0000").is_some() && title("EE0000").is_none() && title("E10001").is_none()
        );
    }

    #[test]
    fn tests_are_left_out() {
        let tests = Regex::new(TESTS).unwrap();
        for path in ["tests/a.cc", "a/test/b.cc", "x/ut/a.cc", "a/st/b/c.h", "a/stub/b.cc"] {
            assert!(tests.is_match(path), "{path}");
        }
        assert!(
            !["src/latest/a.cc", "src/test_util.cc"].into_iter().any(|path| tests.is_match(path))
        );
    }
}
