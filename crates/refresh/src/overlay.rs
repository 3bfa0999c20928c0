//! Manual rows of a machine-owned table: `<table>.overlay.tsv` next to it.
//!
//! Columns: `action`, the key columns, any further columns of the table, and `why` with the source
//! of the row. Actions: `add` a row that no source has, `set` cells of a row that a source has,
//! `drop` a row that a source has. An empty cell of `set` leaves the cell unchanged.

use anyhow::{Context as _, Result, bail, ensure};

use crate::table::Table;

/// Returns the overlay file of a table.
pub(crate) fn file_of(table: &str) -> String {
    match table.rsplit_once('.') {
        Some((stem, extension)) => format!("{stem}.overlay.{extension}"),
        None => format!("{table}.overlay"),
    }
}

/// Applies the rows of an overlay. Returns the rows that no longer fit: manual rows whose base row
/// disappeared, and added rows that a source has now.
///
/// # Errors
///
/// If the overlay names an unknown column or action, or a row without a reason.
pub(crate) fn apply(table: &mut Table, overlay: &Table, key: &[&str]) -> Result<Vec<String>> {
    let action = overlay.column("action")?;
    let why = overlay.column("why")?;
    let key: Vec<(usize, usize)> = key
        .iter()
        .map(|name| Ok((table.column(name)?, overlay.column(name)?)))
        .collect::<Result<_>>()?;
    let cells: Vec<(usize, usize)> = overlay
        .columns
        .iter()
        .enumerate()
        .filter(|(at, _)| *at != action && *at != why)
        .map(|(at, name)| Ok((table.column(name)?, at)))
        .collect::<Result<_>>()?;
    let mut stale = Vec::new();
    for row in &overlay.rows {
        let name = key.iter().map(|&(_, at)| row[at].as_str()).collect::<Vec<_>>().join(" ");
        ensure!(!row[why].is_empty(), "row `{name}` has no source in column `why`");
        let base =
            table.rows.iter().position(|base| key.iter().all(|&(to, from)| base[to] == row[from]));
        match (row[action].as_str(), base) {
            ("add", None) => {
                let mut added = vec![String::new(); table.columns.len()];
                for &(to, from) in &cells {
                    added[to].clone_from(&row[from]);
                }
                set_source(table, &mut added, &row[why]);
                table.rows.push(added);
            }
            ("add", Some(base)) => {
                stale.push(format!("`{name}` is in a source now; the manual row replaces it"));
                set_cells(&mut table.rows[base], row, &cells);
            }
            ("set", Some(base)) => set_cells(&mut table.rows[base], row, &cells),
            ("drop", Some(base)) => {
                table.rows.remove(base);
            }
            ("set" | "drop", None) => stale.push(format!("`{name}` is no longer in a source")),
            (other, _) => bail!("row `{name}`: unknown action `{other}`"),
        }
    }
    Ok(stale)
}

fn set_cells(base: &mut [String], row: &[String], cells: &[(usize, usize)]) {
    for &(to, from) in cells.iter().filter(|&&(_, from)| !row[from].is_empty()) {
        base[to].clone_from(&row[from]);
    }
}

/// Names the source of an added row in the comments and in the column `source`.
fn set_source(table: &mut Table, row: &mut [String], why: &str) {
    let Ok(column) = table.column("source") else { return };
    if !row[column].is_empty() {
        return;
    }
    let listed = |remark: &String| {
        remark
            .strip_prefix("source ")
            .and_then(|rest| rest.split_once(": "))
            .map(|(number, source)| (number.to_owned(), source == why))
    };
    let sources: Vec<(String, bool)> = table.remarks.iter().filter_map(listed).collect();
    row[column] = if let Some((number, _)) = sources.iter().find(|(_, same)| *same) {
        number.clone()
    } else {
        let number = sources.len().to_string();
        table.remarks.push(format!("source {number}: {why}"));
        number
    };
}

/// Reads an overlay.
pub(crate) fn parse(text: &str) -> Result<Table> {
    Table::parse(text, None).context("overlay")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Table {
        Table::parse("# source 0: o/a@1:x\ncode\tsymbol\tsource\n1\tA\t0\n2\tB\t0\n", None).unwrap()
    }

    #[test]
    fn rows_are_added_changed_and_dropped() {
        let mut table = base();
        let overlay = "action\tcode\tsymbol\twhy\nadd\t3\tC\tmanual of X\nset\t1\tZ\ttypo\ndrop\t2\t\tnot a code\n";
        let stale = apply(&mut table, &parse(overlay).unwrap(), &["code"]).unwrap();
        assert!(stale.is_empty());
        assert_eq!(
            table.render(&[]),
            "# source 0: o/a@1:x\n# source 1: manual of X\ncode\tsymbol\tsource\n1\tZ\t0\n3\tC\t1\n"
        );
    }

    #[test]
    fn rows_that_no_longer_fit_are_reported_and_kept() {
        let mut table = base();
        let overlay = "action\tcode\tsymbol\twhy\nadd\t1\tZ\tx\nset\t9\tY\tx\ndrop\t8\t\tx\n";
        let stale = apply(&mut table, &parse(overlay).unwrap(), &["code"]).unwrap();
        assert_eq!(stale.len(), 3);
        assert_eq!(table.rows[0][1], "Z");
    }

    #[test]
    fn malformed_overlays_are_rejected() {
        for (overlay, message) in [
            ("action\tcode\twhy\nadd\t3\t\n", "no source"),
            ("action\tcode\twhy\nkeep\t3\tx\n", "unknown action"),
            ("action\tcode\tcolour\twhy\nadd\t3\tx\tx\n", "no column `colour`"),
            ("code\twhy\n3\tx\n", "no column `action`"),
        ] {
            let error = apply(&mut base(), &parse(overlay).unwrap(), &["code"]).unwrap_err();
            assert!(format!("{error:#}").contains(message), "{error:#}");
        }
    }
}
