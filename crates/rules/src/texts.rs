//! User-facing texts of the rules, loaded by field and on demand because they make up three quarters
//! of the table and planning does not need them.

use std::sync::OnceLock;

use foldhash::{HashMap, HashSet};
use serde::{Deserialize, Serialize};

use base::text::Words;
use data::{
    data_pack::{Pack, PackError, invalid},
    table,
};

use super::rule::{FILES, Rule};

/// A before/after pair that shows a rule, and tests it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// The source.
    pub before: &'static str,
    /// The converted source; unchanged if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<&'static str>,
    /// File name, if it is not a Python source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<&'static str>,
    /// Whether the usual imports are prepended.
    #[serde(default = "yes")]
    pub prelude: bool,
}

fn yes() -> bool {
    true
}

/// User-facing texts of a rule.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RuleText {
    #[serde(skip_serializing)]
    id: &'static str,
    /// Facts that a reader must know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Words>,
    /// Advice for flagged places.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<Words>,
    /// The sources of the fact.
    pub source: Vec<&'static str>,
    /// A before/after pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<Example>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "RuleText: Deserialize<'de>"))]
struct File {
    rule: Vec<RuleText>,
}

type FieldTexts = OnceLock<HashMap<&'static str, RuleText>>;

/// Texts by the position of the field in [`FILES`].
static FIELD_TEXTS: [FieldTexts; FILES.len()] = [const { OnceLock::new() }; FILES.len()];

/// Decodes the tables of a pack. Requires that every rule has its texts.
pub(super) fn check(pack: &'static Pack, rules: &[Rule]) -> Result<(), PackError> {
    for field in FILES {
        let name = format!("convert/{field}.texts");
        let file: File = pack.table(&name)?;
        let ids: HashSet<&str> = file.rule.iter().map(|text| text.id).collect();
        let of_field = rules.iter().filter(|rule| rule.field == *field);
        if let Some(rule) = of_field.into_iter().find(|rule| !ids.contains(rule.id)) {
            return Err(invalid(&name, format!("{} has no texts", rule.id)));
        }
    }
    Ok(())
}

impl Rule {
    /// Returns the user-facing texts of the rule.
    ///
    /// # Panics
    ///
    /// For a rule that is not in the built-in table.
    pub fn text(&self) -> &'static RuleText {
        let field = FILES.iter().position(|field| *field == self.field);
        let field_texts =
            field.map(|at| &FIELD_TEXTS[at]).expect("a rule is of a file of the table");
        let texts = field_texts.get_or_init(|| {
            let file: File = table(&format!("convert/{}.texts", self.field));
            file.rule.into_iter().map(|text| (text.id, text)).collect()
        });
        texts.get(self.id).expect("packing writes one row for each rule")
    }
}
