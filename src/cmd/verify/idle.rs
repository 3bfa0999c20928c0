//! Who uses the devices, as npu-smi tells: a load is put on idle ones alone, and speeds are
//! judged on them alone.

use std::time::Duration;

use machine::collect::driver::NPU_SMI;
use machine::collect::npu_smi::processes;
use machine::sysroot::Sysroot;
use verify::run::DeviceUse;

/// Who uses the devices of this machine, if that can be told within `limit`.
pub(super) fn look(limit: Duration) -> DeviceUse {
    let machine = Sysroot::live();
    let path = std::env::var("PATH").unwrap_or_default();
    let named = path.split(':').filter(|dir| dir.starts_with('/'));
    let named = named.map(|dir| format!("{}/npu-smi", dir.trim_end_matches('/')));
    let usual = NPU_SMI.iter().map(|path| (*path).to_owned());
    let program = named.chain(usual).find(|path| machine.is_file(path));
    let Some(program) = program else { return DeviceUse::Unknown("npu-smi: -".to_owned()) };
    match machine.run(&program, &["info"], limit) {
        Some(output) if output.status == Some(0) => {
            DeviceUse::of_processes(processes(&output.text).as_deref())
        }
        Some(output) => {
            let line = output.text.lines().map(str::trim).find(|line| !line.is_empty());
            DeviceUse::Unknown(format!("{program}: {}", bounded(line.unwrap_or("-"))))
        }
        None => DeviceUse::Unknown(program),
    }
}

fn bounded(text: &str) -> String {
    text.chars().take(200).collect()
}
