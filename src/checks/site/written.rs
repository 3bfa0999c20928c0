//! Writes expectations from the facts of a healthy machine, as a reference for others.

use std::fmt::Write as _;

use toml::Value;

use super::expectation::{Subject, UNLIMITED};
use super::observe::{Seen, observe};
use crate::overview::OF_ONE_PROCESS;
use facts::Facts;

/// Packages whose versions must be equal.
const PACKAGES: [&str; 8] = [
    "torch",
    "torch-npu",
    "torchvision",
    "triton-ascend",
    "vllm",
    "vllm-ascend",
    "mindspore",
    "transformers",
];
/// Limits that jobs on many NPUs exceed.
const LIMITS: [&str; 4] = ["nofile", "nproc", "memlock", "stack"];
/// Prefixes of variables that change the behavior of a job. Paths are omitted, because they differ
/// between users.
const VARIABLES: [&str; 6] = [
    "HCCL_",
    "PYTORCH_NPU_",
    "TASK_QUEUE_ENABLE",
    "VLLM_ASCEND_",
    "CPU_AFFINITY_CONF",
    "OMP_NUM_THREADS",
];

/// The text of an `ascend-doctor.toml` with an `[expect]` for this machine. Unknown facts are
/// omitted.
pub fn write(facts: &Facts, source: &str) -> String {
    let mut out = String::new();
    // A comment ends at the end of the line.
    let source: String = source.chars().filter(|c| !c.is_control()).collect();
    let _ = writeln!(out, "# Written from {source} by `ascend-doctor check --expect-from`.");
    out.push_str(
        "# Widen what may differ: driver = \">=25.2, <26\". See docs/gate.md.\n[expect]\n",
    );
    let keys = [
        ("npus", Subject::Npus),
        ("dies", Subject::Dies),
        ("chip", Subject::Chip),
        ("driver", Subject::Driver),
        ("firmware", Subject::Firmware),
        ("cann", Subject::Cann),
        ("os", Subject::Os),
    ];
    for (key, subject) in &keys {
        let value = match observe(facts, subject).seen {
            Seen::Amount(value) => i64::try_from(value).ok().map(Value::Integer),
            Seen::Version(text) | Seen::Value(text) => Some(Value::String(text)),
            Seen::Each(all) => Some(Value::Array(all.into_iter().map(Value::String).collect())),
            // The name with the version of the release, not with that of an update.
            Seen::Names(names) => names.last().cloned().map(Value::String),
            _ => None,
        };
        if let Some(value) = value {
            let _ = writeln!(out, "{key} = {value}");
        }
    }
    let packages = PACKAGES.iter().filter_map(|name| {
        let dist = facts.python.dist(name)?;
        Some((*name, Value::String(format!("=={}", dist.version))))
    });
    table(&mut out, "packages", packages);
    let of_jobs = facts.env.vars.iter().filter(|(name, _)| {
        VARIABLES.iter().any(|start| name.starts_with(start))
            && !OF_ONE_PROCESS.contains(&name.as_str())
    });
    table(&mut out, "env", of_jobs.map(|(name, value)| (&**name, Value::String(value.clone()))));
    let shm = facts.host.space.get("/dev/shm").map(|space| space.total);
    let limits = LIMITS.iter().filter_map(|name| Some((*name, (*facts.site.limits.get(*name)?)?)));
    let unlimited = LIMITS.iter().filter(|name| facts.site.limits.get(**name) == Some(&None));
    let all = limits
        .chain(shm.map(|shm| ("shm", shm)))
        .chain(unlimited.map(|name| (*name, UNLIMITED)))
        .chain(facts.site.hugepages.filter(|pages| *pages > 0).map(|pages| ("hugepages", pages)));
    let amounts = all.map(|(name, value)| {
        let plain = match i64::try_from(value) {
            Ok(size) if name == "shm" && size % (1 << 30) == 0 => {
                Value::String(format!("{}GiB", size >> 30))
            }
            Ok(number) => Value::Integer(number),
            Err(_) => Value::String("unlimited".to_owned()),
        };
        (name, plain)
    });
    let governors = (facts.site.cpu_governors.len() == 1)
        .then(|| ("cpu-governor", Value::String(facts.site.cpu_governors[0].clone())));
    table(&mut out, "limits", amounts.chain(governors));
    out
}

fn table<'a>(out: &mut String, name: &str, rows: impl Iterator<Item = (&'a str, Value)>) {
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n[expect.{name}]");
    for (key, value) in rows {
        let _ = writeln!(out, "{key} = {value}");
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Expectations, judge_facts};
    use super::*;
    use crate::testing::{dist, facts_with, python};
    use data::WithLine;
    use facts::{InfoFile, Space};

    /// The written expectations hold on the same machine, regardless of its values.
    #[test]
    fn a_machine_meets_its_own_expectations() {
        let mut facts = facts_with(python("3.11"), vec![dist("torch", "2.7.1+cpu")]);
        facts.devices.dev_listed = true;
        facts.host.os_id = Some("openEuler".to_owned());
        facts.host.os_version = Some("24.03".to_owned());
        facts.host.os_pretty = Some("openEuler 24.03 (LTS-SP1)".to_owned());
        facts.host.space.insert("/dev/shm".to_owned(), Space { total: 64 << 30, available: 0 });
        let mut version = InfoFile::default();
        version.fields.insert("Version".to_owned(), "25.0.rc1.1".to_owned());
        facts.driver.version = Some(version);
        facts.env.known = true;
        for (name, value) in
            [("HCCL_ALGO", "level0:NA;level1:H-D_R"), ("RANK", "3"), ("HCCL_X", "a\"\\b")]
        {
            facts.env.vars.insert(name.to_owned(), value.to_owned());
        }
        facts.site.limits =
            [("nofile".to_owned(), Some(65536)), ("memlock".to_owned(), None)].into();
        let text = write(&facts, "a\n[evil]");
        let table: toml::Table = toml::from_str(&text).unwrap();
        assert_eq!(table.len(), 1, "{text}");
        let mut entries = Vec::new();
        for (key, value) in table["expect"].as_table().unwrap().clone() {
            let mut put = |group: Option<String>, name: String, value: Value| {
                entries.push(WithLine { line: 1, value: (group, name, value) });
            };
            match value {
                Value::Table(group) => {
                    group.into_iter().for_each(|(name, value)| put(Some(key.clone()), name, value));
                }
                value => put(None, key, value),
            }
        }
        assert!(entries.len() >= 9, "{text}");
        let site = Expectations::read(entries, 1, "site.toml").unwrap();
        let (findings, unknown) = judge_facts(&facts, &site);
        assert!(findings.is_empty() && unknown.is_none(), "{findings:?} {unknown:?}\n{text}");
        // They do not hold on another one.
        facts.env.vars.remove("HCCL_ALGO");
        facts.python.dists.clear();
        assert_eq!(judge_facts(&facts, &site).0.len(), 2);
    }
}
