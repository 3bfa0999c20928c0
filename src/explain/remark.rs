//! What is explained, as findings: for formats that have no other words.

use crate::convert::rules::Rule;
use crate::data::{Entry, Family};
use crate::errcodes::{self, Cause, Row};
use crate::report::{Evidence, Finding, FixStep};
use crate::text::Text;

/// A finding id: what it means. Its remedies depend on what is found and are left out.
pub(super) fn of_entry(entry: &Entry, family: &Family) -> Finding {
    Finding {
        title: entry.name.clone(),
        cause: entry.why.clone(),
        evidence: vec![Evidence::data(format!("findings/{}", family.family)).value(&entry.id)],
        refs: entry.sources.clone(),
        ..Finding::remark(entry.id.clone())
    }
}

/// One meaning of an error code; its id is the family and the code.
pub(super) fn of_code(family: &errcodes::Family, row: &Row, cause: Option<&Cause>) -> Finding {
    let words: Vec<&str> = [row.code.as_str(), &row.symbol, &row.message]
        .into_iter()
        .filter(|word| !word.is_empty())
        .collect();
    let source = Some(&row.source).filter(|source| !source.is_empty());
    let steps = cause.map(|cause| cause.steps.as_slice()).unwrap_or_default();
    Finding {
        title: Text::same(words.join(" ")),
        cause: cause.map_or_else(|| family.says.clone(), |cause| cause.text.clone()),
        fix: steps
            .iter()
            .map(|step| FixStep { text: Text::new(&step.en, &step.zh), run: step.run.clone() })
            .collect(),
        evidence: vec![Evidence::data(format!("cann_errors/{}", family.id)).value_if(source)],
        refs: cause.map(|cause| cause.sources.clone()).unwrap_or_default(),
        ..Finding::remark(format!("{}/{}", family.id, row.code))
    }
}

/// A rule of `convert`: what it finds, what a person has to know and to do.
pub(super) fn of_rule(rule: &Rule) -> Finding {
    let step = |text: &Text| FixStep { text: text.clone(), run: None };
    Finding {
        title: Text::same(rule.name.replace('|', ", ")),
        cause: rule.note.clone().unwrap_or_default(),
        fix: rule.advice.iter().map(step).collect(),
        evidence: vec![Evidence::data(format!("convert/{}", rule.field)).value(&rule.id)],
        refs: rule.source.clone(),
        ..Finding::remark(rule.id.clone())
    }
}
