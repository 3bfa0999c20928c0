//! Figures as text or as JSON.

use std::fmt::Write as _;

use serde_json::json;

use super::minimums::Row;

/// Share of right results in percent.
fn percent(right: u32, total: u32) -> f64 {
    100.0 * f64::from(right) / f64::from(total.max(1))
}

/// Writes a line for each measurement, and the misses of those below their minimum.
pub(super) fn text(rows: &[Row], all_misses: bool) -> String {
    let mut text = String::new();
    for row in rows {
        let (measured, minimum) = (&row.measured, &row.minimum);
        let verdict = if !row.passed() {
            "BELOW THE MINIMUM"
        } else if row.is_better() {
            "ok, raise the minimum"
        } else {
            "ok"
        };
        let _ = writeln!(
            text,
            "{:<28} {:>4} of {:>4}  {:>5.1}%  minimum {:>5.1}% ({} of {})  {verdict}",
            measured.name,
            measured.right,
            measured.total,
            percent(measured.right, measured.total),
            percent(minimum.right, minimum.total),
            minimum.right,
            minimum.total,
        );
    }
    for row in rows.iter().filter(|row| all_misses || !row.passed()) {
        for miss in &row.measured.misses {
            let _ = writeln!(text, "{}: {miss}", row.measured.name);
        }
    }
    text
}

/// Writes the same as JSON, with all misses.
pub(super) fn json(rows: &[Row]) -> String {
    let rows: Vec<_> = rows
        .iter()
        .map(|row| {
            let (measured, minimum) = (&row.measured, &row.minimum);
            json!({
                "name": measured.name,
                "right": measured.right,
                "total": measured.total,
                "percent": percent(measured.right, measured.total),
                "minimum": {
                    "right": minimum.right,
                    "total": minimum.total,
                    "percent": percent(minimum.right, minimum.total),
                },
                "passed": row.passed(),
                "misses": measured.misses,
            })
        })
        .collect();
    format!("{:#}\n", json!({ "measurements": rows }))
}
