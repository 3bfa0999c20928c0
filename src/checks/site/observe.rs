//! Looks up the subject of an expectation in the facts.

use base::chip::ChipFamily;
use base::report::Evidence;
use base::text::Text;
use data::ui;
use facts::{Facts, Mount, SiteFile};

use super::expectation::{Subject, UNLIMITED};
use crate::{chip, npu};

/// The observed state of a subject.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Seen {
    /// Unknown: the expectation cannot be evaluated.
    Unknown,
    /// Absent, or not set.
    Absent,
    /// Present, without a value.
    Present,
    /// A version.
    Version(String),
    /// A value.
    Value(String),
    /// Several values that all count: governors of processors, chips of devices.
    Each(Vec<String>),
    /// Alternative names of one thing.
    Names(Vec<String>),
    /// A count, or a size in bytes.
    Amount(u64),
    /// A file.
    File(SiteFile),
    /// A mount.
    Mount(Mount),
}

/// An observation and its place.
pub(super) struct Observation {
    pub(super) seen: Seen,
    pub(super) evidence: Option<Evidence>,
}

impl Observation {
    fn new(seen: Seen, evidence: Evidence) -> Self {
        Self { seen, evidence: Some(evidence) }
    }

    const fn unknown() -> Self {
        Self { seen: Seen::Unknown, evidence: None }
    }
}

/// Looks a subject up in the facts.
pub(super) fn observe(facts: &Facts, subject: &Subject) -> Observation {
    let site = &facts.site;
    match subject {
        Subject::Npus => fewest(cards(facts)),
        Subject::Dies => fewest(dies(facts)),
        Subject::Chip => chips(facts),
        Subject::Driver => info_version(facts.driver.version.as_ref()),
        Subject::Firmware => info_version(facts.driver.firmware.as_ref()),
        Subject::Cann => cann(facts),
        Subject::Kernel => {
            facts.host.kernel.as_ref().map_or_else(Observation::unknown, |release| {
                let evidence = Evidence::command("uname -r").value(release);
                Observation::new(Seen::Version(release.clone()), evidence)
            })
        }
        Subject::Os => os(facts),
        Subject::Package(name) => package(facts, name),
        Subject::Env(name) => variable(facts, name),
        Subject::File(path) => match site.files.get(path) {
            None => Observation::unknown(),
            Some(file) if file.kind.is_none() && file.unreadable.is_none() => {
                Observation::new(Seen::Absent, Evidence::file(path))
            }
            Some(file) => Observation::new(Seen::File(file.clone()), Evidence::file(path)),
        },
        Subject::Mount(point) => match site.mounts.get(point) {
            None => Observation::unknown(),
            Some(None) => Observation::new(Seen::Absent, Evidence::file("/proc/self/mountinfo")),
            Some(Some(mount)) => Observation::new(
                Seen::Mount(mount.clone()),
                Evidence::file("/proc/self/mountinfo")
                    .value(format!("{} {} {}", mount.point, mount.fstype, mount.options)),
            ),
        },
        Subject::Limit(name) => match site.limits.get(name) {
            None => Observation::unknown(),
            Some(limit) => Observation::new(
                Seen::Amount(limit.unwrap_or(UNLIMITED)),
                Evidence::file("/proc/self/limits"),
            ),
        },
        Subject::Hugepages => site.hugepages.map_or_else(Observation::unknown, |pages| {
            let evidence =
                Evidence::file("/proc/meminfo").value(format!("HugePages_Total: {pages}"));
            Observation::new(Seen::Amount(pages), evidence)
        }),
        Subject::TransparentHugepages => {
            let path = "/sys/kernel/mm/transparent_hugepage/enabled";
            site.transparent_hugepages.as_ref().map_or_else(Observation::unknown, |word| {
                Observation::new(Seen::Value(word.clone()), Evidence::file(path))
            })
        }
        Subject::CpuGovernor if site.cpu_governors.is_empty() => Observation::unknown(),
        Subject::CpuGovernor => Observation::new(
            Seen::Each(site.cpu_governors.clone()),
            Evidence::file("/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"),
        ),
        Subject::Shm => {
            facts.host.space.get("/dev/shm").map_or_else(Observation::unknown, |space| {
                Observation::new(Seen::Amount(space.total), Evidence::file("/dev/shm"))
            })
        }
        Subject::Interface(name) => interface(facts, name),
        Subject::DefaultRoute => presence(site.default_route, "/proc/net/route"),
        Subject::Nameserver(address) => {
            presence(site.nameservers.get(address).copied(), "/etc/resolv.conf")
        }
        Subject::Host(name) => presence(site.hosts.get(name).copied(), "/etc/hosts"),
    }
}

fn presence(is_there: Option<bool>, path: &str) -> Observation {
    match is_there {
        None => Observation::unknown(),
        Some(true) => Observation::new(Seen::Present, Evidence::file(path)),
        Some(false) => Observation::new(Seen::Absent, Evidence::file(path)),
    }
}

/// The smallest of several counts, because a device that is missing in one of them cannot be used.
fn fewest(counts: Vec<(usize, Evidence)>) -> Observation {
    counts.into_iter().min_by_key(|(count, _)| *count).map_or_else(Observation::unknown, |found| {
        let (count, evidence) = found;
        Observation::new(Seen::Amount(u64::try_from(count).unwrap_or(UNLIMITED)), evidence)
    })
}

/// Counts of dies: device nodes, rows of npu-smi, and on a host the functions of the PCI bus.
fn dies(facts: &Facts) -> Vec<(usize, Evidence)> {
    let mut counts = Vec::new();
    if facts.devices.dev_listed {
        let count = facts.devices.davinci_ids().len();
        counts.push((count, Evidence::file("/dev/davinci*").value(count.to_string())));
    }
    if let Some(smi) = facts.driver.npu_smi.as_ref().filter(|smi| !smi.chips.is_empty()) {
        let count = smi.chips.len();
        counts.push((count, Evidence::command(&smi.source).value(count.to_string())));
    }
    if facts.devices.pci.is_some() && !npu::in_container(facts) {
        let count = facts.devices.pci_count();
        counts.push((count, Evidence::file("/sys/bus/pci/devices").value(count.to_string())));
    }
    counts
}

/// Counts of cards: as [`dies`], but a card of the A3 has two.
fn cards(facts: &Facts) -> Vec<(usize, Evidence)> {
    let mut counts = Vec::new();
    let per_card = match chip::chip(facts).map(|chip| chip.family) {
        Some(ChipFamily::A3) => Some(2),
        Some(_) => Some(1),
        None => None,
    };
    if facts.devices.dev_listed {
        let nodes = facts.devices.davinci_ids().len();
        let evidence = Evidence::file("/dev/davinci*").value(nodes.to_string());
        match per_card {
            // A card with only one visible die is not a complete card.
            Some(per_card) => counts.push((nodes / per_card, evidence)),
            None if nodes == 0 => counts.push((0, evidence)),
            None => {}
        }
    }
    if let Some(smi) = facts.driver.npu_smi.as_ref().filter(|smi| !smi.chips.is_empty()) {
        let mut ids: Vec<u32> = smi.chips.iter().map(|chip| chip.npu).collect();
        ids.sort_unstable();
        ids.dedup();
        counts.push((ids.len(), Evidence::command(&smi.source).value(ids.len().to_string())));
    }
    if let Some(pci) = facts.devices.pci.as_ref().filter(|_| !npu::in_container(facts)) {
        let own = pci.iter().filter(|one| one.driver.as_deref() != Some("vfio-pci")).count();
        // Dies of the A3 are separate functions, or two behind one.
        let double = facts.devices.pci_count() > own;
        if let Some(per_card) = per_card {
            let count = if double { own } else { own / per_card };
            counts.push((count, Evidence::file("/sys/bus/pci/devices").value(own.to_string())));
        }
    }
    counts
}

/// Every chip by its name, or by its family if the name is unknown.
fn chips(facts: &Facts) -> Observation {
    let names: Vec<&str> = facts
        .driver
        .npu_smi
        .iter()
        .flat_map(|smi| smi.chips.iter().map(|chip| chip.name.as_str()))
        .filter(|name| !name.eq_ignore_ascii_case("Ascend910"))
        .collect();
    let mut seen: Vec<String> = names.into_iter().map(str::to_owned).collect();
    let families = chip::chips(facts);
    if seen.is_empty() {
        seen.extend(families.iter().map(|chip| chip.family.as_str().to_owned()));
    }
    seen.sort_unstable();
    seen.dedup();
    match families.into_iter().next() {
        Some(first) if !seen.is_empty() => Observation::new(Seen::Each(seen), first.evidence),
        _ => Observation::unknown(),
    }
}

fn info_version(file: Option<&facts::InfoFile>) -> Observation {
    let Some(file) = file else { return Observation::unknown() };
    match file.get("Version").filter(|version| !version.is_empty()) {
        None => Observation::unknown(),
        Some(version) => Observation::new(
            Seen::Version(version.to_owned()),
            file.place("Version").value(format!("Version={version}")),
        ),
    }
}

fn cann(facts: &Facts) -> Observation {
    let Some(install) = facts.cann.active() else {
        // If there are several and none is in use, it is unknown which one a program would select.
        return if facts.cann.installs.is_empty() && npu::hidden_cann(facts).is_none() {
            Observation { seen: Seen::Absent, evidence: None }
        } else {
            Observation::unknown()
        };
    };
    let version = install.stated_version().map(str::to_owned);
    version.map_or_else(Observation::unknown, |version| {
        let evidence = Evidence::file(&install.path).value(&version);
        Observation::new(Seen::Version(version), evidence)
    })
}

fn os(facts: &Facts) -> Observation {
    let host = &facts.host;
    let by_id = host.os_id.as_ref().map(|id| {
        format!("{id} {}", host.os_version.as_deref().unwrap_or_default()).trim().to_owned()
    });
    let names: Vec<String> = host.os_pretty.iter().cloned().chain(by_id).collect();
    let Some(first) = names.first() else { return Observation::unknown() };
    let source = host.os_source.as_deref().unwrap_or("/etc/os-release");
    let evidence = Evidence::file(source).value(first);
    Observation::new(Seen::Names(names), evidence)
}

fn package(facts: &Facts, name: &str) -> Observation {
    let python = &facts.python;
    if python.missing_interpreter.is_some() || python.not_python.is_some() {
        return Observation::unknown();
    }
    if let Some(dist) = python.dist(name) {
        return Observation::new(Seen::Version(dist.version.clone()), dist.version_place());
    }
    Observation { seen: Seen::Absent, evidence: python.site_dirs.first().map(Evidence::file) }
}

fn variable(facts: &Facts, name: &str) -> Observation {
    if !facts.env.known {
        return Observation::unknown();
    }
    match facts.env.get(name) {
        Some(value) => {
            Observation::new(Seen::Value(value.to_owned()), Evidence::env(name).value(value))
        }
        None => Observation::new(Seen::Absent, Evidence::env(name)),
    }
}

fn interface(facts: &Facts, name: &str) -> Observation {
    let path = format!("/sys/class/net/{name}/operstate");
    match facts.site.interfaces.get(name) {
        // The loopback interface and tunnels have no carrier, so their state is `unknown`.
        Some(state) if state == "up" || state == "unknown" => {
            Observation::new(Seen::Present, Evidence::file(path).value(state))
        }
        Some(state) => {
            Observation::new(Seen::Value(state.clone()), Evidence::file(path).value(state))
        }
        None => match &facts.host.interfaces {
            Some(all) if !all.iter().any(|known| known == name) => {
                Observation::new(Seen::Absent, Evidence::file("/sys/class/net"))
            }
            _ => Observation::unknown(),
        },
    }
}

/// The subject as text.
pub(super) fn name(subject: &Subject) -> Text {
    match subject {
        Subject::Npus => ui::SITE_NPUS.text(),
        Subject::Dies => ui::SITE_DIES.text(),
        Subject::Chip => ui::SITE_CHIP.text(),
        Subject::Driver => ui::OVERVIEW_DRIVER.text(),
        Subject::Firmware => ui::OVERVIEW_FIRMWARE.text(),
        Subject::Cann => Text::same("CANN"),
        Subject::Kernel => ui::SITE_KERNEL.text(),
        Subject::Os => ui::SITE_OS.text(),
        Subject::Package(name) | Subject::Env(name) => Text::same(name.as_str()),
        Subject::File(path) => Text::same(path.as_str()),
        Subject::Mount(point) => ui::SiteMount { point }.text(),
        Subject::Limit(name) => ui::SiteLimit { name }.text(),
        Subject::Hugepages => ui::SITE_HUGEPAGES.text(),
        Subject::TransparentHugepages => ui::SITE_TRANSPARENT_HUGEPAGES.text(),
        Subject::CpuGovernor => ui::SITE_CPU_GOVERNOR.text(),
        Subject::Shm => ui::SITE_SHM.text(),
        Subject::Interface(name) => ui::SiteInterface { name }.text(),
        Subject::DefaultRoute => ui::SITE_DEFAULT_ROUTE.text(),
        Subject::Nameserver(name) => ui::SiteNameserver { name }.text(),
        Subject::Host(name) => ui::SiteHost { name }.text(),
    }
}
