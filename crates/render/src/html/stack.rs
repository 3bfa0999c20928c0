//! The versions that have to be compatible, from torch down to the firmware: each part with its
//! version and, if a finding blames it, the mark of that finding; between two parts, whether they
//! are compatible.

use super::document::{Document, Fingerprint};
use super::state::State;
use super::words::{Words, words};
use base::report::{Finding, Severity};
use base::text::Text;
use data::ui;

/// A part of the stack, in the order of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Torch,
    TorchNpu,
    Cann,
    Driver,
    Firmware,
}

const PARTS: [Part; 5] = [Part::Torch, Part::TorchNpu, Part::Cann, Part::Driver, Part::Firmware];

/// The rules that decide whether a part is compatible with the next one.
const JOINTS: [&[&str]; 4] = [
    &["TORCH-VERSION", "TNPU-ABI"],
    &["TNPU-MATRIX", "TNPU-SYMBOLS"],
    &["DRV-CANN", "DRV-FEATURES"],
    &["DRV-FIRMWARE"],
];

/// Families of findings, and the part that they blame unless [`OTHERS`] names another one.
const FAMILIES: [(&str, Part); 4] = [
    ("TORCH-", Part::Torch),
    ("TNPU-", Part::TorchNpu),
    ("CANN-", Part::Cann),
    ("DRV-", Part::Driver),
];

/// Messages that blame another part than that of their family, or none.
const OTHERS: [(&str, &str, Option<Part>); 22] = [
    ("TNPU-MATRIX", "cann_too_old", Some(Part::Cann)),
    ("TNPU-MATRIX", "cann_too_old_only", Some(Part::Cann)),
    ("TNPU-MATRIX", "cann_too_new", Some(Part::Cann)),
    ("TNPU-MATRIX", "cann_too_new_only", Some(Part::Cann)),
    ("TNPU-MATRIX", "newer_cann", Some(Part::Cann)),
    ("TNPU-LINK", "cann", Some(Part::Cann)),
    ("TNPU-LINK", "no_cann", Some(Part::Cann)),
    ("TNPU-LINK", "cann_lacks", Some(Part::Cann)),
    ("TNPU-LINK", "driver", Some(Part::Driver)),
    ("TNPU-LINK", "torch", Some(Part::Torch)),
    ("TNPU-LINK", "other", None),
    ("TNPU-SYMBOLS", "torch", Some(Part::Torch)),
    ("TNPU-SYMBOLS", "cann", Some(Part::Cann)),
    ("TNPU-SYMBOLS", "driver", Some(Part::Driver)),
    ("TNPU-SYMBOLS", "python", None),
    ("TNPU-SYMBOLS", "other", None),
    // Their texts name the owner of the library, which may be another package.
    ("TNPU-ELF", "package", None),
    ("TNPU-ELF", "product", None),
    ("DRV-FEATURES", "cann", Some(Part::Cann)),
    ("DRV-FIRMWARE", "missing", Some(Part::Firmware)),
    ("DRV-FIRMWARE", "incomplete", Some(Part::Firmware)),
    ("DRV-NPUSMI", "compatibility", Some(Part::Firmware)),
];

/// Messages about two parts, either of which may be the wrong one.
const UNDECIDED: [(&str, &str); 4] = [
    ("TNPU-ABI", "differs"),
    ("DRV-CANN", "unverified"),
    ("DRV-CANN", "unlisted"),
    ("DRV-FIRMWARE", "mismatch"),
];

/// The part that a finding blames.
fn blamed(finding: &Finding) -> Option<Part> {
    let (id, message) = (finding.id.as_str(), finding.message.as_str());
    if UNDECIDED.contains(&(id, message)) {
        return None;
    }
    let other = OTHERS.iter().find(|(of, key, _)| (*of, *key) == (id, message));
    let family = || FAMILIES.iter().find(|(prefix, _)| id.starts_with(prefix));
    other.map_or_else(|| family().map(|(_, part)| *part), |(_, _, part)| *part)
}

/// The view of the stack.
pub(super) struct Stack<'a> {
    pub(super) heading: Words,
    pub(super) rows: Vec<Row<'a>>,
    pub(super) chip_label: Words,
    pub(super) chip: Option<&'a str>,
}

/// A part, and its compatibility with the next one.
pub(super) struct Row<'a> {
    pub(super) part: PartView<'a>,
    pub(super) joint: Option<Joint>,
}

/// A part with its version.
pub(super) struct PartView<'a> {
    pub(super) class: &'static str,
    pub(super) name: Words,
    pub(super) version: Words,
    pub(super) mark: Option<Mark<'a>>,
}

/// The defect of a part.
pub(super) struct Mark<'a> {
    pub(super) state: State,
    pub(super) said: Words,
    pub(super) findings: Vec<Link<'a>>,
}

/// A link to a finding of the page.
pub(super) struct Link<'a> {
    pub(super) id: &'a str,
    pub(super) anchor: String,
}

/// The compatibility of two parts.
pub(super) struct Joint {
    pub(super) state: State,
    pub(super) said: Words,
}

impl<'a> Stack<'a> {
    /// The stack of a report. `None` if no version is known.
    pub(super) fn new(document: &'a Document, anchor: impl Fn(usize) -> String) -> Option<Self> {
        let print = document.fingerprint.as_ref()?;
        let versions = PARTS.map(|part| version(print, part));
        if versions.iter().all(Option::is_none) {
            return None;
        }
        let row = |at: usize| Row {
            part: part_view(document, PARTS[at], versions[at], &anchor),
            joint: JOINTS.get(at).map(|rules| {
                let known = versions[at].is_some() && versions[at + 1].is_some();
                joint(document.state_of(|id| rules.contains(&id)), known)
            }),
        };
        Some(Self {
            heading: words(&ui::PAGE_VERSIONS.text()),
            rows: (0..PARTS.len()).map(row).collect(),
            chip_label: words(&ui::COMPAT_CHIP.text()),
            chip: print.chip.as_deref(),
        })
    }
}

fn version(print: &Fingerprint, part: Part) -> Option<&str> {
    match part {
        Part::Torch => &print.torch,
        Part::TorchNpu => &print.torch_npu,
        Part::Cann => &print.cann,
        Part::Driver => &print.driver,
        Part::Firmware => &print.firmware,
    }
    .as_deref()
}

fn name(part: Part) -> Text {
    match part {
        Part::Torch => Text::same("torch"),
        Part::TorchNpu => Text::same("torch_npu"),
        Part::Cann => Text::same("CANN"),
        Part::Driver => ui::PAGE_DRIVER.text(),
        Part::Firmware => ui::PAGE_FIRMWARE.text(),
    }
}

fn part_view<'a>(
    document: &'a Document,
    part: Part,
    version: Option<&str>,
    anchor: &impl Fn(usize) -> String,
) -> PartView<'a> {
    let mark = mark(document, part, anchor);
    let class = match &mark {
        Some(mark) => mark.state.class(),
        None if version.is_none() => "absent",
        None => "",
    };
    let version = version.map_or_else(|| ui::UNKNOWN_VALUE.text(), Text::same);
    PartView { class, name: words(&name(part)), version: words(&version), mark }
}

/// The mark of a part that findings blame. Remarks blame no part.
fn mark<'a>(
    document: &'a Document,
    part: Part,
    anchor: &impl Fn(usize) -> String,
) -> Option<Mark<'a>> {
    let mut severity = Severity::Info;
    let mut findings: Vec<Link<'a>> = Vec::new();
    // Consequences of a finding are not at fault.
    for (number, finding) in document.findings.iter().enumerate() {
        if finding.severity == Severity::Info || blamed(finding) != Some(part) {
            continue;
        }
        severity = severity.max(finding.severity);
        if findings.iter().all(|known| known.id != finding.id) {
            findings.push(Link { id: &finding.id, anchor: anchor(number) });
        }
    }
    let (state, said) = match severity {
        Severity::Error => (State::Error, ui::PAGE_PART_ERROR),
        Severity::Warning => (State::Warning, ui::PAGE_PART_WARNING),
        Severity::Info => return None,
    };
    Some(Mark { state, said: words(&said.text()), findings })
}

/// The compatibility of two parts, which is unknown if one of the versions is unknown, unless a
/// rule found a fault.
fn joint(state: State, known: bool) -> Joint {
    let state = if known || state <= State::Warning { state } else { State::Unknown };
    let (state, said) = match state {
        State::Error => (state, ui::PAGE_PAIR_ERROR),
        State::Warning => (state, ui::PAGE_PAIR_WARNING),
        State::Good => (state, ui::PAGE_PAIR_GOOD),
        State::Unknown | State::Nothing => (State::Unknown, ui::PAGE_PAIR_UNKNOWN),
    };
    Joint { state, said: words(&said.text()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use data::Catalog;

    #[test]
    fn tables_name_messages_of_the_catalog() {
        let others = OTHERS.iter().map(|(id, key, _)| (*id, *key));
        for (id, key) in others.chain(UNDECIDED) {
            let entry = Catalog::builtin().entry(id).unwrap();
            assert!(entry.message.contains_key(key), "{id}.{key}");
        }
        for id in JOINTS.concat() {
            assert!(Catalog::builtin().entry(id).is_some(), "{id}");
        }
    }

    /// A message about two parts has to be in one of the tables, because its family does not show
    /// which part is wrong.
    #[test]
    fn messages_about_two_parts_are_assigned() {
        for id in ["TNPU-MATRIX", "TNPU-SYMBOLS", "TNPU-LINK", "DRV-FIRMWARE"] {
            for key in Catalog::builtin().entry(id).unwrap().message.keys() {
                let known = OTHERS.iter().any(|(of, other, _)| (*of, *other) == (id, key.as_str()))
                    || UNDECIDED.contains(&(id, key));
                // The part of the family.
                let own = ["own", "newer"].contains(&key.as_str());
                assert!(known || own, "{id}.{key}");
            }
        }
    }
}
