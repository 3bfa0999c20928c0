//! The answers of `translate-error` and `explain` in JSON, as the findings of a page.

use serde::Deserialize;

use super::document::Document;
use base::report::{Evidence, Finding, FixStep, Severity};
use base::text::Text;
use data::ui;

/// One answer. Members that a page does not show are ignored.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Item {
    Code {
        asked: String,
        meanings: Vec<Meaning>,
    },
    Cause {
        cause: Cause,
    },
    Row {
        family: String,
        code: Code,
    },
    Unknown {
        asked: String,
        #[serde(default)]
        similar: Vec<String>,
    },
    CodeFamily {
        family: Family,
        codes: Vec<Code>,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct Meaning {
    family: Family,
    code: Code,
    cause: Option<Cause>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Family {
    id: String,
    title: Text,
    says: Text,
}

#[derive(Debug, Deserialize)]
pub(super) struct Code {
    #[serde(rename = "code")]
    spelled: String,
    #[serde(default)]
    symbol: String,
    #[serde(default)]
    message: Quotation,
    /// From version 1 of the schema, whose `message` is the English text.
    #[serde(default)]
    zh: String,
    #[serde(default)]
    source: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Cause {
    id: String,
    title: Text,
    text: Text,
    #[serde(default)]
    steps: Vec<Step>,
    #[serde(default)]
    sources: Vec<String>,
}

/// A step, in either version of the schema: in version 1, the languages are next to the command.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Step {
    Current(FixStep),
    First {
        #[serde(flatten)]
        text: Text,
        run: Option<String>,
    },
}

impl From<Step> for FixStep {
    fn from(step: Step) -> Self {
        match step {
            Step::Current(step) => step,
            Step::First { text, run } => Self { text, run },
        }
    }
}

/// A text in the languages of its source.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Quotation {
    /// Version 1 of the schema.
    English(String),
    ByLanguage {
        #[serde(default)]
        en: String,
        #[serde(default)]
        zh: String,
    },
}

impl Default for Quotation {
    fn default() -> Self {
        Self::English(String::new())
    }
}

/// The page of answers; `command` is the subcommand that wrote it.
pub(super) fn to_document(command: &str, items: Vec<Item>) -> Document {
    let mut page = Document { command: command.to_owned(), answer: true, ..Document::default() };
    let mut asked_for = Vec::new();
    for item in items {
        match item {
            Item::Code { asked, meanings } => {
                page.findings.extend(meanings.into_iter().map(meaning_finding));
                asked_for.push(asked);
            }
            Item::Cause { cause } => page.findings.push(cause_finding(cause)),
            Item::Row { family, code } => page.findings.push(code_finding(&family, code)),
            Item::CodeFamily { family, codes } => {
                asked_for.push(family.id.clone());
                page.findings.extend(codes.into_iter().map(|code| code_finding(&family.id, code)));
            }
            Item::Unknown { asked, similar } => {
                let mut said = ui::NothingKnown { code: &asked }.text();
                if !similar.is_empty() {
                    let near = ui::DID_YOU_MEAN.text();
                    let list = similar.join(", ");
                    said.en.push_str(&format!(" {}: {list}", near.en));
                    said.zh.push_str(&format!("{}：{list}", near.zh));
                }
                page.no_verdict.push(said);
                asked_for.push(asked);
            }
            Item::Other => {}
        }
    }
    page.subject = asked_for.join(" ");
    page
}

fn meaning_finding(meaning: Meaning) -> Finding {
    let Meaning { family, code, cause } = meaning;
    let mut finding = code_finding(&family.id, code);
    finding.cause = family.says;
    if !finding.title.en.contains(&family.title.en) {
        finding.title.en = format!("{} ({})", finding.title.en, family.title.en);
        finding.title.zh = format!("{}（{}）", finding.title.zh, family.title.zh);
    }
    if let Some(cause) = cause {
        let about = cause_finding(cause);
        finding.cause = about.cause;
        finding.fix = about.fix;
        finding.refs = about.refs;
        // Known items are shown expanded.
        finding.severity = Severity::Info;
    }
    finding
}

fn code_finding(family: &str, code: Code) -> Finding {
    let Code { spelled: code, symbol, message, zh, source } = code;
    let (message, zh) = match message {
        Quotation::English(message) => (message, zh),
        Quotation::ByLanguage { en, zh } => (en, zh),
    };
    let said = |message: &str| {
        let parts = [code.as_str(), &symbol, message].map(str::trim);
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    };
    let chinese = if zh.is_empty() { &message } else { &zh };
    let evidence = Evidence::data(format!("cann_errors/{family}"));
    Finding {
        title: Text::new(said(&message), said(chinese)),
        evidence: vec![evidence.value_if(Some(source).filter(|source| !source.is_empty()))],
        ..Finding::remark(format!("{family}/{code}"))
    }
}

fn cause_finding(cause: Cause) -> Finding {
    Finding {
        title: cause.title,
        cause: cause.text,
        fix: cause.steps.into_iter().map(FixStep::from).collect(),
        refs: cause.sources,
        ..Finding::remark(cause.id)
    }
}
