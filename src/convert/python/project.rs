//! Names that Python files of a tree share: one file binds them to an object of torch, and another
//! imports them from it.

use std::collections::BTreeSet;

use foldhash::{HashMap, HashSet};
use pep440_rs::Version;

use super::shared_roles::SharedRoles;
use super::{body_of, parse, scope};

/// Names that may refer to torch when imported from another file of the tree.
const CARRIED: &[&str] = &[
    "torch",
    "cuda",
    "amp",
    "autocast",
    "GradScaler",
    "dist",
    "distributed",
    "profiler",
    "nccl",
    "nn",
    "th",
    "DataParallel",
    "custom_fwd",
    "custom_bwd",
];

/// The dotted name of a file of the tree, and of its package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// `utils.compat` for `utils/compat.py`, `utils` for `utils/__init__.py`.
    pub name: String,
    /// The base of relative imports: `utils` for both.
    pub package: String,
}

impl Module {
    /// The module for a path relative to the root of the tree.
    pub fn of(relative: &str) -> Self {
        let path = relative.trim_start_matches("./");
        let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
        let dotted = stem.replace(['/', '\\'], ".");
        let package = dotted.rsplit_once('.').map_or("", |(package, _)| package).to_owned();
        if dotted == "__init__" || dotted.ends_with(".__init__") {
            Self { name: package.clone(), package }
        } else {
            Self { name: dotted, package }
        }
    }
}

/// The names that files import from each other, and the packages of the tree.
#[derive(Debug, Default, Clone)]
pub struct Project {
    /// Dotted name inside the tree to the dotted name of torch.
    names: HashMap<String, String>,
    /// Names that some file imports from another file of the tree.
    imported: HashSet<String>,
    /// The dotted names of all modules and packages of the tree, relative to its root.
    packages: HashSet<String>,
    /// The packages among them (`__init__.py`): their modules do not import each other by bare
    /// name.
    inits: HashSet<String>,
    /// The files among them.
    files: HashSet<String>,
    /// The last parts of all of them, to reject most imported names quickly.
    lasts: HashSet<String>,
    /// Modules that setup.py builds from CUDA sources.
    extensions: HashSet<String>,
    /// The programs that the tree installs.
    programs: HashSet<String>,
    /// Versions of packages that its requirements pin; `None` if they pin several.
    pins: HashMap<String, Option<Version>>,
    /// Roles of names that files bind, shown by other files.
    shared: SharedRoles,
    /// Names that hold a device or backend whose role only another file can show.
    open: BTreeSet<String>,
}

impl Project {
    /// Creates the project from the dotted paths of all modules of the tree, including
    /// `a.b.__init__`.
    pub fn of(modules: impl IntoIterator<Item = String>) -> Self {
        let mut project = Self::default();
        for path in modules {
            let mut name = path.as_str();
            if let Some(package) = name.strip_suffix(".__init__") {
                project.inits.insert(package.to_owned());
                name = package;
            } else {
                project.files.insert(name.to_owned());
            }
            while project.packages.insert(name.to_owned()) {
                let (parent, last) = name.rsplit_once('.').unwrap_or(("", name));
                project.lasts.insert(last.to_owned());
                if parent.is_empty() {
                    break;
                }
                name = parent;
            }
        }
        project
    }

    /// Records that a file of the tree imports a name from another one.
    pub fn add_imported(&mut self, name: &str) {
        if !self.imported.contains(name) {
            self.imported.insert(name.to_owned());
        }
    }

    /// Collects the names that other files can import from the file `module`.
    pub fn add(&mut self, module: &Module, text: &str) {
        let parsed = parse(text, false);
        let Some(body) = body_of(parsed.syntax()) else { return };
        let scopes = scope::Scopes::of(body, &module.package, &|_| None);
        for (name, path) in scopes.exports() {
            if path.starts_with("torch") {
                self.names.insert(format!("{}.{name}", module.name), path);
            }
        }
    }

    /// Adds versions to which the requirements of the tree pin a package.
    pub fn add_pins(&mut self, package: &str, versions: Vec<Version>) {
        for version in versions {
            let pin = self.pins.entry(package.to_owned()).or_insert_with(|| Some(version.clone()));
            if pin.as_ref() != Some(&version) {
                *pin = None;
            }
        }
    }

    /// The version to which the requirements of the tree pin a package.
    pub fn pin(&self, package: &str) -> Option<&Version> {
        self.pins.get(package)?.as_ref()
    }

    /// Adds programs that the tree installs.
    pub fn add_programs(&mut self, names: impl IntoIterator<Item = String>) {
        self.programs.extend(names);
    }

    /// Whether the tree installs a program of this name.
    pub fn is_program(&self, name: &str) -> bool {
        self.programs.contains(name)
    }

    /// Adds modules that setup.py builds from CUDA sources.
    pub fn add_extensions(&mut self, names: impl IntoIterator<Item = String>) {
        self.extensions.extend(names);
    }

    /// The modules that setup.py builds from CUDA sources.
    pub fn extensions(&self) -> impl Iterator<Item = &str> {
        self.extensions.iter().map(String::as_str)
    }

    /// Whether setup.py builds a module of this name from CUDA sources.
    pub(super) fn is_extension(&self, name: &str) -> bool {
        self.extensions.contains(name)
    }

    /// Roles of names that files bind, shown by other files.
    pub(crate) fn shared(&self) -> &SharedRoles {
        &self.shared
    }

    /// Sets the names that hold a device or backend whose role only another file can show.
    pub(crate) fn set_open(&mut self, names: BTreeSet<String>) {
        self.open = names;
    }

    /// Whether a name holds a device or backend whose role only another file can show.
    pub(super) fn is_open(&self, name: &str) -> bool {
        self.open.contains(name)
    }

    /// Adds the roles that a file shows for names of other files. Returns the names that gained a
    /// role.
    pub(crate) fn share(&mut self, shown: &SharedRoles) -> Vec<String> {
        self.shared.merge(shown)
    }

    /// The dotted name, inside the tree, of an import of `path` in a file of `package`.
    pub(super) fn own_path(&self, path: &str, package: &str) -> Option<String> {
        let path = path.trim_start_matches('.');
        let (module, name) = path.rsplit_once('.')?;
        let inner = module.rsplit_once('.').map_or(module, |(_, last)| last);
        if !self.lasts.contains(inner) {
            return None;
        }
        let beside = format!("{package}.{module}");
        let source = format!("src.{module}");
        let below = module.split_once('.').map_or("", |(_, rest)| rest);
        let all = [module, beside.trim_start_matches('.'), &source, below];
        let found = all.into_iter().find(|name| self.packages.contains(*name))?;
        Some(format!("{found}.{name}"))
    }

    /// The torch name that the dotted name of another file of the tree refers to.
    pub(super) fn exports(&self, path: &str) -> Option<&String> {
        let path = path.trim_start_matches('.');
        self.names
            .get(path)
            .or_else(|| path.split_once('.').and_then(|(_, rest)| self.names.get(rest)))
    }

    /// Whether another file of the tree imports a name from this one.
    pub(super) fn is_imported(&self, name: &str) -> bool {
        self.imported.contains(name)
    }

    /// Whether the module `from` of the package `package` finds the package `name` in the tree:
    /// next to itself, at the root, or next to one of its parent directories that are not packages.
    pub(super) fn holds(&self, name: &str, from: &str, package: &str) -> bool {
        if !self.lasts.contains(name.rsplit_once('.').map_or(name, |(_, last)| last)) {
            return false;
        }
        let mut at = package;
        loop {
            let beside = |dir: &str| {
                let path = match at {
                    "" => format!("{dir}{name}"),
                    at => format!("{at}.{dir}{name}"),
                };
                // A directory is a package if it has an `__init__.py`; otherwise it counts only
                // where Python certainly searches.
                let looks = at.is_empty() || at == package;
                path != from
                    && (looks && self.packages.contains(&path)
                        || self.inits.contains(&path)
                        || self.files.contains(&path))
            };
            if !self.inits.contains(at) && (beside("") || beside("src.")) {
                return true;
            }
            if at.is_empty() {
                return false;
            }
            at = at.rsplit_once('.').map_or("", |(parent, _)| parent);
        }
    }
}

/// A name that a file may import from another one, and that may be an object of torch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedName {
    /// The dotted name of the source module, as far as the tree is known.
    pub from: String,
    /// The name.
    pub name: &'static str,
}

impl ImportedName {
    /// The possible names of the source module in the tree, which may be the package itself:
    /// `from yolov5.utils import x`.
    pub fn modules(&self) -> impl Iterator<Item = &str> {
        let inside = self.from.split_once('.').map(|(_, rest)| rest);
        std::iter::once(self.from.as_str()).chain(inside)
    }
}

/// The names that a file in the package `package` may import from other files, by its text.
pub fn imported_names(text: &str, package: &str) -> Vec<ImportedName> {
    let mut found = Vec::new();
    for at in memchr::memmem::find_iter(text.as_bytes(), " import ") {
        let start = memchr::memrchr2(b'\n', b'\r', &text.as_bytes()[..at]).map_or(0, |at| at + 1);
        let Some(module) = text[start..at].trim_start().strip_prefix("from ") else { continue };
        let names = text[at + " import ".len()..].split(['\n', '\r']).next().unwrap_or_default();
        let module = module.trim();
        if module.split('.').next().is_some_and(|root| root.starts_with("torch")) {
            continue;
        }
        let names = names.trim_matches(|c: char| "() \t".contains(c)).split(',');
        let names = names.filter_map(|name| {
            let name = name.split_whitespace().next()?;
            CARRIED.iter().find(|carried| **carried == name)
        });
        found.extend(names.map(|name| ImportedName { from: absolute(module, package), name }));
    }
    found
}

/// The absolute dotted name of a module imported as `module` in a file of `package`.
fn absolute(module: &str, package: &str) -> String {
    let level = module.len() - module.trim_start_matches('.').len();
    if level == 0 {
        return module.to_owned();
    }
    let level = u32::try_from(level).unwrap_or(1);
    let full = scope::relative(package, level, module.trim_start_matches('.'));
    full.trim_start_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_names_follow_paths() {
        let module = |path: &str| {
            let Module { name, package } = Module::of(path);
            (name, package)
        };
        let pair = |name: &str, package: &str| (name.to_owned(), package.to_owned());
        assert_eq!(module("train.py"), pair("train", ""));
        assert_eq!(module("utils/compat.py"), pair("utils.compat", "utils"));
        assert_eq!(module("utils/__init__.py"), pair("utils", "utils"));
    }

    #[test]
    fn packages_are_found_above_a_file() {
        let modules = [
            "a.b.megatron.core.__init__",
            "a.b.megatron.__init__",
            "a.b.t",
            "u.triton",
            "e.lightning.x",
        ];
        let project = Project::of(modules.map(str::to_owned));
        let holds = |name: &str, file: &str| {
            let Module { name: from, package } = Module::of(file);
            project.holds(name, &from, &package)
        };
        assert!(holds("megatron", "a/b/t.py") && holds("megatron", "a/b/megatron/core/x.py"));
        assert!(!holds("megatron", "x.py") && !holds("core", "a/b/megatron/x.py"));
        assert!(!holds("triton", "x.py") && holds("triton", "u/x.py"));
        // Neither a module itself nor the directory of a script is the library of the same name.
        assert!(!holds("triton", "u/triton.py") && !holds("lightning", "e/lightning/x.py"));
    }

    #[test]
    fn names_are_followed_across_files() {
        let found = imported_names("x = 1\nfrom .compat import a, cuda as c # x\n", "pkg");
        assert_eq!(found, [ImportedName { from: "pkg.compat".to_owned(), name: "cuda" }]);
        assert!(imported_names("from torch import cuda\n# from x\nimport cuda\n", "").is_empty());
        let mut project = Project::of(["pkg".to_owned()]);
        project.add_imported("cuda");
        project.add(&Module::of("pkg/compat.py"), "from torch import cuda\n");
        assert_eq!(project.exports(".pkg.compat.cuda").map(String::as_str), Some("torch.cuda"));
        assert!(
            project.is_imported("cuda")
                && project.holds("pkg", "x", "")
                && !project.holds("apex", "x", "")
        );
    }
}
