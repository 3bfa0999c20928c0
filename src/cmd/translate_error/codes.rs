//! Looks up, lists and searches codes.

use data::{OrFault as _, faults};
use serde::Serialize;

use crate::cmd::finish;
use crate::cmd::output::Output;
use crate::explain::{Detail, Item, Topic, code_page, of_cause, of_code};
use base::report::{DataInUse, ExitStatus, Finding, Report};
use base::text::{Lang, nearest};
use data::ui;
use errcodes::{self, Answer, Cause, Hit};
use render::{Block, Format, page_markdown, page_text};

/// Number of hits that are shown without `--verbose`.
const SHOWN: usize = 20;

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct CodesDocument<'a> {
    schema: &'static str,
    /// The tables that were used.
    data: &'a DataInUse,
    /// The codes, causes and families.
    items: Vec<Item<'a>>,
}

/// The answer in all forms: pages of text, items of JSON, and findings of other formats.
struct Content<'a> {
    pages: Box<dyn Fn(Lang, bool) -> Vec<Vec<Block>> + 'a>,
    items: Vec<Item<'a>>,
    remarks: Vec<Finding>,
    /// The input.
    subject: String,
    /// Unknown codes.
    unknown: Vec<String>,
}

/// Looks up codes. The exit status is 0 if all are known, else 3.
pub(super) fn run(inputs: &[String], explain: bool, output: &Output) -> anyhow::Result<ExitStatus> {
    let answers = inputs.iter().flat_map(|input| answer(input));
    let detail = if explain { Detail::Long } else { Detail::Short };
    let topics: Vec<Result<Topic, Answer>> = answers
        .map(|answer| if answer.is_known() { Ok(Topic::Code(answer)) } else { Err(answer) })
        .collect();
    let items = topics.iter().map(|topic| match topic {
        Ok(topic) => topic.item(),
        Err(answer) => Item::Unknown {
            asked: &answer.asked,
            similar: errcodes::similar(&answer.asked, 3),
            causes: suggested(&answer.asked).map(|cause| cause.id.as_str()).collect(),
        },
    });
    let content = Content {
        pages: Box::new(|lang, verbose| {
            let pages = topics.iter().map(|topic| match topic {
                Ok(Topic::Code(answer)) => code_page(answer, lang, detail, verbose || explain),
                Ok(other) => other.page(lang, verbose),
                Err(answer) => unknown_page(&answer.asked, lang),
            });
            pages.collect()
        }),
        items: items.collect(),
        remarks: topics.iter().flatten().flat_map(Topic::remarks).collect(),
        subject: inputs.join(" "),
        unknown: topics
            .iter()
            .filter_map(|topic| topic.as_ref().err().map(|answer| answer.asked.clone()))
            .collect(),
    };
    write(content, output)
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

/// Creates the page of an unknown code, with similar codes.
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

/// The causes that words may describe. A code has no words.
fn suggested(asked: &str) -> impl Iterator<Item = &'static Cause> {
    let has_words = asked.contains(|c: char| c.is_whitespace() || !c.is_ascii());
    let causes = if has_words { errcodes::suggest(asked) } else { Vec::new() };
    causes.into_iter()
}

/// Lists the families, the codes of one, or the causes.
pub(super) fn list(family: &str, output: &Output) -> anyhow::Result<ExitStatus> {
    let content = match family {
        "" => families(),
        "causes" => causes(),
        id => {
            let Some(family) = errcodes::family(&id.to_ascii_lowercase()) else {
                let ids = errcodes::families().iter().map(|family| family.id.clone());
                let near = nearest(id, ids.chain(["causes".to_owned()]), 2);
                let hint = match near.as_slice() {
                    [] => faults::ListFamilies.fault(),
                    near => crate::cmd::error_message::did_you_mean(near),
                };
                let name = base::text::escape_line(id).into_owned();
                return Err(faults::NoSuchFamily { name, why: hint }.fault().into());
            };
            Content {
                pages: Box::new(|lang, _| vec![Topic::CodeFamily(family).page(lang, false)]),
                items: vec![Item::CodeFamily { family, codes: errcodes::rows(family) }],
                remarks: Topic::CodeFamily(family).remarks(),
                subject: family.id.clone(),
                unknown: Vec::new(),
            }
        }
    };
    write(content, output)
}

fn families() -> Content<'static> {
    let rows = |lang: Lang| {
        errcodes::families()
            .iter()
            .map(|family| {
                vec![
                    family.id.clone(),
                    errcodes::rows(family).len().to_string(),
                    family.title.get(lang).to_owned(),
                ]
            })
            .collect()
    };
    let remark = |family: &'static errcodes::Family| Finding {
        title: family.title.clone(),
        cause: family.says.clone(),
        ..Finding::remark(format!("family/{}", family.id))
    };
    Content {
        pages: Box::new(move |lang, _| {
            let head = [ui::FAMILY, ui::CODES, ui::NAME].map(|label| label.get(lang)).to_vec();
            vec![vec![
                Block::Title(ui::CODE_FAMILIES.get(lang), String::new()),
                Block::Table(head, rows(lang)),
            ]]
        }),
        items: errcodes::families()
            .iter()
            .map(|family| Item::CodeFamily { family, codes: errcodes::rows(family) })
            .collect(),
        remarks: errcodes::families().iter().map(remark).collect(),
        subject: "families".to_owned(),
        unknown: Vec::new(),
    }
}

fn causes() -> Content<'static> {
    Content {
        pages: Box::new(|lang, _| {
            let rows = errcodes::causes()
                .map(|cause| vec![cause.id.clone(), cause.title.get(lang).to_owned()]);
            let head = [ui::CODE, ui::NAME].map(|label| label.get(lang)).to_vec();
            vec![vec![
                Block::Title(ui::CAUSES.get(lang), String::new()),
                Block::Table(head, rows.collect()),
            ]]
        }),
        items: errcodes::causes().map(Item::of_cause).collect(),
        remarks: errcodes::causes().map(of_cause).collect(),
        subject: "causes".to_owned(),
        unknown: Vec::new(),
    }
}

/// Searches codes and causes. The exit status is 0 if there is a hit, else 3.
pub(super) fn search(words: &str, output: &Output) -> anyhow::Result<ExitStatus> {
    let hits = errcodes::search(words);
    let row = |hit: &Hit, lang: Lang| match hit {
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
    let unknown = if hits.is_empty() { vec![words.to_owned()] } else { Vec::new() };
    let content = Content {
        pages: Box::new(|lang, verbose| {
            if hits.is_empty() {
                let text = ui::SearchNothing { words }.text();
                return vec![vec![Block::Paragraph(text.get(lang).to_owned())]];
            }
            let shown = if verbose { hits.len() } else { SHOWN.min(hits.len()) };
            let rows = hits[..shown].iter().map(|hit| row(hit, lang)).collect();
            let head = [ui::FAMILY, ui::CODE, ui::MESSAGE].map(|label| label.get(lang)).to_vec();
            let mut page = vec![Block::Table(head, rows)];
            if shown < hits.len() {
                let more = hits.len() - shown;
                let text = ui::MoreHits { n: more }.text();
                page.push(Block::Paragraph(text.get(lang).to_owned()));
            }
            vec![page]
        }),
        items: hits
            .iter()
            .map(|hit| match *hit {
                Hit::Cause(cause) => Item::of_cause(cause),
                Hit::Code(family, code) => Item::Row { family: &family.id, code },
            })
            .collect(),
        remarks: hits
            .iter()
            .map(|hit| match *hit {
                Hit::Cause(cause) => of_cause(cause),
                Hit::Code(family, row) => of_code(family, row, None),
            })
            .collect(),
        subject: words.to_owned(),
        unknown,
    };
    write(content, output)
}

fn write(content: Content<'_>, output: &Output) -> anyhow::Result<ExitStatus> {
    let status =
        if content.unknown.is_empty() { ExitStatus::Clean } else { ExitStatus::Inconclusive };
    match output.format() {
        Format::Text => output.write(|out, style| {
            for (number, page) in (content.pages)(style.lang, style.verbose).iter().enumerate() {
                if number > 0 {
                    writeln!(out)?;
                }
                page_text(page, style, out)?;
            }
            Ok(())
        }),
        Format::Markdown => output.write(|out, style| {
            for page in &(content.pages)(style.lang, style.verbose) {
                page_markdown(page, 2, out)?;
                writeln!(out)?;
            }
            Ok(())
        }),
        Format::Json | Format::Jsonl => {
            let schema = "ascend-doctor/codes/1";
            let document = CodesDocument { schema, data: output.data(), items: content.items };
            output.write_document(&document)
        }
        // These formats have no pages, so the answer becomes a report with findings.
        _ => {
            let mut report = Report::new("translate-error", content.subject);
            report.findings = content.remarks;
            report.unanswered = content
                .unknown
                .into_iter()
                .map(|asked| ui::NothingKnown { code: asked }.text())
                .collect();
            return finish(report, output);
        }
    }
    .or_fault(|| faults::FailedToWriteAnswer.fault())?;
    Ok(status)
}
