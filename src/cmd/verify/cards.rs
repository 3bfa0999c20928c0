//! Facts about the cards that need no vendor code in this process: device files, the table of
//! npu-smi, the version file of the driver, presence of DCMI, and network interfaces.

use std::time::{Duration, Instant};

use machine::collect::npu_smi;
use machine::collect::npu_smi_state::{EccCounters, parse_ecc, parse_states};
use machine::sysroot::Sysroot;
use verify::identity::{MachineIdentity, SmiChip};
use verify::protocol::Health;

use super::idle::find_npu_smi;

/// Locations of DCMI outside of the search path.
const DCMI: [&str; 3] = [
    "/usr/local/dcmi/libdcmi.so",
    "/usr/local/Ascend/driver/lib64/driver/libdcmi.so",
    "/usr/local/Ascend/driver/lib64/libdcmi.so",
];
/// The version file of the driver.
const DRIVER_VERSION: &str = "/usr/local/Ascend/driver/version.info";
/// Time limit of npu-smi.
const LIMIT: Duration = Duration::from_secs(5);

/// Whether the driver has DCMI, in the search path or in its usual place.
pub(super) fn has_dcmi(machine: &Sysroot, search_path: &str) -> bool {
    let dirs = search_path.split(':').filter(|dir| dir.starts_with('/'));
    let mut listed = dirs.map(|dir| format!("{}/libdcmi.so", dir.trim_end_matches('/')));
    listed.any(|path| machine.is_file(&path)) || DCMI.iter().any(|path| machine.is_file(path))
}

/// Reads the facts that identify cards.
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
    let Some(program) = find_npu_smi(machine) else { return Vec::new() };
    let Some(output) = machine.run(&program, &["info"], LIMIT) else { return Vec::new() };
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

/// The state of all cards according to npu-smi, for machines without DCMI: the table, the counters
/// of each card, and the PCI links of the kernel. The error is the path of the npu-smi that failed,
/// or empty if none is installed.
pub(super) fn read_health() -> Result<Vec<Health>, String> {
    let machine = Sysroot::live();
    let program = find_npu_smi(&machine).ok_or("")?;
    let table = machine.run(&program, &["info"], LIMIT).filter(|output| output.status == Some(0));
    let states = parse_states(&table.ok_or_else(|| program.clone())?.text);
    if states.is_empty() {
        return Err(program);
    }
    let number = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
    // The page adds up the chips of a card, so only the first chip gets the counters.
    let is_first = |at: usize| states[..at].iter().all(|state| state.npu != states[at].npu);
    let start = Instant::now();
    let read = states.iter().enumerate().map(|(at, state)| {
        let rest = LIMIT.saturating_sub(start.elapsed());
        let asks = is_first(at) && !rest.is_zero();
        let npu = state.npu.to_string();
        let page = asks.then(|| machine.run(&program, &["info", "-t", "ecc", "-i", &npu], rest));
        let page = page.flatten().filter(|output| output.status == Some(0));
        let ecc = page.map_or_else(EccCounters::default, |page| parse_ecc(&page.text));
        Health {
            card: number(state.npu),
            chip: number(state.chip),
            health: state.health,
            temperature_c: state.temperature_c,
            power_w: state.power_w,
            ecc_single: ecc.single,
            ecc_double: ecc.double,
            isolated_pages: ecc.isolated,
            pci_link: state.bus_id.as_deref().and_then(|address| read_pci_link(&machine, address)),
            ..Health::default()
        }
    });
    Ok(read.collect())
}

/// The speed and the width of a PCI link, according to the kernel.
fn read_pci_link(machine: &Sysroot, address: &str) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_hexdigit() || b":.".contains(&byte);
    if !address.bytes().all(is_plain) {
        return None;
    }
    let dir = format!("/sys/bus/pci/devices/{}", address.to_ascii_lowercase());
    let read = |name: &str| {
        let text = machine.read_text_if_exists(&format!("{dir}/{name}"))?;
        Some(text.trim().to_owned())
    };
    Some(format!("{} x{}", read("current_link_speed")?, read("current_link_width")?))
}

/// Variables for HCCL if only the loopback interface is up: HCCL skips it unless it is named.
/// Variables that the user set stay.
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
