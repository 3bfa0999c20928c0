//! The machine that the options name: this one, a tree, a process, or recorded facts.
#![expect(clippy::disallowed_methods, reason = "opens the sysroot that collectors are handed")]

use data::Fault;
use data::{OrFault as _, faults};
use std::path::Path;

use super::argument_file::read_argument;
use crate::cli::{MachineArgs, ScanArgs};
use explain::input::bundle::{is_bundle, member};
use facts::{FACTS_SCHEMA, Facts};
use machine::collect::Options;
use machine::sysroot::Sysroot;

/// Maximum size of a facts file, in bytes.
const FACTS_LIMIT: u64 = 256 << 20;
/// Maximum size of an environment file, in bytes.
const ENV_LIMIT: u64 = 4 << 20;

/// The machine that the program runs on.
pub(super) fn this_machine() -> Sysroot {
    Sysroot::live()
}

/// Opens the machine that `--sysroot`, `--pid` and `--env-file` name; by default this machine.
pub(super) fn open_machine(args: &MachineArgs) -> anyhow::Result<Sysroot> {
    let mut sysroot = match (&args.sysroot, args.pid) {
        (Some(root), _) => Sysroot::tree(root).map_err(Fault::from)?,
        (None, Some(pid)) => Sysroot::of_process(pid).map_err(Fault::from)?,
        (None, None) => this_machine(),
    };
    if let Some(path) = &args.env_file {
        let vars = parse_env_file(&read_argument(path, ENV_LIMIT)?)
            .map_err(super::error_message::as_cause)
            .or_fault(|| faults::NotEnvironmentFile { path: path.display() }.fault())?;
        sysroot.set_env(&path.display().to_string(), vars);
    }
    Ok(sysroot)
}

/// The parts of the machine to read.
pub(super) fn wanted(args: &ScanArgs) -> Options {
    Options {
        python: args.python.clone(),
        hash: !args.no_hash,
        npu_smi: !args.no_npu_smi,
        ..Options::default()
    }
}

/// Reads the file of `--facts`.
pub(super) fn read_facts(path: &Path) -> anyhow::Result<Facts> {
    let shown = path.display();
    let mut bytes = read_argument(path, FACTS_LIMIT)?;
    if is_bundle(&bytes) {
        bytes = member(&bytes, "facts.json", FACTS_LIMIT)
            .or_fault(|| faults::CannotRead { path: &shown }.fault())?;
    }
    let facts: Facts = serde_json::from_slice(&bytes)
        .or_fault(|| faults::NotFactsFile { path: &shown }.fault())?;
    anyhow::ensure!(
        facts.schema == FACTS_SCHEMA,
        faults::OtherFactsSchema { path: &shown, schema: &facts.schema, own: FACTS_SCHEMA }.fault()
    );
    Ok(facts)
}

/// Reads `NAME=value` lines (also as `export NAME=value` and quoted), a JSON object, or the
/// NUL-separated form of `/proc/<pid>/environ`.
fn parse_env_file(bytes: &[u8]) -> anyhow::Result<Vec<(String, String)>> {
    let text = String::from_utf8_lossy(bytes);
    if text.trim_start().starts_with('{') {
        let vars: std::collections::BTreeMap<String, String> = serde_json::from_str(&text)?;
        return Ok(vars.into_iter().collect());
    }
    let separated = text.contains('\0');
    let lines: Vec<&str> =
        if separated { text.split('\0').collect() } else { text.lines().collect() };
    let mut vars = Vec::new();
    let mut lines = (1..).zip(lines);
    while let Some((number, line)) = lines.next() {
        if !separated && is_function(line) {
            // Exported functions of bash: `env` prints them over several lines, up to one `}`.
            lines.by_ref().find(|(_, line)| *line == "}");
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let (name, value) = line
            .split_once('=')
            .filter(|(name, _)| is_name(name.trim()))
            .or_fault(|| faults::NotANameValueLine { number }.fault())?;
        let bare = ['"', '\'']
            .iter()
            .find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote))
            .unwrap_or(value);
        vars.push((name.trim().to_owned(), bare.to_owned()));
    }
    Ok(vars)
}

/// Whether a text can be the name of a variable. Names may contain unusual characters
/// (`BASH_FUNC_x%%`), but no controls, blanks or invalid text.
fn is_name(name: &str) -> bool {
    let odd = |c: char| c.is_control() || c.is_whitespace() || c == '\u{fffd}';
    !name.is_empty() && !name.contains(odd)
}

/// Whether a line begins an exported function that continues: `BASH_FUNC_module%%=() {  eval …`.
fn is_function(line: &str) -> bool {
    let Some((name, body)) = line.split_once('=') else { return false };
    name.starts_with("BASH_FUNC_") && body.starts_with("()") && !body.trim_end().ends_with('}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_forms_of_environment_files() {
        let expected = vec![("A".to_owned(), "1=2".to_owned()), ("B".to_owned(), "x y".to_owned())];
        assert_eq!(parse_env_file(b"A=1=2\nexport B=\"x y\"\n# c\n").unwrap(), expected);
        assert_eq!(parse_env_file(b"{\"A\":\"1=2\",\"B\":\"x y\"}").unwrap(), expected);
        assert_eq!(parse_env_file(b"A=1=2\0B=x y\0").unwrap(), expected);
        for bad in [&b"nonsense\n"[..], b"=1\n", b"A B=1\n", b"\x01A=1\n", b"\xff\xfe=1\n"] {
            assert!(parse_env_file(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn exported_functions_of_bash_are_skipped() {
        let env = b"A=1\nBASH_FUNC_module%%=() {  eval `x $*`\n if y; then\n  z=3\n fi\n}\n\
            BASH_FUNC_one%%=() { :; }\nB=2\n";
        let names = |bytes: &[u8]| -> Vec<String> {
            parse_env_file(bytes).unwrap().into_iter().map(|(name, _)| name).collect()
        };
        assert_eq!(names(env), ["A", "BASH_FUNC_one%%", "B"]);
        let zero = b"A=1\0BASH_FUNC_module%%=() {  eval\n x\n}\0B=2\0";
        assert_eq!(names(zero), ["A", "BASH_FUNC_module%%", "B"]);
        assert_eq!(names(b"A=1\nBASH_FUNC_cut%%=() {\n x\n"), ["A"], "cut off");
    }
}
