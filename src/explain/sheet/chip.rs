//! Chips, cards and servers by the names that people use, and rows of `npu-smi info`.

use base::chip::ChipFamily;
use data::{Matrix, ui};

use super::{Fit, Sheet, SheetKind};

/// Words of product names, and the generation of their chips. Source: the product lists of `[[os]]`
/// in the matrix (driver release notes) and of the HCCL documentation (hicann/hccl@09300b70), which
/// put the generation after the name.
const PRODUCTS: &[(&str, ChipFamily)] = &[
    ("200i dk a2", ChipFamily::A310B),
    ("500 a2", ChipFamily::A310B),
    ("800t a2", ChipFamily::A910B),
    ("800i a2", ChipFamily::A910B),
    ("900 a2", ChipFamily::A910B),
    ("200t a2", ChipFamily::A910B),
    ("200i a2", ChipFamily::A910B),
    ("300i a2", ChipFamily::A910B),
    ("300t a2", ChipFamily::A910B),
    ("800t a3", ChipFamily::A3),
    ("800i a3", ChipFamily::A3),
    ("900 a3", ChipFamily::A3),
    ("a200t a3", ChipFamily::A3),
    ("300i duo", ChipFamily::A310P),
    ("300i pro", ChipFamily::A310P),
    ("300v pro", ChipFamily::A310P),
    ("300v", ChipFamily::A310P),
    ("300t pro", ChipFamily::A910),
    ("atlas 850", ChipFamily::A950),
    ("atlas 950", ChipFamily::A950),
    ("atlas a2", ChipFamily::A910B),
    ("atlas a3", ChipFamily::A3),
];

/// Reads the name of a chip or product, or a PCI ID.
pub(super) fn read(text: &str) -> Vec<Sheet> {
    if text.len() > 80 {
        return Vec::new();
    }
    let (family, name) = match family_of_pci(text) {
        Some(family) => (family, text.to_ascii_lowercase()),
        None => match family_of_name(text).or_else(|| family_of_product(text)) {
            Some(family) => (family, text.to_owned()),
            None => return Vec::new(),
        },
    };
    vec![sheet(SheetKind::Chip, name, family)]
}

/// The sheet of a chip of a generation.
fn sheet(about: SheetKind, name: String, family: ChipFamily) -> Sheet {
    let matrix = Matrix::builtin();
    let mut sheet = Sheet::new(about, name);
    let chip = family.as_str();
    sheet.fact(ui::SHEET_GENERATION, family.label());
    sheet.fact(ui::SHEET_CHIP_KEY, chip);
    let names: Vec<&str> =
        matrix.socs.iter().filter(|row| row.chip == chip).map(|row| row.name.as_str()).collect();
    sheet.fact(ui::SHEET_SOC_NAMES, names.join(", "));
    let pci = matrix.pci.iter().filter(|row| row.chip == chip);
    let pci: Vec<String> =
        pci.map(|row| format!("{}:{}", row.vendor, row.device).replace("0x", "")).collect();
    sheet.fact(ui::SHEET_PCI, pci.join(", "));
    let rows = || matrix.socs.iter().filter(|row| row.chip == chip);
    if let Some(since) = rows().find_map(|row| row.since_cann.as_ref()) {
        sheet.fact(ui::SHEET_SINCE_CANN, since.to_string());
    }
    let served = matrix.cann.iter().filter(|row| row.chips.iter().any(|own| own == chip));
    if let Some(newest) = served.max_by(|a, b| a.version.0.cmp(&b.version.0)) {
        sheet.package("CANN", newest.version.to_string());
        sheet.commands.push(format!("ascend-doctor compat --soc {chip}"));
        sheet.source(&newest.source);
    }
    for row in rows() {
        sheet.source(&row.source);
    }
    sheet
}

/// `19e5:d802`, `0x19e5:0xd802` or `0xd802`.
fn family_of_pci(text: &str) -> Option<ChipFamily> {
    let text = text.to_ascii_lowercase();
    let device = match text.split_once(':') {
        Some(("19e5" | "0x19e5", device)) => device,
        Some(_) => return None,
        None => text.strip_prefix("0x").map(|_| text.as_str())?,
    };
    ChipFamily::from_pci(device)
}

fn family_of_name(text: &str) -> Option<ChipFamily> {
    let name = text.replace(' ', "");
    // A bare number is not a chip, and short names other than `a2` and `a3` are ambiguous.
    let is_named = name.chars().any(|c| c.is_ascii_alphabetic())
        && (name.len() > 3 || ["a2", "a3"].contains(&name.to_ascii_lowercase().as_str()))
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if !is_named {
        return None;
    }
    base::chip_name::family(&name).ok().or_else(|| ChipFamily::from_short(&name))
}

fn family_of_product(text: &str) -> Option<ChipFamily> {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let joined = words.join(" ");
    let is_product = joined.starts_with("atlas") || joined.contains("服务器") || words.len() <= 3;
    let found = PRODUCTS.iter().find(|(name, _)| {
        joined.match_indices(name).any(|(at, _)| {
            let before = joined[..at].chars().next_back();
            let after = joined[at + name.len()..].chars().next();
            !before.is_some_and(|c| c.is_ascii_alphanumeric())
                && !after.is_some_and(|c| c.is_ascii_alphanumeric())
        })
    });
    found.filter(|_| is_product).map(|(_, family)| *family)
}

/// Reads a row of the table of `npu-smi info`: number and name, health, counters.
pub(super) fn read_row(text: &str) -> Vec<Sheet> {
    let Some(inner) = text.strip_prefix('|') else { return Vec::new() };
    let cells: Vec<&str> = inner.trim_end_matches('|').split('|').map(str::trim).collect();
    let [first, health, ..] = cells[..] else { return Vec::new() };
    if let Some(sheet) = read_counters(first, health, &cells) {
        return vec![sheet];
    }
    let mut words = first.split_whitespace();
    let (Some(number), Some(name), None) = (words.next(), words.next(), words.next()) else {
        return Vec::new();
    };
    let Some(family) = ChipFamily::from_soc(name) else { return Vec::new() };
    if number.parse::<u32>().is_err() {
        return Vec::new();
    }
    let mut sheet = sheet(SheetKind::DeviceRow, format!("NPU {number} {name}"), family);
    let fit = match health {
        "OK" => Fit::Fits,
        "Warning" | "Alarm" | "Critical" => Fit::Conflict,
        _ => Fit::Unknown,
    };
    let statement = match fit {
        Fit::Fits => ui::SheetHealthy { npu: number }.text(),
        _ => ui::SheetUnhealthy { npu: number, health }.text(),
    };
    sheet.judge(fit, statement);
    sheet.commands = match fit {
        // The driver reports the health, which does not prove correct results.
        Fit::Fits => vec!["ascend-doctor verify".to_owned()],
        _ => vec![
            format!("npu-smi info -t health -i {number}"),
            "ascend-doctor check --only DRV,DEV".to_owned(),
        ],
    };
    sheet.source("npu-smi info: the column Health");
    vec![sheet]
}

/// Reads the second row of a chip: its number, its PCI address, and its memory at the end.
fn read_counters(chip: &str, address: &str, cells: &[&str]) -> Option<Sheet> {
    let parts: Vec<&str> = address.split([':', '.']).collect();
    let is_hex = |part: &&str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let numbers = chip.split_whitespace().all(|word| word.parse::<u32>().is_ok());
    if !numbers || parts.len() != 4 || !parts.iter().all(is_hex) {
        return None;
    }
    let (before, total) = cells.get(2)?.rsplit_once('/')?;
    let total: u64 = total.trim().parse().ok()?;
    let used: u64 = before.split_whitespace().next_back()?.parse().ok()?;
    if total == 0 || used > total {
        return None;
    }
    let mut sheet = Sheet::new(SheetKind::DeviceRow, format!("chip {chip} at {address}"));
    let percent = used * 100 / total;
    let memory = ui::SheetMemoryUsed { used, total, free: total - used, percent }.text();
    sheet.push("memory", ui::SHEET_MEMORY.text(), memory);
    sheet.commands.push("npu-smi info -t proc-mem -i 0".to_owned());
    sheet.source("npu-smi info: the column HBM-Usage(MB)");
    Some(sheet)
}
