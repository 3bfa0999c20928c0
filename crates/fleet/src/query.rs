//! Values of hosts and their NPUs in rows: the columns of `--query`.
//!
//! An unknown value is empty, and a component that is not installed is `none`.

use super::component::find_component;
use super::fleet_reports::{Fleet, Host};
use super::record::{ComponentValue, Npu};
use base::report::{Severity, Verdict};

/// A column.
#[derive(Debug)]
pub struct QueryKey {
    /// Its name in the option and in the head of the table.
    pub name: &'static str,
    /// Its meaning, for the documentation.
    pub about: &'static str,
    from: From,
}

/// The source of a value.
#[derive(Debug, Clone, Copy)]
enum From {
    Name,
    Component(&'static str),
    Verdict,
    Findings(Severity),
    Ids,
    Taken,
    Npu(fn(&Npu) -> Option<String>),
}

const fn key(name: &'static str, about: &'static str, from: From) -> QueryKey {
    QueryKey { name, about, from }
}

const fn component(name: &'static str, about: &'static str) -> QueryKey {
    key(name, about, From::Component(name))
}

/// All columns, those of NPUs last.
pub const QUERY_KEYS: &[QueryKey] = &[
    key("host", "name of the host", From::Name),
    key("verdict", "worst verdict of its reports: pass, inconclusive or fail", From::Verdict),
    key("errors", "number of errors", From::Findings(Severity::Error)),
    key("warnings", "number of warnings", From::Findings(Severity::Warning)),
    key("findings", "IDs of errors and warnings, separated by spaces", From::Ids),
    key("taken", "time of the newest report, in seconds since 1970", From::Taken),
    component("chip", "chip generation, such as 910b"),
    component("devices", "number of NPUs"),
    component("driver", "version of the driver"),
    component("firmware", "version of the firmware"),
    component("cann", "version of CANN"),
    component("nnal", "versions of NNAL"),
    component("torch", "version of torch"),
    component("torch_npu", "version of torch_npu"),
    component("vllm", "version of vLLM"),
    component("vllm_ascend", "version of vllm-ascend"),
    component("mindspore", "version of MindSpore"),
    component("triton_ascend", "version of triton-ascend"),
    component("python", "version of Python"),
    component("arch", "architecture of the host"),
    component("os", "operating system"),
    component("kernel", "release of the kernel"),
    component("glibc", "version of the C library"),
    key("npu.index", "number of the NPU", From::Npu(|npu| Some(npu.numbers.0.to_string()))),
    key(
        "npu.chip",
        "number of the chip on the NPU",
        From::Npu(|npu| Some(npu.numbers.1.to_string())),
    ),
    key("npu.name", "name of the chip, such as 910B3", From::Npu(|npu| Some(npu.name.clone()))),
    key("npu.health", "health that npu-smi prints", From::Npu(|npu| Some(npu.health.clone()))),
    key("npu.bus_id", "PCI address", From::Npu(|npu| npu.bus_id.clone())),
    key(
        "npu.memory_used_mb",
        "used device memory in MB",
        From::Npu(|npu| npu.memory_mb.map(|(used, _)| used.to_string())),
    ),
    key(
        "npu.memory_total_mb",
        "total device memory in MB",
        From::Npu(|npu| npu.memory_mb.map(|(_, total)| total.to_string())),
    ),
];

/// The rows for `keys`, in the order of the host names. With a column of NPUs, each NPU has a row,
/// and a host with unknown NPUs has one row.
pub fn query(fleet: &Fleet, keys: &[&QueryKey]) -> Vec<Vec<String>> {
    let per_npu = keys.iter().any(|key| matches!(key.from, From::Npu(_)));
    let mut rows = Vec::new();
    for (name, host) in &fleet.hosts {
        let row = |npu: Option<&Npu>| -> Vec<String> {
            keys.iter().map(|key| value(key.from, fleet, name, host, npu)).collect()
        };
        let table = host.all().find(|report| !report.npus.is_empty());
        match table.filter(|_| per_npu) {
            Some(report) => rows.extend(report.npus.iter().map(|npu| row(Some(npu)))),
            None => rows.push(row(None)),
        }
    }
    rows
}

fn value(from: From, fleet: &Fleet, name: &str, host: &Host, npu: Option<&Npu>) -> String {
    let findings = || {
        let numbers = host.all().flat_map(|report| &report.findings);
        numbers.filter_map(|&number| fleet.findings.get(number as usize))
    };
    match from {
        From::Name => name.to_owned(),
        From::Component(key) => match host.value(find_component(key)) {
            ComponentValue::Unknown => String::new(),
            ComponentValue::Absent => "none".to_owned(),
            ComponentValue::Is(value) => value.clone(),
        },
        From::Verdict => worst(host).map_or_else(String::new, |worst| worst.as_str().to_owned()),
        From::Findings(severity) => {
            findings().filter(|finding| finding.severity == severity).count().to_string()
        }
        From::Ids => {
            let mut ids: Vec<&str> = findings()
                .filter(|finding| finding.severity > Severity::Info)
                .map(|finding| finding.id.as_str())
                .collect();
            ids.sort_unstable();
            ids.dedup();
            ids.join(" ")
        }
        From::Taken => {
            let newest = host.all().filter_map(|report| report.taken).max();
            newest.map_or_else(String::new, |taken| taken.to_string())
        }
        From::Npu(read) => npu.and_then(read).unwrap_or_default(),
    }
}

/// The worst verdict of a host, or `None` if a report without a verdict leaves it open.
fn worst(host: &Host) -> Option<Verdict> {
    let verdicts: Vec<Option<Verdict>> = host.all().map(|report| report.verdict).collect();
    if verdicts.contains(&Some(Verdict::Fail)) {
        return Some(Verdict::Fail);
    }
    verdicts.into_iter().collect::<Option<Vec<_>>>()?.into_iter().max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::COMPONENTS;
    use crate::read_documents;

    fn fleet(documents: &[&str]) -> Fleet {
        let mut fleet = Fleet::default();
        for document in documents {
            for (source, outcome) in read_documents(document.as_bytes(), "file", None, None) {
                fleet.add_outcome(&source, outcome);
            }
        }
        fleet
    }

    fn rows(documents: &[&str], names: &[&str]) -> Vec<String> {
        let find = |name: &&str| QUERY_KEYS.iter().find(|key| key.name == *name).unwrap();
        let keys: Vec<&QueryKey> = names.iter().map(find).collect();
        query(&fleet(documents), &keys).into_iter().map(|row| row.join(",")).collect()
    }

    const CHECK: &str = r#"{"schema":"ascend-doctor/check/2","host":{"name":"n1"},"taken":7,
        "verdict":"pass","fingerprint":{"driver":"25.2.0","cann":null},
        "findings":[{"id":"NET-X","severity":"warning","title":{"en":"x","zh":"x"}}],
        "facts":{"driver":{"npu_smi":{"source":"","version":null,"chips":[
        {"npu":0,"chip":0,"device":null,"name":"910B3","health":"OK","bus_id":"0000:C1:00.0","hbm_mb":[3400,65536]},
        {"npu":1,"chip":0,"device":null,"name":"910B3","health":"Alarm","bus_id":null,"hbm_mb":null}]}}}}"#;
    const VERIFY: &str = r#"{"schema":"ascend-doctor/verify/2","host":{"name":"n1"},
        "verdict":"inconclusive"}"#;

    #[test]
    fn absent_components_differ_from_unknown_ones() {
        let keys = ["host", "driver", "cann", "torch", "errors", "warnings", "findings", "taken"];
        assert_eq!(rows(&[CHECK], &keys), ["n1,25.2.0,none,,0,1,NET-X,7"]);
    }

    #[test]
    fn the_verdict_is_the_worst_of_all_reports() {
        assert_eq!(rows(&[CHECK], &["verdict"]), ["pass"]);
        assert_eq!(rows(&[CHECK, VERIFY], &["verdict"]), ["inconclusive"]);
        let old = r#"{"schema":"ascend-doctor/check/1","host":{"name":"n1"}}"#;
        assert_eq!(rows(&[old], &["verdict"]), [""], "version 1 has no verdict");
        assert_eq!(rows(&[old, VERIFY], &["verdict"]), [""]);
    }

    #[test]
    fn each_npu_has_a_row() {
        let keys = ["host", "npu.index", "npu.name", "npu.health", "npu.memory_used_mb"];
        assert_eq!(rows(&[CHECK], &keys), ["n1,0,910B3,OK,3400", "n1,1,910B3,Alarm,"]);
        assert_eq!(rows(&[VERIFY], &keys), ["n1,,,,"], "no table of npu-smi");
    }

    #[test]
    fn every_component_of_a_key_exists() {
        for key in QUERY_KEYS {
            if let From::Component(name) = key.from {
                assert_eq!(COMPONENTS[find_component(name)].key, name);
            }
            assert_eq!(QUERY_KEYS.iter().filter(|other| other.name == key.name).count(), 1);
        }
    }
}
