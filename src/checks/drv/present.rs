//! DRV-PRESENT: the driver is installed, and its files describe it.

use crate::{Context, npu};
use base::report::Evidence;
use data::{Outcome, RawFinding, Reason, findings::drv_present, ui};
use facts::{Facts, InfoFile};

const INSTALL_INFO: &str = "/etc/ascend_install.info";

pub(super) fn present(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    if npu::has_driver(facts) {
        let version = format!("{}/version.info", facts.driver.home());
        let unknown = [version.as_str(), INSTALL_INFO];
        let found = files(facts);
        return match unknown.into_iter().find_map(|path| npu::denied(facts, path)) {
            Some(problem) if found.is_empty() => {
                Outcome::Blocked(Reason::Unreadable { what: problem.place().into() })
            }
            _ => found.into(),
        };
    }
    // Driver files that are missing in a container are reported by DRV-MOUNTS.
    if !npu::visible(facts) || npu::in_container(facts) {
        return Outcome::NotApplicable(Reason::NoNpu);
    }
    let home = facts.driver.home();
    if let Some(problem) = npu::denied(facts, &home) {
        return Outcome::Blocked(Reason::Unreadable { what: problem.place().into() });
    }
    let count = facts.devices.pci_count().max(facts.devices.davinci_ids().len());
    let mut found = match &facts.driver.dir {
        Some(dir) => drv_present::Hollow { path: &home, count }
            .error()
            .evidence(Evidence::file(format!("{dir}/version.info")).says(ui::SEEN_MISSING.text()))
            .evidence(Evidence::file(format!("{dir}/lib64")).says(ui::SEEN_MISSING.text())),
        None => drv_present::Missing { path: &home, count }
            .error()
            .evidence(Evidence::file(&home).says(ui::SEEN_MISSING.text())),
    };
    for function in facts.devices.pci.iter().flatten().take(8) {
        let path = format!("/sys/bus/pci/devices/{}/device", function.address);
        found = found.evidence(Evidence::file(path).value(&function.device));
    }
    vec![found].into()
}

/// Checks the files that describe an installed driver.
fn files(facts: &Facts) -> Vec<RawFinding> {
    let driver = &facts.driver;
    let inside = npu::in_container(facts);
    let home = driver.dir.clone().unwrap_or_else(|| driver.home());
    let mut found = Vec::new();
    match &driver.version {
        None if npu::denied(facts, &format!("{home}/version.info")).is_some() => {}
        None if !inside => found.push(
            drv_present::NoVersionFile { path: format!("{home}/version.info") }.warning().evidence(
                Evidence::file(format!("{home}/version.info")).says(ui::SEEN_MISSING.text()),
            ),
        ),
        None => {}
        Some(file) => found.extend(damaged(file, &version_fields(file), incomplete)),
    }
    match &driver.install_info {
        None if npu::denied(facts, INSTALL_INFO).is_some() => {}
        None if !inside => found.push(
            drv_present::NoInstallInfo { path: INSTALL_INFO }
                .warning()
                .evidence(Evidence::file(INSTALL_INFO).says(ui::SEEN_MISSING.text())),
        ),
        None => {}
        Some(file) => {
            let wanted = ["UserName", "UserGroup", "Driver_Install_Path_Param"];
            found.extend(damaged(file, &wanted, incomplete));
            if home != driver.home() {
                found.push(
                    drv_present::OtherPath { found: &home, path: driver.home() }
                        .warning()
                        .evidence(
                            Evidence::file(&file.path)
                                .value(format!("Driver_Install_Path_Param → {}", driver.home())),
                        ),
                );
            }
        }
    }
    found
}

/// The fields that this driver's `version.info` must have. All known files of 23.0 and later have
/// `Innerversion` and `package_version`; older ones may not have them.
fn version_fields(file: &InfoFile) -> Vec<&'static str> {
    let major = file.get("Version").and_then(|version| version.split('.').next()?.parse().ok());
    if major.is_some_and(|major: u32| major >= 23) {
        vec!["Version", "Innerversion", "package_version"]
    } else {
        vec!["Version"]
    }
}

fn incomplete(fields: &str, path: &str) -> RawFinding {
    drv_present::Incomplete { fields, path }.warning()
}

/// Reports a file without required fields: truncated, or a different file.
pub(super) fn damaged(
    file: &InfoFile,
    wanted: &[&str],
    incomplete: fn(&str, &str) -> RawFinding,
) -> Option<RawFinding> {
    let missing: Vec<&str> = wanted
        .iter()
        .copied()
        .filter(|key| file.get(key).is_none_or(|value| value.trim().is_empty()))
        .collect();
    (!missing.is_empty()).then(|| {
        let missing = missing.join(", ");
        let there = file.fields.keys().take(12).cloned().collect::<Vec<_>>().join(", ");
        incomplete(&missing, &file.path)
            .evidence(Evidence::file(&file.path).value(format!("{missing}: -; {there}")))
    })
}
