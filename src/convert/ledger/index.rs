//! The names that the tree defines, with the place of each definition.

use std::sync::Arc;

use foldhash::HashMap;

use super::entry::{Claim, Class, Definition, DefinitionKind, Reason, Wanted, Witness};
use super::tokens::{Token, is_bare, is_device_word};

/// Maximum number of definitions to keep per run: a hostile tree cannot grow the index without
/// limit.
const MAX_NAMES: usize = 200_000;
/// Maximum number of directories of a path to examine.
const MAX_DEPTH: usize = 16;

/// Names with the first place of each kind of definition.
#[derive(Debug, Default)]
pub(super) struct Index {
    names: HashMap<String, Vec<(DefinitionKind, Arc<str>, u32)>>,
    /// Parts of paths of the tree that contain a token, with one path each.
    paths: HashMap<String, Arc<str>>,
}

impl Index {
    pub(super) fn add(&mut self, path: &Arc<str>, definitions: Vec<Definition>) {
        for Definition { name, kind, line } in definitions {
            if self.names.len() >= MAX_NAMES {
                return;
            }
            let known = self.names.entry(name).or_default();
            if !known.iter().any(|(other, ..)| *other == kind) {
                known.push((kind, Arc::clone(path), line));
            }
        }
    }

    /// Adds the names of a file and of its directories.
    pub(super) fn add_path(&mut self, path: &Arc<str>, relative: &str) {
        if !super::tokens::any(relative.as_bytes()) || self.paths.len() >= MAX_NAMES {
            return;
        }
        // Every part of the path that begins and ends at a directory boundary.
        let slashes = relative.match_indices('/').map(|(at, _)| at);
        let starts = std::iter::once(0).chain(slashes.clone().map(|at| at + 1)).take(MAX_DEPTH);
        for start in starts {
            let ends = slashes.clone().filter(|end| *end > start).take(MAX_DEPTH);
            for end in ends.chain([relative.len()]) {
                let part = &relative[start..end];
                self.paths.entry(part.to_owned()).or_insert_with(|| Arc::clone(path));
            }
            let whole = &relative[start..];
            let stem = whole.rsplit_once('.').map_or(whole, |(stem, _)| stem);
            self.paths.entry(stem.to_owned()).or_insert_with(|| Arc::clone(path));
        }
    }

    /// Turns a claim about a token into a class.
    pub(super) fn decide(&self, claim: Claim, token: Token) -> Class {
        let witness = match claim {
            Claim::Is(class) => return class,
            Claim::Open => None,
            Claim::Own(name, wanted) => self.witness(&name, wanted),
            Claim::OwnOr(name, wanted, class) => match self.witness(&name, wanted) {
                Some(witness) => Some(witness),
                None => return class,
            },
        };
        let witness = witness.or_else(|| self.package(token));
        witness
            .map_or(Class::Unexplained, |witness| Class::Kept { reason: Reason::OwnName, witness })
    }

    /// The place of a library that is the project itself.
    fn package(&self, token: Token) -> Option<Witness> {
        let path = token.is_library().then(|| self.paths.get(token.word()))??;
        Some(Witness::Place(Arc::clone(path), 0))
    }

    fn witness(&self, name: &str, wanted: Wanted) -> Option<Witness> {
        let path = || {
            let name = name.trim_start_matches("./").trim_start_matches("../");
            self.paths.get(name).map(|path| Witness::Place(Arc::clone(path), 0))
        };
        if wanted == Wanted::Path {
            return path();
        }
        // A bare `cuda` is primarily a device name and only then a name of the project.
        let bare = is_bare(name) && !name.eq_ignore_ascii_case("gpu");
        let fits = |kind: DefinitionKind| match wanted {
            Wanted::Any => !bare,
            Wanted::Parameter => kind != DefinitionKind::Name,
            Wanted::Member => {
                use DefinitionKind::{Key, Member, Setting};
                !is_device_word(name) || matches!(kind, Member | Key | Setting)
            }
            Wanted::Code => kind != DefinitionKind::Setting,
            // Settled in the file itself.
            Wanted::Path | Wanted::Variable => false,
        };
        let found = self.names.get(name).and_then(|all| all.iter().find(|(kind, ..)| fits(*kind)));
        let found = found.map(|(_, path, line)| Witness::Place(Arc::clone(path), *line));
        found.or_else(|| if wanted == Wanted::Any && !bare { path() } else { None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index() -> Index {
        let mut index = Index::default();
        let path: Arc<str> = "t/a.py".into();
        let of = |name: &str, kind, line| Definition { name: name.to_owned(), kind, line };
        index.add(
            &path,
            vec![
                of("use_gpu", DefinitionKind::Name, 3),
                of("cuda", DefinitionKind::Name, 4),
                of("gpus", DefinitionKind::Parameter, 5),
            ],
        );
        index.add_path(&"t/csrc/cuda/nms.cu".into(), "csrc/cuda/nms.cu");
        index
    }

    fn line(name: &str, wanted: Wanted) -> Option<u32> {
        let (tokens, _) = crate::ledger::tokens::find("gpu", 1);
        match index().decide(Claim::Own(name.to_owned(), wanted), tokens[0]) {
            Class::Kept { witness: Witness::Place(_, line), .. } => Some(line),
            _ => None,
        }
    }

    #[test]
    fn a_name_of_the_project_has_its_definition_as_witness() {
        assert_eq!(line("use_gpu", Wanted::Any), Some(3));
        assert_eq!(line("gpus", Wanted::Parameter), Some(5));
        assert_eq!(line("csrc/cuda/nms.cu", Wanted::Path), Some(0));
        assert_eq!(line("cuda/nms.cu", Wanted::Path), Some(0));
        assert_eq!(line("csrc/cuda", Wanted::Path), Some(0));
    }

    #[test]
    fn no_definition_no_reason() {
        assert_eq!(line("use_gpus", Wanted::Any), None);
        assert_eq!(line("use_gpu", Wanted::Parameter), None, "a variable is no parameter");
        assert_eq!(line("cuda", Wanted::Any), None, "the name of the device");
        assert_eq!(line("cuda", Wanted::Member), None);
        assert_eq!(line("cuda/conv.cu", Wanted::Path), None);
    }
}
