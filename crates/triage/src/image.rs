//! Compares the chip of a container image with the chip that the text states.

use base::chip::ChipFamily;
use base::report::{Evidence, Finding, FixStep, Severity};
use base::text::Text;
use data::{causes, ui};
use facts::Facts;

use crate::{FactOfText, Relation, RelationState, Stated};

/// The name of the relation, in place of the ID of a check.
const ID: &str = "IMAGE-CHIP";

/// Checks the image, if the text states one. A conflict is a finding, too.
pub(crate) fn judge(stated: &Stated, facts: &Facts) -> Option<(Relation, Option<Finding>)> {
    let image = stated.fact("image")?;
    let relation =
        |state, reason| Relation { check: ID, name: ui::TRIAGE_IMAGE_CHIP.text(), state, reason };
    let Some(built) = built_for(&image.value) else {
        let reason = Some(ui::TRIAGE_IMAGE_UNKNOWN.text());
        return Some((relation(RelationState::Undecided, reason), None));
    };
    let Some((chip, place)) = chip(stated, facts) else {
        let reason = Some(ui::TRIAGE_CHIP_NOT_STATED.text());
        return Some((relation(RelationState::NotStated, reason), None));
    };
    if chip == built {
        return Some((relation(RelationState::Fits, None), None));
    }
    let reason = ui::TriageImageConflict { built: built.label(), chip: chip.label() }.text();
    let finding = finding(reason.clone(), image, place);
    Some((relation(RelationState::Conflict, Some(reason)), Some(finding)))
}

/// The chip that the tag of an image names. vllm-ascend without one is built for Atlas A2.
fn built_for(image: &str) -> Option<ChipFamily> {
    let (path, tag) = image.split('@').next()?.rsplit_once(':')?;
    let named = tag
        .split('-')
        .find_map(|part| ChipFamily::from_short(part).or_else(|| ChipFamily::from_soc(part)));
    let is_plugin = path.rsplit('/').next() == Some("vllm-ascend");
    named.or_else(|| is_plugin.then_some(ChipFamily::A910B))
}

/// The chip of the machine: by its rows of npu-smi, its name or its server.
fn chip(stated: &Stated, facts: &Facts) -> Option<(ChipFamily, Evidence)> {
    if let Some(chip) = checks::chip::chip(facts) {
        return Some((chip.family, chip.evidence));
    }
    let server = stated.fact("server").or_else(|| stated.fact("npu"))?;
    let words = || server.value.split([' ', '-', '_', '/']);
    let family = words().find_map(|word| match word.to_ascii_uppercase().as_str() {
        "A2" | "A2_POD" => Some(ChipFamily::A910B),
        "A3" => Some(ChipFamily::A3),
        word if word.starts_with("910C") => Some(ChipFamily::A3),
        _ => ChipFamily::from_soc(word),
    })?;
    Some((family, Evidence::file(&server.file).line(server.line).value(&server.value)))
}

fn finding(title: Text, image: &FactOfText, chip: Evidence) -> Finding {
    let mut finding = Finding::remark(causes::env::SOC_UNSUPPORTED);
    finding.severity = Severity::Error;
    finding.title = title;
    finding.evidence = vec![Evidence::file(&image.file).line(image.line).value(&image.value), chip];
    let step = FixStep { text: ui::TRIAGE_IMAGE_FIX.text(), run: None };
    finding.fix.push(step);
    if let Some(cause) = errcodes::cause(causes::env::SOC_UNSUPPORTED) {
        finding.cause = cause.text.clone();
        finding.refs = cause.sources.clone();
    }
    finding
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{facts_of, merge};

    fn state(text: &str) -> Option<RelationState> {
        let stated = merge(vec![("-".to_owned(), pasted::read(text))]);
        let facts = facts_of(&stated);
        judge(&stated, &facts).map(|(relation, _)| relation.state)
    }

    #[test]
    fn images_of_other_chips_are_conflicts() {
        for (text, expected) in [
            ("image: quay.io/ascend/vllm-ascend:v0.9.1\nNPU: Ascend910B3\n", RelationState::Fits),
            (
                "image: quay.io/ascend/vllm-ascend:v0.9.1-310p\nNPU: 910B3\n",
                RelationState::Conflict,
            ),
            ("image: quay.io/ascend/vllm-ascend:v0.11.0-a3\n", RelationState::NotStated),
        ] {
            assert_eq!(state(text), Some(expected), "{text}");
        }
        assert_eq!(state("It hangs"), None);
    }
}
