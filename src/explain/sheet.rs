//! Facts from the tables about a subject that is neither a finding nor an error code: a variable, a
//! chip, a release, a wheel, an image, a file.
//!
//! All of them have the same form, so that a new kind only needs a reader.

mod chip;
mod image;
mod path;
mod release;
mod variable;
mod wheel;

pub use release::Package;

use base::report::{Evidence, Finding, FixStep};
use base::text::{Lang, Text};
use data::ui;
use render::Block;
use serde::Serialize;

/// The kind of subject of a sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SheetKind {
    /// An environment variable, with or without a value.
    Variable,
    /// A chip, a card or a server.
    Chip,
    /// A version of a package, of CANN or of the driver, or versions together.
    Release,
    /// The file name of a wheel.
    Wheel,
    /// A container image.
    Image,
    /// A file, a library or a Python module of the Ascend stack.
    Path,
    /// A row of `npu-smi info`.
    DeviceRow,
}

impl SheetKind {
    /// Its name.
    pub const fn label(self) -> ui::Label {
        match self {
            Self::Variable => ui::SHEET_VARIABLE,
            Self::Chip => ui::SHEET_CHIP,
            Self::Release => ui::SHEET_RELEASE,
            Self::Wheel => ui::SHEET_WHEEL,
            Self::Image => ui::SHEET_IMAGE,
            Self::Path => ui::SHEET_PATH,
            Self::DeviceRow => ui::SHEET_DEVICE_ROW,
        }
    }
}

/// Whether the given value fits the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// A table states that it fits.
    Fits,
    /// A table states that it does not fit.
    Conflict,
    /// No table contains it.
    Unknown,
}

/// The assessment of the given value.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Judgement {
    /// The result.
    pub fit: Fit,
    /// The result in words, with its reason.
    pub statement: Text,
}

/// A labelled value.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SheetFact {
    /// Its key for machine use: `default`, `torch_npu`.
    pub key: &'static str,
    /// Its label for people.
    pub label: Text,
    /// The value.
    pub value: Text,
}

/// The facts about one subject.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sheet {
    /// The kind of the subject.
    pub about: SheetKind,
    /// Its name, in the usual spelling.
    pub name: String,
    /// Its purpose, in a sentence. Empty if the facts are sufficient.
    pub summary: Text,
    /// Whether the given value fits; absent if only a name was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judgement: Option<Judgement>,
    /// The facts.
    pub facts: Vec<SheetFact>,
    /// IDs of the findings of `check` about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub findings: Vec<String>,
    /// Commands to run next.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub commands: Vec<String>,
    /// The sources of the facts.
    pub sources: Vec<String>,
}

/// The sheets for a text of the user, in any letter case. Contains several sheets if a bare version
/// belongs to several packages, and none if no table contains the subject.
pub fn find(text: &str) -> Vec<Sheet> {
    let readers: [fn(&str) -> Vec<Sheet>; 7] = [
        variable::read,
        wheel::read,
        chip::read_row,
        image::read,
        path::read,
        chip::read,
        release::read,
    ];
    let text = text.trim();
    readers.into_iter().map(|read| read(text)).find(|found| !found.is_empty()).unwrap_or_default()
}

/// The variable of the Ascend stack that a sentence names, with its value if it has one.
pub fn variable_within(text: &str) -> Option<&str> {
    variable::find_within(text)
}

/// Whether versions of different packages fit together. `None` if no table has any of them.
pub fn versions_together(versions: &[(Package, String)]) -> Option<Sheet> {
    release::together(versions)
}

impl Sheet {
    fn new(about: SheetKind, name: impl Into<String>) -> Self {
        Self {
            about,
            name: name.into(),
            summary: Text::default(),
            judgement: None,
            facts: Vec::new(),
            findings: Vec::new(),
            commands: Vec::new(),
            sources: Vec::new(),
        }
    }

    /// Adds a fact whose label is translated, unless its value is empty.
    fn fact(&mut self, label: ui::Label, value: impl Into<String>) {
        let value = value.into();
        self.push(label.key().trim_start_matches("sheet_"), label.text(), Text::same(value));
    }

    /// Adds a fact about a package: its name is the label.
    fn package(&mut self, name: &'static str, value: impl Into<String>) {
        self.push(name, Text::same(name), Text::same(value));
    }

    fn push(&mut self, key: &'static str, label: Text, value: Text) {
        if !value.en.is_empty() {
            self.facts.push(SheetFact { key, label, value });
        }
    }

    fn judge(&mut self, fit: Fit, statement: Text) {
        self.judgement = Some(Judgement { fit, statement });
    }

    fn source(&mut self, source: &str) {
        if !source.is_empty() && !self.sources.iter().any(|known| known == source) {
            self.sources.push(source.to_owned());
        }
    }

    /// Whether the given value contradicts the tables.
    pub fn is_conflict(&self) -> bool {
        self.judgement.as_ref().is_some_and(|judgement| judgement.fit == Fit::Conflict)
    }

    /// Whether a value was given and no table contains it.
    pub fn is_undecided(&self) -> bool {
        self.judgement.as_ref().is_some_and(|judgement| judgement.fit == Fit::Unknown)
    }

    /// The sheet as a page.
    pub(super) fn page(&self, lang: Lang) -> Vec<Block> {
        let mut page = vec![Block::Title(self.name.clone(), self.about.label().get(lang))];
        if let Some(judgement) = &self.judgement {
            page.push(Block::Paragraph(judgement.statement.get(lang).to_owned()));
        }
        if !self.summary.en.is_empty() {
            page.push(Block::Paragraph(self.summary.get(lang).to_owned()));
        }
        let fact =
            |fact: &SheetFact| (fact.label.get(lang).to_owned(), fact.value.get(lang).to_owned());
        let mut facts: Vec<(String, String)> = self.facts.iter().map(fact).collect();
        if !self.findings.is_empty() {
            facts.push((ui::SHEET_FINDINGS.get(lang), self.findings.join(", ")));
        }
        if !facts.is_empty() {
            page.push(Block::Facts(facts));
        }
        if !self.commands.is_empty() {
            page.push(Block::Heading(ui::SHEET_NEXT.get(lang)));
            page.push(Block::Code("sh", self.commands.join("\n")));
        }
        if !self.sources.is_empty() {
            page.push(Block::Heading(ui::SOURCES.get(lang)));
            page.push(Block::Bullets(self.sources.clone()));
        }
        page
    }

    /// The sheet as a remark of a report.
    pub(super) fn remark(&self) -> Finding {
        let said = |lang: Lang| {
            let facts = self.facts.iter();
            let facts =
                facts.map(|fact| format!("{}: {}", fact.label.get(lang), fact.value.get(lang)));
            facts.collect::<Vec<_>>().join(if lang == Lang::Zh { "；" } else { "; " })
        };
        let title = match &self.judgement {
            Some(judgement) => judgement.statement.clone(),
            None => Text::same(self.name.clone()),
        };
        let step = |command: &String| FixStep { text: Text::default(), run: Some(command.clone()) };
        Finding {
            title,
            cause: Text::new(said(Lang::En), said(Lang::Zh)),
            evidence: vec![Evidence::data(self.about.label().key()).value(&self.name)],
            fix: self.commands.iter().map(step).collect(),
            refs: self.sources.clone(),
            ..Finding::remark(self.name.clone())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Sheet {
        let mut found = find(text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        found.remove(0)
    }

    fn fit(text: &str) -> Option<Fit> {
        one(text).judgement.map(|judgement| judgement.fit)
    }

    #[test]
    fn each_kind_is_found_by_its_form() {
        for (text, about) in [
            ("HCCL_CONNECT_TIMEOUT", SheetKind::Variable),
            ("export HCCL_CONNECT_TIMEOUT=600", SheetKind::Variable),
            ("Ascend910B3", SheetKind::Chip),
            ("19e5:d802", SheetKind::Chip),
            ("Atlas 800T A3", SheetKind::Chip),
            ("torch_npu 2.7.1", SheetKind::Release),
            ("V100R001C23SPC002B212", SheetKind::Release),
            ("torch_npu-2.6.0-cp310-cp310-manylinux_2_28_aarch64.whl", SheetKind::Wheel),
            ("quay.io/ascend/vllm-ascend:v0.10.0rc1-310p", SheetKind::Image),
            ("libascend_hal.so", SheetKind::Path),
            ("| 0     910B2    | OK   | 98.1   32    0    / 0   |", SheetKind::DeviceRow),
        ] {
            assert_eq!(one(text).about, about, "{text}");
        }
    }

    #[test]
    fn what_no_table_has_is_no_sheet() {
        for text in [
            "",
            "hello",
            "910",
            "2.7",
            "FOO_BAR=1",
            "PATH",
            "a.whl",
            "foo:bar",
            "requests 2.31",
            "Atlas 9999",
            "libfoo.so",
            "| a | b |",
            "CUDA",
            "=",
            "torch",
            "8080",
        ] {
            assert!(find(text).is_empty(), "{text}: {:?}", find(text));
        }
    }

    #[test]
    fn values_and_versions_are_judged() {
        assert_eq!(fit("HCCL_CONNECT_TIMEOUT=60"), Some(Fit::Conflict));
        assert_eq!(fit("HCCL_CONNECT_TIMEOUT=600"), Some(Fit::Fits));
        assert_eq!(fit("torch_npu 2.7.1 CANN 8.3.RC1"), Some(Fit::Fits));
        assert_eq!(fit("torch 2.1.0 and torch_npu 2.7.1"), Some(Fit::Conflict));
        assert_eq!(fit("torch_npu 2.7.1 with CANN 99.0.0"), Some(Fit::Unknown));
    }
}
