//! `npu-smi info`, complete or partial, and the pages of `npu-smi info -t board`.
//!
//! A chip has two rows: number, name, health; then chip number and PCI address. Some people paste
//! only some of the rows, so a row is recognized by its cells and not by the header.

use std::sync::LazyLock;

use regex::Regex;

use super::Found;
use crate::Chip;
use crate::candidate::{Form, Rank};
use crate::kind::Kind;
use crate::lines::Line;
use crate::version::regex;

/// The largest machines have 64 chips.
const MAX_CHIPS: usize = 1024;

static HEAD: LazyLock<Regex> =
    LazyLock::new(|| regex(r"npu-smi\s+v?\S+\s+Version:\s*(\d[0-9A-Za-z.]*)"));
static FIRST: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^\|?\s*(\d{1,5})\s*\|?\s+((?i:ascend)?\s?\d{3}[A-Za-z0-9_-]*)\s*\|\s*(OK|Warning|Alarm|Critical|UNKNOWN|Unknown|NA|Offline)\s*\|",
    )
});
static SECOND: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^\|?\s*(\d{0,5})(?:\s+\d{1,5})?\s*\|(?:\s*\|)?\s*([0-9A-Fa-f]{4}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]|NA)\s*\|(.*)$",
    )
});
static USAGE: LazyLock<Regex> = LazyLock::new(|| regex(r"(\d+)\s*/\s*(\d+)"));
static BOARD: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(Chip Name|NPU Name|Software Version|Firmware Version|Chip Type|Total Count)\s*:\s*(\S+)\s*$",
    )
});

pub(super) fn read(lines: &[Line], found: &mut Found) {
    let mut waiting: Option<usize> = None;
    for (index, line) in lines.iter().enumerate() {
        if line.kind == Kind::Quotation {
            continue;
        }
        if let Some(head) = HEAD.captures(&line.text) {
            found.add_version("driver", &head[1], line, Form::NpuSmi, Rank::Measured);
            found.take(index);
        } else if let Some(row) = FIRST.captures(&line.text) {
            found.take(index);
            waiting = None;
            let Ok(npu) = row[1].parse() else { continue };
            if found.chips.len() >= MAX_CHIPS {
                continue;
            }
            found.add("npu", &row[2], line, Form::NpuSmi, Rank::Measured);
            waiting = Some(found.chips.len());
            found.chips.push(Chip {
                npu,
                chip: None,
                name: row[2].to_owned(),
                health: row[3].to_owned(),
                bus_id: None,
                used_mb: None,
                total_mb: None,
                line: line.number,
            });
        } else if let Some(row) = SECOND.captures(&line.text) {
            found.take(index);
            if let Some(chip) = waiting.take().and_then(|at| found.chips.get_mut(at)) {
                chip.chip = row[1].parse().ok();
                chip.bus_id = (&row[2] != "NA").then(|| row[2].to_owned());
                // HBM is the last column; chips without HBM have one column.
                if let Some(usage) = USAGE.captures_iter(&row[3]).last() {
                    chip.used_mb = usage[1].parse().ok();
                    chip.total_mb = usage[2].parse().ok();
                }
            }
        } else if let Some(row) = BOARD.captures(&line.text) {
            found.take(index);
            let (form, rank) = (Form::NpuSmiBoard, Rank::Measured);
            match &row[1] {
                "Software Version" => found.add_version("driver", &row[2], line, form, rank),
                "Firmware Version" => found.add_version("firmware", &row[2], line, form, rank),
                "Total Count" if row[2].parse().is_ok_and(|count: u16| count > 0) => {
                    found.add("npu_count", &row[2], line, form, rank);
                }
                "Chip Name" | "NPU Name" if super::hardware::is_chip(&row[2]) => {
                    found.add("npu", &row[2], line, form, rank);
                }
                _ => {}
            }
        } else if line.text.starts_with('|') && line.text.contains("Bus-Id")
            || line.text.starts_with("+--")
            || line.text.starts_with("+==")
        {
            found.take(index);
        }
    }
}
