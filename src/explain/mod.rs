//! `explain`: what a finding id, a family, an error code or a rule of `convert` means.

mod code;
mod finding;
mod reference;
mod remark;
mod rule;

pub use code::{family_page as code_family_page, page as code_page};
pub use finding::{family_page, list_page, page as finding_page};
pub use reference::pages as reference_pages;
pub use rule::page as rule_page;

use serde::Serialize;

use crate::convert::rules::{Rule, Rules};
use crate::data::{Catalog, Entry, Family};
use crate::errcodes::{self, Cause, Match, Note, Row};
use crate::render::Block;
use crate::report::Finding;
use crate::text::{Lang, nearest};

/// What a name that was asked for turned out to be.
#[derive(Debug)]
pub enum Topic {
    /// A finding id.
    Finding(&'static Entry, &'static Family),
    /// A family of findings.
    Family(&'static Family),
    /// A family of error codes.
    CodeFamily(&'static errcodes::Family),
    /// An error code: all that it can mean, the most plausible first; never empty.
    Code(String, Vec<Match>),
    /// A rule of `convert`.
    Rule(&'static Rule),
}

/// Finds what `name` is; letter case does not matter.
///
/// # Errors
///
/// With names that are written like it, if there is nothing of that name.
pub fn find(name: &str) -> Result<Vec<Topic>, Vec<String>> {
    let catalog = Catalog::builtin();
    let wanted = name.trim();
    for family in &catalog.families {
        if let Some(entry) = family.entries.iter().find(|e| e.id.eq_ignore_ascii_case(wanted)) {
            return Ok(vec![Topic::Finding(entry, family)]);
        }
    }
    if let Some(rule) = Rules::builtin().by_id(wanted) {
        return Ok(vec![Topic::Rule(rule)]);
    }
    let mut topics: Vec<Topic> = catalog
        .families
        .iter()
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
    let matches = errcodes::look_up(wanted);
    if !matches.is_empty() {
        return Ok(vec![Topic::Code(wanted.to_owned(), matches)]);
    }
    let ids = catalog.families.iter().flat_map(|family| {
        family.entries.iter().map(|entry| entry.id.clone()).chain([family.family.clone()])
    });
    let rules = Rules::builtin().rules.iter().map(|rule| rule.id.clone());
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
            Self::Family(family) => family_page(family, lang),
            Self::CodeFamily(family) => code::family_page(family, lang),
            Self::Code(asked, matches) => code::page(asked, matches, lang, verbose),
            Self::Rule(rule) => rule::page(rule, lang),
        }
    }

    /// The topic as remarks of a report, for the formats that know nothing but findings: each
    /// finding id and each meaning of a code is an info.
    pub fn remarks(&self) -> Vec<Finding> {
        match self {
            Self::Finding(entry, family) => vec![remark::of_entry(entry, family)],
            Self::Family(family) => {
                family.entries.iter().map(|entry| remark::of_entry(entry, family)).collect()
            }
            Self::CodeFamily(family) => errcodes::rows(family)
                .iter()
                .map(|row| remark::of_code(family, row, None))
                .collect(),
            Self::Code(_, matches) => matches
                .iter()
                .map(|found| remark::of_code(found.family, &found.row, found.cause))
                .collect(),
            Self::Rule(rule) => vec![remark::of_rule(rule)],
        }
    }

    /// The topic for programs: an item of `ascend-doctor/explain/1`.
    pub fn item(&self) -> Item<'_> {
        match self {
            Self::Finding(entry, family) => {
                Item::Finding { family: &family.family, finding: entry }
            }
            Self::Family(family) => Item::Family {
                family: &family.family,
                title: &family.title,
                findings: &family.entries,
            },
            Self::CodeFamily(family) => Item::CodeFamily { family, codes: errcodes::rows(family) },
            Self::Rule(rule) => Item::Rule { rule },
            Self::Code(asked, matches) => Item::Code {
                asked,
                meanings: matches
                    .iter()
                    .map(|found| Meaning {
                        family: found.family,
                        code: &found.row,
                        cause: found.cause,
                        note: found.note,
                    })
                    .collect(),
            },
        }
    }
}

/// A topic for programs.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Item<'a> {
    /// A finding id.
    Finding {
        /// Its family.
        family: &'a str,
        /// Its entry in the catalogue.
        finding: &'a Entry,
    },
    /// A family of findings.
    Family {
        /// Its prefix.
        family: &'a str,
        /// Its heading.
        title: &'a crate::text::Text,
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
        /// What was asked for.
        asked: &'a str,
        /// What it can mean, the most plausible first.
        meanings: Vec<Meaning<'a>>,
    },
    /// A rule of `convert`.
    Rule {
        /// Its row in the table.
        rule: &'a Rule,
    },
}

/// One meaning of a code.
#[derive(Debug, Serialize)]
pub struct Meaning<'a> {
    family: &'a errcodes::Family,
    code: &'a Row,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'a Cause>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a Note>,
}

#[cfg(test)]
mod tests {
    use super::*;

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
                    assert!(english.contains(&message.title.en.replace('"', "\\\"")), "{id}");
                    assert!(chinese.contains(&message.title.zh.replace('"', "\\\"")), "{id}");
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
                for text in [&rule.note, &rule.advice].into_iter().flatten() {
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
        assert!(matches!(find("507035").unwrap()[..], [Topic::Code(..)]));
    }

    #[test]
    fn what_is_unknown_gets_suggestions() {
        assert_eq!(find("SCAN-REED").unwrap_err(), ["SCAN-READ"]);
        assert!(find("EI00006").unwrap_err().contains(&"EI0006".to_owned()));
        assert!(find("").unwrap_err().is_empty());
    }
}
