//! Results as a Markdown table or as JSON.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::json;

use super::limits::Limit;
use super::machine::Machine;
use super::seconds;

/// Result of one limit.
#[derive(Debug)]
pub(super) struct Row {
    name: &'static str,
    title: String,
    profile: &'static str,
    limit: u64,
    /// Time, or the reason why there is none.
    result: Result<Duration, String>,
}

impl Row {
    /// Returns the row of a measured limit.
    pub(super) fn measured(limit: &Limit, took: Duration) -> Self {
        Self::new(limit, Ok(took))
    }

    /// Returns the row of a limit whose commands failed.
    pub(super) fn failed(limit: &Limit, error: &anyhow::Error) -> Self {
        Self::new(limit, Err(format!("{error:#}")))
    }

    fn new(limit: &Limit, result: Result<Duration, String>) -> Self {
        let Limit { name, title, profile, seconds, .. } = limit;
        Self { name, title: title.clone(), profile, limit: *seconds, result }
    }

    /// Returns whether the commands succeeded within the limit.
    pub(super) fn passed(&self) -> bool {
        self.result.as_ref().is_ok_and(|took| *took <= Duration::from_secs(self.limit))
    }

    /// Returns the row of the table.
    pub(super) fn markdown(&self) -> String {
        let (measured, verdict) = match &self.result {
            Ok(took) => (seconds(*took), if self.passed() { "pass" } else { "fail" }),
            Err(_) => ("–".to_owned(), "error"),
        };
        let Self { title, profile, limit, .. } = self;
        format!("| {title} | {profile} | {measured} | {limit} | {verdict} |")
    }
}

/// Writes the table, the machine, and the reasons of failures.
pub(super) fn text(machine: &Machine, rows: &[Row]) -> String {
    let load = machine.load.map_or_else(|| "unknown".to_owned(), |load| load.to_string());
    let mut text = format!(
        "{} cores, {}, load average {load}\n\n\
         | Limit | Profile | Measured (s) | Limit (s) | Result |\n\
         | --- | --- | ---: | ---: | --- |\n",
        machine.cores, machine.rustc
    );
    for row in rows {
        let _ = writeln!(text, "{}", row.markdown());
    }
    for row in rows {
        if let Err(error) = &row.result {
            let _ = writeln!(text, "\n{}: {error}", row.name);
        }
    }
    text
}

/// Writes the same as JSON.
pub(super) fn json(machine: &Machine, rows: &[Row]) -> String {
    let rows: Vec<_> = rows
        .iter()
        .map(|row| {
            json!({
                "name": row.name,
                "title": row.title,
                "profile": row.profile,
                "seconds": row.result.as_ref().ok().map(Duration::as_secs_f64),
                "limit": row.limit,
                "passed": row.passed(),
                "error": row.result.as_ref().err(),
            })
        })
        .collect();
    let Machine { cores, rustc, load } = machine;
    let all = json!({ "cores": cores, "rustc": rustc, "load": load, "limits": rows });
    format!("{all:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::times::limits;

    #[test]
    fn rows_tell_passed_missed_and_failed_limits_apart() {
        let limits = limits::all("convert");
        let rows = [
            Row::measured(&limits[0], Duration::from_millis(179_900)),
            Row::measured(&limits[0], Duration::from_millis(180_100)),
            Row::failed(&limits[4], &anyhow::anyhow!("no compiler")),
        ];
        assert_eq!(rows.each_ref().map(Row::passed), [true, false, false]);
        let machine = Machine { cores: 2, rustc: "rustc 1.95.0".to_owned(), load: Some(0.1) };
        let text = text(&machine, &rows);
        for part in [
            "2 cores, rustc 1.95.0, load average 0.1\n",
            "clean clone | release | 179.9 | 180 | pass |\n",
            "clean clone | release | 180.1 | 180 | fail |\n",
            "in convert | dev | – | 10 | error |\n",
            "\ncheck-edit: no compiler\n",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        let value: serde_json::Value = serde_json::from_str(&json(&machine, &rows)).unwrap();
        assert_eq!(value["limits"][1]["passed"], false);
        assert_eq!(value["limits"][2]["error"], "no compiler");
    }
}
