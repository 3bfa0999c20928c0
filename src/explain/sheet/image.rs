//! Container images by their tags: `quay.io/ascend/vllm-ascend:v0.10.0rc1-310p-openeuler`.

use base::chip::ChipFamily;
use data::ui;

use super::{Sheet, SheetKind, release};

/// Names of images, and the packages whose versions are in their tags.
const IMAGES: [(&str, &str); 3] =
    [("vllm-ascend", "vllm_ascend"), ("cann", "cann"), ("mindspore", "mindspore")];

pub(super) fn read(text: &str) -> Vec<Sheet> {
    let text = ["docker pull ", "docker://", "image: "]
        .iter()
        .find_map(|lead| text.strip_prefix(lead))
        .unwrap_or(text);
    if text.contains(char::is_whitespace) || text.contains("://") {
        return Vec::new();
    }
    let text = text.split('@').next().unwrap_or_default();
    let Some((path, tag)) = text.rsplit_once(':') else { return Vec::new() };
    let name = path.rsplit('/').next().unwrap_or_default();
    let Some((_, package)) = IMAGES.iter().find(|(known, _)| *known == name) else {
        return Vec::new();
    };
    let mut parts = tag.split('-');
    let version = parts.next().unwrap_or_default().trim_start_matches('v');
    let Some(mut sheet) = release::of_package(package, version) else { return Vec::new() };
    sheet.about = SheetKind::Image;
    sheet.name = text.to_owned();
    for part in parts {
        if let Some(family) = ChipFamily::from_short(part) {
            sheet.fact(ui::SHEET_CHIP_KEY, family.label());
        } else if let Some(python) = part.strip_prefix("py") {
            sheet.facts.retain(|fact| fact.key != "python");
            sheet.fact(ui::SHEET_PYTHON, python);
        } else {
            sheet.fact(ui::SHEET_OS, part);
        }
    }
    // Without a chip in its tag, an image of vllm-ascend is the one for Atlas A2.
    if *package == "vllm_ascend" && !sheet.facts.iter().any(|fact| fact.key == "chip_key") {
        sheet.fact(ui::SHEET_CHIP_KEY, ChipFamily::A910B.label());
    }
    vec![sheet]
}
