//! File names of wheels: `torch_npu-2.6.0-cp310-cp310-manylinux_2_28_aarch64.whl`, also at the end
//! of an address.

use data::{KnownWheels, ui};

use super::{Fit, Sheet, SheetKind, release};

pub(super) fn read(text: &str) -> Vec<Sheet> {
    if text.contains(char::is_whitespace) || text.len() > 400 {
        return Vec::new();
    }
    let Some(file) = text.rsplit('/').next().filter(|file| file.ends_with(".whl")) else {
        return Vec::new();
    };
    // Addresses encode the `+` of a local version in this way.
    let file = file.replace("%2B", "+").replace("%2b", "+");
    let stem = file.trim_end_matches(".whl");
    let parts: Vec<&str> = stem.split('-').collect();
    let ([name, version, python, _, platform] | [name, version, _, python, _, platform]) =
        parts[..]
    else {
        return Vec::new();
    };
    let Some(mut sheet) = release::of_package(name, version) else { return Vec::new() };
    sheet.about = SheetKind::Wheel;
    sheet.name.clone_from(&file);
    let mut own = Sheet::new(SheetKind::Wheel, "");
    own.fact(ui::SHEET_PYTHON, read_python(python));
    let arch = ["aarch64", "x86_64"].into_iter().find(|arch| platform.ends_with(arch));
    own.fact(ui::SHEET_ARCH, arch.unwrap_or_default());
    own.fact(ui::SHEET_GLIBC, read_glibc(platform).unwrap_or_default());
    sheet.facts.retain(|fact| own.facts.iter().all(|known| known.key != fact.key));
    own.facts.append(&mut sheet.facts);
    sheet.facts = own.facts;
    if name == "torch_npu" {
        match KnownWheels::builtin().wheel_sha256(&file) {
            Some(hash) => {
                sheet.fact(ui::SHEET_SHA256, hash.hex());
                sheet.judge(Fit::Fits, ui::SHEET_WHEEL_PUBLISHED.text());
            }
            None => sheet.judge(Fit::Unknown, ui::SHEET_WHEEL_UNKNOWN.text()),
        }
        sheet.commands = vec![format!("ascend-doctor manifest wheel-check {file}")];
    }
    vec![sheet]
}

/// `3.10` of `cp310`.
fn read_python(tag: &str) -> String {
    let digits = tag.strip_prefix("cp").unwrap_or_default();
    match digits.split_at_checked(1) {
        Some((major, minor)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{major}.{minor}")
        }
        _ => String::new(),
    }
}

/// `2.28` of `manylinux_2_28_aarch64`, or the version that PEP 600 gives for older names.
fn read_glibc(platform: &str) -> Option<String> {
    let newest = platform.split('.').next()?;
    let rest = newest.strip_prefix("manylinux")?;
    for (old, version) in [("2014_", "2.17"), ("2010_", "2.12"), ("1_", "2.5")] {
        if rest.starts_with(old) {
            return Some(version.to_owned());
        }
    }
    let mut numbers = rest.strip_prefix('_')?.split('_');
    Some(format!("{}.{}", numbers.next()?, numbers.next()?))
}
