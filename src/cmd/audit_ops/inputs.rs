//! The files and directories that the user names, read.
#![expect(clippy::disallowed_methods, reason = "opens what the user named")]

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use walkdir::WalkDir;

use super::links::{Links, is_hidden};
use audit::{self, Format, Model, Unreadable, python};
use base::walk_error;
use data::Catalog;
use data::words;

/// Files of a directory that are looked at.
const MOST_FILES: usize = 100_000;

/// What was read of the inputs.
#[derive(Default)]
pub(super) struct Inputs {
    /// Each file that could be read, with its path.
    pub(super) read: Vec<(String, Model)>,
    /// Each file or directory that could not.
    pub(super) unread: Vec<Unread>,
    /// Each directory.
    pub(super) directories: Vec<Directory>,
}

/// What could not be read.
pub(super) struct Unread {
    pub(super) path: String,
    pub(super) why: Unreadable,
    /// Whether the user named it himself, or a directory that it stands in.
    pub(super) named: bool,
}

/// What a directory held.
pub(super) struct Directory {
    pub(super) path: String,
    /// Files that were audited.
    pub(super) audited: usize,
    /// Files of no known format.
    pub(super) other: usize,
    /// Pickles, which are not unpickled.
    pub(super) pickles: usize,
    /// More files than are looked at.
    pub(super) cut: bool,
}

/// Unpacks the tables that reading sources and reporting will need, beside what is done before.
pub(super) fn prepare() {
    rayon::spawn(python::prepare);
    rayon::spawn(|| {
        audit::classify::prepare();
        Catalog::builtin();
        drop(words("ops_label_target"));
    });
}

impl Inputs {
    pub(super) fn open(paths: &[impl AsRef<Path>], options: &python::Options) -> Self {
        let mut inputs = Self::default();
        for path in paths {
            let path = path.as_ref();
            if path.is_dir() {
                inputs.directory(path, options);
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

    /// Reads every file below a directory that is one of the formats, the sources beside the others.
    fn directory(&mut self, dir: &Path, options: &python::Options) {
        let shown = dir.display().to_string();
        let mut others = Self::default();
        // Sources are one input: they refer to each other.
        let mut sources = None;
        let mut about = rayon::in_place_scope(|threads| {
            threads.spawn(|_| sources = Some(python::tree(dir, options)));
            others.besides_sources(dir)
        });
        if let Some(sources) = sources {
            match sources.model {
                Ok(model) => {
                    about.audited += usize::try_from(model.files).unwrap_or(usize::MAX);
                    self.read.push((shown, model));
                }
                Err(Unreadable::NoSources) => {}
                Err(why) => self.unread_below(shown, why),
            }
            for (path, why) in sources.unread {
                self.unread_below(path.display().to_string(), why);
            }
        }
        self.read.append(&mut others.read);
        for Unread { path, why, .. } in others.unread {
            self.unread_below(path, why);
        }
        self.directories.push(about);
    }

    /// Keeps what stands in a directory and could not be read. Both walks meet a directory that is
    /// closed: it is told once.
    fn unread_below(&mut self, path: String, why: Unreadable) {
        if !self.unread.iter().any(|known| known.path == path) {
            self.unread.push(Unread { path, why, named: false });
        }
    }

    /// What is no source. Links to directories are not followed, and what begins with a dot is left
    /// out.
    fn besides_sources(&mut self, dir: &Path) -> Directory {
        let shown = dir.display().to_string();
        let mut about =
            Directory { path: shown.clone(), audited: 0, other: 0, pickles: 0, cut: false };
        // The parts of a model that was split are one input.
        let mut tensors: BTreeMap<Format, (usize, String, Model)> = BTreeMap::new();
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
                    self.unread.push(Unread { path, why, named: false });
                    continue;
                }
            };
            if python::is_source(entry.path()) {
                continue;
            }
            if entry.file_type().is_symlink() {
                match links.leads_to_another(entry.path()) {
                    Ok(true) => {}
                    // A part of a model that is not there: what is there is not all.
                    Err(error) if is_model(entry.path()) || is_config(entry.path()) => {
                        let path = entry.path().display().to_string();
                        let why = Unreadable::Io(error);
                        self.unread.push(Unread { path, why, named: false });
                        continue;
                    }
                    Ok(false) | Err(_) => continue,
                }
            } else if !entry.file_type().is_file() {
                continue;
            }
            if looked_at >= MOST_FILES {
                about.cut = true;
                break;
            }
            looked_at += 1;
            let path = entry.path().display().to_string();
            let model = match File::open(entry.path()) {
                Ok(mut file) => audit::read(&mut file),
                Err(error) => Err(Unreadable::Io(error)),
            };
            match model {
                Ok(model) => {
                    about.audited += 1;
                    if !matches!(model.format, Format::Safetensors | Format::StateDict) {
                        self.read.push((path, model));
                        continue;
                    }
                    match tensors.get_mut(&model.format) {
                        None => {
                            tensors.insert(model.format, (1, path, model));
                        }
                        Some((count, _, all)) => {
                            *count += 1;
                            for (dtype, number) in model.dtypes {
                                *all.dtypes.entry(dtype).or_default() += number;
                            }
                        }
                    }
                }
                Err(Unreadable::Unknown) => about.other += 1,
                // Empty files stand everywhere; one that is named as a model should be one.
                Err(Unreadable::Empty | Unreadable::Zeros(_)) if !is_model(entry.path()) => {
                    about.other += 1;
                }
                Err(Unreadable::Pickle { .. }) => about.pickles += 1,
                Err(why) => self.unread.push(Unread { path, why, named: false }),
            }
        }
        for (count, path, model) in tensors.into_values() {
            let path = if count == 1 { path } else { format!("{shown} ({count} files)") };
            self.read.push((path, model));
        }
        about
    }
}

/// Whether a file is named as models are.
fn is_model(path: &Path) -> bool {
    const ENDINGS: [&str; 6] = ["pt", "pt2", "pth", "ts", "onnx", "safetensors"];
    path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known))
}

/// Whether a file is named as the configuration of a model is.
fn is_config(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "config.json")
}

fn file(path: &Path, options: &python::Options) -> Result<Model, Unreadable> {
    // Before it is opened: opening a pipe waits for somebody who writes.
    if !path.metadata()?.is_file() {
        return Err(Unreadable::NotRegular);
    }
    if python::is_source(path) {
        return python::read(path, options);
    }
    audit::read(&mut File::open(path)?)
}
