//! Reads the files and directories that the user named.
#![expect(clippy::disallowed_methods, reason = "opens what the user named")]

use std::path::Path;

use walkdir::WalkDir;

use audit::inputs::{Directory, DirectoryFiles, Inputs, Unread, is_config, is_model};
use audit::{Model, Unreadable, python};
use base::walk_error;
use data::{Catalog, ui};
use guard::file::open_regular;

use super::links::{Links, is_hidden};

/// Maximum number of files of a directory to examine.
const MOST_FILES: usize = 100_000;

/// Unpacks the tables for reading sources and for reporting, in parallel with other work.
pub(super) fn prepare() {
    rayon::spawn(python::prepare);
    rayon::spawn(|| {
        audit::classify::prepare();
        Catalog::builtin();
        drop(ui::OPS_LABEL_TARGET.text());
    });
}

pub(super) fn open(paths: &[impl AsRef<Path>], options: &python::Options) -> Inputs {
    let mut inputs = Inputs::default();
    for path in paths {
        let path = path.as_ref();
        if path.is_dir() {
            read_directory(&mut inputs, path, options);
            continue;
        }
        let shown = path.display().to_string();
        match file(path, options) {
            Ok(model) => inputs.read.push((shown, model)),
            Err(why) => inputs.unread.push(Unread { path: shown, why, named: true }),
        }
    }
    inputs
}

/// Reads every file below a directory that has one of the formats; reads the sources in parallel
/// with the other files.
fn read_directory(inputs: &mut Inputs, dir: &Path, options: &python::Options) {
    let shown = dir.display().to_string();
    let mut others = Inputs::default();
    // Sources are one input: they refer to each other.
    let mut sources = None;
    let mut about = rayon::in_place_scope(|threads| {
        threads.spawn(|_| sources = Some(python::tree(dir, options)));
        read_other_files(&mut others, dir)
    });
    if let Some(sources) = sources {
        match sources.model {
            Ok(model) => {
                about.audited += usize::try_from(model.files).unwrap_or(usize::MAX);
                inputs.read.push((shown, model));
            }
            Err(Unreadable::NoSources) => {}
            Err(why) => inputs.unread_below(shown, why),
        }
        for (path, why) in sources.unread {
            inputs.unread_below(path.display().to_string(), why);
        }
    }
    inputs.read.append(&mut others.read);
    for Unread { path, why, .. } in others.unread {
        inputs.unread_below(path, why);
    }
    inputs.directories.push(about);
}

/// Reads the files that are not sources. Skips names that begin with a dot, and does not follow
/// links to directories.
fn read_other_files(inputs: &mut Inputs, dir: &Path) -> Directory {
    let mut files = DirectoryFiles::of(dir.display().to_string());
    let walk = WalkDir::new(dir).sort_by_file_name().into_iter();
    let walk = walk.filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry.file_name()));
    let mut links = Links::of(dir);
    let mut looked_at = 0;
    for entry in walk {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let path = error.path().unwrap_or(dir).display().to_string();
                let why = Unreadable::Io(walk_error::cause(&error));
                files.unread(path, why);
                continue;
            }
        };
        if python::is_source(entry.path()) {
            continue;
        }
        if entry.file_type().is_symlink() {
            match links.leads_to_another(entry.path()) {
                Ok(true) => {}
                // A broken link to a part of a model: the model is incomplete.
                Err(error) if is_model(entry.path()) || is_config(entry.path()) => {
                    let path = entry.path().display().to_string();
                    let why = Unreadable::Io(error);
                    files.unread(path, why);
                    continue;
                }
                Ok(false) | Err(_) => continue,
            }
        } else if !entry.file_type().is_file() {
            continue;
        }
        if looked_at >= MOST_FILES {
            files.cut();
            break;
        }
        looked_at += 1;
        let path = entry.path().display().to_string();
        let model = match open_regular(entry.path()) {
            Ok(mut file) => audit::read(&mut file),
            Err(error) => Err(Unreadable::Io(error)),
        };
        files.add(path, is_model(entry.path()), model);
    }
    files.finish(inputs)
}

fn file(path: &Path, options: &python::Options) -> Result<Model, Unreadable> {
    // Checked first, because opening a pipe blocks until it has a writer.
    if !path.metadata()?.is_file() {
        return Err(Unreadable::NotRegular);
    }
    if python::is_source(path) {
        return python::read(path, options);
    }
    audit::read(&mut open_regular(path)?)
}
