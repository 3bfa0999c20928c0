//! Speeds and times in an earlier report, for `--baseline`.

use std::collections::BTreeMap;

use data::{Fault, faults};
use serde_json::Value;

use super::protocol::Measure;

/// Speeds and times of an earlier run.
#[derive(Debug, Default, PartialEq)]
pub struct Baseline {
    /// By device and step, in GB/s.
    pub speeds: BTreeMap<(i32, String), f64>,
    /// By device and measure, in milliseconds: the shortest time.
    pub times: BTreeMap<(i32, Measure), f64>,
}

/// Returns the speeds and times in a report. `shown` is the name of the report in errors.
///
/// # Errors
/// The bytes are not a JSON report of `verify`, or the report has neither.
pub fn read_baseline(report: &[u8], shown: &str) -> Result<Baseline, Fault> {
    let report: Value = serde_json::from_slice(report)
        .ok()
        .filter(|report: &Value| report["schema"].as_str().is_some_and(is_read))
        .ok_or_else(|| faults::NotAVerifyReport { path: shown }.fault())?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut found = Baseline::default();
    for device in list(&report["devices"]) {
        let number = device["device"].as_i64().and_then(|number| i32::try_from(number).ok());
        for step in list(&device["stages"]) {
            let name = step["stage"].as_str().map(str::to_owned);
            if let (Some(number), Some(name), Some(speed)) =
                (number, name, step["gb_per_s"].as_f64())
            {
                found.speeds.insert((number, name), speed);
            }
        }
        for event in list(&device["told"]) {
            let measure = Measure::ALL.into_iter().find(|own| event["measure"] == own.as_str());
            if let (Some(number), Some(measure), Some(time)) =
                (number, measure, event["best_ms"].as_f64())
            {
                found.times.insert((number, measure), time);
            }
        }
    }
    if found == Baseline::default() {
        return Err(faults::NoSpeeds { path: shown }.fault());
    }
    Ok(found)
}

/// The reports of the last two versions have the same speeds.
fn is_read(schema: &str) -> bool {
    matches!(schema, "ascend-doctor/verify/1" | "ascend-doctor/verify/2")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_speeds_of_reports_only() {
        let stages = r#"[{"stage": "copy", "gb_per_s": 12.5}, {"stage": "add"}]"#;
        let told = r#"[{"event": "time", "measure": "kernel", "best_ms": 2.5}, {"event": "done"}]"#;
        let report = |schema: &str, version: u8| {
            let devices = format!(
                r#"[{{"device": 1, "stages": {stages}, "told": {told}}}, {{"device": null}}]"#
            );
            format!(r#"{{"schema": "ascend-doctor/{schema}/{version}", "devices": {devices}}}"#)
        };
        for version in [1, 2] {
            let found = read_baseline(report("verify", version).as_bytes(), "r.json").unwrap();
            assert_eq!(found.speeds, BTreeMap::from([((1, "copy".to_owned()), 12.5)]));
            assert_eq!(found.times, BTreeMap::from([((1, Measure::Kernel), 2.5)]));
        }
        let error =
            |bytes: &str| read_baseline(bytes.as_bytes(), "r.json").unwrap_err().to_string();
        assert!(error(&report("check", 2)).contains("is not a report"));
        assert!(error(&report("verify", 3)).contains("is not a report"));
        assert!(error("no JSON").contains("is not a report"));
        assert!(error(r#"{"schema": "ascend-doctor/verify/1"}"#).contains("contains no speeds"));
    }
}
