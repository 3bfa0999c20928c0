//! Inputs of one audit: models that were read, unread files, and counts for each directory.

use std::collections::BTreeMap;
use std::path::Path;

use super::model::{Format, Model};
use super::unreadable::Unreadable;

/// The inputs of one audit.
#[derive(Default)]
pub struct Inputs {
    /// The files that were read, by path.
    pub read: Vec<(String, Model)>,
    /// The files and directories that could not be read.
    pub unread: Vec<Unread>,
    /// The directories.
    pub directories: Vec<Directory>,
}

/// A file or directory that could not be read.
pub struct Unread {
    /// The displayed path.
    pub path: String,
    /// The reason.
    pub why: Unreadable,
    /// The command line names it; `false` if only a directory above it is named.
    pub named: bool,
}

/// File counts of a directory.
pub struct Directory {
    /// The displayed path.
    pub path: String,
    /// Files that were audited.
    pub audited: usize,
    /// Files of an unknown format.
    pub other: usize,
    /// Pickles, which are never unpickled.
    pub pickles: usize,
    /// The directory has more files than the limit.
    pub cut: bool,
}

impl Inputs {
    /// Adds an unread file of a directory. Sources and other files are listed separately, so an
    /// unreadable directory is reported twice and kept once.
    pub fn unread_below(&mut self, path: String, why: Unreadable) {
        if !self.unread.iter().any(|known| known.path == path) {
            self.unread.push(Unread { path, why, named: false });
        }
    }
}

/// Collects the files of a directory that are not sources.
pub struct DirectoryFiles {
    about: Directory,
    read: Vec<(String, Model)>,
    unread: Vec<Unread>,
    /// The parts of a split model count as one input.
    tensors: BTreeMap<Format, (usize, String, Model)>,
}

impl DirectoryFiles {
    /// Returns an empty directory.
    pub fn of(path: String) -> Self {
        let about = Directory { path, audited: 0, other: 0, pickles: 0, cut: false };
        Self { about, read: Vec::new(), unread: Vec::new(), tensors: BTreeMap::new() }
    }

    /// Records that the directory has more files than the limit.
    pub fn cut(&mut self) {
        self.about.cut = true;
    }

    /// Adds a file or directory that cannot be read.
    pub fn unread(&mut self, path: String, why: Unreadable) {
        self.unread.push(Unread { path, why, named: false });
    }

    /// Adds a file that was opened. `named_as_model` distinguishes empty models from other empty
    /// files.
    pub fn add(&mut self, path: String, named_as_model: bool, model: Result<Model, Unreadable>) {
        match model {
            Ok(model) => {
                self.about.audited += 1;
                if !matches!(model.format, Format::Safetensors | Format::StateDict) {
                    self.read.push((path, model));
                    return;
                }
                match self.tensors.get_mut(&model.format) {
                    None => {
                        self.tensors.insert(model.format, (1, path, model));
                    }
                    Some((count, _, all)) => {
                        *count += 1;
                        for (dtype, number) in model.dtypes {
                            *all.dtypes.entry(dtype).or_default() += number;
                        }
                    }
                }
            }
            Err(Unreadable::Unknown) => self.about.other += 1,
            // Empty files are common; an empty file named as a model is damaged.
            Err(Unreadable::Empty | Unreadable::Zeros(_)) if !named_as_model => {
                self.about.other += 1;
            }
            Err(Unreadable::Pickle { .. }) => self.about.pickles += 1,
            Err(why) => self.unread(path, why),
        }
    }

    /// Adds the files to the inputs and returns the counts.
    pub fn finish(self, inputs: &mut Inputs) -> Directory {
        inputs.read.extend(self.read);
        inputs.unread.extend(self.unread);
        for (count, path, model) in self.tensors.into_values() {
            let path =
                if count == 1 { path } else { format!("{} ({count} files)", self.about.path) };
            inputs.read.push((path, model));
        }
        self.about
    }
}

/// Returns whether a file has the extension of a model.
pub fn is_model(path: &Path) -> bool {
    const ENDINGS: [&str; 6] = ["pt", "pt2", "pth", "ts", "onnx", "safetensors"];
    path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known))
}

/// Returns whether a file has the name of a model configuration.
pub fn is_config(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "config.json")
}
