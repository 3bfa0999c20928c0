//! Replaces the parts of an output that differ between any two runs: the program version, points in
//! time, durations, and the path of the temporary directory.
//!
//! Every rule names its exact context, so that no other number or path is hidden.

use regex::{Captures, Regex};

/// Rules for the output of one program.
#[derive(Debug)]
pub(crate) struct Normalizer {
    rules: Vec<(Regex, &'static str)>,
    /// Rules for reports with tables of durations.
    timed: Vec<(Regex, &'static str)>,
}

/// Paths and the placeholders that replace them.
pub(crate) type Paths = [(String, &'static str)];

/// Contexts of points in time and durations.
const MEASURED: [(&str, &str); 6] = [
    // OpenMetrics.
    (r"(?m)^(ascend_doctor_last_run_timestamp_seconds\{[^}\n]*\}) [0-9]+$", "${1} <time>"),
    // JSON of all reports; of `check` on a live machine, and of `verify`.
    (r#"("(?:created|taken)": ?)[0-9]+"#, "${1}<time>"),
    // HTML.
    (r#"<time datetime="[^"<>]*">[^<>]*</time>"#, "<time></time>"),
    (r#"("(?:host_ms|took_ms)": ?)[0-9.e+-]+"#, "${1}<duration>"),
    // Lines of `--log`, and the durations at their ends.
    (r"(?m)^\[ *[0-9]+\.[0-9] ms\] ", "[<duration>] "),
    (r"(?m)^(\[<duration>\] .*: )[0-9]+\.[0-9] ms$", "${1}<duration>"),
];

/// Contexts in reports of `verify` on simulated devices: columns of milliseconds, temporary
/// directories, and the process IDs in simulated logs.
const TIMED: [(&str, &str); 6] = [
    (r"(?m)^( +[0-9]+ .*[✓✗–] +)[0-9]+$", "${1}<duration>"),
    (r#"("en": ")[0-9]+(",\s+"zh": ")[0-9]+("\s+\}\s+\])"#, "${1}<duration>${2}<duration>${3}"),
    (r#"("(?:device_ms|gb_per_s)": ?)[0-9.e+-]+"#, "${1}<duration>"),
    (r"/ascend-doctor-[A-Za-z0-9]{6}\b", "/ascend-doctor-<random>"),
    (r"\bplog-[0-9]+_", "plog-<pid>_"),
    (r"\bRUNTIME\([0-9]+,ascsim\)", "RUNTIME(<pid>,ascsim)"),
];

impl Normalizer {
    /// Returns the rules for a program of this version. Versions are replaced only if the two
    /// programs have different ones.
    pub(crate) fn new(version: &str, other: &str) -> Result<Self, regex::Error> {
        let mut rules = Vec::new();
        for (pattern, replacement) in MEASURED {
            rules.push((Regex::new(pattern)?, replacement));
        }
        let timed = TIMED.into_iter().map(|(pattern, shown)| Ok((Regex::new(pattern)?, shown)));
        let timed = timed.collect::<Result<_, regex::Error>>()?;
        if version != other {
            let version = regex::escape(version);
            for context in ["ascend-doctor[ /@]", r#""(?:version|semanticVersion|tool)": ?""#] {
                let pattern = format!(r"({context}){version}($|[^0-9A-Za-z.+-])");
                rules.push((Regex::new(&pattern)?, "${1}<version>${2}"));
            }
        }
        Ok(Self { rules, timed })
    }

    /// Returns a text without the parts that differ between runs. `timed` is set for reports with
    /// tables of durations.
    pub(crate) fn normalize(&self, text: &str, paths: &Paths, timed: bool) -> String {
        let mut text = text.to_owned();
        for (path, shown) in paths {
            text = text.replace(path, shown);
        }
        let timed = self.timed.iter().filter(|_| timed);
        for (rule, replacement) in self.rules.iter().chain(timed) {
            if rule.is_match(&text) {
                let expand = |captures: &Captures<'_>| {
                    let mut expanded = String::new();
                    captures.expand(replacement, &mut expanded);
                    expanded
                };
                text = rule.replace_all(&text, expand).into_owned();
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalize(text: &str) -> String {
        Normalizer::new("0.1.0", "0.2.0").unwrap().normalize(text, &[], false)
    }

    #[test]
    fn measured_values_are_replaced_in_their_context() {
        for (text, wanted) in [
            (
                "x 1\nascend_doctor_last_run_timestamp_seconds{command=\"check\"} 1795443167\n",
                "x 1\nascend_doctor_last_run_timestamp_seconds{command=\"check\"} <time>\n",
            ),
            ("{\"taken\":1795443654,\"n\":3}", "{\"taken\":<time>,\"n\":3}"),
            ("{\"took_ms\": 3.18e-2}", "{\"took_ms\": <duration>}"),
            (
                "[     12.3 ms] INFO  collect: driver: 0.1 ms\n",
                "[<duration>] INFO  collect: driver: <duration>\n",
            ),
        ] {
            assert_eq!(normalize(text), wanted);
        }
    }

    #[test]
    fn tables_of_durations_are_replaced_where_a_case_has_them() {
        let rules = Normalizer::new("1", "1").unwrap();
        for (text, wanted) in [
            ("  0    Ascend910B3  ✓     ✗   99\n", "  0    Ascend910B3  ✓     ✗   <duration>\n"),
            (
                "{\"en\": \"7\",\n \"zh\": \"7\"\n}\n]",
                "{\"en\": \"<duration>\",\n \"zh\": \"<duration>\"\n}\n]",
            ),
            (
                "/tmp/ascend-doctor-UzPxCJ/plog-12_1.log",
                "/tmp/ascend-doctor-<random>/plog-<pid>_1.log",
            ),
        ] {
            assert_eq!(rules.normalize(text, &[], true), wanted);
            assert_eq!(rules.normalize(text, &[], false), text);
        }
    }

    #[test]
    fn other_numbers_stay() {
        for text in [
            "{\"timeout_ms\": 60}",
            "ascend_doctor_findings{command=\"check\"} 3",
            "waits for 0.1 ms\n",
            "Compatibility matrix: built-in, as of 2026-08-22",
            "{\"version\": \"0.1.0.post1\"}",
            "torch 0.1.0",
        ] {
            assert_eq!(normalize(text), text);
        }
    }

    #[test]
    fn own_version_is_replaced_only_if_the_versions_differ() {
        assert_eq!(normalize("ascend-doctor 0.1.0\n"), "ascend-doctor <version>\n");
        assert_eq!(normalize("{\"version\": \"0.1.0\"}"), "{\"version\": \"<version>\"}");
        let same = Normalizer::new("0.1.0", "0.1.0").unwrap();
        assert_eq!(same.normalize("ascend-doctor 0.1.0\n", &[], false), "ascend-doctor 0.1.0\n");
    }

    #[test]
    fn temporary_paths_are_replaced() {
        let paths = [("/tmp/xtask-1/7".to_owned(), "<case>")];
        let rules = Normalizer::new("1", "1").unwrap();
        let text = "cannot read /tmp/xtask-1/7/work";
        assert_eq!(rules.normalize(text, &paths, false), "cannot read <case>/work");
    }
}
