//! The chip, the CANN and the torch_npu that options or this machine select.
#![expect(
    clippy::disallowed_methods,
    reason = "opens the wheel and directories that the user named"
)]

use std::fs::File;
use std::path::Path;

use anyhow::{Context as _, anyhow};

use audit::cann::Cann;
use audit::ops::Tables;
use audit::ops::installed::{find_site, read_site, read_wheel};
use audit::release::SelectedRelease;
use base::chip::ChipFamily;
use machine::collect;
use machine::sysroot::Sysroot;

use crate::cli::AuditOpsArgs;

/// Returns the chip that `--soc` names, or else that of this machine.
pub(super) fn chip(args: &AuditOpsArgs, machine: &Sysroot) -> anyhow::Result<Option<ChipFamily>> {
    if let Some(name) = &args.soc {
        return audit::chip::family(name).map(Some).map_err(|why| anyhow!(why));
    }
    let facts = collect::collect_devices(machine);
    Ok(checks::chip::chip(&facts).map(|chip| chip.family))
}

/// Returns the CANN that `--cann` names, a directory or a version, or else the selected one.
pub(super) fn cann(asked: Option<&str>, machine: &Sysroot) -> anyhow::Result<Option<Cann>> {
    let Some(asked) = asked else { return Ok(Cann::detect(machine)) };
    if let Some(cann) = Cann::of_version(asked) {
        return Ok(Some(cann));
    }
    let dir = std::path::absolute(Path::new(asked)).ok();
    let dir = dir.as_deref().and_then(Path::to_str).filter(|dir| machine.is_dir(dir));
    let dir = dir.with_context(|| {
        format!("`{asked}` is neither a version of CANN, such as 8.1.RC1, nor the directory of one")
    })?;
    let found = Cann::libraries(machine, dir).with_context(|| {
        format!("there is no libopapi*.so in `{asked}/lib64`, nor in `{asked}`")
    })?;
    Ok(Some(found))
}

/// Returns the torch_npu that options name, or else that of this machine or the newest release.
pub(super) fn release(
    args: &AuditOpsArgs,
    machine: &Sysroot,
    tables: &'static Tables,
) -> anyhow::Result<SelectedRelease> {
    let selected = match (&args.torch_npu, &args.installed) {
        (Some(version), _) => SelectedRelease::named(version, tables),
        (None, Some(Some(path))) => return installation(path, machine, tables),
        (None, Some(None)) => SelectedRelease::installed(machine, tables),
        (None, None) => SelectedRelease::detect(machine, tables),
    };
    selected.map_err(|why| anyhow!(why))
}

/// Reads the installation in a directory or a wheel.
fn installation(
    path: &Path,
    machine: &Sysroot,
    tables: &'static Tables,
) -> anyhow::Result<SelectedRelease> {
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
    Ok(SelectedRelease::installation(found, None, shown))
}
