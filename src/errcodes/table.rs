//! The tables: `data/cann_errors.toml` and one file per family below `data/errors/`.
//!
//! A look-up must be quick from start to end, so that a family is parsed only if its text
//! contains the code in the spelling in which the family writes it.

use std::sync::{LazyLock, OnceLock};

use serde::{Deserialize, Serialize};

use super::Query;
use crate::text::Text;

/// How a family writes its codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A decimal number.
    Decimal,
    /// A hexadecimal number with `0x`.
    Hex,
    /// Letters and digits, such as `EI0006`.
    Name,
}

/// A family of codes.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// The id, also the name of its file.
    pub id: String,
    /// How it writes its codes.
    pub kind: Kind,
    /// Heading.
    pub title: Text,
    /// Who returns or prints such a code.
    pub says: Text,
    /// What stands before such a code in a log.
    pub context: Vec<String>,
}

/// A code and what its source says about it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The code in the spelling of its family.
    pub code: String,
    /// The name of the constant, or the title of the message.
    pub symbol: String,
    /// The short official message.
    pub message: String,
    /// The part of the stack, where one family serves several.
    pub component: String,
    /// The names of the arguments of the message.
    pub arguments: String,
    /// The codes that it turns into on its way to the user.
    pub becomes: Vec<String>,
    /// In which versions of CANN it was seen.
    pub since: String,
    /// Titles that other versions of CANN give it.
    pub formerly: String,
    /// The official page about it.
    pub doc: String,
    /// The file that it was read from.
    pub source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    #[expect(dead_code, reason = "read so that the file may carry it")]
    schema: u32,
    family: Vec<Family>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: u32,
    family: String,
    columns: Vec<String>,
    sources: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// A table: its text, and its rows once they were asked for.
struct Table {
    id: &'static str,
    text: &'static str,
    rows: OnceLock<Vec<Row>>,
}

macro_rules! tables {
    ($($id:literal),* $(,)?) => {
        [$(Table {
            id: $id,
            text: include_str!(concat!("../../data/errors/", $id, ".toml")),
            rows: OnceLock::new(),
        }),*]
    };
}

static TABLES: [Table; 19] = tables![
    "acl_rt",
    "acl_api",
    "acl_ge",
    "aclnn",
    "ecode",
    "ecode_inner",
    "torch_npu",
    "dcmi",
    "hccl",
    "drv",
    "ts",
    "runtime",
    "aicpu",
    "atb",
    "hixl",
    "dvpp",
    "ge_inner",
    "ge_graph",
    "misc",
];

static FAMILIES: LazyLock<Vec<Family>> = LazyLock::new(|| {
    let index: Index = toml::from_str(include_str!("../../data/cann_errors.toml"))
        .expect("the built-in index is proved by a test");
    index.family
});

/// All families, the most plausible first.
pub fn families() -> &'static [Family] {
    &FAMILIES
}

/// All codes of a family, in the order of its file.
pub fn rows(family: &Family) -> &'static [Row] {
    let Some(table) = TABLES.iter().find(|table| table.id == family.id) else {
        return &[];
    };
    table.rows.get_or_init(|| {
        parse(table.text).unwrap_or_else(|error| {
            debug_assert!(false, "{}.toml: {error}", table.id);
            Vec::new()
        })
    })
}

/// The rows of a family that a query names, by code or by symbol.
pub(super) fn find(family: &Family, query: &Query) -> Vec<Row> {
    let spellings = query.spellings(family.kind);
    let Some(table) = TABLES.iter().find(|table| table.id == family.id) else {
        return Vec::new();
    };
    let numbers = matches!(query, Query::Number { .. });
    let contained = |spelling: &String| {
        // Symbols are not all upper case; codes and numbers have one spelling.
        let quoted = format!("\"{spelling}\"");
        table.text.contains(&quoted) || (!numbers && contains_ignoring_case(table.text, &quoted))
    };
    if !spellings.iter().any(|spelling| !spelling.is_empty() && contained(spelling)) {
        return Vec::new();
    }
    // The titles of E-codes are shared by many of them: they name no code.
    let by_symbol = !numbers && !family.id.starts_with("ecode");
    rows(family)
        .iter()
        .filter(|row| {
            spellings.iter().any(|spelling| {
                row.code.eq_ignore_ascii_case(spelling)
                    || (by_symbol && row.symbol.eq_ignore_ascii_case(spelling))
            })
        })
        .cloned()
        .collect()
}

fn contains_ignoring_case(text: &str, part: &str) -> bool {
    text.as_bytes().windows(part.len()).any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
}

fn parse(text: &str) -> Result<Vec<Row>, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    if file.schema != 1 {
        return Err(format!("schema {} of family {} is unknown", file.schema, file.family));
    }
    file.rows.into_iter().map(|cells| row(&file.columns, &file.sources, cells)).collect()
}

fn row(columns: &[String], sources: &[String], cells: Vec<String>) -> Result<Row, String> {
    if cells.len() != columns.len() {
        return Err(format!("a row has {} cells: {cells:?}", cells.len()));
    }
    // A family with one source does not repeat it in every row.
    let mut row = Row { source: sources.first().cloned().unwrap_or_default(), ..Row::default() };
    for (column, cell) in columns.iter().zip(cells) {
        match column.as_str() {
            "code" => row.code = cell,
            "symbol" => row.symbol = cell,
            "message" => row.message = cell,
            "component" => row.component = cell,
            "arguments" => row.arguments = cell,
            "becomes" => row.becomes = cell.split_whitespace().map(str::to_owned).collect(),
            "since" => row.since = cell,
            "formerly" => row.formerly = cell,
            "doc" => row.doc = cell,
            "source" => row.source = source(sources, &cell)?,
            other => return Err(format!("the column `{other}` is unknown")),
        }
    }
    Ok(row)
}

/// `2#L33`: the third source, line 33.
fn source(sources: &[String], cell: &str) -> Result<String, String> {
    let (index, line) = cell.split_once('#').unwrap_or((cell, ""));
    let source = index.parse::<usize>().ok().and_then(|index| sources.get(index));
    let source = source.ok_or_else(|| format!("there is no source `{cell}`"))?;
    Ok(if line.is_empty() { source.clone() } else { format!("{source}#{line}") })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_table_parses_and_is_in_the_index() {
        let index: Vec<&str> = families().iter().map(|family| family.id.as_str()).collect();
        let tables: Vec<&str> = TABLES.iter().map(|table| table.id).collect();
        assert_eq!(index, tables);
        for table in &TABLES {
            let file: File = toml::from_str(table.text).unwrap();
            assert_eq!(file.family, table.id);
            assert!(!parse(table.text).unwrap().is_empty(), "{}", table.id);
        }
    }

    #[test]
    fn codes_have_one_spelling_and_rows_a_source() {
        for family in families() {
            let mut seen = BTreeSet::new();
            for row in rows(family) {
                assert!(!row.source.is_empty(), "{} {}", family.id, row.code);
                assert!(
                    seen.insert((&row.code, &row.symbol, &row.component)),
                    "{} {} occurs twice",
                    family.id,
                    row.code
                );
                let query = Query::parse(&row.code);
                if matches!(query, Query::Number { .. }) {
                    let spelled = query.spellings(family.kind);
                    assert_eq!(spelled[0], row.code, "{}", family.id);
                } else {
                    assert!(find(family, &query).contains(row), "{} {}", family.id, row.code);
                }
            }
        }
    }

    #[test]
    fn what_a_code_becomes_exists() {
        let codes: BTreeSet<&String> =
            families().iter().flat_map(rows).flat_map(|row| &row.becomes).collect();
        assert!(codes.len() > 50);
        for code in codes {
            assert!(!super::super::look_up(code).is_empty(), "nothing is {code}");
        }
    }

    /// The generated tables against the facts that they were made from.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "reads the facts where they are present")]
    fn tables_have_all_rows_of_the_facts() {
        let facts = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/facts");
        let mut checked = 0;
        for table in &TABLES {
            let name = table.text.lines().next().unwrap();
            let name = name.split(" from ").nth(1).unwrap().split(';').next().unwrap();
            let Ok(text) = std::fs::read_to_string(facts.join(format!("{name}.json"))) else {
                continue;
            };
            let json: serde_json::Value = serde_json::from_str(&text).unwrap();
            let expected = json["rows"].as_array().unwrap();
            let rows = parse(table.text).unwrap();
            assert_eq!(rows.len(), expected.len(), "{name}");
            for (row, fact) in rows.iter().zip(expected) {
                assert_eq!(row.symbol, fact["symbol"].as_str().unwrap_or_default(), "{name}");
                let code = Query::parse(fact["code"].as_str().unwrap());
                assert_eq!(
                    Query::parse(&row.code).spellings(Kind::Decimal),
                    code.spellings(Kind::Decimal)
                );
            }
            checked += 1;
        }
        if checked == 0 {
            println!("skipped: there are no facts at {}", facts.display());
        } else {
            assert_eq!(checked, TABLES.len());
        }
    }
}
