//! What the rules say to people: it is read when something is said, and only that of the field that
//! speaks. It is three quarters of the table, and planning needs none of it.

use std::sync::OnceLock;

use foldhash::HashMap;
use serde::{Deserialize, Serialize};

use base::text::Words;
use data::table;

use super::rule::{FILES, Rule};

/// A before/after pair that shows a rule, and tests it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// The source.
    pub before: &'static str,
    /// What becomes of it; unchanged if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<&'static str>,
    /// File name, where it is not a Python source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<&'static str>,
    /// Whether the usual imports are put in front.
    #[serde(default = "yes")]
    pub prelude: bool,
}

fn yes() -> bool {
    true
}

/// What is told of a rule.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Told {
    #[serde(skip_serializing)]
    id: &'static str,
    /// What a reader has to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Words>,
    /// What to do about what is flagged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<Words>,
    /// Where the fact was read.
    pub source: Vec<&'static str>,
    /// A before/after pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<Example>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "Told: Deserialize<'de>"))]
struct File {
    rule: Vec<Told>,
}

type Shelf = OnceLock<HashMap<&'static str, Told>>;

/// By the position of the field in [`FILES`].
static SHELVES: [Shelf; FILES.len()] = [const { OnceLock::new() }; FILES.len()];

impl Rule {
    /// What is told of this rule.
    ///
    /// # Panics
    ///
    /// For a rule that is not of the built-in table.
    pub fn told(&self) -> &'static Told {
        let field = FILES.iter().position(|field| *field == self.field);
        let shelf = field.map(|at| &SHELVES[at]).expect("a rule is of a file of the table");
        let told = shelf.get_or_init(|| {
            let file: File = table(&format!("convert/{}.texts", self.field));
            file.rule.into_iter().map(|told| (told.id, told)).collect()
        });
        told.get(self.id).expect("packing writes one row for each rule")
    }
}
