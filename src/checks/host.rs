//! Checks of the family `host`: operating system, container, space.

use super::{Check, Context, Family, Profile, npu};
use base::report::Evidence;
use data::{
    Outcome, Reason,
    findings::{host_container, host_logdisk, host_modules, host_os, host_shm},
    ui,
};
use facts::{Facts, place};

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[
    Check::new(Family::Host, host_os::ID, os),
    Check::new(Family::Host, host_shm::ID, shm),
    Check::new(Family::Host, host_logdisk::ID, log_disk),
    Check::new(Family::Host, host_container::ID, container),
    Check::new(Family::Host, host_modules::ID, modules),
];

/// Operating systems of hosts in the product list of mind-cluster
/// (`03_supported_product_models_and_os.md`), as `ID` and the beginnings of `VERSION_ID`.
const SYSTEMS: &[(&str, &[&str])] = &[
    ("openeuler", &["20.03", "22.03", "24.03"]),
    ("ubuntu", &["18.04", "20.04", "22.04", "24.04"]),
    ("debian", &["10", "11", "12"]),
    ("centos", &["7"]),
    ("kylin", &["V10", "V11"]),
    ("uos", &["20", "25"]),
    ("ctyunos", &["22.06", "23.01", "4.0"]),
    ("bclinux", &["21.10"]),
    ("hce", &["2.0"]),
    ("euleros", &["2.0"]),
    ("tencentos", &["3", "4"]),
    ("tlinux", &["3", "4"]),
    ("velinux", &["1", "2"]),
];

/// HOST-OS: whether the host's system is in the product list. The system of a container does not
/// matter to the driver.
fn os(ctx: &Context<'_>) -> Outcome {
    let host = &ctx.facts.host;
    if !npu::concerned(ctx) {
        return Outcome::NotApplicable(Reason::NoNpu);
    }
    if npu::in_container(ctx.facts) {
        return Outcome::NotApplicable(Reason::InContainer);
    }
    let (Some(id), Some(version)) = (&host.os_id, &host.os_version) else {
        return Outcome::NotChecked(Reason::Unreadable { what: "/etc/os-release".to_owned() });
    };
    let known = SYSTEMS.iter().any(|(name, versions)| {
        id.eq_ignore_ascii_case(name)
            && versions.iter().any(|known| {
                version.get(..known.len()).is_some_and(|start| start.eq_ignore_ascii_case(known))
            })
    });
    if known {
        return Outcome::Passed;
    }
    let name = host.os_pretty.clone().unwrap_or_else(|| format!("{id} {version}"));
    vec![
        host_os::NotListed { os: name }.info().evidence(
            place(
                host.os_source.as_deref().unwrap_or("/etc/os-release"),
                &host.os_lines,
                "VERSION_ID",
            )
            .value(format!("ID={id} VERSION_ID={version}")),
        ),
    ]
    .into()
}

/// Docker's default size of `/dev/shm`, in bytes.
const DEFAULT_SHM: u64 = 64 << 20;

/// HOST-SHM: shared memory, through which processes of one workload exchange tensors.
fn shm(ctx: &Context<'_>) -> Outcome {
    const PATH: &str = "/dev/shm";
    let facts = ctx.facts;
    if !npu::has_nodes(facts) && !npu::has_stack(facts) && !npu::wanted(ctx) {
        return Outcome::NotApplicable(Reason::NoNpu);
    }
    if !npu::in_container(facts) {
        return Outcome::NotApplicable(Reason::NoContainer);
    }
    if ctx.profile == Profile::Build {
        return Outcome::NotApplicable(Reason::OtherProfile);
    }
    let Some(space) = facts.host.space.get(PATH) else {
        return Outcome::NotChecked(Reason::SpaceUnknown { what: PATH.into() });
    };
    if space.total > DEFAULT_SHM {
        return Outcome::Passed;
    }
    vec![
        host_shm::Small { size: size(space.total) }
            .warning()
            .evidence(Evidence::file(PATH).says(ui::SeenBytes { n: space.total }.text())),
    ]
    .into()
}

/// If less is free, logs or temporary files of one run may fill the disk; in bytes.
const LITTLE: u64 = 256 << 20;

/// HOST-LOGDISK: CANN's processes stop if they cannot write their logs.
fn log_disk(ctx: &Context<'_>) -> Outcome {
    let host = &ctx.facts.host;
    if !npu::has_stack(ctx.facts) && !npu::concerned(ctx) {
        return Outcome::NotApplicable(Reason::NoNpu);
    }
    let paths: Vec<&str> = host.log_dir.as_deref().into_iter().chain(["/tmp"]).collect();
    let known: Vec<_> =
        paths.iter().filter_map(|path| Some((*path, host.space.get(*path)?))).collect();
    if known.is_empty() {
        return Outcome::NotChecked(Reason::SpaceUnknown { what: paths.join(", ") });
    }
    let full: Vec<_> = known.into_iter().filter(|(_, space)| space.available < LITTLE).collect();
    full.iter()
        .enumerate()
        // Two paths with the same sizes are on one file system: one cause.
        .filter(|(index, (_, space))| full[..*index].iter().all(|(_, other)| other != space))
        .map(|(_, (path, space))| {
            let free = size(space.available);
            let found = if *path == "/tmp" {
                host_logdisk::Tmp { free, path }.warning()
            } else {
                host_logdisk::Log { free, path }.warning()
            };
            found.evidence(Evidence::file(*path).value(format!(
                "{} of {} free",
                size(space.available),
                size(space.total)
            )))
        })
        .collect::<Vec<_>>()
        .into()
}

/// HOST-CONTAINER: whether the profile matches the place that the tool runs in. The overview has
/// the kind of container.
fn container(ctx: &Context<'_>) -> Outcome {
    let container = &ctx.facts.host.container;
    let Some(inside) = container.inside else {
        return Outcome::NotChecked(Reason::ContainerUnknown);
    };
    let found = match ctx.profile {
        Profile::Node if inside => host_container::NodeInside.info(),
        Profile::Container if !inside => host_container::ContainerOutside.info(),
        _ => return Outcome::Passed,
    };
    let evidence = container.evidence.first().map_or("/proc/self/cgroup", String::as_str);
    vec![found.evidence(Evidence::file(evidence))].into()
}

/// HOST-MODULES: the driver is installed and there are NPUs, but the kernel has none of its
/// modules. Versions have different modules, so only their total absence is evidence.
fn modules(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    if npu::in_container(facts) {
        return Outcome::NotApplicable(Reason::InContainer);
    }
    if !npu::on_bus(facts) || !npu::has_driver(facts) {
        return Outcome::NotApplicable(Reason::NoDriver);
    }
    if npu::has_nodes(facts) {
        return Outcome::Passed;
    }
    let Some(modules) = &facts.host.modules else {
        return Outcome::NotChecked(Reason::Unreadable { what: "/proc/modules".to_owned() });
    };
    if !modules.is_empty() {
        return Outcome::Passed;
    }
    let evidence = Evidence::file("/proc/modules").value("asdrv_*, drv_*: 0");
    let found = match (&facts.host.kernel, driver_version(facts)) {
        (Some(kernel), Some(driver)) => host_modules::None { driver, kernel }
            .error()
            .evidence(evidence)
            .evidence(Evidence::file("/proc/sys/kernel/osrelease").value(kernel)),
        // A copied tree may not identify the kernel that ran, and a damaged file may not identify
        // the driver.
        _ => host_modules::NoneUnversioned.error().evidence(evidence),
    };
    vec![found].into()
}

fn driver_version(facts: &Facts) -> Option<&str> {
    facts.driver.version.as_ref().and_then(|file| file.get("Version"))
}

/// Formats bytes in the largest possible unit.
fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..0x10_0000 => format!("{} KiB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MiB", bytes >> 20),
        _ => format!("{} GiB", bytes >> 30),
    }
}
