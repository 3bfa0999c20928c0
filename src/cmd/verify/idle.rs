//! Who uses the devices, as npu-smi tells: a load is put on idle ones alone.

use std::time::Duration;

use crate::sysroot::Sysroot;
use crate::verify::run::Busy;

/// Where npu-smi is, unless it is in `PATH`.
const PLACES: [&str; 3] = ["/usr/local/bin", "/usr/local/sbin", "/usr/bin"];
/// How long it may take.
const LIMIT: Duration = Duration::from_secs(20);
/// How many processes are named.
const NAMED: usize = 8;

/// Why devices of this machine cannot be put under load, if so.
pub(super) fn look() -> Option<Busy> {
    let machine = Sysroot::live();
    let path = std::env::var("PATH").unwrap_or_default();
    let places = path.split(':').chain(PLACES).filter(|dir| dir.starts_with('/'));
    let program = places
        .map(|dir| format!("{}/npu-smi", dir.trim_end_matches('/')))
        .find(|path| machine.is_file(path));
    let Some(program) = program else { return Some(Busy::Unknown("npu-smi: -".to_owned())) };
    match machine.run(&program, &["info"], LIMIT) {
        Some(output) if output.status == Some(0) => read(&output.text),
        Some(output) => {
            let line = output.text.lines().map(str::trim).find(|line| !line.is_empty());
            Some(Busy::Unknown(format!("{program}: {}", bounded(line.unwrap_or("-")))))
        }
        None => Some(Busy::Unknown(program)),
    }
}

/// Reads the table of processes: idle is only what is said to be.
fn read(text: &str) -> Option<Busy> {
    let mut said = false;
    let mut inside = false;
    let mut users = Vec::new();
    for line in text.lines().map(str::trim) {
        let Some(row) = line.strip_prefix('|') else { continue };
        let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).collect();
        if cells[0].starts_with("NPU") {
            inside = cells.get(1).is_some_and(|cell| cell.starts_with("Process"));
            continue;
        }
        if !inside {
            continue;
        }
        if cells[0].starts_with("No running process") {
            said = true;
        } else if let [npu, process, name, ..] = cells[..] {
            let npu = npu.split_whitespace().next().unwrap_or("?");
            users.push(bounded(&format!("NPU {npu}: {name} ({process})")));
        }
    }
    if !users.is_empty() {
        users.truncate(NAMED);
        return Some(Busy::Used(users.join("; ")));
    }
    (!said).then(|| Busy::Unknown("npu-smi info: -".to_owned()))
}

fn bounded(text: &str) -> String {
    text.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "\
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B4-1             | OK            | 93.0        39                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3394 / 65536         |
+===========================+===============+====================================================+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
";

    #[test]
    fn only_what_is_said_to_be_idle_is() {
        let idle = format!("{HEAD}| No running processes found in NPU 0 |\n+===+\n");
        assert_eq!(read(&idle), None);
        let one =
            "| 1       0                 | 4242          | python3                  | 100     |\n";
        let used = Some(Busy::Used("NPU 1: python3 (4242)".to_owned()));
        assert_eq!(read(&format!("{HEAD}{one}")), used);
        // One that is idle says nothing of the other.
        assert_eq!(read(&idle.replace("+===+\n", one)), used);
        for text in ["", HEAD, "dcmi module initialize failed. ret is -8005", "|", "||\n|NPU|"] {
            assert!(matches!(read(text), Some(Busy::Unknown(_))), "{text}");
        }
    }
}
