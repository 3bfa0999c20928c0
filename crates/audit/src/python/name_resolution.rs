//! Resolves a name of one file to the piece of the file that defines it.

use std::ops::Deref;

use foldhash::{HashMap, HashSet};

use pysyntax::dotted;

use super::facts::Facts;
use super::linked_file::{Definition, File};

/// The maximum number of chained re-exports that are followed from one name.
const MOST_STEPS: usize = 8;
/// The maximum number of files searched for one name. Modules with mutual wildcard imports make the
/// number of paths grow exponentially.
const MOST_LOOKS: usize = 200;

/// The files by module: the loaded ones, or those that can be loaded.
pub(super) trait Modules {
    /// A handle for the facts of a file that stays valid while more files are loaded.
    type Held: Deref<Target = Facts>;

    /// Returns the facts of a file.
    fn facts(&self, file: usize) -> Self::Held;

    /// Returns the number of the file of a module, by its dotted name.
    fn module(&mut self, name: &str) -> Option<usize>;
}

/// Returns the piece that a dotted name refers to, seen from a file; `:name` is a name of the file
/// itself.
pub(super) fn definition(modules: &mut impl Modules, file: usize, path: &str) -> Definition {
    resolve(modules, file, path, MOST_STEPS, &mut { MOST_LOOKS })
}

/// A set of files that are all loaded.
pub(super) struct LoadedModules<'f> {
    pub(super) files: &'f [File],
    /// The numbers of the files by module.
    modules: &'f HashMap<String, Option<usize>>,
    /// The first components of all module names.
    roots: HashSet<&'f str>,
}

impl<'f> LoadedModules<'f> {
    /// Creates the set from files and their numbers by module.
    pub(super) fn of(files: &'f [File], modules: &'f HashMap<String, Option<usize>>) -> Self {
        let roots = modules.keys().map(|module| dotted::first(module)).collect();
        Self { files, modules, roots }
    }

    /// Returns whether a path may refer to something in one of the files.
    pub(super) fn may_hold(&self, path: &str) -> bool {
        path.starts_with(':') || self.roots.contains(dotted::first(path))
    }
}

impl<'f> Modules for &LoadedModules<'f> {
    type Held = &'f Facts;

    fn facts(&self, file: usize) -> Self::Held {
        &self.files[file].facts
    }

    fn module(&mut self, name: &str) -> Option<usize> {
        self.modules.get(name).copied().flatten()
    }
}

fn resolve(
    modules: &mut impl Modules,
    file: usize,
    path: &str,
    steps: usize,
    looks: &mut usize,
) -> Definition {
    if steps == 0 || *looks == 0 {
        return None;
    }
    *looks -= 1;
    if let Some(name) = path.strip_prefix(':') {
        return within(modules, file, name, steps, looks);
    }
    let mut end = path.len();
    while let Some(dot) = path[..end].rfind('.') {
        if let Some(number) = modules.module(&path[..dot]) {
            let rest = &path[dot + 1..];
            let name = dotted::first(rest);
            return within(modules, number, name, steps, looks);
        }
        end = dot;
    }
    None
}

fn within(
    modules: &mut impl Modules,
    file: usize,
    name: &str,
    steps: usize,
    looks: &mut usize,
) -> Definition {
    let facts = modules.facts(file);
    if let Some(at) = facts.named(name) {
        return Some((file, at));
    }
    if let Some(path) = facts.exports.of_name(name) {
        return resolve(modules, file, path, steps - 1, looks);
    }
    let mut stars = facts.stars.iter();
    stars.find_map(|star| resolve(modules, file, &dotted::join(star, name), steps - 1, looks))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Modules with mutual wildcard imports.
    struct Tangle(Vec<Facts>, usize);

    impl Modules for Tangle {
        type Held = std::sync::Arc<Facts>;

        fn facts(&self, file: usize) -> Self::Held {
            std::sync::Arc::new(self.0[file].clone())
        }

        fn module(&mut self, name: &str) -> Option<usize> {
            self.1 += 1;
            name.strip_prefix('m')?.parse().ok()
        }
    }

    #[test]
    fn star_import_cycles_terminate() {
        let stars: Vec<String> = (0..12).map(|number| format!("m{number}")).collect();
        let file = || Facts { stars: stars.clone(), ..Facts::default() };
        let mut tangle = Tangle((0..12).map(|_| file()).collect(), 0);
        assert_eq!(definition(&mut tangle, 0, ":nowhere"), None);
        assert!(tangle.1 <= MOST_LOOKS, "{}", tangle.1);
    }
}
