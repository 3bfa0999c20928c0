//! Looks up, lists and searches codes.

use data::{OrFault as _, faults};

use crate::cmd::finish;
use crate::cmd::output::Output;
use base::report::{ExitStatus, Report};
use base::text::nearest;
use data::ui;
use explain::document::CodesDocument;
use explain::lookup::Lookup;
use render::{Format, page_markdown, page_text};

/// Looks up codes. The exit status is 0 if all are known, else 3.
pub(super) fn run(inputs: &[String], explain: bool, output: &Output) -> anyhow::Result<ExitStatus> {
    write(&Lookup::codes(inputs, explain), output)
}

/// Lists the families, the codes of one, or the causes.
pub(super) fn list(family: &str, output: &Output) -> anyhow::Result<ExitStatus> {
    let lookup = match family {
        "" => Lookup::Families,
        "causes" => Lookup::Causes,
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
            Lookup::Family(family)
        }
    };
    write(&lookup, output)
}

/// Searches codes and causes. The exit status is 0 if there is a hit, else 3.
pub(super) fn search(words: &str, output: &Output) -> anyhow::Result<ExitStatus> {
    write(&Lookup::search(words), output)
}

fn write(lookup: &Lookup, output: &Output) -> anyhow::Result<ExitStatus> {
    match output.format() {
        Format::Text => output.write(|out, style| {
            for (number, page) in lookup.pages(style.lang, style.verbose).iter().enumerate() {
                if number > 0 {
                    writeln!(out)?;
                }
                page_text(page, style, out)?;
            }
            Ok(())
        }),
        Format::Markdown => output.write(|out, style| {
            for page in &lookup.pages(style.lang, style.verbose) {
                page_markdown(page, 2, out)?;
                writeln!(out)?;
            }
            Ok(())
        }),
        Format::Json | Format::Jsonl => {
            output.write_document(&CodesDocument::new(output.data(), lookup.items()))
        }
        // These formats have no pages, so the answer becomes a report with findings.
        _ => {
            let mut report = Report::new("translate-error", lookup.subject());
            report.findings = lookup.remarks();
            let unknown = lookup.unknown().into_iter();
            report.unanswered =
                unknown.map(|asked| ui::NothingKnown { code: asked }.text()).collect();
            return finish(report, output);
        }
    }
    .or_fault(|| faults::FailedToWriteAnswer.fault())?;
    Ok(lookup.status())
}
