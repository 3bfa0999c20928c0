//! Turns pages, documents and reports into replies.

use std::io;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Serialize;

use base::report::{DataInUse, DataOrigin, ExitStatus, Report};
use data::{as_of, goals};
use explain::input::{Detected, InputMember, Route, WithInput};
use render::{Block, Document, Format, Paint, Style, page_html, page_markdown, render};

use crate::reply::{Outcome, Reply};
use crate::request::{Request, Want};

/// The tables of this build.
fn data_in_use(now: Option<u64>) -> DataInUse {
    let age_days = now.and_then(|now| {
        let now = Timestamp::from_second(i64::try_from(now).ok()?).ok()?;
        let today = TimeZone::UTC.to_datetime(now).date();
        let read: Date = as_of().parse().ok()?;
        u64::try_from(today.since(read).ok()?.get_days()).ok()
    });
    DataInUse {
        as_of: as_of().to_owned(),
        age_days,
        origin: DataOrigin::Builtin,
        sha256: None,
        signed_by: None,
    }
}

/// Replies with pages of blocks and a document.
pub(crate) fn of_pages(
    request: &Request,
    route: &Route,
    status: ExitStatus,
    pages: &[Vec<Block>],
    json: impl FnOnce(&DataInUse, &Detected) -> String,
) -> Reply {
    let mut html = Vec::new();
    let mut markdown = Vec::new();
    for (number, page) in pages.iter().enumerate() {
        write(&mut html, |out| {
            out.extend_from_slice(b"<section class=\"report page\">");
            page_html(page, &format!("p{number}"), out)?;
            out.extend_from_slice(b"</section>");
            Ok(())
        });
        if request.want == Some(Want::Markdown) {
            write(&mut markdown, |out| {
                page_markdown(page, 2, out)?;
                out.push(b'\n');
                Ok(())
            });
        }
    }
    Reply {
        read_as: route.what().get(request.lang).to_owned(),
        command: route.shown(),
        status: status.code(),
        html: text(html),
        json: (request.want == Some(Want::Json))
            .then(|| json(&data_in_use(request.now), &Detected::new(route))),
        markdown: (request.want == Some(Want::Markdown)).then(|| text(markdown)),
        ..Reply::of(Outcome::Answered)
    }
}

/// A document of the program, with the detected input.
pub(crate) fn json(document: &impl Serialize, detected: &Detected) -> String {
    let mut out = Vec::new();
    let document = WithInput { document, input: Some(detected) };
    write(&mut out, |out| render::write_json(&document, out));
    text(out)
}

/// Replies with a report, with the last touches that the program puts to it.
pub(crate) fn of_report(request: &Request, route: &Route, mut report: Report) -> Reply {
    goals::mark_warnings(&mut report);
    report.ended = request.now;
    report.data = Some(data_in_use(request.now));
    report.add_members(&InputMember { input: &Detected::new(route) });
    report.sort();
    let rendered = |format| {
        let style = Style {
            lang: request.lang,
            paint: Paint::new(false),
            width: 0,
            verbose: false,
            quiet: false,
        };
        let mut out = Vec::new();
        write(&mut out, |out| render(&report, format, style, out));
        text(out)
    };
    Reply {
        read_as: route.what().get(request.lang).to_owned(),
        command: route.shown(),
        status: report.exit_status().code(),
        html: section(&Document::from(&report)),
        json: (request.want == Some(Want::Json)).then(|| rendered(Format::Json)),
        markdown: (request.want == Some(Want::Markdown)).then(|| rendered(Format::Markdown)),
        ..Reply::of(Outcome::Answered)
    }
}

/// A report as a part of the page.
pub(crate) fn section(document: &Document) -> String {
    let mut html = Vec::new();
    write(&mut html, |out| render::render_section(document, out));
    text(html)
}

/// Replies that only the program can answer.
pub(crate) fn needs_program(request: &Request, route: &Route) -> Reply {
    Reply {
        read_as: route.what().get(request.lang).to_owned(),
        command: route.shown(),
        status: ExitStatus::Inconclusive.code(),
        ..Reply::of(Outcome::NeedsProgram)
    }
}

/// Lets `render` write to memory, which does not fail.
fn write(out: &mut Vec<u8>, render: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) {
    if let Err(error) = render(out) {
        out.extend_from_slice(error.to_string().as_bytes());
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|bytes| bytes.to_string())
}
