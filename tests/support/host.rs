//! The operating system below the Ascend stack: C library, users, devices, PCI, driver.

use std::fmt::Write as _;

use serde_json::json;

use super::elf::{ElfBuilder, Machine};
use super::machine::Spec;
use super::tree::Tree;
use super::versions::{CHIPS, DRIVERS, Driver, find};

/// An operating system release.
#[derive(Debug)]
pub struct Os {
    name: &'static str,
    id: &'static str,
    version: &'static str,
    pretty: &'static str,
    /// Minor version of glibc: 35 for 2.35.
    pub glibc: u32,
    /// Minor version of the newest `GLIBCXX_3.4.N`.
    pub glibcxx: u32,
    /// Whether libraries are in `/usr/lib/<triplet>`.
    debian: bool,
}

/// The releases that the fixtures use.
pub const OS: &[Os] = &[
    Os {
        name: "ubuntu22.04",
        id: "ubuntu",
        version: "22.04",
        pretty: "Ubuntu 22.04.5 LTS",
        glibc: 35,
        glibcxx: 30,
        debian: true,
    },
    Os {
        name: "ubuntu20.04",
        id: "ubuntu",
        version: "20.04",
        pretty: "Ubuntu 20.04.6 LTS",
        glibc: 31,
        glibcxx: 28,
        debian: true,
    },
    Os {
        name: "ubuntu18.04",
        id: "ubuntu",
        version: "18.04",
        pretty: "Ubuntu 18.04.6 LTS",
        glibc: 27,
        glibcxx: 25,
        debian: true,
    },
    Os {
        name: "openeuler22.03",
        id: "openEuler",
        version: "22.03",
        pretty: "openEuler 22.03 (LTS-SP4)",
        glibc: 34,
        glibcxx: 28,
        debian: false,
    },
    Os {
        name: "openeuler24.03",
        id: "openEuler",
        version: "24.03",
        pretty: "openEuler 24.03 (LTS)",
        glibc: 38,
        glibcxx: 30,
        debian: false,
    },
    Os {
        name: "kylinv10",
        id: "kylin",
        version: "V10",
        pretty: "Kylin Linux Advanced Server V10 (Lance)",
        glibc: 28,
        glibcxx: 24,
        debian: false,
    },
    Os {
        name: "centos7",
        id: "centos",
        version: "7",
        pretty: "CentOS Linux 7 (Core)",
        glibc: 17,
        glibcxx: 19,
        debian: false,
    },
];

impl Os {
    /// The directory of the system's libraries.
    pub fn lib_dir(&self, arch: &str) -> String {
        if self.debian { format!("/usr/lib/{arch}-linux-gnu") } else { "/usr/lib64".to_owned() }
    }
}

/// Name of the dynamic loader.
pub fn loader(arch: &str) -> &'static str {
    if arch == "aarch64" { "ld-linux-aarch64.so.1" } else { "ld-linux-x86-64.so.2" }
}

/// The lowest version of glibc on an architecture.
fn base_glibc(arch: &str) -> &'static str {
    if arch == "aarch64" { "GLIBC_2.17" } else { "GLIBC_2.2.5" }
}

/// A `libstdc++.so.6` up to `GLIBCXX_3.4.<minor>`.
pub fn libstdcxx(arch: &str, minor: u32) -> Vec<u8> {
    let versions = std::iter::once("GLIBCXX_3.4".to_owned())
        .chain((1..=minor).map(|n| format!("GLIBCXX_3.4.{n}")))
        .chain((3..=13.min(minor / 2)).map(|n| format!("CXXABI_1.3.{n}")))
        .chain(["CXXABI_1.3".to_owned()]);
    ElfBuilder::new(Machine::of(arch))
        .soname("libstdc++.so.6")
        .needed(["libm.so.6", "libc.so.6", "libgcc_s.so.1"])
        .provide_versions(versions)
        .define_versioned("_ZNSs4swapERSs", "GLIBCXX_3.4")
        .define_versioned("__cxa_throw", "CXXABI_1.3")
        .build()
}

/// Adds the system: release files, users, C and C++ library, loader configuration.
pub fn system(tree: &mut Tree, spec: &Spec) {
    let os = find(OS, &spec.os, |os| os.name);
    let arch = spec.arch.as_str();
    let lib = os.lib_dir(arch);
    tree.file(
        "/etc/os-release",
        format!(
            "NAME=\"{}\"\nVERSION_ID=\"{}\"\nID=\"{}\"\nPRETTY_NAME=\"{}\"\n",
            os.id, os.version, os.id, os.pretty
        ),
    );
    tree.file(
        "/etc/passwd",
        "root:x:0:0:root:/root:/bin/bash\nma:x:1001:1001::/home/ma:/bin/bash\nHwHiAiUser:x:1000:1000::/home/HwHiAiUser:/bin/bash\n",
    );
    tree.file("/etc/group", "root:x:0:\nma:x:1001:\nHwHiAiUser:x:1000:\n");
    tree.file("/etc/hostname", format!("{}\n", spec.hostname()));
    tree.link("/lib", "usr/lib");
    tree.link("/lib64", "usr/lib64");
    tree.link("/bin", "usr/bin");
    tree.dir("/tmp");
    tree.dir("/root");
    tree.dir("/home/ma");
    tree.file("/etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n");
    if os.debian {
        tree.file(
            &format!("/etc/ld.so.conf.d/{arch}-linux-gnu.conf"),
            format!("# Multiarch support\n/usr/local/lib/{arch}-linux-gnu\n/lib/{arch}-linux-gnu\n/usr/lib/{arch}-linux-gnu\n"),
        );
    }
    let machine = Machine::of(arch);
    let versions = (2..=os.glibc).map(|minor| format!("GLIBC_2.{minor}"));
    let base = base_glibc(arch);
    tree.file(
        &format!("{lib}/libc.so.6"),
        ElfBuilder::new(machine)
            .soname("libc.so.6")
            .needed([loader(arch)])
            .provide_versions(versions)
            .provide_versions(["GLIBC_2.2.5"])
            .define_versioned("memcpy", base)
            .define_versioned("malloc", base)
            .build(),
    );
    for (name, symbol) in [
        ("libm.so.6", "exp"),
        ("libpthread.so.0", "pthread_create"),
        ("libdl.so.2", "dlopen"),
        ("librt.so.1", "shm_open"),
        ("libutil.so.1", "openpty"),
    ] {
        let object = ElfBuilder::new(machine).soname(name).needed(["libc.so.6"]);
        tree.file(&format!("{lib}/{name}"), object.define_versioned(symbol, base).build());
    }
    let unwind = ElfBuilder::new(machine).soname("libgcc_s.so.1").needed(["libc.so.6"]);
    tree.file(
        &format!("{lib}/libgcc_s.so.1"),
        unwind.define_versioned("_Unwind_Resume", "GCC_3.0").build(),
    );
    tree.file(&format!("{lib}/libstdc++.so.6"), libstdcxx(arch, os.glibcxx));
    for name in ["libz.so.1", "libgomp.so.1"] {
        let object = ElfBuilder::new(machine).soname(name).needed(["libc.so.6"]);
        let symbol = if name == "libz.so.1" { "inflate" } else { "GOMP_parallel" };
        tree.file(&format!("{lib}/{name}"), object.define([symbol]).build());
    }
    let interp = ElfBuilder::new(machine).soname(loader(arch)).provide_versions([base]);
    let dir = if arch == "aarch64" { "/usr/lib" } else { "/usr/lib64" };
    tree.file(&format!("{dir}/{}", loader(arch)), interp.define(["__tls_get_addr"]).build());
    tree.file("/usr/bin/bash", ElfBuilder::new(machine).needed(["libc.so.6"]).build());
    tree.dir("/sys/class/net/lo");
    tree.dir("/sys/class/net/eth0");
    if spec.container {
        tree.file("/.dockerenv", "");
        tree.file("/proc/1/cgroup", "0::/\n");
    }
    tree.space.insert("/dev/shm".to_owned(), (64 << 30, 60 << 30));
    tree.space.insert("/tmp".to_owned(), (500 << 30, 300 << 30));
    tree.space.insert("/root".to_owned(), (500 << 30, 300 << 30));
    tree.space.insert("/".to_owned(), (500 << 30, 300 << 30));
}

/// Adds the NPUs: PCI functions and device nodes. A container sees its own nodes and all of the
/// host's PCI functions.
pub fn devices(tree: &mut Tree, spec: &Spec) {
    let chip = find(CHIPS, &spec.chip, |chip| chip.name);
    let functions = if chip.dual { spec.npus.div_ceil(2) } else { spec.npus };
    let functions = if spec.container { 8 } else { functions };
    for index in 0..functions {
        let address = format!("0000:{:02x}:00.0", 0xc1 + index);
        let device = format!("/sys/devices/pci0000:c0/0000:c0:{index:02x}.0/{address}");
        tree.link(
            &format!("/sys/bus/pci/devices/{address}"),
            &format!("../../../devices/pci0000:c0/0000:c0:{index:02x}.0/{address}"),
        );
        for (name, value) in [
            ("vendor", "0x19e5"),
            ("device", chip.pci),
            ("class", "0x120000"),
            ("subsystem_vendor", "0x19e5"),
            ("subsystem_device", if chip.dual { "0x0110" } else { "0x4000" }),
        ] {
            tree.file(&format!("{device}/{name}"), format!("{value}\n"));
        }
    }
    // Not an accelerator: the VGA function of the management engine has the same vendor.
    let vga = "/sys/bus/pci/devices/0000:03:00.0";
    for (name, value) in [("vendor", "0x19e5"), ("device", "0x1711"), ("class", "0x030000")] {
        tree.file(&format!("{vga}/{name}"), format!("{value}\n"));
    }
    let owner = |minor: u32| {
        json!({ "type": "char", "mode": "0660", "uid": 1000, "gid": 1000,
                "major": 236, "minor": minor })
    };
    for index in 0..spec.npus {
        tree.node(&format!("/dev/davinci{index}"), owner(index));
    }
    for (index, name) in (64..).zip(chip.nodes) {
        tree.node(&format!("/dev/{name}"), owner(index));
    }
    tree.node("/dev/null", json!({ "type": "char", "mode": "0666", "uid": 0, "gid": 0 }));
    tree.node("/dev/shm", json!({ "type": "dir", "mode": "1777", "uid": 0, "gid": 0 }));
}

/// The text of `driver/version.info`.
fn driver_info(driver: &Driver) -> String {
    let mut list = String::new();
    for code in driver.compatible {
        let _ = write!(list, "{}[V100R001C{code}]", if list.is_empty() { "" } else { "," });
    }
    format!(
        "Version={0}\nascendhal_version=7.35.23\naicpu_version=1.0\ntdt_version=1.0\nlog_version=1.0\nprof_version=2.0\ndvppkernels_version=1.1\ntsfw_version=1.0\nInnerversion={1}\ncompatible_version={list}\ncompatible_version_fw={2}\npackage_version={0}\n",
        driver.version, driver.inner, driver.firmware_range
    )
}

/// Adds the driver's user-space side; on a host also the firmware, the kernel modules and the
/// loader configuration, which containers do not see.
pub fn driver(tree: &mut Tree, spec: &Spec, version: &str) {
    let driver = find(DRIVERS, version, |driver| driver.version);
    let machine = Machine::of(&spec.arch);
    let base = "/usr/local/Ascend/driver";
    tree.file(&format!("{base}/version.info"), driver_info(driver));
    let object = |name: &str| ElfBuilder::new(machine).soname(name).needed(["libc.so.6"]);
    tree.file(
        &format!("{base}/lib64/driver/libascend_hal.so"),
        object("libascend_hal.so")
            .needed(["libc_sec.so", "libmmpa.so"])
            .define(["drvGetDevNum", "halGetDeviceInfo", "drvDeviceOpen", "halMemAlloc"])
            .build(),
    );
    tree.file(
        &format!("{base}/lib64/driver/libdrvdsmi_host.so"),
        object("libdrvdsmi_host.so").define(["dsmi_get_device_count"]).build(),
    );
    tree.file(
        &format!("{base}/lib64/common/libc_sec.so"),
        object("libc_sec.so").define(["memcpy_s"]).build(),
    );
    tree.file(
        &format!("{base}/lib64/common/libmmpa.so"),
        object("libmmpa.so").define(["mmOpen"]).build(),
    );
    tree.file("/usr/local/dcmi/libdcmi.so", object("libdcmi.so").define(["dcmi_init"]).build());
    tree.file(
        "/usr/local/bin/npu-smi",
        ElfBuilder::new(machine).needed(["libdrvdsmi_host.so", "libc.so.6"]).build(),
    );
    tree.node("/usr/local/bin/npu-smi", json!({ "mode": "0755", "uid": 0, "gid": 0 }));
    tree.file(
        "/etc/ascend_install.info",
        "UserName=HwHiAiUser\nUserGroup=HwHiAiUser\nDriver_Install_Type=full\nDriver_Install_Path_Param=/usr/local/Ascend\nDriver_Install_For_All=no\nDriver_Install_Mode=normal\nFirmware_Install_Type=full\nFirmware_Install_Path_Param=/usr/local/Ascend\n",
    );
    if spec.container {
        return;
    }
    tree.file(
        &format!("{base}/tools/hccn_tool"),
        ElfBuilder::new(machine).needed(["libdrvdsmi_host.so", "libc.so.6"]).build(),
    );
    tree.node(&format!("{base}/tools/hccn_tool"), json!({ "mode": "0755", "uid": 0, "gid": 0 }));
    tree.file(
        "/usr/local/Ascend/firmware/version.info",
        format!(
            "Version={}\nfirmware_version=1.0\npackage_version={}\ncompatible_version_drv={}\n",
            driver.firmware, driver.version, driver.firmware_drivers
        ),
    );
    tree.file(
        "/etc/ld.so.conf.d/ascend_driver_so.conf",
        format!("{base}/lib64/common\n{base}/lib64/driver\n{base}/lib64\n"),
    );
    let modules = [
        "asdrv_pbl",
        "ascend_kernel_open_adapt",
        "asdrv_esched",
        "ascend_soc_platform",
        "asdrv_fms",
        "asdrv_trsbase",
        "asdrv_trs",
        "asdrv_svm",
        "asdrv_dms",
        "asdrv_dpa",
        "drv_pcie_hdc_host",
        "drv_pcie_host",
        "asdrv_vnic",
        "drv_seclib_host",
        "asdrv_queue",
        "asdrv_buff",
        "ts_agent",
        "drv_dvpp_cmdlist",
    ];
    // Before 25.x the modules were named drv_*; see `driver_runtime_facts.json` for the new names.
    let text: String = modules
        .iter()
        .map(|name| format!("{name} 1234567 2 - Live 0x0000000000000000 (OE)\n"))
        .collect();
    tree.file("/proc/modules", format!("nvme 61440 0 - Live 0x0000000000000000\n{text}"));
    let mut hccn = String::new();
    for index in 0..spec.npus {
        let _ = write!(
            hccn,
            "address_{index}=192.168.10.{}\nnetmask_{index}=255.255.255.0\n",
            10 + index
        );
    }
    if spec.hccn {
        tree.file("/etc/hccn.conf", hccn);
    }
}
