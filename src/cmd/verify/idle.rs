//! Queries the use of the devices with npu-smi. The load test and speed limits need idle devices.

use std::time::Duration;

use machine::collect::driver::NPU_SMI;
use machine::collect::npu_smi::processes;
use machine::sysroot::Sysroot;
use verify::run::DeviceUse;

/// Returns the processes that use the devices of this machine. npu-smi may run for `limit`.
pub(super) fn query_device_use(limit: Duration) -> DeviceUse {
    let machine = Sysroot::live();
    let Some(program) = find_npu_smi(&machine) else {
        return DeviceUse::Unknown("npu-smi: -".to_owned());
    };
    match machine.run(&program, &["info"], limit) {
        Some(output) if output.status == Some(0) => {
            DeviceUse::of_processes(processes(&output.text).as_deref())
        }
        Some(output) => {
            let line = output.text.lines().map(str::trim).find(|line| !line.is_empty());
            DeviceUse::Unknown(format!("{program}: {}", truncate(line.unwrap_or("-"))))
        }
        None => DeviceUse::Unknown(program),
    }
}

/// The npu-smi of this machine: that of PATH, or the one in its usual place.
pub(super) fn find_npu_smi(machine: &Sysroot) -> Option<String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let dirs = path.split(':').filter(|dir| dir.starts_with('/'));
    let in_path = dirs.map(|dir| format!("{}/npu-smi", dir.trim_end_matches('/')));
    let usual = NPU_SMI.iter().map(|path| (*path).to_owned());
    in_path.chain(usual).find(|path| machine.is_file(path))
}

fn truncate(text: &str) -> String {
    text.chars().take(200).collect()
}
