//! Runs npu-smi on a live machine, and parses its output.
//!
//! Formats: `npu-smi info` of 910, 910B, A3 (a column for physical IDs), 310P (wider, a column for
//! device IDs), and boards without a PCI address. Also the key-value form of `-t board`, and one or
//! two lines of an error. All output is treated as hostile text.

use std::time::{Duration, Instant};

use crate::sysroot::Sysroot;
use facts::{Driver, NpuChip, NpuSmi};

/// Time limit for all runs of npu-smi.
const TIME_LIMIT: Duration = Duration::from_secs(5);
/// Maximum number of chips; the largest machines have 64.
const MAX_CHIPS: usize = 1024;
/// Maximum number of listed processes.
const MAX_PROCESSES: usize = 8;
/// Maximum number of kept characters of a cell or line.
const MAX_CELL: usize = 200;

/// Runs npu-smi, if it is installed. For a tree, reads the recorded output instead.
pub(super) fn collect(sysroot: &Sysroot, driver: &Driver) -> Option<NpuSmi> {
    let program = driver.npu_smi_path.as_deref()?;
    let start = Instant::now();
    let output = sysroot.run(program, &["info"], TIME_LIMIT)?;
    let mut smi = parse(&output.text);
    smi.source = format!("{program} info");
    smi.timed_out = output.timed_out;
    smi.status = output.status;
    // The board page contains the driver's own result for the firmware.
    if let Some(first) = smi.chips.first() {
        let npu = first.npu.to_string();
        let rest = TIME_LIMIT.saturating_sub(start.elapsed());
        let args = ["info", "-t", "board", "-i", npu.as_str()];
        if let Some(board) = sysroot.run(program, &args, rest) {
            let board = parse(&board.text);
            smi.compatibility = board.compatibility;
            smi.software = board.software;
            smi.firmware = board.firmware;
        }
    }
    Some(smi)
}

/// Parses the output of npu-smi in any of the known formats; see the module's documentation. Never
/// fails: unknown text is ignored.
pub fn parse(text: &str) -> NpuSmi {
    parse_with_power(text).0
}

/// As [`parse`], with the cell of each chip that contains its power and temperature.
pub(super) fn parse_with_power(text: &str) -> (NpuSmi, Vec<String>) {
    let mut smi = NpuSmi::default();
    let mut table = Table::default();
    for line in text.lines() {
        let line = line.trim();
        if let Some(inner) = line.strip_prefix('|') {
            let cells: Vec<&str> =
                inner.trim_end_matches('|').split('|').take(8).map(str::trim).collect();
            table.row(&cells, &mut smi);
        } else if line.starts_with('+') {
            table.border(&mut smi);
        } else {
            plain_line(line, &mut smi);
        }
    }
    table.border(&mut smi);
    let is_page = smi.compatibility.is_some() || smi.software.is_some();
    if smi.chips.is_empty() && !is_page && smi.error_line.is_none() {
        // Without a table, the first line of the output is the reason.
        let mut lines = text.lines().map(str::trim);
        smi.error_line =
            lines.find(|line| !line.is_empty() && !line.starts_with(['|', '+'])).map(bounded);
    }
    table.power.truncate(smi.chips.len());
    (smi, table.power)
}

/// As [`parse`], from bytes that need not be UTF-8.
pub fn parse_bytes(bytes: &[u8]) -> NpuSmi {
    parse(&String::from_utf8_lossy(bytes))
}

/// Returns the processes listed by npu-smi in the table below that of the chips. `Some(vec![])` if
/// npu-smi reports that there are none, `None` if the table is missing.
pub fn processes(text: &str) -> Option<Vec<String>> {
    let (mut inside, mut said) = (false, false);
    let mut users = Vec::new();
    for line in text.lines().map(str::trim) {
        let Some(row) = line.strip_prefix('|') else { continue };
        let cells: Vec<&str> =
            row.trim_end_matches('|').split('|').take(8).map(str::trim).collect();
        if cells[0].starts_with("NPU") {
            inside = cells.get(1).is_some_and(|cell| cell.starts_with("Process"));
            continue;
        }
        if !inside {
            continue;
        }
        if cells[0].starts_with("No running process") {
            said = true;
        } else if let [npu, process, name, ..] = cells[..]
            && users.len() < MAX_PROCESSES
        {
            let npu = npu.split_whitespace().next().unwrap_or("?");
            users.push(bounded(&format!("NPU {npu}: {name} ({process})")));
        }
    }
    (said || !users.is_empty()).then_some(users)
}

/// The position in the table of chips. A chip has two rows: ID, name and health; then chip ID and
/// bus address. The cells do not distinguish them (the name of a 310 is a number too), so the order
/// decides.
#[derive(Default)]
struct Table {
    in_chips: bool,
    in_processes: bool,
    has_hbm: bool,
    first: Option<NpuChip>,
    /// The third cell of the first row of each chip.
    power: Vec<String>,
}

impl Table {
    fn row(&mut self, cells: &[&str], smi: &mut NpuSmi) {
        let Some(&head) = cells.first() else { return };
        if let Some((_, version)) = head.split_once("Version:")
            && head.starts_with("npu-smi")
        {
            smi.version = version.split_whitespace().next().map(bounded);
            return;
        }
        if head.starts_with("NPU") {
            self.in_processes = cells.get(1).is_some_and(|cell| cell.starts_with("Process"));
            self.in_chips = !self.in_processes;
            return;
        }
        if head.starts_with("Chip") {
            self.has_hbm = cells.iter().any(|cell| cell.contains("HBM-Usage"));
            return;
        }
        if !self.in_chips || cells.len() < 3 {
            return;
        }
        let mut words = head.split_whitespace();
        let Some(id) = words.next().and_then(|word| word.parse::<u32>().ok()) else { return };
        match self.first.take() {
            None => {
                let name = words.collect::<Vec<_>>().join(" ");
                if self.power.len() < MAX_CHIPS {
                    self.power.push(bounded(cells[2]));
                }
                self.first = Some(NpuChip {
                    npu: id,
                    name: bounded(&name),
                    health: bounded(cells[1]),
                    ..NpuChip::default()
                });
            }
            Some(mut chip) => {
                chip.chip = id;
                chip.device = words.next().and_then(|word| word.parse().ok());
                chip.bus_id = Some(bounded(cells[1])).filter(|bus| bus.contains(':'));
                chip.hbm_mb = self.has_hbm.then(|| last_pair(cells[2])).flatten();
                push(chip, smi);
            }
        }
    }

    /// Handles a line between rows: a chip without its second row is kept.
    fn border(&mut self, smi: &mut NpuSmi) {
        if let Some(chip) = self.first.take() {
            push(chip, smi);
        }
    }
}

fn push(chip: NpuChip, smi: &mut NpuSmi) {
    if smi.chips.len() < MAX_CHIPS {
        smi.chips.push(chip);
    }
}

/// The last `used / size` in a cell, with or without a blank before the slash.
fn last_pair(cell: &str) -> Option<(u64, u64)> {
    let (head, size) = cell.rsplit_once('/')?;
    let used = head.split_whitespace().next_back()?;
    Some((used.parse().ok()?, size.trim().parse().ok()?))
}

/// Handles a line outside of tables: `Key : value` of a page, or an error.
fn plain_line(line: &str, smi: &mut NpuSmi) {
    if let Some((key, value)) = line.split_once(':') {
        let value = || Some(bounded(value.trim()));
        match key.trim() {
            "Compatibility" => smi.compatibility = value(),
            "Software Version" => smi.software = value(),
            "Firmware Version" => smi.firmware = value(),
            _ => {}
        }
    }
    if smi.error_code.is_none()
        && let Some(code) = error_code(line)
    {
        smi.error_code = Some(code);
        smi.error_line = Some(bounded(line));
    }
}

/// A code of dcmi (-8001…) or npu-smi (-9001…) in an error line.
fn error_code(line: &str) -> Option<i32> {
    line.split(|c: char| !(c.is_ascii_digit() || c == '-'))
        .filter(|word| word.len() == 5)
        .filter_map(|word| word.parse().ok())
        .find(|code| (-9999..=-8000).contains(code))
}

fn bounded(text: &str) -> String {
    text.chars().take(MAX_CELL).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two cards of 910B without processes.
    const B: &str = include_str!("../../../../tests/support/npu_smi_910b.txt");

    #[test]
    fn two_910b_cards_are_parsed() {
        let smi = parse(B);
        assert_eq!(smi.version.as_deref(), Some("25.2.0"));
        assert_eq!(smi.chips.len(), 2);
        let chip = &smi.chips[1];
        assert_eq!((chip.npu, chip.chip, chip.device), (1, 0, None));
        assert_eq!((chip.name.as_str(), chip.health.as_str()), ("910B4-1", "Alarm"));
        assert_eq!(chip.bus_id.as_deref(), Some("0000:C2:00.0"));
        assert_eq!(chip.hbm_mb, Some((27547, 65536)));
        assert_eq!(smi.error_code, None);
    }

    #[test]
    fn chips_are_idle_only_if_reported() {
        assert_eq!(processes(B), Some(Vec::new()));
        let said = |npu: u32| {
            let line = B.lines().find(|line| line.contains(&format!("found in NPU {npu}")));
            format!("{}\n", line.unwrap())
        };
        let python =
            "| 1       0                 | 4242          | python3                  | 100     |\n";
        let used = Some(vec!["NPU 1: python3 (4242)".to_owned()]);
        // An idle one does not imply that the other is idle.
        let one = B.replace(&said(1), python);
        assert_eq!(processes(&one), used);
        assert_eq!(processes(&one.replace(&said(0), "")), used);
        assert_eq!(processes(&one.replace(python, &python.repeat(99))).unwrap().len(), 8);
        let nobody_says = B.replace(&said(0), "").replace(&said(1), "");
        let refused = "dcmi module initialize failed. ret is -8005";
        for text in ["", &nobody_says, refused, "|", "||\n|NPU|"] {
            assert_eq!(processes(text), None, "{text}");
        }
    }

    #[test]
    fn dies_of_a3_have_physical_ids() {
        let smi = parse(
            "\
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     Ascend910           | OK            | 178.8       36                0    / 0             |
| 0     0                   | 0000:9D:00.0  | 0           0    / 0          3397 / 65536         |
+------------------------------------------------------------------------------------------------+
| 0     Ascend910           | OK            | -           36                0    / 0             |
| 1     1                   | 0000:9F:00.0  | 0           0    / 0          3186 / 65536         |
+===========================+===============+====================================================+
",
        );
        let ids: Vec<_> = smi.chips.iter().map(|c| (c.npu, c.chip, c.device)).collect();
        assert_eq!(ids, [(0, 0, Some(0)), (0, 1, Some(1))]);
    }

    #[test]
    fn wide_table_of_310p_is_parsed() {
        let smi = parse(
            "\
| npu-smi 24.1.0.1                                 Version: 24.1.0.1                                     |
+-------------------------------+-----------------+------------------------------------------------------+
| NPU     Name                  | Health          | Power(W)     Temp(C)           Hugepages-Usage(page) |
| Chip    Device                | Bus-Id          | AICore(%)    Memory-Usage(MB)                        |
+===============================+=================+======================================================+
| 32768   310P3                 | OK              | NA           56                0     / 0             |
| 0       3                     | 0000:81:00.0    | 0            1846 / 21527                            |
+===============================+=================+======================================================+
| NPU     Chip                  | Process id      | Process name             | Process memory(MB)        |
+===============================+=================+======================================================+
| 0       0                     | 4242            | python3                  | 100                       |
| No running processes found in NPU 0                                                                    |
+===============================+=================+======================================================+
",
        );
        assert_eq!(smi.chips.len(), 1);
        let chip = &smi.chips[0];
        assert_eq!((chip.npu, chip.device, chip.hbm_mb), (32768, Some(3), None));
    }

    #[test]
    fn numeric_name_without_bus_address_is_parsed() {
        let smi = parse(
            "| NPU     Name | Health | x |\n| Chip    Device | Bus-Id | y |\n+==+\n\
             | 0       310  | OK     | 12 |\n| 0       0    | NA     | 0 1642 / 7568 |\n+==+\n",
        );
        assert_eq!(smi.chips.len(), 1);
        assert_eq!((smi.chips[0].name.as_str(), smi.chips[0].bus_id.as_deref()), ("310", None));
    }

    #[test]
    fn errors_and_board_page_are_parsed() {
        let smi = parse(
            "DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3)\n\
             dcmi module initialize failed. ret is -8005\n",
        );
        assert_eq!(smi.error_code, Some(-8005));
        assert_eq!(smi.error_line.as_deref(), Some("dcmi module initialize failed. ret is -8005"));
        let board = parse(
            "NPU ID                         : 0\nFirmware Version               : 9.0.0\n\
             Compatibility                  : NOK\nPCI Device ID                  : 0xD806\n",
        );
        assert_eq!(board.compatibility.as_deref(), Some("NOK"));
        assert_eq!(board.firmware.as_deref(), Some("9.0.0"));
        assert_eq!(board.error_code, None);
    }

    #[test]
    fn hostile_text_is_bounded() {
        let long =
            format!("| NPU | H | x |\n| 0 {} | {} | z |\n", "N".repeat(9999), "é".repeat(9999));
        let smi = parse(&long);
        assert_eq!(smi.chips[0].name.chars().count(), MAX_CELL);
        assert_eq!(smi.chips[0].health.chars().count(), MAX_CELL);
        let many = format!("| NPU | H | x |\n{}", "| 1 a | OK | z |\n+\n".repeat(5000));
        assert_eq!(parse(&many).chips.len(), MAX_CHIPS);
        parse_bytes(b"|\xff|||||||||||||\n|99999999999999999999 x|y|z|\n-8005-8005");
        parse("|");
        parse("||");
    }
}
