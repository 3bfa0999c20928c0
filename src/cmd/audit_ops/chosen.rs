//! The torch_npu that operators are judged for, and how it was chosen.
#![expect(clippy::disallowed_methods, reason = "opens the wheel that the user named")]

use std::fs::File;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use serde_json::{Value, json};

use crate::cli::AuditOpsArgs;
use audit::ops::installed::{Evidence, Found, find_site, read_site, read_wheel};
use audit::ops::tables::Column;
use audit::ops::{Match, Tables, Target};
use base::text::Text;
use data::sentence;
use machine::collect::find_installed;
use machine::sysroot::Sysroot;

/// The torch_npu that is judged for, and how it was chosen.
pub(super) struct Chosen {
    /// Its version, as it is called in findings.
    pub(super) version: String,
    /// The tables that speak for it, or, of an installation, for what its files do not say.
    pub(super) target: Target,
    /// How it was chosen, in words.
    pub(super) said: Text,
    /// Its own registrations, where an installation is judged for.
    pub(super) found: Option<Found<'static>>,
    /// Where the installation is.
    pub(super) place: String,
    from: &'static str,
}

impl Chosen {
    /// What the options name, else what the Python of this machine would import, else the newest
    /// release that has wheels.
    pub(super) fn new(
        args: &AuditOpsArgs,
        machine: &Sysroot,
        tables: &'static Tables,
    ) -> anyhow::Result<Self> {
        if let Some(version) = &args.torch_npu {
            return named(version, tables);
        }
        if let Some(Some(path)) = &args.installed {
            return at(path, machine, tables);
        }
        let there = find_installed(machine, "torch-npu");
        if args.installed.is_some() {
            let (version, dir) = there.context(
                "no torch_npu is installed where this machine's Python would find it; name its \
                 directory or its wheel: `--installed=PATH`",
            )?;
            let found = read_site(machine, &dir, true, tables).map_err(|why| anyhow!(why))?;
            return Ok(Self::installation(found, Some(version), dir));
        }
        if let Some((version, dir)) = there {
            // What cannot be read here is what the tables are for.
            if let Ok(found) = read_site(machine, &dir, false, tables) {
                return Ok(Self::installation(found, Some(version), dir));
            }
            if let Some(target) = Target::find(tables, &version) {
                let args = [("version", version.clone()), ("dir", dir.clone())];
                let said = sentence("ops_target_found", &args);
                let from = "installed";
                return Ok(Self { version, target, said, found: None, place: dir, from });
            }
        }
        let target = Target::newest(tables).context("the tables name no wheel")?;
        let column = &tables.columns[target.column];
        let version = format!("{}-{}", column.torch, column.release);
        let target = Target::find(tables, &version).context("the newest release has a table")?;
        let said = sentence("ops_target_newest", &[("version", version.clone())]);
        Ok(Self { version, target, said, found: None, place: String::new(), from: "newest" })
    }

    fn installation(found: Found<'static>, version: Option<String>, place: String) -> Self {
        let installed = &found.installed;
        let version = version.or_else(|| installed.version.clone());
        let version = version.unwrap_or_else(|| "?".to_owned());
        let args = [
            ("version", version.clone()),
            ("dir", place.clone()),
            ("kernels", installed.kernels.aten.len().to_string()),
            ("custom", installed.kernels.custom.len().to_string()),
        ];
        let key = match installed.evidence {
            Evidence::Files => "ops_target_files",
            Evidence::Library => "ops_target_library",
        };
        let target = installed.target.clone();
        let said = sentence(key, &args);
        Self { version, target, said, found: Some(found), place, from: "installed" }
    }

    /// Where the judgement comes from, in one line.
    pub(super) fn provenance(&self, column: &Column) -> String {
        let table = format!("torch {}, torch_npu {}", column.torch, column.release);
        match self.found.as_ref().map(|found| &found.installed) {
            None => table,
            Some(installed) => {
                let files = match installed.evidence {
                    Evidence::Files => "registration files",
                    Evidence::Library => "library",
                };
                let generic = if installed.generic.is_some() { " and of PyTorch" } else { "" };
                format!("{files} of torch_npu {}{generic}; else {table}", self.version)
            }
        }
    }

    /// As part of the report.
    pub(super) fn json(&self, column: &Column) -> Value {
        let mut target = json!({
            "torch_npu": self.version,
            "from": self.from,
            "table": {
                "torch": column.torch,
                "release": column.release,
                "match": match self.target.how {
                    Match::Wheel => "wheel",
                    Match::Release => "release",
                    Match::Nearest => "nearest",
                },
            },
        });
        if let Some(found) = &self.found {
            let installed = &found.installed;
            target["installed"] = json!({
                "path": self.place,
                "torch": installed.torch,
                "evidence": installed.evidence,
                "kernels": installed.kernels.aten.len(),
                "custom": installed.kernels.custom.len(),
                "native_functions": installed.generic.is_some(),
                "missing_in_library": found.missing,
            });
        }
        target
    }
}

fn named(version: &str, tables: &'static Tables) -> anyhow::Result<Chosen> {
    let target = Target::asked(tables, version).map_err(|why| anyhow!(why))?;
    let said = sentence("ops_target_asked", &[("version", version.to_owned())]);
    let (version, place) = (version.to_owned(), String::new());
    Ok(Chosen { version, target, said, found: None, place, from: "--torch-npu" })
}

/// The installation in a directory or a wheel.
fn at(path: &Path, machine: &Sysroot, tables: &'static Tables) -> anyhow::Result<Chosen> {
    let shown = path.display().to_string();
    let about = || format!("cannot read the torch_npu at `{}`", base::text::escape_line(&shown));
    let kind = std::fs::metadata(path).with_context(about)?;
    let found = if kind.is_dir() {
        let dir = std::path::absolute(path).with_context(about)?;
        let dir = dir.to_str().context("its name is no UTF-8").with_context(about)?;
        let site = find_site(machine, dir)
            .with_context(|| "there is no `torch_npu` in it, nor in its lib/python*/site-packages")
            .with_context(about)?;
        read_site(machine, &site, true, tables)
    } else {
        read_wheel(File::open(path).with_context(about)?, true, tables)
    };
    let found = found.map_err(|why| anyhow!(why)).with_context(about)?;
    Ok(Chosen::installation(found, None, shown))
}
