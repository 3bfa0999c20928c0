//! The description of the machine at the head of a report: a few lines for users, and the same data
//! for programs.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::chip;
use super::members::{CheckMembers, Fingerprint, HostMember};
use super::{Context, npu};
use base::chip::ChipFamily;
use base::text::Text;
use data::ui;
use facts::{Facts, InfoFile};

/// The head of the report: label and value. Lines with unknown values are omitted.
pub fn overview(facts: &Facts) -> Vec<(Text, Text)> {
    let lines = [
        (ui::OVERVIEW_HOST, host(facts).map(Text::same)),
        (ui::OVERVIEW_CONTAINER, container(facts).map(Text::same)),
        (ui::OVERVIEW_NPU, npus(facts).map(Text::same)),
        (ui::OVERVIEW_DRIVER, version(facts.driver.version.as_ref()).map(Text::same)),
        (ui::OVERVIEW_FIRMWARE, version(facts.driver.firmware.as_ref()).map(Text::same)),
        (ui::OVERVIEW_CANN, cann(facts)),
        (ui::OVERVIEW_FRAMEWORK, frameworks(facts).map(Text::same)),
        (ui::OVERVIEW_PYTHON, python(facts)),
    ];
    lines.into_iter().filter_map(|(label, value)| Some((label.text(), value?))).collect()
}

fn host(facts: &Facts) -> Option<String> {
    let host = &facts.host;
    let os = host.os_pretty.clone().or_else(|| {
        let id = host.os_id.as_deref()?;
        Some(format!("{id} {}", host.os_version.as_deref().unwrap_or_default()).trim().to_owned())
    });
    let parts = [
        os,
        host.arch.clone(),
        host.kernel.as_ref().map(|kernel| format!("Linux {kernel}")),
        host.glibc.as_ref().map(|version| format!("glibc {version}")),
    ];
    joined(parts.into_iter().flatten())
}

fn container(facts: &Facts) -> Option<String> {
    let container = &facts.host.container;
    container.is_inside().then(|| {
        let by = container.evidence.first().map(String::as_str).unwrap_or_default();
        match container.runtime.as_deref() {
            Some(runtime) => format!("{runtime} ({by})"),
            None => by.to_owned(),
        }
    })
}

/// `8 × 910B3`, or by family if the name is unknown.
pub(super) fn npus(facts: &Facts) -> Option<String> {
    let smi = facts.driver.npu_smi.as_ref().map(|smi| smi.chips.as_slice()).unwrap_or_default();
    let count = [facts.devices.davinci_ids().len(), smi.len()].into_iter().max().unwrap_or(0);
    let on_bus = if npu::on_bus(facts) { facts.devices.pci_count() } else { 0 };
    let count = if count == 0 { on_bus } else { count };
    if count == 0 {
        return None;
    }
    let mut names: Vec<&str> = smi.iter().map(|chip| chip.name.as_str()).collect();
    names.dedup();
    let families = chip::chips(facts);
    let label = match (&names[..], &families[..]) {
        ([name], [only]) if !only.family.label().contains(name) => {
            format!("{name}, {}", only.family.label())
        }
        (_, families) => families
            .iter()
            .map(|chip| ChipFamily::label(chip.family))
            .collect::<Vec<_>>()
            .join(", "),
    };
    Some(if label.is_empty() { format!("{count} × NPU") } else { format!("{count} × {label}") })
}

fn cann(facts: &Facts) -> Option<Text> {
    let install = facts.cann.active()?;
    let mut text = format!(" ({})", install.path);
    let others = facts.cann.installs.len() - 1;
    if others > 0 {
        text.push_str(&format!(" + {others}"));
    }
    let mut nnal: Vec<&str> =
        facts.cann.nnal.iter().filter_map(|nnal| nnal.version.as_deref()).collect();
    nnal.dedup();
    if !nnal.is_empty() {
        text.push_str(&format!(", NNAL {}", nnal.join(", ")));
    }
    Some(with_version(install.version.as_deref(), &text))
}

pub(super) fn frameworks(facts: &Facts) -> Option<String> {
    let names = ["torch", "torch-npu", "vllm", "vllm-ascend", "sglang", "mindspore"];
    joined(names.iter().filter_map(|name| {
        let dist = facts.python.dist(name)?;
        let version = facts.python.imported_version(dist);
        Some(format!("{} {version}", name.replace("torch-npu", "torch_npu")))
    }))
}

fn python(facts: &Facts) -> Option<Text> {
    let interpreter = facts.python.interpreter.as_ref()?;
    let rest = format!(" ({}, {})", interpreter.path, interpreter.kind);
    Some(with_version(interpreter.version.as_deref(), &rest))
}

/// The version, or a text for an unknown one, before the rest of the line.
fn with_version(version: Option<&str>, rest: &str) -> Text {
    let version = version.map_or_else(|| ui::VERSION_NOT_KNOWN.text(), Text::same);
    Text::new(version.en + rest, version.zh + rest)
}

fn joined(parts: impl Iterator<Item = String>) -> Option<String> {
    let text = parts.collect::<Vec<_>>().join(", ");
    (!text.is_empty()).then_some(text)
}

pub(super) fn version(file: Option<&InfoFile>) -> Option<&str> {
    file?.get("Version").filter(|version| !version.is_empty())
}

/// The notes for a machine without Ascend hardware and software: there is no fault, and how to
/// proceed if there should be an NPU. Empty for every other machine, and if an NPU is required,
/// because DEV-PCI reports it then.
pub fn nothing_here(ctx: &Context<'_>) -> Vec<Text> {
    let facts = ctx.facts;
    let mindspore = facts.python.dist("mindspore").is_some();
    let anything = npu::visible(facts) || npu::has_driver(facts) || npu::has_stack(facts);
    if anything || mindspore || npu::wanted(ctx) {
        return Vec::new();
    }
    if !facts.devices.dev_listed {
        // A copy without its devices. The notes cover only the contents of the copy.
        return vec![ui::NOTHING_FOUND_IN_COPY.text(), ui::NOTHING_INSTALL.text()];
    }
    let label =
        if npu::in_container(facts) { ui::NOTHING_FOUND_IN_CONTAINER } else { ui::NOTHING_FOUND };
    vec![label.text(), ui::NOTHING_INSTALL.text()]
}

/// The members of the JSON report that belong to `check`.
pub fn members(facts: &Facts) -> CheckMembers<'_> {
    let host = &facts.host;
    CheckMembers {
        host: HostMember {
            name: host.name.as_deref(),
            arch: host.arch.as_deref(),
            os: host.os_pretty.as_deref(),
            kernel: host.kernel.as_deref(),
            container: host.container.inside,
            machine: host.machine.as_deref(),
            boot: host.boot.as_deref(),
        },
        taken: facts.taken,
        fingerprint: fingerprint(facts),
        baseline: None,
        plan: None,
        facts,
    }
}

pub(super) fn fingerprint(facts: &Facts) -> Fingerprint {
    let dist = |name: &str| facts.python.dist(name).map(|dist| dist.version.clone());
    Fingerprint {
        chip: chip::chip(facts).map(|chip| chip.family),
        cann: facts.cann.active().and_then(|install| install.version.clone()),
        driver: version(facts.driver.version.as_ref()).map(str::to_owned),
        firmware: version(facts.driver.firmware.as_ref()).map(str::to_owned),
        torch: dist("torch"),
        torch_npu: dist("torch-npu"),
        vllm: dist("vllm"),
        vllm_ascend: dist("vllm-ascend"),
        mindspore: dist("mindspore"),
        triton_ascend: dist("triton-ascend"),
        nnal: nnal(facts),
        python: facts.python.interpreter.as_ref().and_then(|python| python.version.clone()),
        glibc: facts.host.glibc.clone(),
        devices: facts.devices.dev_listed.then(|| facts.devices.davinci_ids().len()),
        env_hash: env_hash(facts),
        elf_hash: elf_hash(facts),
    }
}

/// The versions of NNAL, each once.
fn nnal(facts: &Facts) -> Option<String> {
    let mut versions: Vec<&str> =
        facts.cann.nnal.iter().filter_map(|nnal| nnal.version.as_deref()).collect();
    versions.sort_unstable();
    versions.dedup();
    joined(versions.into_iter().map(str::to_owned))
}

/// Variables that differ between the nodes or processes of one job.
pub(super) const OF_ONE_PROCESS: &[&str] = &[
    "LOGNAME",
    "USER",
    "PWD",
    "SHELL",
    "TMPDIR",
    "LANG",
    "LC_ALL",
    "LC_MESSAGES",
    "DEVICE_ID",
    "RANK_ID",
    "RANK",
    "LOCAL_RANK",
    "MASTER_ADDR",
    "MASTER_PORT",
    "VLLM_HOST_IP",
    "HCCL_IF_IP",
    "NPU_VISIBLE_DEVICES",
    "ASCEND_VISIBLE_DEVICES",
    "ASCEND_RT_VISIBLE_DEVICES",
];

/// SHA-256 over the relevant variables, in order; `None` if the environment is unknown.
fn env_hash(facts: &Facts) -> Option<String> {
    facts.env.known.then(|| {
        let vars = facts.env.vars.iter();
        digest(
            vars.filter(|(name, _)| !OF_ONE_PROCESS.contains(&name.as_str()))
                .flat_map(|(name, value)| [name.as_str(), value.as_str()]),
        )
    })
}

/// SHA-256 over the comparison of the packages' files with their RECORD: equal on two machines with
/// the same files. `None` if no files were hashed.
fn elf_hash(facts: &Facts) -> Option<String> {
    let packages: Vec<_> =
        facts.integrity.packages.iter().filter(|package| package.hashed > 0).collect();
    if packages.is_empty() {
        return None;
    }
    let mut parts = Vec::new();
    for package in packages {
        parts.extend([package.name.clone(), package.version.clone(), package.hashed.to_string()]);
        parts.push(package.bytes.to_string());
        let site = package.site_dir.as_str();
        for difference in &package.differing {
            let path = difference.path.strip_prefix(site).unwrap_or(&difference.path);
            parts.extend([path.to_owned(), difference.kind.clone(), difference.found.clone()]);
        }
        parts.extend(package.upstream.wheel.clone());
        parts.extend(package.record_digest.clone());
    }
    Some(digest(parts.iter().map(String::as_str)))
}

fn digest<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        // Lengths distinguish `a` + `bc` from `ab` + `c`.
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use facts::{Env, PciFunction};

    fn machine() -> Facts {
        let mut facts = Facts::default();
        facts.devices.dev_listed = true;
        facts.devices.pci = Some(vec![PciFunction {
            address: "0000:c1:00.0".to_owned(),
            device: "0xd802".to_owned(),
            subsystem_device: None,
            class: None,
            driver: None,
        }]);
        let mut version = InfoFile::default();
        version.fields.insert("Version".to_owned(), "25.2.0".to_owned());
        facts.driver.version = Some(version);
        facts
    }

    #[test]
    fn known_lines_only() {
        let lines = overview(&machine());
        let values: Vec<&str> = lines.iter().map(|(_, value)| value.en.as_str()).collect();
        assert_eq!(values, ["1 × Ascend 910B (Atlas A2)", "25.2.0"]);
        assert!(overview(&Facts::default()).is_empty());
    }

    #[test]
    fn an_empty_machine_is_told_what_to_install() {
        let mut facts = Facts::default();
        facts.devices.dev_listed = true;
        assert_eq!(nothing_here(&Context::of(&facts, Profile::General)).len(), 2);
        assert!(nothing_here(&Context::of(&machine(), Profile::General)).is_empty());
    }

    #[test]
    fn the_fingerprint_knows_no_rank_and_no_order() {
        let with = |vars: &[(&str, &str)]| {
            let mut facts = machine();
            facts.env = Env {
                known: true,
                vars: vars.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
                ..Env::default()
            };
            fingerprint(&facts)
        };
        let one = with(&[("RANK", "0"), ("HCCL_BUFFSIZE", "200")]);
        assert_eq!(one, with(&[("HCCL_BUFFSIZE", "200"), ("RANK", "1")]));
        assert_ne!(one, with(&[("HCCL_BUFFSIZE", "300")]));
        assert_eq!(one.chip, Some(ChipFamily::A910B));
        assert_eq!(one.elf_hash, None);
        assert_eq!(fingerprint(&machine()).env_hash, None);
    }
}
