//! Driver, firmware, and their parts that a container needs.

use crate::sysroot::{ReadError, Sysroot};
use facts::{Driver, Facts};

use super::info_file::read_info;

/// Written by the driver installer: user, group and directories.
const INSTALL_INFO: &str = "/etc/ascend_install.info";

/// Default directory of the driver's installer.
const DEFAULT_HOME: &str = "/usr/local/Ascend/driver";

/// Libraries of the driver that the stack above it loads by name.
const LIBRARIES: &[&str] = &[
    "libascend_hal.so",
    "libdrvdsmi_host.so",
    "libdcmi.so",
    "libmmpa.so",
    "libc_sec.so",
    "libummu.so",
    "liburma.so",
];

/// The paths of npu-smi, in the order of a shell's search.
pub const NPU_SMI: &[&str] =
    &["/usr/local/bin/npu-smi", "/usr/local/sbin/npu-smi", "/usr/bin/npu-smi"];

/// Mounts of ascend-docker-runtime (`base.list`, `ub_driver.list`) and of vllm-ascend's `docker
/// run` line that are outside of the driver's directory.
const OUTSIDE: &[&str] = &[
    INSTALL_INFO,
    "/usr/local/dcmi",
    "/var/queue_schedule",
    "/etc/hccn.conf",
    "/etc/hccl_rootinfo.json",
    "/usr/lib64/libummu.so",
    "/usr/lib64/liburma.so",
];

/// Further mounts below the driver's directory.
const INSIDE: &[&str] =
    &["lib64", "lib64/common", "include", "version.info", "tools/hccn_tool", "topo"];

pub(super) fn collect(sysroot: &Sysroot, facts: &mut Facts) {
    let mut driver = Driver { install_info: read_info(sysroot, INSTALL_INFO), ..Driver::default() };
    let home = driver.home();
    // A file that names a missing directory must not hide the driver at the default path.
    let home = [home.as_str(), DEFAULT_HOME]
        .into_iter()
        .find(|dir| sysroot.is_dir(dir))
        .unwrap_or(&home)
        .to_owned();
    driver.dir = sysroot.is_dir(&home).then(|| home.clone());
    driver.version = read_info(sysroot, &format!("{home}/version.info"));
    driver.firmware = read_info(sysroot, &format!("{}/version.info", driver.firmware_home()));
    let places = [
        format!("{home}/lib64/driver"),
        format!("{home}/lib64/common"),
        format!("{home}/lib64"),
        "/usr/local/dcmi".to_owned(),
        "/usr/lib64".to_owned(),
    ];
    for name in LIBRARIES {
        let mut paths = places.iter().map(|place| format!("{place}/{name}"));
        if let Some(path) = paths.find(|path| sysroot.is_file(path)) {
            driver.libraries.insert((*name).to_owned(), path);
        }
    }
    let inside = INSIDE.iter().map(|part| format!("{home}/{part}"));
    for path in OUTSIDE.iter().map(|path| (*path).to_owned()).chain(inside) {
        let exists = sysroot.exists(&path);
        driver.paths.insert(path, exists);
    }
    driver.npu_smi_path =
        NPU_SMI.iter().find(|path| sysroot.is_file(path)).map(|path| (*path).to_owned());
    for path in NPU_SMI.iter().filter(|path| sysroot.is_dir(path)) {
        // `docker run -v` of a path that is missing on the host creates an empty directory.
        sysroot.read_problem(path, &ReadError::NotRegular(facts::FileKind::Directory));
    }
    facts.driver = driver;
}
