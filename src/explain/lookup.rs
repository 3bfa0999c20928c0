//! Looks up, lists and searches codes and causes.

use base::report::{ExitStatus, Finding};
use base::text::{Lang, Text};
use data::ui;
use errcodes::{Answer, Cause, Family, Hit};
use render::Block;

use crate::{Detail, Item, Topic, code_page, of_cause, of_code};

/// Number of hits of a search that are shown without `verbose`.
const SHOWN: usize = 20;

/// What is asked about codes and causes, with its answer.
#[derive(Debug)]
pub enum Lookup {
    /// Codes; those of which nothing is known are errors.
    Codes {
        /// The answers.
        topics: Vec<Result<Topic, Answer>>,
        /// The inputs.
        subject: String,
        /// Whether every meaning is explained in full.
        explain: bool,
    },
    /// All families of codes.
    Families,
    /// The codes of one family.
    Family(&'static Family),
    /// All causes.
    Causes,
    /// Codes and causes that have the words.
    Search {
        /// The words.
        words: String,
        /// What has them, the best first.
        hits: Vec<Hit>,
    },
}

impl Lookup {
    /// Looks up codes, and the codes that phrases name.
    pub fn codes(inputs: &[String], explain: bool) -> Self {
        let known = |answer: Answer| {
            if answer.is_known() { Ok(Topic::Code(answer)) } else { Err(answer) }
        };
        let topics = inputs.iter().flat_map(|input| answer(input)).map(known).collect();
        Self::Codes { topics, subject: inputs.join(" "), explain }
    }

    /// Searches codes and causes.
    pub fn search(words: &str) -> Self {
        Self::Search { words: words.to_owned(), hits: errcodes::search(words) }
    }

    /// The answer for people. With `verbose`, all that is known.
    pub fn pages(&self, lang: Lang, verbose: bool) -> Vec<Vec<Block>> {
        match self {
            Self::Codes { topics, explain, .. } => {
                let detail = if *explain { Detail::Long } else { Detail::Short };
                let pages = topics.iter().map(|topic| match topic {
                    Ok(Topic::Code(answer)) => code_page(answer, lang, detail, verbose || *explain),
                    Ok(other) => other.page(lang, verbose),
                    Err(answer) => unknown_page(&answer.asked, lang),
                });
                pages.collect()
            }
            Self::Families => {
                let head = [ui::FAMILY, ui::CODES, ui::NAME].map(|label| label.get(lang)).to_vec();
                let rows = errcodes::families().iter().map(|family| {
                    let count = errcodes::rows(family).len().to_string();
                    vec![family.id.clone(), count, family.title.get(lang).to_owned()]
                });
                vec![vec![
                    Block::Title(ui::CODE_FAMILIES.get(lang), String::new()),
                    Block::Table(head, rows.collect()),
                ]]
            }
            Self::Family(family) => vec![Topic::CodeFamily(family).page(lang, false)],
            Self::Causes => {
                let rows = errcodes::causes()
                    .map(|cause| vec![cause.id.clone(), cause.title.get(lang).to_owned()]);
                let head = [ui::CODE, ui::NAME].map(|label| label.get(lang)).to_vec();
                vec![vec![
                    Block::Title(ui::CAUSES.get(lang), String::new()),
                    Block::Table(head, rows.collect()),
                ]]
            }
            Self::Search { words, hits } => vec![hits_page(words, hits, lang, verbose)],
        }
    }

    /// The answer for programs.
    pub fn items(&self) -> Vec<Item<'_>> {
        match self {
            Self::Codes { topics, .. } => {
                let items = topics.iter().map(|topic| match topic {
                    Ok(topic) => topic.item(),
                    Err(answer) => Item::Unknown {
                        asked: &answer.asked,
                        similar: errcodes::similar(&answer.asked, 3),
                        causes: suggested(&answer.asked).map(|cause| cause.id.as_str()).collect(),
                    },
                });
                items.collect()
            }
            Self::Families => errcodes::families()
                .iter()
                .map(|family| Item::CodeFamily { family, codes: errcodes::rows(family) })
                .collect(),
            Self::Family(family) => {
                vec![Item::CodeFamily { family, codes: errcodes::rows(family) }]
            }
            Self::Causes => errcodes::causes().map(Item::of_cause).collect(),
            Self::Search { hits, .. } => hits
                .iter()
                .map(|hit| match *hit {
                    Hit::Cause(cause) => Item::of_cause(cause),
                    Hit::Code(family, code) => Item::Row { family: &family.id, code },
                })
                .collect(),
        }
    }

    /// The answer as findings, for formats that have nothing else.
    pub fn remarks(&self) -> Vec<Finding> {
        match self {
            Self::Codes { topics, .. } => {
                topics.iter().flatten().flat_map(Topic::remarks).collect()
            }
            Self::Families => {
                let remark = |family: &'static Family| Finding {
                    title: family.title.clone(),
                    cause: family.says.clone(),
                    ..Finding::remark(format!("family/{}", family.id))
                };
                errcodes::families().iter().map(remark).collect()
            }
            Self::Family(family) => Topic::CodeFamily(family).remarks(),
            Self::Causes => errcodes::causes().map(of_cause).collect(),
            Self::Search { hits, .. } => hits
                .iter()
                .map(|hit| match *hit {
                    Hit::Cause(cause) => of_cause(cause),
                    Hit::Code(family, row) => of_code(family, row, None),
                })
                .collect(),
        }
    }

    /// What is asked, in a few words.
    pub fn subject(&self) -> String {
        match self {
            Self::Codes { subject, .. } => subject.clone(),
            Self::Families => "families".to_owned(),
            Self::Family(family) => family.id.clone(),
            Self::Causes => "causes".to_owned(),
            Self::Search { words, .. } => words.clone(),
        }
    }

    /// What has no answer.
    pub fn unknown(&self) -> Vec<String> {
        match self {
            Self::Codes { topics, .. } => {
                let unknown = topics.iter().filter_map(|topic| topic.as_ref().err());
                unknown.map(|answer| answer.asked.clone()).collect()
            }
            Self::Search { words, hits } if hits.is_empty() => vec![words.clone()],
            _ => Vec::new(),
        }
    }

    /// The exit status: 0 if everything has an answer, else 3.
    pub fn status(&self) -> ExitStatus {
        if self.unknown().is_empty() { ExitStatus::Clean } else { ExitStatus::Inconclusive }
    }
}

/// Looks up an input: a code, or the codes that a phrase names.
fn answer(input: &str) -> Vec<Answer> {
    let whole = errcodes::answer(input);
    if whole.is_known() {
        return vec![whole];
    }
    let named = errcodes::find_codes(input);
    if named.is_empty() { vec![whole] } else { named }
}

/// Creates the page of an unknown code, with similar ones.
fn unknown_page(asked: &str, lang: Lang) -> Vec<Block> {
    let mut page = vec![Block::Title(asked.to_owned(), ui::UNKNOWN_CODE.get(lang))];
    let similar = errcodes::similar(asked, 3);
    if !similar.is_empty() {
        page.push(Block::Facts(vec![(ui::DID_YOU_MEAN.get(lang), similar.join(", "))]));
    }
    let causes = suggested(asked);
    let causes: Vec<String> =
        causes.map(|cause| format!("{} ({})", cause.title.get(lang), cause.id)).collect();
    if !causes.is_empty() {
        page.push(Block::Facts(vec![(ui::SUGGESTED.get(lang), causes.join("; "))]));
    }
    page
}

/// The causes that words may mean. A code has no words.
fn suggested(asked: &str) -> impl Iterator<Item = &'static Cause> {
    let has_words = asked.contains(|c: char| c.is_whitespace() || !c.is_ascii());
    let causes = if has_words { errcodes::suggest(asked) } else { Vec::new() };
    causes.into_iter()
}

/// Creates the page of a search.
fn hits_page(words: &str, hits: &[Hit], lang: Lang, verbose: bool) -> Vec<Block> {
    if hits.is_empty() {
        let text = ui::SearchNothing { words }.text();
        return vec![Block::Paragraph(text.get(lang).to_owned())];
    }
    let row = |hit: &Hit| match hit {
        Hit::Cause(cause) => {
            vec![ui::MEANING.get(lang), cause.id.clone(), cause.title.get(lang).to_owned()]
        }
        Hit::Code(family, row) => {
            let message = match lang {
                Lang::Zh if !row.zh.is_empty() => &row.zh,
                _ => &row.message,
            };
            let words = format!("{} {message}", row.symbol);
            vec![family.id.clone(), row.code.clone(), words.trim().to_owned()]
        }
    };
    let shown = if verbose { hits.len() } else { SHOWN.min(hits.len()) };
    let rows = hits[..shown].iter().map(row).collect();
    let head = [ui::FAMILY, ui::CODE, ui::MESSAGE].map(|label| label.get(lang)).to_vec();
    let mut page = vec![Block::Table(head, rows)];
    if shown < hits.len() {
        let more = hits.len() - shown;
        let text = ui::MoreHits { n: more }.text();
        page.push(Block::Paragraph(text.get(lang).to_owned()));
    }
    page
}

/// The most bytes of a description of a failure in words.
pub const DESCRIPTION: usize = 300;

/// Names the causes that a description of a failure may mean.
pub fn describe_suggestions(words: &str) -> Option<Text> {
    let causes = errcodes::suggest(words);
    let first = causes.first()?;
    let listed = |lang: Lang| {
        let titles = causes.iter().map(|cause| format!("{} ({})", cause.title.get(lang), cause.id));
        titles.collect::<Vec<_>>().join(if lang == Lang::Zh { "；" } else { "; " })
    };
    let causes = Text::new(listed(Lang::En), listed(Lang::Zh));
    Some(ui::SuggestedCauses { causes, first: &first.id }.text())
}
