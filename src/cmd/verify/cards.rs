//! What is known of the cards without running code of the vendor in this process: device files, the
//! table of npu-smi, the version file of the driver, whether there is DCMI, and network interfaces.

use std::time::Duration;

use machine::collect::driver::NPU_SMI;
use machine::collect::npu_smi;
use machine::sysroot::Sysroot;
use verify::identity::{MachineIdentity, SmiChip};

/// Where DCMI is besides the search path.
const DCMI: [&str; 3] = [
    "/usr/local/dcmi/libdcmi.so",
    "/usr/local/Ascend/driver/lib64/driver/libdcmi.so",
    "/usr/local/Ascend/driver/lib64/libdcmi.so",
];
/// The version file of the driver.
const DRIVER_VERSION: &str = "/usr/local/Ascend/driver/version.info";
/// How long npu-smi may take.
const LIMIT: Duration = Duration::from_secs(5);

/// Whether the driver has DCMI, in the search path or in its place.
pub(super) fn has_dcmi(machine: &Sysroot, search_path: &str) -> bool {
    let dirs = search_path.split(':').filter(|dir| dir.starts_with('/'));
    let mut listed = dirs.map(|dir| format!("{}/libdcmi.so", dir.trim_end_matches('/')));
    listed.any(|path| machine.is_file(&path)) || DCMI.iter().any(|path| machine.is_file(path))
}

/// Reads what tells cards apart.
pub(super) fn read_identity(machine: &Sysroot, visible: Option<String>) -> MachineIdentity {
    let mut nodes: Vec<i32> = machine
        .list("/dev")
        .unwrap_or_default()
        .iter()
        .filter_map(|name| name.strip_prefix("davinci")?.parse().ok())
        .collect();
    nodes.sort_unstable();
    let text = machine.read_text_if_exists(DRIVER_VERSION).unwrap_or_default();
    let version = text.lines().find_map(|line| line.strip_prefix("Version="));
    MachineIdentity {
        visible,
        nodes,
        smi: read_table(machine),
        driver: version.map(|version| version.trim().to_owned()),
    }
}

fn read_table(machine: &Sysroot) -> Vec<SmiChip> {
    let Some(program) = NPU_SMI.iter().find(|path| machine.is_file(path)) else {
        return Vec::new();
    };
    let Some(output) = machine.run(program, &["info"], LIMIT) else { return Vec::new() };
    let number = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
    npu_smi::parse(&output.text)
        .chips
        .into_iter()
        .map(|chip| SmiChip {
            npu: number(chip.npu),
            chip: number(chip.chip),
            physical: chip.device.map(number),
            name: chip.name,
            pci: chip.bus_id,
        })
        .collect()
}

/// Variables for HCCL where no interface but the loopback is up: it leaves that one out unless it is
/// named. What the user set stays.
pub(super) fn loopback_variables(
    machine: &Sysroot,
    is_set: impl Fn(&str) -> bool,
) -> Vec<(String, String)> {
    let chosen = ["HCCL_SOCKET_IFNAME", "HCCL_IF_IP"].into_iter().any(is_set);
    let is_up = |name: &String| {
        let state = machine.read_text_if_exists(&format!("/sys/class/net/{name}/operstate"));
        name != "lo" && state.is_none_or(|state| state.trim() != "down")
    };
    let others = machine.list("/sys/class/net").unwrap_or_default().iter().any(is_up);
    if chosen || others {
        return Vec::new();
    }
    vec![("HCCL_SOCKET_IFNAME".to_owned(), "lo".to_owned())]
}
