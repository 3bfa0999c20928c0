//! Simulates glibc's dynamic linker without running anything.
//!
//! [`Loader::closure`] loads an object and all its dependencies, breadth first, in the search order
//! of `ld.so(8)`:
//!
//! 1. names that are already loaded (by file name or `DT_SONAME`);
//! 2. `DT_RPATH` of the object and of its loaders, up to the program, unless the object has a
//!    `DT_RUNPATH`;
//! 3. `LD_LIBRARY_PATH`;
//! 4. `DT_RUNPATH` of the object;
//! 5. `/etc/ld.so.cache`, or the directories of `/etc/ld.so.conf` if there is no cache;
//! 6. the default directories.
//!
//! In every directory the subdirectories for the processor come first (`hwcaps`). Entries of
//! `LD_PRELOAD` are loaded after the program and before all others.
//!
//! Like the real one, it skips files of another class or machine, and stops at the first file with
//! another defect. Not modeled: audit libraries, `DF_1_NODEFLIB`, and objects that a program opens
//! by `dlopen`.

mod conf;
mod hwcaps;
mod library;
mod path;
mod search;
mod symbols;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock};

pub use library::Library;
pub use symbols::{TORCH_CHECK_FAIL, abi_of, library_class, symbol_class};

use crate::elf::machine_name;
use crate::sysroot::{ReadError, Sysroot};
use conf::System;
use facts::{Cpu, ElfDefect, ResolvedLibrary};
use hwcaps::Hwcaps;
use library::Store;
use search::Search;

/// Maximum number of objects in one closure, for hostile trees.
const MAX_OBJECTS: usize = 600;
/// Maximum number of preloaded libraries.
const MAX_PRELOADED: usize = 64;

/// A dynamic linker for one machine and environment. See the [module documentation](self).
#[derive(Debug)]
pub struct Loader<'a> {
    store: Store<'a>,
    machine: u16,
    hwcaps: Hwcaps,
    cwd: Option<String>,
    /// `LD_LIBRARY_PATH`, as written.
    library_path: String,
    /// Its directories, computed on first use and again when the values of its tokens change.
    library_directories: OnceLock<Vec<String>>,
    /// The directory of the program, for `$ORIGIN` in `LD_LIBRARY_PATH`.
    origin: Option<String>,
    /// Searched after `LD_LIBRARY_PATH`, if the environment is unknown.
    assumed: Vec<String>,
    system: System,
    /// Objects that are already loaded: name -> path and how it was found.
    loaded: BTreeMap<String, ResolvedLibrary>,
    /// The program, the preloaded objects, and their dependencies: the search path of the program
    /// comes last, its symbols first.
    program: Vec<Member>,
    /// Their dependencies that were not found.
    missing: Vec<NotFound>,
    /// Cache: whether a searched directory has one of the subdirectories for processors.
    subdirectories: Mutex<HashMap<String, bool>>,
}

/// An object of a closure.
#[derive(Debug, Clone)]
pub struct Member {
    /// The requested name; the path for the first.
    pub name: String,
    /// Its location, and how it was found.
    pub found: ResolvedLibrary,
    /// The file.
    pub library: Arc<Library>,
    /// The first member that requested it.
    pub parent: Option<usize>,
}

/// A name that is in no searched directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotFound {
    /// `DT_NEEDED` name.
    pub name: String,
    /// Path of the object that needs it.
    pub needed_by: String,
    /// Skipped files of that name: another class or machine, or not readable.
    pub skipped: Vec<String>,
}

/// An object and everything that it loads.
#[derive(Debug, Clone, Default)]
pub struct Closure {
    /// In the search order of symbols; the object itself is first.
    pub members: Vec<Member>,
    /// Dependencies that were not found.
    pub missing: Vec<NotFound>,
    /// The locations of all found `DT_NEEDED`: one entry for every requesting member.
    pub loads: Vec<Load>,
}

/// A `DT_NEEDED` with its location.
#[derive(Debug, Clone)]
pub struct Load {
    /// The requesting member.
    pub asker: usize,
    /// The name.
    pub name: String,
    /// Its location; `loaded` for a name that was already loaded.
    pub found: ResolvedLibrary,
}

/// The value of `via` for a name that is already loaded.
const LOADED: &str = "loaded";

impl Closure {
    /// The member that was loaded under this name.
    pub fn get(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.answers_to(name))
    }
}

impl Member {
    /// Returns whether `name` is the requested name, or its `DT_SONAME`.
    pub fn answers_to(&self, name: &str) -> bool {
        self.name == name
            || self
                .library
                .object
                .as_ref()
                .is_ok_and(|object| object.dynamic.soname.as_deref() == Some(name))
    }

    /// The defect that makes the file unusable, if any.
    pub fn defect(&self) -> Option<&ElfDefect> {
        self.library.object.as_ref().err()
    }
}

impl<'a> Loader<'a> {
    /// A linker for `machine` (see [`crate::elf::machine_code`]) with the environment of the
    /// sysroot. `assumed` are directories that are searched too, after `LD_LIBRARY_PATH`. The
    /// processor is unknown until [`Loader::set_processor`].
    pub fn new(sysroot: &'a Sysroot, machine: u16, assumed: Vec<String>) -> Self {
        let path = sysroot.env().non_empty("LD_LIBRARY_PATH").unwrap_or_default();
        Self {
            store: Store::new(sysroot),
            machine,
            hwcaps: Hwcaps::new(&machine_name(machine), None, None),
            cwd: sysroot.process().cwd.clone(),
            library_path: path.to_owned(),
            library_directories: OnceLock::new(),
            origin: None,
            assumed,
            system: System::read(sysroot, machine),
            loaded: BTreeMap::new(),
            program: Vec::new(),
            missing: Vec::new(),
            subdirectories: Mutex::default(),
        }
    }

    /// Sets the version of glibc (`2.34`) and the processor; `None` if unknown. Both determine the
    /// searched subdirectories.
    pub fn set_processor(&mut self, glibc: Option<&str>, cpu: Option<&Cpu>) {
        self.hwcaps = Hwcaps::new(&machine_name(self.machine), glibc, cpu);
        self.library_directories = OnceLock::new();
    }

    /// The machine code of the loaded objects.
    pub fn machine(&self) -> u16 {
        self.machine
    }

    /// Makes `path` the program: its `DT_RPATH` applies to all others, its symbols come first. The
    /// entries of `LD_PRELOAD` are loaded next, then the dependencies of all. Returns the entries
    /// of `LD_PRELOAD` that cannot be loaded; `ld.so` prints an error for each and continues.
    pub fn set_program(&mut self, path: &str) -> Result<Vec<String>, ReadError> {
        let library = self.store.open(path)?;
        let found = resolved(path, &library, "argument");
        self.origin = Some(path::parent(path).to_owned());
        self.library_directories = OnceLock::new();
        self.program = vec![Member { name: path.to_owned(), found, library, parent: None }];
        Ok(self.preload_environment())
    }

    /// Loads the entries of `LD_PRELOAD` and `/etc/ld.so.preload`, in that order, and the
    /// dependencies of these and of the program. Returns the entries that cannot be loaded.
    pub fn preload_environment(&mut self) -> Vec<String> {
        let sysroot = self.store.sysroot;
        let variable = sysroot.env().non_empty("LD_PRELOAD").unwrap_or_default().to_owned();
        let file = sysroot.read_text_if_exists("/etc/ld.so.preload").unwrap_or_default();
        let lines = file.lines().map(|line| line.split('#').next().unwrap_or_default());
        let names = variable
            .split([' ', ':'])
            .chain(lines.flat_map(|line| line.split([' ', '\t', ':'])))
            .filter(|name| !name.is_empty());
        let mut members = std::mem::take(&mut self.program);
        let parent = (!members.is_empty()).then_some(0);
        let mut refused = Vec::new();
        for name in names.take(MAX_PRELOADED) {
            let known = members.iter().any(|member| member.answers_to(name));
            let asker = parent.map(|at| (&members[..], at));
            match self.search(name, asker) {
                _ if known => {}
                Search::Found(found, library) if library.object.is_ok() => {
                    if members.iter().all(|member| member.library.real != library.real) {
                        members.push(Member { name: name.to_owned(), found, library, parent });
                    }
                }
                Search::Loaded(..) => {}
                Search::Found(..) | Search::NotFound(_) => refused.push(name.to_owned()),
            }
        }
        let closure = self.spread(members);
        self.remember(&closure);
        self.program = closure.members;
        self.missing = closure.missing;
        refused
    }

    /// The program, if there is one.
    pub fn program(&self) -> &[Member] {
        &self.program
    }

    /// The dependencies of the program and of the preloaded objects that were not found.
    pub fn missing(&self) -> &[NotFound] {
        &self.missing
    }

    /// Loads an object before all others, as an `import` of another module does: later requests for
    /// a name that it loaded get the same file.
    pub fn preload(&mut self, path: &str) -> Result<(), ReadError> {
        let closure = self.closure(path)?;
        self.remember(&closure);
        Ok(())
    }

    /// Marks a name as loaded from `path`, without loading its dependencies.
    pub fn preload_name(&mut self, name: &str, path: &str) {
        let Ok(library) = self.store.open(path) else { return };
        let usable = library.object.as_ref().is_ok_and(|object| object.machine == self.machine);
        if usable {
            let found = resolved(path, &library, "preloaded");
            let soname =
                library.object.as_ref().ok().and_then(|object| object.dynamic.soname.clone());
            for name in [Some(name.to_owned()), soname].into_iter().flatten() {
                self.loaded.entry(name).or_insert_with(|| found.clone());
            }
        }
    }

    fn remember(&mut self, closure: &Closure) {
        for member in &closure.members {
            let Ok(object) = &member.library.object else { continue };
            let names = [Some(&member.name), object.dynamic.soname.as_ref()];
            for name in names.into_iter().flatten() {
                self.loaded.entry(name.clone()).or_insert_with(|| member.found.clone());
            }
        }
    }

    /// Opens a file without searching.
    pub fn open(&self, path: &str) -> Result<Arc<Library>, ReadError> {
        self.store.open(path)
    }

    /// Loads the object at `path` and all its dependencies.
    pub fn closure(&self, path: &str) -> Result<Closure, ReadError> {
        let library = self.store.open(path)?;
        let found = resolved(path, &library, "argument");
        let first = Member { name: path.to_owned(), found, library, parent: None };
        Ok(self.spread(vec![first]))
    }

    /// Loads all dependencies of these members, breadth first.
    fn spread(&self, members: Vec<Member>) -> Closure {
        // Name -> member. A name that one object does not find may be on the search path of
        // another.
        let mut asked: BTreeMap<String, usize> = BTreeMap::new();
        let reals = members.iter().enumerate();
        let mut reals = reals.map(|(at, member)| (member.library.real.clone(), at)).collect();
        let mut out = Closure { members, ..Closure::default() };
        let mut at = 0;
        while at < out.members.len() && out.members.len() < MAX_OBJECTS {
            let library = Arc::clone(&out.members[at].library);
            for name in library.needed() {
                let known = asked
                    .get(name)
                    .copied()
                    .or_else(|| out.members.iter().position(|member| member.answers_to(name)));
                let loaded = match known {
                    Some(known) => Some((known, Some(LOADED))),
                    None => self.load(name, at, &mut out, &mut reals),
                };
                if let Some((member, via)) = loaded {
                    asked.insert(name.clone(), member);
                    let mut found = out.members[member].found.clone();
                    if let Some(via) = via {
                        via.clone_into(&mut found.via);
                    }
                    out.loads.push(Load { asker: at, name: name.clone(), found });
                }
            }
            at += 1;
        }
        out
    }

    /// Searches a name for the member at `at` and adds the result, or records it as missing.
    /// Returns the member, and how it was found if that differs from the member.
    fn load(
        &self,
        name: &str,
        at: usize,
        out: &mut Closure,
        reals: &mut BTreeMap<String, usize>,
    ) -> Option<(usize, Option<&'static str>)> {
        let (found, library, via) = match self.search(name, Some((&out.members, at))) {
            Search::Found(found, library) => (found, library, None),
            Search::Loaded(found, library) => (found, library, Some(LOADED)),
            Search::NotFound(skipped) => {
                // The first object without it decides, because the real linker stops there.
                if out.missing.iter().all(|missing| missing.name != name) {
                    let needed_by = out.members[at].found.path.clone();
                    out.missing.push(NotFound { name: name.to_owned(), needed_by, skipped });
                }
                return None;
            }
        };
        // The same file under another name is loaded once.
        if let Some(known) = reals.get(&library.real) {
            return Some((*known, Some(LOADED)));
        }
        reals.insert(library.real.clone(), out.members.len());
        out.members.push(Member { name: name.to_owned(), found, library, parent: Some(at) });
        Some((out.members.len() - 1, via))
    }
}

fn resolved(path: &str, library: &Library, via: &str) -> ResolvedLibrary {
    ResolvedLibrary { path: path.to_owned(), real: library.real.clone(), via: via.to_owned() }
}
