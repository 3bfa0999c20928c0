//! The meaning of an output without its texts: the findings of a JSON report with their severities.

use std::collections::BTreeMap;

use serde_json::Value;

use super::compare::Change;

/// Number of findings by ID and severity.
type Findings = BTreeMap<(String, String), usize>;

/// Compares the findings of two JSON reports. Returns `None` if neither output is one.
pub(crate) fn compare_findings(part: &str, old: &[u8], new: &[u8]) -> Option<Change> {
    let (before, after) = (read(old), read(new));
    let mut lines = match (&before, &after) {
        (None, None) => return None,
        (Some(_), None) => vec!["-a JSON report".to_owned()],
        (None, Some(_)) => vec!["+a JSON report".to_owned()],
        (Some(_), Some(_)) => Vec::new(),
    };
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    let describe = |sign, (id, severity): &(String, String), count: usize| match count {
        1 => format!("{sign}{id} {severity}"),
        _ => format!("{sign}{id} {severity}, {count} times"),
    };
    for (key, count) in &before {
        if after.get(key) != Some(count) {
            lines.push(describe('-', key, *count));
        }
    }
    for (key, count) in &after {
        if before.get(key) != Some(count) {
            lines.push(describe('+', key, *count));
        }
    }
    (!lines.is_empty()).then(|| Change { part: format!("{part} findings"), lines })
}

/// Reads the findings of a report of any schema version.
fn read(bytes: &[u8]) -> Option<Findings> {
    let report: Value = serde_json::from_slice(bytes).ok()?;
    let mut counts = Findings::new();
    for finding in report.get("findings")?.as_array()? {
        let member = |name| finding.get(name).and_then(Value::as_str).map(str::to_owned);
        *counts.entry((member("id")?, member("severity")?)).or_default() += 1;
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = r#"{"findings": [{"id": "A-B", "severity": "error", "title": "x"},
        {"id": "A-C", "severity": "info"}, {"id": "A-C", "severity": "info"}]}"#;

    fn lines(old: &str, new: &str) -> Vec<String> {
        let change = compare_findings("stdout", old.as_bytes(), new.as_bytes());
        change.map(|change| change.lines).unwrap_or_default()
    }

    #[test]
    fn texts_and_order_are_no_difference() {
        let new = r#"{"schema": 2, "findings": [{"id": "A-C", "severity": "info"},
            {"id": "A-C", "severity": "info"}, {"id": "A-B", "severity": "error", "title": "y"}]}"#;
        assert_eq!(lines(OLD, new), Vec::<String>::new());
        assert_eq!(lines("text", "another text"), Vec::<String>::new());
    }

    #[test]
    fn severities_and_counts_are_differences() {
        let new = r#"{"findings": [{"id": "A-B", "severity": "warning"},
            {"id": "A-C", "severity": "info"}]}"#;
        let expected = ["-A-B error", "-A-C info, 2 times", "+A-B warning", "+A-C info"];
        assert_eq!(lines(OLD, new), expected);
        assert_eq!(lines(OLD, "refused"), ["-a JSON report", "-A-B error", "-A-C info, 2 times"]);
    }
}
