//! DRV-PRESENT: the driver is installed, and its files say what it is.

use crate::{Context, npu};
use base::report::{Evidence, Outcome, RawFinding};
use data::sentence;
use facts::{Facts, InfoFile};

const INSTALL_INFO: &str = "/etc/ascend_install.info";

pub(super) fn present(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    if npu::has_driver(facts) {
        let version = format!("{}/version.info", facts.driver.home());
        let unknown = [version.as_str(), INSTALL_INFO];
        let found = files(facts);
        return match unknown.into_iter().find_map(|path| npu::denied(facts, path)) {
            Some(problem) if found.is_empty() => Outcome::blocked("unreadable", problem.place()),
            _ => found.into(),
        };
    }
    // What a container lacks of the driver is a matter of its mounts.
    if !npu::visible(facts) || npu::in_container(facts) {
        return Outcome::not_applicable("no_npu");
    }
    let home = facts.driver.home();
    if let Some(problem) = npu::denied(facts, &home) {
        return Outcome::blocked("unreadable", problem.place());
    }
    let mut found = match &facts.driver.dir {
        Some(dir) => RawFinding::error("DRV-PRESENT", "hollow")
            .evidence(
                Evidence::file(format!("{dir}/version.info")).says(sentence("seen_missing", &[])),
            )
            .evidence(Evidence::file(format!("{dir}/lib64")).says(sentence("seen_missing", &[]))),
        None => RawFinding::error("DRV-PRESENT", "missing")
            .evidence(Evidence::file(&home).says(sentence("seen_missing", &[]))),
    };
    for function in facts.devices.pci.iter().flatten().take(8) {
        let path = format!("/sys/bus/pci/devices/{}/device", function.address);
        found = found.evidence(Evidence::file(path).value(&function.device));
    }
    let count = facts.devices.pci_count().max(facts.devices.davinci_ids().len());
    vec![found.arg("path", home).arg("count", count.to_string())].into()
}

/// The driver is there: what is wrong with the files that describe it.
fn files(facts: &Facts) -> Vec<RawFinding> {
    let driver = &facts.driver;
    let inside = npu::in_container(facts);
    let home = driver.dir.clone().unwrap_or_else(|| driver.home());
    let mut found = Vec::new();
    match &driver.version {
        None if npu::denied(facts, &format!("{home}/version.info")).is_some() => {}
        None if !inside => found.push(
            RawFinding::warning("DRV-PRESENT", "no_version_file")
                .arg("path", format!("{home}/version.info"))
                .evidence(
                    Evidence::file(format!("{home}/version.info"))
                        .says(sentence("seen_missing", &[])),
                ),
        ),
        None => {}
        Some(file) => found.extend(damaged(file, &version_fields(file))),
    }
    match &driver.install_info {
        None if npu::denied(facts, INSTALL_INFO).is_some() => {}
        None if !inside => found.push(
            RawFinding::warning("DRV-PRESENT", "no_install_info")
                .arg("path", INSTALL_INFO)
                .evidence(Evidence::file(INSTALL_INFO).says(sentence("seen_missing", &[]))),
        ),
        None => {}
        Some(file) => {
            let wanted = ["UserName", "UserGroup", "Driver_Install_Path_Param"];
            found.extend(damaged(file, &wanted));
            if home != driver.home() {
                found.push(
                    RawFinding::warning("DRV-PRESENT", "other_path")
                        .arg("path", driver.home())
                        .arg("found", &home)
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

/// The fields that this driver's `version.info` has to have. All of 23.0 and later that were
/// seen have `Innerversion` and `package_version`; older ones may lack them.
fn version_fields(file: &InfoFile) -> Vec<&'static str> {
    let major = file.get("Version").and_then(|version| version.split('.').next()?.parse().ok());
    if major.is_some_and(|major: u32| major >= 23) {
        vec!["Version", "Innerversion", "package_version"]
    } else {
        vec!["Version"]
    }
}

/// A file without fields that it has to have: cut short, or not what it should be.
pub(super) fn damaged(file: &InfoFile, wanted: &[&str]) -> Option<RawFinding> {
    let missing: Vec<&str> = wanted
        .iter()
        .copied()
        .filter(|key| file.get(key).is_none_or(|value| value.trim().is_empty()))
        .collect();
    (!missing.is_empty()).then(|| {
        RawFinding::warning("DRV-PRESENT", "incomplete")
            .arg("path", &file.path)
            .arg("fields", missing.join(", "))
            .evidence(Evidence::file(&file.path).value(format!(
                "{}: -; {}",
                missing.join(", "),
                file.fields.keys().take(12).cloned().collect::<Vec<_>>().join(", ")
            )))
    })
}
