//! The chip, the CANN and the torch_npu that options or this machine select.
#![expect(
    clippy::disallowed_methods,
    reason = "opens the wheel and directories that the user named"
)]

use data::{OrFault as _, faults};
use std::fs::File;
use std::path::Path;

use pep440_rs::Version;

use audit::cann::Cann;
use audit::ops::installed::{find_site, read_site, read_wheel};
use audit::ops::{Tables, Target};
use audit::release::SelectedRelease;
use base::chip::ChipFamily;
use data::Matrix;
use data::matrix::resolve_version;
use machine::collect;
use machine::sysroot::Sysroot;

use crate::cli::AuditOpsArgs;
use crate::cmd::requested::{Shortened, resolve_known_cann, unknown};

/// Returns the chip that `--soc` names, or else the chip of this machine.
pub(super) fn chip(
    args: &AuditOpsArgs,
    machine: &Sysroot,
    shortened: &mut Shortened,
) -> anyhow::Result<Option<ChipFamily>> {
    if let Some(name) = &args.soc {
        let family = base::chip_name::family(name).map_err(|near| unknown("--soc", name, &near))?;
        shortened.add("--soc", name, family.label());
        return Ok(Some(family));
    }
    let facts = collect::collect_devices(machine);
    Ok(checks::chip::chip(&facts).map(|chip| chip.family))
}

/// Returns the CANN that `--cann` or `--cann-path` names, or else the selected one.
pub(super) fn cann(
    args: &AuditOpsArgs,
    machine: &Sysroot,
    shortened: &mut Shortened,
) -> anyhow::Result<Option<Cann>> {
    if let Some(asked) = &args.cann {
        let resolved = resolve_known_cann(asked, Matrix::builtin())?;
        shortened.note("--cann", &resolved);
        return Ok(Cann::of_version(&resolved.version.to_string()));
    }
    let Some(asked) = &args.cann_path else { return Ok(Cann::detect(machine)) };
    let dir = std::path::absolute(asked).ok();
    let asked = asked.display();
    let dir = dir.as_deref().and_then(Path::to_str).filter(|dir| machine.is_dir(dir));
    let dir = dir.or_fault(|| faults::NotCannPath { asked: &asked }.fault())?;
    let found = Cann::libraries(machine, dir)
        .or_fault(|| faults::NoLibopapi { asked: &asked, again: &asked }.fault())?;
    Ok(Some(found))
}

/// Returns the torch_npu release that options name, or else that of this machine or the newest
/// release.
pub(super) fn release(
    args: &AuditOpsArgs,
    machine: &Sysroot,
    tables: &'static Tables,
    shortened: &mut Shortened,
) -> anyhow::Result<SelectedRelease> {
    let selected = match (&args.torch_npu, &args.installed) {
        (Some(asked), _) => {
            let version = resolve_release("--torch-npu", asked, tables, shortened)?;
            SelectedRelease::named(&version, tables)
        }
        (None, Some(Some(path))) => return installation(path, machine, tables),
        (None, Some(None)) => SelectedRelease::installed(machine, tables),
        (None, None) => SelectedRelease::detect(machine, tables),
    };
    selected.map_err(Into::into)
}

/// Returns the wheel or release that a text of the user names.
///
/// # Errors
///
/// For an unknown one, with the nearest ones.
pub(in crate::cmd) fn resolve_release(
    option: &'static str,
    asked: &str,
    tables: &Tables,
    shortened: &mut Shortened,
) -> anyhow::Result<String> {
    if Target::find(tables, asked).is_some() {
        return Ok(asked.to_owned());
    }
    let resolved = resolve_version(asked, known_releases(tables));
    let resolved = resolved.map_err(|near| unknown(option, asked, &near))?;
    shortened.note(option, &resolved);
    Ok(resolved.version.to_string())
}

/// Returns the wheels and PyTorch versions of the tables.
pub(in crate::cmd) fn known_releases(tables: &Tables) -> Vec<Version> {
    let columns = tables.columns.iter();
    let names = columns.flat_map(|column| column.wheels.iter().copied().chain([column.torch]));
    let known = names.filter_map(|name| name.parse().ok());
    known.filter(|version: &Version| Target::find(tables, &version.to_string()).is_some()).collect()
}

/// Reads the installation in a directory or a wheel.
fn installation(
    path: &Path,
    machine: &Sysroot,
    tables: &'static Tables,
) -> anyhow::Result<SelectedRelease> {
    let shown = path.display().to_string();
    let about =
        || faults::CannotReadTorchNpu { path: base::text::escape_line(&shown).as_ref() }.fault();
    let kind = std::fs::metadata(path).or_fault(about)?;
    let found = if kind.is_dir() {
        let dir = std::path::absolute(path).or_fault(about)?;
        let dir = dir.to_str().or_fault(|| faults::NameNotUtf8.fault()).or_fault(about)?;
        let site =
            find_site(machine, dir).or_fault(|| faults::NoTorchNpuIn.fault()).or_fault(about)?;
        read_site(machine, &site, true, tables)
    } else {
        read_wheel(File::open(path).or_fault(about)?, true, tables)
    };
    let found = found.or_fault(about)?;
    Ok(SelectedRelease::installation(found, None, shown))
}
