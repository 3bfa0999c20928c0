//! DRV-FIRMWARE: the firmware package is installed, and driver and firmware accept each other.

use crate::{Context, npu};
use base::report::{Evidence, Severity};
use data::{Outcome, Reason, findings::drv_firmware, ui};

use super::present;

pub(super) fn firmware(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    let driver = &facts.driver;
    if !npu::has_driver(facts) {
        return Outcome::NotApplicable(Reason::NoDriver);
    }
    let path = format!("{}/version.info", driver.firmware_home());
    let Some(firmware) = &driver.firmware else {
        if npu::in_container(facts) {
            return Outcome::NotApplicable(Reason::InContainer);
        }
        let found = drv_firmware::Missing { path: &path }
            .warning()
            .evidence(Evidence::file(&path).says(ui::SEEN_MISSING.text()));
        return vec![found].into();
    };
    let wanted = ["Version", "package_version"];
    if let Some(found) = present::damaged(firmware, &wanted, |fields, path| {
        drv_firmware::Incomplete { fields, path }.warning()
    }) {
        return vec![found].into();
    }
    let Some(version) = &driver.version else {
        return Outcome::NotChecked(Reason::VersionUnknown { what: "driver".to_owned() });
    };
    let (Some(drv), Some(fw)) = (version.get("Version"), firmware.get("Version")) else {
        return Outcome::NotChecked(Reason::VersionUnknown { what: "driver".to_owned() });
    };
    let fw_list = version.get("compatible_version_fw").filter(|list| list.contains('['));
    let drv_list = firmware.get("compatible_version_drv").filter(|list| list.contains('['));
    if fw_list.is_none() && drv_list.is_none() {
        return Outcome::NotChecked(Reason::VersionUnknown {
            what: "compatible_version_fw".to_owned(),
        });
    }
    if accepts(fw_list, drv_list, drv, fw) {
        return Outcome::Passed;
    }
    // If only one list exists, its package may be too old to list the other's version.
    let both = fw_list.is_some() && drv_list.is_some();
    let mut found = drv_firmware::Mismatch { driver: drv, firmware: fw }
        .at(if both { Severity::Error } else { Severity::Warning })
        .evidence(version.place("Version").value(format!("Version={drv}")));
    if let Some(list) = fw_list {
        found = found.evidence(
            version.place("compatible_version_fw").value(format!("compatible_version_fw={list}")),
        );
    }
    found = found.evidence(firmware.place("Version").value(format!("Version={fw}")));
    if let Some(list) = drv_list {
        let value = format!("compatible_version_drv={list}");
        found = found.evidence(firmware.place("compatible_version_drv").value(value));
    }
    vec![found].into()
}

/// The rule of dcmi (cann/driver): the driver lists the firmware, which is 6.4 or newer, or the
/// firmware lists the driver.
fn accepts(fw_list: Option<&str>, drv_list: Option<&str>, driver: &str, firmware: &str) -> bool {
    (firmware >= "6.4." && fw_list.is_some_and(|list| in_ranges(firmware, list)))
        || drv_list.is_some_and(|list| in_ranges(driver, list))
}

/// Returns whether a version is in one of the ranges `[start,end],[start,end]…`. It is cut to the
/// length of the longer bound and compared byte by byte, as in dcmi, so `[24.1,24.1.]` contains all
/// of 24.1, including release candidates.
fn in_ranges(version: &str, list: &str) -> bool {
    let version = version.to_ascii_lowercase();
    let list = list.to_ascii_lowercase();
    list.split('[').skip(1).any(|range| {
        let Some((start, end)) = range.split_once(']').and_then(|(range, _)| range.split_once(','))
        else {
            return false;
        };
        let (start, end) = (start.trim(), end.trim());
        let cut = version.len().min(start.len().max(end.len()));
        let version = &version.as_bytes()[..cut];
        version >= start.as_bytes() && version <= end.as_bytes()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_compared_as_dcmi_does() {
        assert!(in_ranges("7.5.0.1.129", "[7.0.0,7.6.99]"));
        assert!(in_ranges("7.7.0.1.231", "[6.4.0,6.4.99],[7.0.0,7.7.99]"));
        assert!(!in_ranges("7.8.0.6.201", "[7.0.0,7.7.99]"));
        assert!(!in_ranges("6.3.0.1.241", "[6.4.0,6.4.99],[7.0.0,7.7.99]"));
        assert!(in_ranges("24.1.rc3", "[23.0.0,23.0.0.],[24.0,24.0.],[24.1,24.1.]"));
        assert!(in_ranges("24.1.0", "[24.1,24.1.]"));
        assert!(!in_ranges("25.2.0", "[24.0,24.0.],[24.1,24.1.]"));
        assert!(in_ranges("25.0.RC1.1", "[25.0,25.0.]"));
        assert!(!in_ranges("", "[1,2]"));
        assert!(!in_ranges("7.0.0", "[7.0.0"));
        assert!(!in_ranges("7.0.0", "7.0.0,7.1.0"));
        assert!(!in_ranges("é", "[,é"));
    }

    #[test]
    fn pairs_of_real_version_files() {
        // firmware, driver, driver's list, firmware's list, expected result
        let fw75 = "[23.0.0,23.0.0.],[24.0,24.0.],[24.1,24.1.]";
        let fw71 = "[23.0.rc3,23.0.rc3.],[23.0.0,23.0.0.]";
        let cases = [
            ("7.5.0.1.129", "24.1.rc3", "[7.0.0,7.5.99]", fw75, true),
            ("7.1.0.11.220", "23.0.7", "[7.0.0,7.1.99]", fw71, true),
            ("7.1.0.11.220", "25.0.rc1.1", "[6.4.0,6.4.99],[7.0.0,7.7.99]", fw71, true),
            ("7.8.0.6.201", "24.1.0", "[7.0.0,7.6.99]", "[25.0,25.0.]", false),
            ("7.1.0.11.220", "25.1.rc2", "[9.0.0,9.9.9]", fw71, false),
        ];
        for (fw, drv, fw_list, drv_list, verdict) in cases {
            assert_eq!(accepts(Some(fw_list), Some(drv_list), drv, fw), verdict, "{fw} {drv}");
        }
    }
}
