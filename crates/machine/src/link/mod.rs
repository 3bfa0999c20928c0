//! What glibc's dynamic linker would do, worked out without running anything.
//!
//! [`Loader::closure`] loads an object and all that it needs, breadth first, over the search
//! order of `ld.so(8)`:
//!
//! 1. names that are loaded already (by file name or `DT_SONAME`);
//! 2. `DT_RPATH` of the object and of those that loaded it, up to the program, unless the object
//!    has a `DT_RUNPATH`;
//! 3. `LD_LIBRARY_PATH`;
//! 4. `DT_RUNPATH` of the object;
//! 5. `/etc/ld.so.cache`, or the directories of `/etc/ld.so.conf` where there is no cache;
//! 6. the default directories.
//!
//! In every directory the subdirectories for the processor come first (`hwcaps`). What
//! `LD_PRELOAD` names is loaded after the program and before all others.
//!
//! As the real one does, it passes over files of another class or machine, and stops at the first
//! file that is broken in another way. Not modelled: audit libraries, `DF_1_NODEFLIB`, and what a
//! program opens itself by `dlopen`.

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

/// Most objects of one closure; a hostile tree cannot make it longer.
const MAX_OBJECTS: usize = 600;
/// Most libraries that are preloaded.
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
    /// Its directories, once somebody asks; anew when what their words stand for changes.
    library_directories: OnceLock<Vec<String>>,
    /// The directory of the program, for `$ORIGIN` in `LD_LIBRARY_PATH`.
    origin: Option<String>,
    /// Searched after `LD_LIBRARY_PATH`, where the environment is not known.
    assumed: Vec<String>,
    system: System,
    /// What is loaded before: name -> path and how it was found.
    loaded: BTreeMap<String, ResolvedLibrary>,
    /// The program, what is preloaded, and what these need: the search path of the program comes
    /// last, its symbols first.
    program: Vec<Member>,
    /// What these need and nobody has.
    missing: Vec<NotFound>,
    /// Whether a directory of the search has one of the subdirectories for processors.
    subdirectories: Mutex<HashMap<String, bool>>,
}

/// An object of a closure.
#[derive(Debug, Clone)]
pub struct Member {
    /// The name under which it was asked for; the path for the first.
    pub name: String,
    /// Where and how it was found.
    pub found: ResolvedLibrary,
    /// The file.
    pub library: Arc<Library>,
    /// The member that asked for it first.
    pub parent: Option<usize>,
}

/// A name that no directory holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotFound {
    /// `DT_NEEDED` name.
    pub name: String,
    /// Path of the object that needs it.
    pub needed_by: String,
    /// Files of that name that were passed over: another class or machine, or not readable.
    pub skipped: Vec<String>,
}

/// An object and everything that it loads.
#[derive(Debug, Clone, Default)]
pub struct Closure {
    /// In the order in which symbols are searched; the object itself is first.
    pub members: Vec<Member>,
    /// What is missing.
    pub missing: Vec<NotFound>,
    /// What became of each `DT_NEEDED` that was found: one entry for every member that asks.
    pub loads: Vec<Load>,
}

/// A `DT_NEEDED` that was found.
#[derive(Debug, Clone)]
pub struct Load {
    /// The member that asks.
    pub asker: usize,
    /// The name.
    pub name: String,
    /// Where it is; `loaded` for a name that was loaded before.
    pub found: ResolvedLibrary,
}

/// How a name was found that is loaded already.
const LOADED: &str = "loaded";

impl Closure {
    /// The member that was loaded under this name.
    pub fn get(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| member.answers_to(name))
    }
}

impl Member {
    /// Whether `name` is the name it was asked for, or its `DT_SONAME`.
    pub fn answers_to(&self, name: &str) -> bool {
        self.name == name
            || self
                .library
                .object
                .as_ref()
                .is_ok_and(|object| object.dynamic.soname.as_deref() == Some(name))
    }

    /// What makes the file useless, if anything.
    pub fn defect(&self) -> Option<&ElfDefect> {
        self.library.object.as_ref().err()
    }
}

impl<'a> Loader<'a> {
    /// A linker for `machine` (see [`crate::elf::machine_code`]) with the environment of the
    /// sysroot. `assumed` are directories that are searched too, after `LD_LIBRARY_PATH`.
    /// Nothing is known of the processor until [`Loader::set_processor`].
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

    /// Tells which version of glibc (`2.34`) and which processor it loads for; `None` where that
    /// is not known. Both decide which subdirectories are searched.
    pub fn set_processor(&mut self, glibc: Option<&str>, cpu: Option<&Cpu>) {
        self.hwcaps = Hwcaps::new(&machine_name(self.machine), glibc, cpu);
        self.library_directories = OnceLock::new();
    }

    /// The machine code it loads for.
    pub fn machine(&self) -> u16 {
        self.machine
    }

    /// Makes `path` the program: its `DT_RPATH` serves all others, its symbols come first. What
    /// `LD_PRELOAD` names is loaded next, then what these need. Gives the entries of `LD_PRELOAD`
    /// that cannot be loaded; `ld.so` complains of them and goes on.
    pub fn set_program(&mut self, path: &str) -> Result<Vec<String>, ReadError> {
        let library = self.store.open(path)?;
        let found = resolved(path, &library, "argument");
        self.origin = Some(path::parent(path).to_owned());
        self.library_directories = OnceLock::new();
        self.program = vec![Member { name: path.to_owned(), found, library, parent: None }];
        Ok(self.preload_environment())
    }

    /// Loads what `LD_PRELOAD` and `/etc/ld.so.preload` name, in that order, and what these and
    /// the program need; gives what cannot be loaded.
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

    /// What the program and what is preloaded need, and no directory holds.
    pub fn missing(&self) -> &[NotFound] {
        &self.missing
    }

    /// Loads an object before all others, as an `import` of another module does: whoever asks
    /// later for a name that it loaded gets the same file.
    pub fn preload(&mut self, path: &str) -> Result<(), ReadError> {
        let closure = self.closure(path)?;
        self.remember(&closure);
        Ok(())
    }

    /// Takes a name as loaded from `path`, without looking at what it needs.
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

    /// Loads the object at `path` and all that it needs.
    pub fn closure(&self, path: &str) -> Result<Closure, ReadError> {
        let library = self.store.open(path)?;
        let found = resolved(path, &library, "argument");
        let first = Member { name: path.to_owned(), found, library, parent: None };
        Ok(self.spread(vec![first]))
    }

    /// Loads all that these need, breadth first.
    fn spread(&self, members: Vec<Member>) -> Closure {
        // Name -> member. What one object misses may lie on the search path of another.
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

    /// Searches a name for the member at `at` and adds what is found, or notes that it is
    /// missing. Gives the member, and how it was found if that is not what the member says.
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
                // The first who misses it decides: there the real linker gives up.
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
