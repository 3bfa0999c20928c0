//! `--evidence` and `--replay`: a run in one redacted file, and the assessment of such a file.

use std::path::Path;

use data::{OrFault as _, faults};
use machine::collect::driver::NPU_SMI;
use machine::sysroot::Sysroot;
use serde_json::Value;

use super::super::argument_file::read_argument;
use super::super::output_file::{ReplaceMode, replace};
use base::redact::{Level, Redactor, last};
use verify::evidence::{Head, Recorded, Recorder, SCHEMA, read};

/// Maximum size of a recorded run, in bytes.
const LIMIT: u64 = 512 << 20;
/// Prefixes of the names of variables that the Ascend stack reads.
const PREFIXES: [&str; 8] =
    ["ASCEND_", "ACL_", "HCCL_", "RANK_", "NPU_", "LD_LIBRARY_PATH", "TOOLCHAIN_", "OPP_"];
/// Files with versions.
const FILES: [&str; 3] = [
    "/usr/local/Ascend/driver/version.info",
    "/usr/local/Ascend/firmware/version.info",
    "/etc/ascend_install.info",
];
/// Maximum length of such a text, in characters.
const TEXT: usize = 64 << 10;
/// Members with text of vendor code, which may contain names of hosts and addresses.
const FREE_TEXT: [&str; 5] = ["message", "error", "tail", "reason", "refusal"];

/// Describes the surroundings of a run.
pub(super) fn describe(machine: &Sysroot, arguments: Vec<String>) -> Head {
    let is_read = |name: &str| PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let mut environment: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| is_read(name))
        .collect();
    environment.sort();
    let text = |path: &str| {
        let text = machine.read_text_if_exists(path)?;
        Some((path.to_owned(), text.chars().take(TEXT).collect()))
    };
    let program = NPU_SMI.iter().find(|path| machine.is_file(path));
    let npu_smi = program
        .and_then(|program| machine.run(program, &["info"], std::time::Duration::from_secs(10)))
        .map(|output| output.text.chars().take(TEXT).collect());
    Head {
        schema: SCHEMA.to_owned(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        arguments,
        environment,
        system: machine.read_text_if_exists("/proc/version"),
        npu_smi,
        files: FILES.iter().filter_map(|path| text(path)).collect(),
    }
}

/// Writes the file.
pub(super) fn write(
    path: &Path,
    recorder: Recorder,
    head: &Head,
    recorded: &Recorded,
    host: &str,
) -> anyhow::Result<()> {
    let home = std::env::var("HOME").unwrap_or_default();
    let names = [host, base::redact::short(host).unwrap_or_default(), last(&home), &home];
    let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    let mut hosts = Redactor::new(Level::Hosts, names.clone());
    let mut secrets = Redactor::new(Level::Secrets, names);
    let mut lines = recorder.lines(head, recorded)?;
    for (at, line) in lines.iter_mut().enumerate() {
        if at == 0 {
            hosts.json(line);
        } else {
            redact_free_text(line, &mut hosts);
            secrets.json(line);
        }
    }
    replace(path, ReplaceMode::RenameOrWrite, |out| {
        for line in &lines {
            serde_json::to_writer(&mut *out, line)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    })
    .or_fault(|| faults::CannotWrite { path }.fault())?;
    Ok(())
}

/// Removes names and addresses from text of vendor code.
fn redact_free_text(value: &mut Value, hosts: &mut Redactor) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(text) if FREE_TEXT.contains(&name.as_str()) => {
                        *text = String::from_utf8_lossy(&hosts.bytes(text.as_bytes())).into_owned();
                    }
                    value => redact_free_text(value, hosts),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| redact_free_text(value, hosts)),
        _ => {}
    }
}

/// Reads the file.
pub(super) fn read_recorded(path: &Path) -> anyhow::Result<(Head, Recorded)> {
    let bytes = read_argument(path, LIMIT)?;
    let shown = path.display().to_string();
    let text = String::from_utf8(bytes).ok();
    let read = text.and_then(|text| read(&text));
    Ok(read.ok_or_else(|| faults::NotVerifyEvidence { path: &shown }.fault())?)
}
