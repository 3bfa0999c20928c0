//! Tests of host, devices and driver with small trees, from files to findings.
#![expect(clippy::disallowed_methods, reason = "builds trees for the sysroot to read")]

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Context, Profile};
use base::report::{Finding, Severity, fold_consequences};
use data::{Catalog, Outcome};
use machine::collect::{self, Options};
use machine::sysroot::Sysroot;

/// The files that describe driver and firmware.
const DESCRIPTIONS: [&str; 3] = [
    "/usr/local/Ascend/driver/version.info",
    "/usr/local/Ascend/firmware/version.info",
    "/etc/ascend_install.info",
];

struct Machine {
    dir: TempDir,
    nodes: Value,
    process: Value,
}

impl Machine {
    fn empty() -> Self {
        let process = json!({ "uid": 0, "gid": 0, "caps": "all", "in_container": false });
        Self { dir: tempfile::tempdir().unwrap(), nodes: json!({}), process }
    }

    /// Two cards of 910B with driver and firmware, in the state that the installers create.
    fn host() -> Self {
        let mut machine = Self::empty();
        machine.write("/etc/os-release", "ID=openEuler\nVERSION_ID=\"22.03\"\n");
        machine
            .write("/etc/passwd", "root:x:0:0::/root:/bin/sh\nHwHiAiUser:x:1000:1001::/:/bin/sh\n");
        machine.write("/etc/group", "HwHiAiUser:x:1001:\n");
        machine.write("/proc/modules", "asdrv_svm 1 0 - Live 0x0\n");
        machine.pci(&["0xd802", "0xd802"], "0x4000");
        machine.driver();
        for name in ["davinci0", "davinci1", "davinci_manager", "devmm_svm", "hisi_hdc"] {
            machine.node(name);
        }
        machine
    }

    /// One of these cards in a container, with the driver of the host.
    fn container() -> Self {
        let mut machine = Self::empty();
        machine.process["in_container"] = json!(true);
        machine.pci(&["0xd802", "0xd802"], "0x4000");
        machine.driver();
        for name in ["davinci1", "davinci_manager", "devmm_svm", "hisi_hdc"] {
            machine.node(name);
        }
        machine
    }

    fn driver(&self) {
        self.write(
            DESCRIPTIONS[0],
            "Version=24.1.0\nascendhal_version=7.35.23\nInnerversion=V100R001C19SPC002B226\n\
             compatible_version=[V100R001C18],[V100R001C19]\n\
             compatible_version_fw=[7.0.0,7.6.99]\npackage_version=24.1.0\n",
        );
        self.write(
            DESCRIPTIONS[1],
            "Version=7.5.0.1.129\nfirmware_version=1.0\npackage_version=24.1.rc3\n\
             compatible_version_drv=[24.0,24.0.],[24.1,24.1.]\n",
        );
        self.write(
            DESCRIPTIONS[2],
            "UserName=HwHiAiUser\nUserGroup=HwHiAiUser\nDriver_Install_For_All=no\n\
             Driver_Install_Path_Param=/usr/local/Ascend\n\
             Firmware_Install_Path_Param=/usr/local/Ascend\n",
        );
        for path in [
            "/usr/local/Ascend/driver/lib64/driver/libascend_hal.so",
            "/usr/local/dcmi/libdcmi.so",
            "/usr/local/bin/npu-smi",
        ] {
            self.write(path, "");
        }
    }

    fn pci(&self, devices: &[&str], subsystem: &str) {
        for (index, device) in devices.iter().enumerate() {
            let at = format!("/sys/bus/pci/devices/0000:{index:02x}:00.0");
            self.write(&format!("{at}/vendor"), "0x19e5\n");
            self.write(&format!("{at}/device"), &format!("{device}\n"));
            self.write(&format!("{at}/subsystem_device"), &format!("{subsystem}\n"));
        }
    }

    fn node(&mut self, name: &str) {
        self.nodes[format!("/dev/{name}")] =
            json!({ "type": "char", "mode": "0660", "uid": 1000, "gid": 1001 });
    }

    fn without(mut self, names: &[&str]) -> Self {
        for name in names {
            self.nodes.as_object_mut().unwrap().remove(&format!("/dev/{name}"));
        }
        self
    }

    fn write(&self, path: &str, text: &str) {
        let at = self.at(path);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::write(at, text).unwrap();
    }

    fn at(&self, path: &str) -> std::path::PathBuf {
        self.dir.path().join(path.trim_start_matches('/'))
    }

    fn remove(self, path: &str) -> Self {
        let at = self.at(path);
        if at.is_dir() {
            fs::remove_dir_all(at).unwrap();
        } else {
            fs::remove_file(at).unwrap();
        }
        self
    }

    fn npu_smi(&self, text: &str) {
        let output = json!({ "/usr/local/bin/npu-smi info": { "status": 0, "text": text } });
        self.write(".commands.json", &output.to_string());
    }

    fn findings(&self) -> Vec<Finding> {
        self.judged(Profile::General, false)
    }

    fn judged(&self, profile: Profile, require_npu: bool) -> Vec<Finding> {
        self.write(".rootmeta.json", &self.nodes.to_string());
        self.write(".process.json", &self.process.to_string());
        judge(self.dir.path(), profile, require_npu).0
    }
}

/// The findings at the top, and the IDs of the checks that could not run.
fn judge(root: &Path, profile: Profile, require_npu: bool) -> (Vec<Finding>, Vec<&'static str>) {
    let options = Options { npu_smi: true, ..Options::default() };
    let facts = collect::collect(&Sysroot::tree(root).unwrap(), &options);
    let context = Context { require_npu, ..Context::of(&facts, profile) };
    let (mut found, mut unanswered) = (Vec::new(), Vec::new());
    let families = ["SCAN", "HOST", "DEV", "DRV"];
    for check in super::all() {
        if !families.iter().any(|family| check.id.as_str().starts_with(&format!("{family}-"))) {
            continue;
        }
        match (check.run)(&context) {
            Outcome::Found(list) => {
                found.extend(list.into_iter().map(|one| Catalog::builtin().resolve(one)));
            }
            Outcome::NotChecked(_) => unanswered.push(check.id.as_str()),
            _ => {}
        }
    }
    (fold_consequences(found), unanswered)
}

/// IDs of the findings with at least the severity `level`.
fn ids(findings: &[Finding], level: Severity) -> Vec<&str> {
    findings.iter().filter(|one| one.severity >= level).map(|one| one.id.as_str()).collect()
}

fn folded(finding: &Finding) -> Vec<&str> {
    finding.consequences.iter().map(|one| one.id.as_str()).collect()
}

#[test]
fn healthy_machines_have_no_findings() {
    assert_eq!(ids(&Machine::host().findings(), Severity::Info), [""; 0]);
    assert_eq!(ids(&Machine::container().findings(), Severity::Info), [""; 0]);
    assert_eq!(ids(&Machine::host().judged(Profile::Node, true), Severity::Info), [""; 0]);
}

#[test]
fn a_damaged_description_is_named() {
    for path in DESCRIPTIONS {
        for damage in ["removed", "emptied", "halved", "a directory"] {
            let machine = Machine::host();
            let text = fs::read_to_string(machine.at(path)).unwrap();
            match damage {
                "removed" => fs::remove_file(machine.at(path)).unwrap(),
                "emptied" => machine.write(path, ""),
                "halved" => machine.write(path, &text[..text.len() / 2]),
                _ => {
                    fs::remove_file(machine.at(path)).unwrap();
                    fs::create_dir(machine.at(path)).unwrap();
                }
            }
            let findings = machine.findings();
            let names = |one: &Finding| {
                one.title.en.contains(path) || one.evidence.iter().any(|seen| seen.source == path)
            };
            assert!(findings.iter().any(names), "{path} {damage}: {findings:#?}");
        }
    }
}

#[test]
fn a_driver_that_may_not_be_read_is_not_missing() {
    let outcome = |path: &str, without: &str| {
        let machine = Machine::host().remove(without);
        let mut facts =
            collect::collect(&Sysroot::tree(machine.dir.path()).unwrap(), &Options::default());
        facts.host.container.inside = Some(false);
        facts.problems.push(facts::Problem {
            path: path.to_owned(),
            kind: facts::ProblemKind::Denied,
            detail: base::text::Text::default(),
            barrier: None,
            line: None,
        });
        (super::drv::CHECKS[0].run)(&Context::of(&facts, Profile::General))
    };
    for (path, without) in [
        ("/usr/local/Ascend", "/usr/local/Ascend"),
        ("/usr/local/Ascend/driver/version.info", "/usr/local/Ascend/driver"),
        ("/usr/local/Ascend/driver/version.info", "/usr/local/Ascend/driver/version.info"),
        ("/etc/ascend_install.info", "/etc/ascend_install.info"),
    ] {
        assert!(matches!(outcome(path, without), Outcome::Blocked(_)), "{path}");
    }
    let elsewhere = outcome("/opt/x", "/usr/local/Ascend");
    assert!(matches!(elsewhere, Outcome::Found(_)));
}

#[test]
fn cards_without_a_driver_are_one_finding() {
    let machine = Machine::host()
        .remove("/usr/local/Ascend")
        .remove("/etc/ascend_install.info")
        .without(&["davinci0", "davinci1", "davinci_manager", "devmm_svm", "hisi_hdc"]);
    for required in [false, true] {
        let findings = machine.judged(Profile::General, required);
        assert_eq!(ids(&findings, Severity::Info), ["DRV-PRESENT"]);
        assert_eq!(folded(&findings[0]), ["DEV-COUNT", "DEV-MANAGER"]);
    }
}

#[test]
fn a_driver_without_its_modules_is_one_finding() {
    let machine = Machine::host().without(&[
        "davinci0",
        "davinci1",
        "davinci_manager",
        "devmm_svm",
        "hisi_hdc",
    ]);
    machine.write("/proc/modules", "ext4 1 0 - Live 0x0\n");
    let findings = machine.findings();
    assert_eq!(ids(&findings, Severity::Info), ["HOST-MODULES"]);
    assert_eq!(folded(&findings[0]), ["DEV-COUNT", "DEV-MANAGER"]);
    assert!(!findings[0].title.en.contains('?'), "{}", findings[0].title.en);
}

#[test]
fn a_driver_without_a_card() {
    let names = ["davinci0", "davinci1", "davinci_manager", "devmm_svm", "hisi_hdc"];
    let machine = Machine::host().without(&names).remove("/sys/bus/pci/devices");
    machine.write("/sys/bus/pci/devices/0000:00:00.0/vendor", "0x8086\n");
    assert_eq!(ids(&machine.findings(), Severity::Error), ["DEV-PCI"]);
    assert_eq!(ids(&machine.judged(Profile::General, true), Severity::Error), ["DEV-PCI"]);
}

#[test]
fn a_container_without_the_driver_is_told_the_mounts() {
    let machine = Machine::container()
        .remove("/usr/local/Ascend")
        .remove("/usr/local/dcmi")
        .remove("/usr/local/bin/npu-smi");
    let findings = machine.judged(Profile::Container, true);
    assert_eq!(ids(&findings, Severity::Info), ["DRV-MOUNTS"]);
    let fix = findings[0].fix[0].run.as_deref().unwrap();
    for path in ["/usr/local/Ascend/driver/lib64", "/usr/local/dcmi", "/usr/local/bin/npu-smi"] {
        assert!(fix.contains(&format!("-v {path}:{path}")), "{fix}");
    }
    assert!(!fix.contains("/etc/ascend_install.info"), "{fix}");
}

#[test]
fn what_a_container_can_do_without_is_info() {
    let machine = Machine::container()
        .remove(DESCRIPTIONS[0])
        .remove(DESCRIPTIONS[1])
        .remove(DESCRIPTIONS[2])
        .remove("/usr/local/bin/npu-smi");
    let findings = machine.findings();
    assert_eq!(ids(&findings, Severity::Info), ["DRV-MOUNTS"]);
    assert_eq!(findings[0].severity, Severity::Info);
}

#[test]
fn each_generation_has_its_own_nodes() {
    let names = ["davinci0", "davinci1", "davinci_manager", "hisi_hdc"];
    let nodes_950 = || {
        let mut machine = Machine::empty();
        machine.driver();
        machine.pci(&["0xd806", "0xd806"], "0x0000");
        for name in names {
            machine.node(name);
        }
        machine
    };
    let findings = nodes_950().findings();
    assert!(
        findings.iter().any(|one| one.id == "DEV-MANAGER" && one.title.en.contains("asdrv_svm"))
    );
    let mut machine = nodes_950();
    machine.node("asdrv_svm");
    assert!(machine.findings().iter().all(|one| one.id != "DEV-MANAGER"));
    let machine = Machine::host().without(&["devmm_svm"]);
    assert_eq!(ids(&machine.findings(), Severity::Info), ["DEV-MANAGER"]);
}

#[test]
fn dies_and_virtual_machines_are_counted() {
    let mut machine = Machine::host().remove("/sys/bus/pci/devices");
    machine.pci(&["0xd803", "0xd803"], "0x0110");
    let findings = machine.findings();
    assert_eq!(ids(&findings, Severity::Info), ["DEV-COUNT"]);
    assert!(findings[0].title.en.contains('4') && findings[0].title.en.contains('2'));
    for name in ["davinci2", "davinci3"] {
        machine.node(name);
    }
    assert_eq!(ids(&machine.findings(), Severity::Info), [""; 0]);

    let machine = Machine::host().without(&["davinci1"]);
    assert_eq!(ids(&machine.findings(), Severity::Info), ["DEV-COUNT"]);
    let driver = machine.at("/sys/bus/pci/devices/0000:01:00.0/driver");
    std::os::unix::fs::symlink("../../../bus/pci/drivers/vfio-pci", driver).unwrap();
    assert_eq!(ids(&machine.findings(), Severity::Info), [""; 0]);
}

#[test]
fn access_decides_and_explains_npu_smi() {
    let mut machine = Machine::container();
    machine.process["caps"] = json!(["CAP_CHOWN"]);
    machine.npu_smi("dcmi module initialize failed. ret is -8005\n");
    let findings = machine.findings();
    assert_eq!(ids(&findings, Severity::Info), ["DEV-ACCESS"]);
    assert_eq!(
        (findings[0].message.as_str(), folded(&findings[0])),
        ("capability", vec!["DRV-NPUSMI"])
    );
    assert!(findings[0].fix[0].text.en.contains("--group-add 1001"));

    // The group of the host gives access to the nodes, regardless of its name here.
    machine.process["groups"] = json!([1001]);
    assert_eq!(ids(&machine.findings(), Severity::Info), ["DRV-NPUSMI"]);

    let mut machine = Machine::host();
    machine.write("/etc/passwd", "me:x:7:7::/:/bin/sh\nHwHiAiUser:x:1000:1001::/:/bin/sh\n");
    machine.process = json!({ "uid": 7, "gid": 7, "caps": "none", "in_container": false });
    let findings = machine.findings();
    assert_eq!(ids(&findings, Severity::Info), ["DEV-ACCESS"]);
    assert_eq!(findings[0].fix[0].run.as_deref(), Some("sudo usermod -aG HwHiAiUser me"));
    machine.write("/etc/group", "HwHiAiUser:x:1001:me\n");
    assert_eq!(machine.findings()[0].message, "old_session");
}

#[test]
fn a_directory_is_no_device() {
    let mut machine = Machine::container();
    machine.nodes["/dev/hisi_hdc"] = json!({ "type": "dir" });
    let findings = machine.findings();
    assert_eq!(ids(&findings, Severity::Info), ["DEV-TYPE"]);
    assert_eq!(findings[0].message, "directory");
}

#[test]
fn firmware_that_does_not_fit() {
    let machine = Machine::host();
    machine.write(
        DESCRIPTIONS[1],
        "Version=7.8.0.6.201\npackage_version=25.5.1\ncompatible_version_drv=[25.0,25.0.]\n",
    );
    let findings = machine.findings();
    assert_eq!(ids(&findings, Severity::Error), ["DRV-FIRMWARE"]);
    assert_eq!(findings[0].message, "mismatch");
}

#[test]
fn an_ill_chip_is_a_warning() {
    let machine = Machine::host();
    let row = |npu: u32, health: &str| {
        format!(
            "| {npu} 910B3 | {health} | 90 40 0 / 0 |\n| 0 | 0000:0{npu}:00.0 | 0 0 / 0 3 / 65536 |\n+==+\n"
        )
    };
    let head = "| NPU Name | Health | P |\n| Chip | Bus-Id | HBM-Usage(MB) |\n+==+\n";
    machine.npu_smi(&format!("{head}{}{}", row(0, "OK"), row(1, "Alarm")));
    let findings = machine.findings();
    assert_eq!(ids(&findings, Severity::Info), ["DRV-NPUSMI"]);
    assert!(findings[0].title.en.contains("NPU 1 Chip 0 (910B3): Alarm"));
    machine.npu_smi(&format!("{head}{}", row(0, "OK")));
    assert_eq!(machine.findings()[0].message, "count");
}

#[test]
fn a_copy_without_a_sidecar_accuses_nobody() {
    let machine = Machine::host();
    let (findings, unanswered) = judge(machine.dir.path(), Profile::General, false);
    assert_eq!(ids(&findings, Severity::Info), [""; 0]);
    for id in ["DEV-COUNT", "DEV-MANAGER"] {
        assert!(unanswered.contains(&id), "{unanswered:?}");
    }
}

#[test]
fn an_empty_machine_is_well_unless_an_npu_is_asked_for() {
    let mut machine = Machine::empty();
    assert_eq!(ids(&machine.findings(), Severity::Info), [""; 0]);
    for profile in [Profile::Inference, Profile::Node] {
        assert_eq!(ids(&machine.judged(profile, false), Severity::Info), ["DEV-PCI"]);
    }
    assert_eq!(ids(&machine.judged(Profile::Build, false), Severity::Info), [""; 0]);
    machine.process["in_container"] = json!(true);
    // The bus belongs to the host, not to the container.
    machine.pci(&["0xd802"], "0x0000");
    assert_eq!(ids(&machine.findings(), Severity::Info), [""; 0]);
    let findings = machine.judged(Profile::General, true);
    assert_eq!(ids(&findings, Severity::Error), ["DEV-PCI"]);
    assert_eq!(findings[0].message, "absent_container");
}
