//! `manifest`: describes wheels, and compares them with the published ones.
#![expect(clippy::disallowed_methods, reason = "reads wheels that the user named, no machine")]

use data::Fault;
use data::{OrFault as _, faults};
use std::fs::File;
use std::path::{Path, PathBuf};

use super::argument_file::read_argument;
use super::finish;
use super::output::Output;
use base::hash::{Hasher, Sha256};
use base::report::{ExitStatus, Report};
use checks::published_wheel::{self, PublishedWheel};
use data::{Catalog, Outcome};
use machine::manifest::{Manifest, from_tree, from_wheel};
use machine::sysroot::Sysroot;

/// Writes the manifest of a wheel or directory.
pub(super) fn create(source: &Path, output: &Output) -> anyhow::Result<ExitStatus> {
    output.only_json("manifest create")?;
    let shown = source.display();
    let meta = source.metadata().or_fault(|| faults::CannotRead { path: &shown }.fault())?;
    let manifest = if meta.is_dir() {
        from_tree(&Sysroot::tree(source).map_err(Fault::from)?)
    } else {
        let file = open_regular(source)?;
        from_wheel(&file_name(source), file.metadata()?.len(), file)
    };
    let manifest = manifest.or_fault(|| faults::CannotMakeManifest { path: &shown }.fault())?;
    let text = manifest.to_json()?;
    output
        .write(|out, _| out.write_all(text.as_bytes()))
        .or_fault(|| faults::FailedToWriteManifest.fault())?;
    Ok(ExitStatus::Clean)
}

/// Compares wheels with the hashes of the published ones.
pub(super) fn wheel_check(sources: &[PathBuf], output: &Output) -> anyhow::Result<ExitStatus> {
    let wheels = find_wheels(sources)?;
    anyhow::ensure!(!wheels.is_empty(), faults::NoWheelGiven.fault());
    let catalog = Catalog::builtin();
    let subject = sources.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
    let mut report = Report::new("manifest", subject.join(" "));
    report.document = "wheel-check";
    for path in &wheels {
        catalog.record(published_wheel::ID, check_wheel(path)?, &mut report);
    }
    finish(report, output)
}

/// Compares the hash of a wheel with the published one. Other wheels are not read.
fn check_wheel(path: &Path) -> anyhow::Result<Outcome> {
    let name = file_name(path);
    Ok(match PublishedWheel::find(&name) {
        Some(wheel) => wheel.compare(hash_file(path)?, &path.display().to_string()),
        None => PublishedWheel::unknown(name),
    })
}

/// Returns the named wheels, and those of torch_npu in named directories.
fn find_wheels(sources: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut wheels = Vec::new();
    for source in sources {
        let shown = source.display();
        let meta = source.metadata().or_fault(|| faults::CannotRead { path: &shown }.fault())?;
        if !meta.is_dir() {
            wheels.push(source.clone());
            continue;
        }
        for entry in source.read_dir().or_fault(|| faults::CannotList { path: &shown }.fault())? {
            let path = entry.or_fault(|| faults::CannotList { path: &shown }.fault())?.path();
            let name = file_name(&path);
            if name.starts_with("torch_npu-") && name.ends_with(".whl") {
                wheels.push(path);
            }
        }
    }
    wheels.sort();
    wheels.dedup();
    Ok(wheels)
}

fn hash_file(path: &Path) -> anyhow::Result<Sha256> {
    use std::io::Read as _;
    let shown = path.display();
    let mut file = open_regular(path)?;
    let mut hasher = Hasher::default();
    let mut chunk = vec![0_u8; 128 << 10];
    loop {
        match file.read(&mut chunk).or_fault(|| faults::CannotRead { path: &shown }.fault())? {
            0 => return Ok(hasher.finish()),
            count => hasher.update(&chunk[..count]),
        }
    }
}

/// Opens a regular file: a pipe or a device would never end.
fn open_regular(path: &Path) -> anyhow::Result<File> {
    let shown = path.display();
    let meta = path.metadata().or_fault(|| faults::CannotRead { path: &shown }.fault())?;
    anyhow::ensure!(meta.is_file(), faults::CannotReadNotRegular { path: &shown }.fault());
    Ok(File::open(path).or_fault(|| faults::CannotRead { path: &shown }.fault())?)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Reads the file of `check --manifest`.
pub(super) fn read(path: &Path) -> anyhow::Result<Manifest> {
    let shown = path.display();
    let bytes = read_argument(path, 64 << 20)?;
    let manifest = Manifest::parse(&shown.to_string(), &bytes)
        .map_err(|reason| faults::NotAManifest { path: &shown, why: reason }.fault())?;
    anyhow::ensure!(
        manifest.package == "torch-npu",
        faults::OtherPackage { path: &shown, package: &manifest.package }.fault()
    );
    Ok(manifest)
}
