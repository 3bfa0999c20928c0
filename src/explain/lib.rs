//! `explain`: describes a finding id, a family, an error code or a rule of `convert`.
//!
//! Must not touch: files, the terminal.

mod code;
pub mod document;
mod finding;
pub mod input;
pub mod lookup;
mod reference;
mod remark;
mod rule;
mod sheet;

pub use code::{Detail, cause_page, family_page as code_family_page, page as code_page};
pub use finding::{family_page, list_page, page as finding_page};
pub use reference::pages as reference_pages;
pub use remark::{of_cause, of_code};
pub use rule::page as rule_page;
pub use sheet::{
    Fit, Judgement, Package, Sheet, SheetFact, SheetKind, find as sheets, variable_within,
    versions_together,
};

use serde::Serialize;

use base::report::Finding;
use base::text::{Lang, nearest};
use data::{Catalog, Entry, Family};
use errcodes::{self, Answer, Cause, Note, Quotation, Remedy, Row};
use render::Block;
use rules::{Rule, RuleText, Rules};

/// The meaning of a requested name.
#[derive(Debug)]
pub enum Topic {
    /// A finding id.
    Finding(&'static Entry, &'static Family),
    /// A finding id that a run reported, with its findings.
    Occurred(&'static Entry, &'static Family, Vec<Finding>),
    /// A family of findings.
    Family(&'static Family),
    /// A family of error codes.
    CodeFamily(&'static errcodes::Family),
    /// A known error code.
    Code(Answer),
    /// A cause of failures.
    Cause(&'static Cause),
    /// A rule of `convert`.
    Rule(&'static Rule),
    /// A variable, chip, release, wheel, image or file.
    Sheet(Box<Sheet>),
}

/// Finds the topics of `name`; letter case does not matter.
///
/// # Errors
///
/// With similar names, if the name is unknown.
pub fn find(name: &str) -> Result<Vec<Topic>, Vec<String>> {
    let catalog = Catalog::builtin();
    let wanted = name.trim();
    for family in catalog.families() {
        if let Some(entry) = family.entries.iter().find(|e| e.id.eq_ignore_ascii_case(wanted)) {
            return Ok(vec![Topic::Finding(entry, family)]);
        }
    }
    if let Some(rule) = Rules::builtin().by_id(wanted) {
        return Ok(vec![Topic::Rule(rule)]);
    }
    let mut topics: Vec<Topic> = catalog
        .families()
        .filter(|family| family.family.eq_ignore_ascii_case(wanted))
        .map(Topic::Family)
        .collect();
    topics.extend(
        errcodes::families()
            .iter()
            .filter(|family| family.id.eq_ignore_ascii_case(wanted))
            .map(Topic::CodeFamily),
    );
    if !topics.is_empty() {
        return Ok(topics);
    }
    if let Some(cause) = errcodes::cause(&wanted.to_ascii_lowercase()) {
        return Ok(vec![Topic::Cause(cause)]);
    }
    // Names of variables and files are also words to search logs for. Versions are numbers.
    let sheets = sheets(wanted);
    let is_version = sheets.iter().all(|sheet| sheet.about == SheetKind::Release);
    let answer = errcodes::answer(wanted);
    if answer.is_known() && is_version {
        return Ok(vec![Topic::Code(answer)]);
    }
    if !sheets.is_empty() {
        return Ok(sheets.into_iter().map(|sheet| Topic::Sheet(Box::new(sheet))).collect());
    }
    let ids = catalog.families().flat_map(|family| {
        family.entries.iter().map(|entry| entry.id.clone()).chain([family.family.clone()])
    });
    let rules = Rules::builtin().rules.iter().map(|rule| rule.id.to_owned());
    let mut near = nearest(wanted, ids.chain(rules), 3);
    near.extend(errcodes::similar(wanted, 3));
    near.truncate(4);
    Err(near)
}

impl Topic {
    /// The topic as a page. With `verbose`, every meaning of an ambiguous code in full.
    pub fn page(&self, lang: Lang, verbose: bool) -> Vec<Block> {
        match self {
            Self::Finding(entry, family) => finding::page(entry, family, lang),
            Self::Occurred(entry, family, seen) => finding::page_with(entry, family, seen, lang),
            Self::Family(family) => family_page(family, lang),
            Self::CodeFamily(family) => code::family_page(family, lang),
            Self::Code(answer) => code::page(answer, lang, Detail::Short, verbose),
            Self::Cause(cause) => cause_page(cause, lang),
            Self::Rule(rule) => rule::page(rule, lang),
            Self::Sheet(sheet) => sheet.page(lang),
        }
    }

    /// The topic as remarks of a report, for formats that only support findings: each finding id
    /// and each meaning of a code is an info.
    pub fn remarks(&self) -> Vec<Finding> {
        match self {
            Self::Finding(entry, family) => vec![remark::of_entry(entry, family)],
            Self::Occurred(_, _, seen) => seen.clone(),
            Self::Family(family) => {
                family.entries.iter().map(|entry| remark::of_entry(entry, family)).collect()
            }
            Self::CodeFamily(family) => {
                errcodes::rows(family).iter().map(|row| of_code(family, row, None)).collect()
            }
            Self::Code(answer) => remark::of_answer(answer),
            Self::Cause(cause) => vec![of_cause(cause)],
            Self::Rule(rule) => vec![remark::of_rule(rule)],
            Self::Sheet(sheet) => vec![sheet.remark()],
        }
    }

    /// The topic for machine-readable output: an item of `ascend-doctor/explain/1`.
    pub fn item(&self) -> Item<'_> {
        match self {
            Self::Finding(entry, family) => {
                Item::Finding { family: &family.family, finding: entry, occurred: &[] }
            }
            Self::Occurred(entry, family, seen) => {
                Item::Finding { family: &family.family, finding: entry, occurred: seen }
            }
            Self::Family(family) => Item::Family {
                family: &family.family,
                title: &family.title,
                findings: &family.entries,
            },
            Self::CodeFamily(family) => Item::CodeFamily { family, codes: errcodes::rows(family) },
            Self::Rule(rule) => Item::Rule { rule: RuleRow { rule, text: rule.text() } },
            Self::Sheet(sheet) => Item::Sheet { sheet },
            Self::Code(answer) => Item::Code {
                asked: &answer.asked,
                meanings: answer
                    .matches
                    .iter()
                    .map(|found| Meaning {
                        family: found.family,
                        code: &found.row,
                        cause: found.cause,
                        through: found.through.as_deref(),
                        note: found.note,
                        also: found
                            .also
                            .iter()
                            .map(|(family, row)| Named::new(family, row))
                            .collect(),
                        becomes: codes(&found.find_targets()),
                        comes_of: codes(&found.find_sources()),
                    })
                    .collect(),
                decodings: answer
                    .decodings
                    .iter()
                    .map(|decoding| Decoded {
                        decoding,
                        causes: decoding.links.iter().map(|link| link.cause).collect(),
                    })
                    .collect(),
            },
            Self::Cause(cause) => Item::of_cause(cause),
        }
    }
}

/// A topic for machine-readable output.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Item<'a> {
    /// A finding id.
    Finding {
        /// Its family.
        family: &'a str,
        /// Its entry in the catalog.
        finding: &'a Entry,
        /// The findings of a run, if `--facts` or `--report` names one.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        occurred: &'a [Finding],
    },
    /// A family of findings.
    Family {
        /// Its prefix.
        family: &'a str,
        /// Its heading.
        title: &'a base::text::Text,
        /// Its findings.
        findings: &'a [Entry],
    },
    /// A family of error codes.
    CodeFamily {
        /// The family.
        family: &'a errcodes::Family,
        /// Its codes.
        codes: &'a [Row],
    },
    /// An error code.
    Code {
        /// The requested code.
        asked: &'a str,
        /// Its possible meanings, the most plausible first.
        meanings: Vec<Meaning<'a>>,
        /// The meanings of its parts.
        decodings: Vec<Decoded<'a>>,
    },
    /// A cause of failures.
    Cause {
        /// The cause.
        cause: &'a Cause,
        /// Remedies for logs that contain certain words.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "schema", schemars(default))]
        remedies: Vec<&'a Remedy>,
    },
    /// A rule of `convert`.
    Rule {
        /// Its row in the table.
        rule: RuleRow<'a>,
    },
    /// A variable, chip, release, wheel, image or file.
    Sheet {
        /// The facts about it.
        sheet: &'a Sheet,
    },
    /// A single code from a search.
    Row {
        /// The id of its family.
        family: &'a str,
        /// Its row in the table.
        code: &'a Row,
    },
    /// An unknown name.
    Unknown {
        /// The requested name.
        asked: &'a str,
        /// Similar codes and names.
        similar: Vec<String>,
        /// Causes whose descriptions contain its words.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "schema", schemars(default))]
        causes: Vec<&'a str>,
    },
}

impl<'a> Item<'a> {
    /// A cause with its remedies.
    pub fn of_cause(cause: &'a Cause) -> Self {
        Self::Cause { cause, remedies: errcodes::remedies(&cause.id).collect() }
    }
}

/// A rule of `convert` with all its texts.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuleRow<'a> {
    #[serde(flatten)]
    rule: &'a Rule,
    #[serde(flatten)]
    text: &'a RuleText,
}

/// One meaning of a code.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Meaning<'a> {
    family: &'a errcodes::Family,
    code: &'a Row,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'a Cause>,
    #[serde(skip_serializing_if = "Option::is_none")]
    through: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a Note>,
    also: Vec<Named>,
    becomes: Vec<Named>,
    comes_of: Vec<Named>,
}

/// A code of another family.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Named {
    /// The ID of the family.
    family: &'static str,
    /// The code.
    code: String,
    /// The name of the constant, or the title of the message.
    symbol: String,
    /// The short official message.
    message: Quotation,
}

impl Named {
    fn new(family: &'static errcodes::Family, row: &Row) -> Self {
        let message = row.quotation();
        Self { family: &family.id, code: row.code.clone(), symbol: row.symbol.clone(), message }
    }
}

fn codes(rows: &[(&'static errcodes::Family, Row)]) -> Vec<Named> {
    rows.iter().map(|(family, row)| Named::new(family, row)).collect()
}

/// The meanings of the parts of a code.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decoded<'a> {
    #[serde(flatten)]
    decoding: &'a errcodes::decode::Decoding,
    causes: Vec<&'a Cause>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::text::described;

    #[test]
    fn every_id_explains_in_both_languages() {
        for entry in Catalog::builtin().entries() {
            for id in [entry.id.clone(), entry.id.to_ascii_lowercase()] {
                let topics = find(&id).unwrap();
                let [topic @ Topic::Finding(found, _)] = topics.as_slice() else {
                    panic!("{id} is no finding")
                };
                assert_eq!(found.id, entry.id);
                let english = format!("{:?}", topic.page(Lang::En, false));
                let chinese = format!("{:?}", topic.page(Lang::Zh, false));
                assert!(english.contains(&entry.detects.en.replace('"', "\\\"")), "{id}");
                assert!(chinese.contains(&entry.detects.zh.replace('"', "\\\"")), "{id}");
                for message in entry.message.values() {
                    assert!(
                        english.contains(&described(&message.title.en).replace('"', "\\\"")),
                        "{id}"
                    );
                    assert!(
                        chinese.contains(&described(&message.title.zh).replace('"', "\\\"")),
                        "{id}"
                    );
                }
            }
        }
    }

    #[test]
    fn every_rule_of_convert_explains_in_both_languages() {
        for rule in &Rules::builtin().rules {
            let topics = find(&rule.id.to_ascii_lowercase()).unwrap();
            let [topic @ Topic::Rule(found)] = topics.as_slice() else {
                panic!("{} is no rule", rule.id)
            };
            assert_eq!(found.id, rule.id);
            for lang in [Lang::En, Lang::Zh] {
                let page = topic.page(lang, false);
                for text in [rule.text().note, rule.text().advice].into_iter().flatten() {
                    let words = Block::Paragraph(text.get(lang).to_owned());
                    assert!(page.contains(&words), "{}: {words:?}", rule.id);
                }
            }
        }
        assert!(find("CV9999").unwrap_err().iter().any(|near| near.starts_with("CV")));
    }

    #[test]
    fn families_and_codes_are_found() {
        assert!(matches!(find("Scan").unwrap()[..], [Topic::Family(_)]));
        assert!(matches!(find("hccl").unwrap()[..], [Topic::CodeFamily(_)]));
        assert!(matches!(find("507035").unwrap()[..], [Topic::Code(_)]));
        assert!(matches!(find("hccl.peer_lost").unwrap()[..], [Topic::Cause(_)]));
        assert!(matches!(find("EI0777").unwrap()[..], [Topic::Code(_)]), "it has parts");
    }

    #[test]
    fn what_is_unknown_gets_suggestions() {
        assert_eq!(find("SCAN-REED").unwrap_err(), ["SCAN-READ"]);
        assert!(find("EI00006").unwrap_err().contains(&"EI0006".to_owned()));
        assert!(find("").unwrap_err().is_empty());
    }
}
