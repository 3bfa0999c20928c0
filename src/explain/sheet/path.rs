//! Files, libraries and Python modules of the Ascend stack: `data/paths.tsv`.

use data::PathTable;

use super::{Sheet, SheetKind};
use data::ui;

pub(super) fn read(text: &str) -> Vec<Sheet> {
    let Some(row) = PathTable::builtin().find(text) else { return Vec::new() };
    let mut sheet = Sheet::new(SheetKind::Path, text);
    sheet.summary = row.about();
    sheet.fact(ui::SHEET_OWNER, row.owner);
    sheet.findings = row.findings().map(str::to_owned).collect();
    if let Some(first) = sheet.findings.first() {
        sheet.commands.push(format!("ascend-doctor explain {first}"));
    }
    sheet.source(row.source);
    vec![sheet]
}
