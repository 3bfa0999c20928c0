//! `fleet merge` over reports that the old program writes for the test machines.

use std::path::{Path, PathBuf};

use anyhow::Result;
use rayon::prelude::*;

use super::{Inputs, OTHER_FORMATS};
use crate::same::case::{Case, Plan, args};

/// Adds the cases.
pub(crate) fn add(plan: &mut Plan, inputs: &Inputs<'_>) -> Result<()> {
    let all = write_reports(inputs, "fleet-all", |_| true)?;
    let healthy = write_reports(inputs, "fleet-healthy", |name| name.starts_with("ok-"))?;
    let pair = write_reports(inputs, "fleet-pair", |name| {
        ["ok-host-910b", "f15-hccn-duplicate"].contains(&name)
    })?;
    let hosts = "[train]\nnode[001-040]\n[serve]\nnode[041-099]\nnode-x\n";
    for (name, dir) in [("all", &all), ("healthy", &healthy), ("pair", &pair)] {
        let merge = |variant: &str| {
            let case = Case::new(format!("fleet/{name}/{variant}")).file("hosts.txt", hosts);
            case.step(args!["fleet", "merge", dir.display()])
        };
        for (variant, flags) in [
            ("text-en", "--lang en"),
            ("text-zh", "--lang zh"),
            ("json", "--json"),
            ("verbose", "-v"),
            ("quiet", "-q"),
            ("by-soc", "--group-by soc -v"),
            ("by-soc-zh", "--group-by soc --lang zh"),
            ("expect", "--expect hosts.txt"),
            ("by-role", "--expect hosts.txt --group-by role --json"),
            ("metrics", "--metrics-file fleet.prom"),
            ("fail-on-warning", "--fail-on warning"),
            ("output", "--json --output fleet.json"),
        ] {
            plan.add(merge(variant).flags(flags));
        }
        for format in OTHER_FORMATS {
            plan.add(merge(format).flags("--format").flags(format));
            plan.add(merge(&format!("{format}-zh")).flags("--lang zh --format").flags(format));
        }
    }
    add_streams(plan, &all)?;
    Ok(())
}

/// Writes a report for each wanted machine, each with a different host name.
fn write_reports(
    inputs: &Inputs<'_>,
    dir: &str,
    wanted: impl Fn(&str) -> bool + Sync,
) -> Result<PathBuf> {
    let dir = inputs.subdir(dir)?;
    inputs.machines.par_iter().enumerate().try_for_each(|(number, machine)| -> Result<()> {
        if !wanted(&machine.name) {
            return Ok(());
        }
        let host = format!("node{:03}", number + 1);
        let root = machine.root.display();
        let args = args!["check", "--sysroot", root, "--json", "--host", host];
        let report = inputs.old.prepare(&args, &inputs.dir)?;
        Ok(std::fs::write(dir.join(format!("{host}.json")), report)?)
    })?;
    Ok(dir)
}

/// Adds standard input, and documents that are damaged, repeated or of another kind.
fn add_streams(plan: &mut Plan, dir: &Path) -> Result<()> {
    let mut stream = Vec::new();
    let mut labeled = String::new();
    for path in super::entries(dir)?.iter().take(12) {
        let report = std::fs::read_to_string(path)?;
        let host = super::file_name(path).replace(".json", "");
        for line in report.lines() {
            labeled.push_str(&format!("{host}: {line}\n"));
        }
        stream.extend_from_slice(report.as_bytes());
    }
    let cut = stream[..stream.len() - 5000].to_vec();
    let twice = [stream.clone(), stream.clone()].concat();
    let noise = [b"some noise\n{\"schema\": \"other\"}\n".to_vec(), stream.clone()].concat();
    for (name, stdin) in [
        ("documents", stream),
        ("labeled", labeled.into_bytes()),
        ("cut", cut),
        ("twice", twice),
        ("noise", noise),
        ("empty", Vec::new()),
    ] {
        for (variant, flags) in [("text-en", ""), ("text-zh", "--lang zh"), ("json", "--json")] {
            let case = Case::new(format!("fleet/stream-{name}/{variant}")).stdin(stdin.clone());
            let case = case.step(args!["fleet", "merge", "-"]).flags(flags);
            plan.add(if name == "empty" { case.refused() } else { case });
        }
    }
    for (name, flags) in [
        ("missing", "nothing.json"),
        ("no-input", ""),
        ("expect-missing", "- --expect nothing.txt"),
        ("role-without-expect", "- --group-by role"),
    ] {
        let case = Case::new(format!("fleet/refused/{name}")).step(args!["fleet", "merge"]);
        plan.add(case.flags(flags).refused());
    }
    Ok(())
}
