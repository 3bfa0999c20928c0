//! What a user writes or pastes: the answer of `ascend-doctor TEXT`.

use base::report::ExitStatus;
use base::text::Lang;
use errcodes::log::{self, Filter, Input, ReportOptions, diagnose};
use explain::Topic;
use explain::document::{CodesDocument, ExplainDocument, judge};
use explain::input::{Found, InputType, Route, detect_text};
use explain::lookup::{DESCRIPTION, Lookup, describe_suggestions};
use triage::Collector;

use crate::files::{MemoryFiles, triage_report};
use crate::list;
use crate::outcome::{json, needs_program, of_pages, of_report};
use crate::reply::{Outcome, Reply};
use crate::request::Request;

/// Answers a text.
pub(crate) fn answer(request: &Request, text: &str) -> Reply {
    match detect_text(text) {
        Found::One(route) => run(request, &route),
        Found::Address => {
            Reply { status: ExitStatus::Inconclusive.code(), ..Reply::of(Outcome::Address) }
        }
        Found::Two(..) | Found::Mixed(_) | Found::Nothing => unknown(request, text),
    }
}

/// Names that are like the input.
fn unknown(request: &Request, text: &str) -> Reply {
    let near = errcodes::similar(text, 4);
    // Of two or three characters, everything is near.
    let near = if text.len() > 3 && !text.contains(' ') { near } else { Vec::new() };
    let mut hits: Vec<_> = near.iter().filter_map(|name| list::named(name, request.lang)).collect();
    if hits.is_empty() {
        hits = list::search(text, request.lang).hits;
        hits.truncate(8);
    }
    Reply { status: ExitStatus::Inconclusive.code(), hits, ..Reply::of(Outcome::Unknown) }
}

/// Runs the subcommand of a route.
fn run(request: &Request, route: &Route) -> Reply {
    match (route.command, route.kind) {
        (["explain"], _) => explain(request, route),
        (["translate-error", "--as", "code"], _) => {
            lookup(request, route, &Lookup::codes(&route.inputs, false))
        }
        (["translate-error", "--search"], _) => {
            lookup(request, route, &Lookup::search(&route.inputs.join(" ")))
        }
        (["translate-error", "--as", "text"], _) => log_text(request, route),
        (["triage"], _) => issue(request, route),
        (["translate-error"], InputType::Log) => Reply {
            read_as: route.what().get(request.lang).to_owned(),
            status: ExitStatus::Inconclusive.code(),
            ..Reply::of(Outcome::NeedsFile)
        },
        _ => needs_program(request, route),
    }
}

/// As `explain`: pages about names.
fn explain(request: &Request, route: &Route) -> Reply {
    let found = route.inputs.iter().filter_map(|name| explain::find(name).ok());
    let topics: Vec<Topic> = found.flatten().collect();
    let pages: Vec<_> = topics.iter().map(|topic| topic.page(request.lang, false)).collect();
    of_pages(request, route, judge(&topics), &pages, |data, detected| {
        let items = topics.iter().map(Topic::item).collect();
        json(&ExplainDocument::new(data, items), detected)
    })
}

/// As `translate-error` for codes and words.
fn lookup(request: &Request, route: &Route, lookup: &Lookup) -> Reply {
    let pages = lookup.pages(request.lang, false);
    of_pages(request, route, lookup.status(), &pages, |data, detected| {
        json(&CodesDocument::new(data, lookup.items()), detected)
    })
}

/// As `translate-error` for lines of a log.
fn log_text(request: &Request, route: &Route) -> Reply {
    let inputs = route.inputs.iter().map(|text| Input::Text(text.clone())).collect();
    let diagnosis = diagnose(log::read(inputs, &MemoryFiles::default()), &Filter::default());
    let subject = first_lines(&route.inputs);
    let mut report = log::report(&diagnosis, &subject, options(request.lang));
    let is_description =
        route.inputs.iter().all(|text| text.len() <= DESCRIPTION && !text.contains('\n'));
    if diagnosis.causes.is_empty() && is_description {
        report.notes.extend(describe_suggestions(&route.inputs.join(" ")));
    }
    of_report(request, route, report)
}

/// As `triage` for the text of an issue.
fn issue(request: &Request, route: &Route) -> Reply {
    let text = route.inputs.join("\n");
    let mut texts = Collector::default();
    // Memory is read without errors.
    let _ = texts.add("text", &mut text.as_bytes());
    let reading = log::read(vec![Input::Text(text)], &MemoryFiles::default());
    let subject = first_lines(&route.inputs);
    of_report(request, route, triage_report(reading, texts, None, &subject, request.lang))
}

pub(crate) fn options(lang: Lang) -> ReportOptions {
    ReportOptions { lang, ..ReportOptions::default() }
}

/// The inputs in one line: a text by its first line.
fn first_lines(inputs: &[String]) -> String {
    let lines = inputs.iter().map(|input| input.lines().next().unwrap_or_default());
    lines.collect::<Vec<_>>().join(" ")
}
