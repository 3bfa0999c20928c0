//! `manifest`: describe wheels, and compare them with the published ones.
#![expect(clippy::disallowed_methods, reason = "reads wheels that the user named, no machine")]

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::argument_file::read_argument;
use super::finish;
use super::output::Output;
use base::hash::{Hasher, Sha256};
use base::report::{ExitStatus, Outcome, Report};
use checks::published_wheel::{self, PublishedWheel};
use data::Catalog;
use machine::manifest::{Manifest, from_tree, from_wheel};
use machine::sysroot::Sysroot;

/// Writes the manifest of a wheel or directory.
pub(super) fn create(source: &Path, output: &Output) -> anyhow::Result<ExitStatus> {
    output.only_json("manifest create")?;
    let shown = source.display();
    let meta = source.metadata().with_context(|| format!("cannot read `{shown}`"))?;
    let manifest = if meta.is_dir() {
        from_tree(&Sysroot::tree(source)?)
    } else {
        let file = open_regular(source)?;
        from_wheel(&file_name(source), file.metadata()?.len(), file)
    };
    let manifest = manifest.with_context(|| format!("cannot make a manifest of `{shown}`"))?;
    let text = manifest.to_json()?;
    output
        .write(|out, _| out.write_all(text.as_bytes()))
        .context("failed to write the manifest")?;
    Ok(ExitStatus::Clean)
}

/// Compares wheels with the hashes of the published ones.
pub(super) fn wheel_check(sources: &[PathBuf], output: &Output) -> anyhow::Result<ExitStatus> {
    let wheels = find_wheels(sources)?;
    anyhow::ensure!(!wheels.is_empty(), "there is no `torch_npu-*.whl` in what was given");
    let catalog = Catalog::builtin();
    let subject = sources.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
    let mut report = Report::new("manifest", subject.join(" "));
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
        let meta = source.metadata().with_context(|| format!("cannot read `{shown}`"))?;
        if !meta.is_dir() {
            wheels.push(source.clone());
            continue;
        }
        for entry in source.read_dir().with_context(|| format!("cannot list `{shown}`"))? {
            let path = entry.with_context(|| format!("cannot list `{shown}`"))?.path();
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
        match file.read(&mut chunk).with_context(|| format!("cannot read `{shown}`"))? {
            0 => return Ok(hasher.finish()),
            count => hasher.update(&chunk[..count]),
        }
    }
}

/// Opens a regular file: a pipe or a device would never end.
fn open_regular(path: &Path) -> anyhow::Result<File> {
    let shown = path.display();
    let meta = path.metadata().with_context(|| format!("cannot read `{shown}`"))?;
    anyhow::ensure!(meta.is_file(), "cannot read `{shown}`: it is no regular file");
    File::open(path).with_context(|| format!("cannot read `{shown}`"))
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Reads the file of `check --manifest`.
pub(super) fn read(path: &Path) -> anyhow::Result<Manifest> {
    let shown = path.display();
    let bytes = read_argument(path, 64 << 20)?;
    let manifest = Manifest::parse(&shown.to_string(), &bytes).map_err(|reason| {
        anyhow::anyhow!("`{shown}` is no manifest (written by `manifest create`): {reason}")
    })?;
    anyhow::ensure!(
        manifest.package == "torch-npu",
        "`{shown}` describes `{}`, not torch_npu",
        manifest.package
    );
    Ok(manifest)
}
