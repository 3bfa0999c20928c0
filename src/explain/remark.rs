//! Explanations as findings, for formats that only support findings.

use base::report::{Evidence, Finding, FixStep};
use base::text::{Lang, Text, Words};
use data::{Entry, Family};
use errcodes::{self, Answer, Cause, Row, Step};
use rules::Rule;

/// The meaning of a finding id. Its remedies depend on the findings, so they are omitted.
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
pub fn of_code(family: &errcodes::Family, row: &Row, cause: Option<&Cause>) -> Finding {
    let words: Vec<&str> = [row.code.as_str(), &row.symbol, &row.message]
        .into_iter()
        .filter(|word| !word.is_empty())
        .collect();
    let source = Some(&row.source).filter(|source| !source.is_empty());
    Finding {
        title: Text::same(words.join(" ")),
        cause: cause.map_or_else(|| family.says.clone(), |cause| cause.text.clone()),
        fix: cause.map(steps).unwrap_or_default(),
        evidence: vec![Evidence::data(format!("cann_errors/{}", family.id)).value_if(source)],
        refs: cause.map(|cause| cause.sources.clone()).unwrap_or_default(),
        ..Finding::remark(format!("{}/{}", family.id, row.code))
    }
}

/// Each meaning of a code; for a code without meanings, its parts.
pub(super) fn of_answer(answer: &Answer) -> Vec<Finding> {
    if !answer.matches.is_empty() {
        let matches = answer.matches.iter();
        return matches.map(|found| of_code(found.family, &found.row, found.cause)).collect();
    }
    let decodings = answer.decodings.iter().map(|decoding| {
        let said = |lang: Lang| {
            let parts = decoding.parts.iter().map(|part| {
                let meaning = part.meaning.as_ref().map_or("?", |meaning| meaning.get(lang));
                format!("{} {}: {meaning}", part.name.get(lang), part.value)
            });
            let parts = parts.collect::<Vec<_>>().join("; ");
            format!("{} {}: {parts}", decoding.scheme.get(lang), answer.asked)
        };
        let title = Text::new(said(Lang::En), said(Lang::Zh));
        let id = format!("{}/{}", decoding.scheme.key(), answer.asked);
        let about = decoding.links.first().map(|link| of_cause(link.cause));
        Finding { id, title, ..about.unwrap_or_else(|| Finding::remark("")) }
    });
    decodings.collect()
}

/// A cause: what it means and what to do.
pub fn of_cause(cause: &Cause) -> Finding {
    Finding {
        title: cause.title.clone(),
        cause: cause.text.clone(),
        fix: steps(cause),
        evidence: vec![Evidence::data("errors/causes").value(&cause.id)],
        refs: cause.sources.clone(),
        ..Finding::remark(cause.id.clone())
    }
}

fn steps(cause: &Cause) -> Vec<FixStep> {
    cause.steps.iter().map(Step::fix_step).collect()
}

/// A rule of `convert`: the names that it matches, its note and its advice.
pub(super) fn of_rule(rule: &Rule) -> Finding {
    let step = |text: &Words| FixStep { text: Text::from(*text), run: None };
    Finding {
        title: Text::same(rule.name.replace('|', ", ")),
        cause: rule.text().note.map(Text::from).unwrap_or_default(),
        fix: rule.text().advice.iter().map(step).collect(),
        evidence: vec![Evidence::data(format!("convert/{}", rule.field)).value(rule.id)],
        refs: rule.text().source.iter().map(|&source| source.to_owned()).collect(),
        ..Finding::remark(rule.id)
    }
}
