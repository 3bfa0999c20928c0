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
//! As the real one does, it passes over files of another class or machine, and stops at the first
//! file that is broken in another way. Not modelled: `glibc-hwcaps` directories, audit libraries,
//! and what a program opens itself by `dlopen`.

mod conf;
mod library;
mod search;
mod symbols;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use library::Library;
pub use symbols::{TORCH_CHECK_FAIL, abi_of, library_class, symbol_class};

use crate::elf::machine_name;
use crate::facts::{ElfDefect, Resolved};
use crate::sysroot::{ReadError, Sysroot};
use conf::System;
use library::Store;
use search::{directories, parent};

/// Most objects of one closure; a hostile tree cannot make it longer.
const MAX_OBJECTS: usize = 600;

/// A dynamic linker for one machine and environment. See the [module documentation](self).
#[derive(Debug)]
pub struct Loader<'a> {
    store: Store<'a>,
    machine: u16,
    arch: String,
    cwd: Option<String>,
    library_path: Vec<String>,
    /// Searched after `LD_LIBRARY_PATH`, where the environment is not known.
    assumed: Vec<String>,
    system: System,
    /// What is loaded before: name -> path and how it was found.
    loaded: BTreeMap<String, Resolved>,
    /// The program and what it needs: its search path comes last, its symbols first.
    program: Vec<Member>,
}

/// An object of a closure.
#[derive(Debug, Clone)]
pub struct Member {
    /// The name under which it was asked for; the path for the first.
    pub name: String,
    /// Where and how it was found.
    pub found: Resolved,
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
}

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

/// The result of one search.
#[derive(Debug)]
enum Search {
    Found(Resolved, Arc<Library>),
    NotFound(Vec<String>),
}

impl<'a> Loader<'a> {
    /// A linker for `machine` (see [`crate::elf::machine_code`]) with the environment of the
    /// sysroot. `assumed` are directories that are searched too, after `LD_LIBRARY_PATH`.
    pub fn new(sysroot: &'a Sysroot, machine: u16, assumed: Vec<String>) -> Self {
        let arch = machine_name(machine);
        let cwd = sysroot.process().cwd.clone();
        let path = sysroot.env().non_empty("LD_LIBRARY_PATH").unwrap_or_default();
        let library_path = if path.is_empty() {
            Vec::new()
        } else {
            directories(path, &[':', ';'], None, &arch, cwd.as_deref())
        };
        Self {
            store: Store::new(sysroot),
            machine,
            arch,
            cwd,
            library_path,
            assumed,
            system: System::read(sysroot, machine),
            loaded: BTreeMap::new(),
            program: Vec::new(),
        }
    }

    /// The machine code it loads for.
    pub fn machine(&self) -> u16 {
        self.machine
    }

    /// Makes `path` the program: its `DT_RPATH` serves all others, its symbols come first, and
    /// what it needs is loaded.
    pub fn set_program(&mut self, path: &str) -> Result<(), ReadError> {
        let closure = self.closure(path)?;
        self.remember(&closure);
        self.program = closure.members;
        Ok(())
    }

    /// The program, if there is one.
    pub fn program(&self) -> &[Member] {
        &self.program
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
            let found = Resolved {
                path: path.to_owned(),
                real: library.real.clone(),
                via: "preloaded".to_owned(),
            };
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
        let found = Resolved {
            path: path.to_owned(),
            real: library.real.clone(),
            via: "argument".to_owned(),
        };
        let mut reals = BTreeSet::from([library.real.clone()]);
        let mut asked: BTreeSet<String> = BTreeSet::new();
        let first = Member { name: path.to_owned(), found, library, parent: None };
        let mut out = Closure { members: vec![first], missing: Vec::new() };
        let mut at = 0;
        while at < out.members.len() && out.members.len() < MAX_OBJECTS {
            let library = Arc::clone(&out.members[at].library);
            for name in library.needed() {
                if !asked.insert(name.clone()) || out.get(name).is_some() {
                    continue;
                }
                match self.search(name, Some((&out.members, at))) {
                    Search::Found(found, library) => {
                        if reals.insert(library.real.clone()) {
                            let name = name.clone();
                            out.members.push(Member { name, found, library, parent: Some(at) });
                        }
                    }
                    Search::NotFound(skipped) => out.missing.push(NotFound {
                        name: name.clone(),
                        needed_by: out.members[at].found.path.clone(),
                        skipped,
                    }),
                }
            }
            at += 1;
        }
        Ok(out)
    }

    /// Searches a name as the program itself would by `dlopen`.
    pub fn find(&self, name: &str) -> Option<Resolved> {
        match self.search(name, None) {
            Search::Found(found, _) => Some(found),
            Search::NotFound(_) => None,
        }
    }

    /// All files of this name in the order of the search of the program, the first one first.
    pub fn find_all(&self, name: &str) -> Vec<Resolved> {
        let mut out: Vec<Resolved> = Vec::new();
        for (via, dir) in self.order(None) {
            let path = join(&dir, name);
            if let Ok(library) = self.store.open(&path)
                && !self.is_foreign(&library)
                && !out.iter().any(|known| known.real == library.real)
            {
                out.push(Resolved { path, real: library.real.clone(), via: via.to_owned() });
            }
        }
        out
    }

    fn search(&self, name: &str, asker: Option<(&[Member], usize)>) -> Search {
        let mut skipped = Vec::new();
        if name.contains('/') {
            let origin = asker.map(|(members, at)| parent(&members[at].found.path));
            let paths = directories(name, &[], origin, &self.arch, self.cwd.as_deref());
            return paths
                .iter()
                .find_map(|path| self.try_file(path, "path", &mut skipped))
                .unwrap_or(Search::NotFound(skipped));
        }
        if let Some(found) = self.loaded.get(name)
            && let Ok(library) = self.store.open(&found.path)
        {
            return Search::Found(found.clone(), library);
        }
        for (via, dir) in self.order(asker) {
            if let Some(found) = self.try_file(&join(&dir, name), via, &mut skipped) {
                return found;
            }
        }
        // A cache knows more than the directories: other paths, also below `glibc-hwcaps`.
        for path in self.system.cache.iter().filter_map(|cache| cache.get(name)).flatten() {
            if let Some(found) = self.try_file(path, "ld.so.cache", &mut skipped) {
                return found;
            }
        }
        for dir in &self.system.default {
            if let Some(found) = self.try_file(&join(dir, name), "default", &mut skipped) {
                return found;
            }
        }
        Search::NotFound(skipped)
    }

    /// The directories of the search, but for the cache and the defaults where there is a cache.
    fn order(&self, asker: Option<(&[Member], usize)>) -> Vec<(&'static str, String)> {
        let mut out: Vec<(&'static str, String)> = Vec::new();
        let mut add = |via: &'static str, dirs: Vec<String>| {
            for dir in dirs {
                if !out.iter().any(|(_, known)| *known == dir) {
                    out.push((via, dir));
                }
            }
        };
        let expand = |path: &str, member: &Member| {
            let origin = parent(&member.found.path);
            directories(path, &[':'], Some(origin), &self.arch, self.cwd.as_deref())
        };
        let runpath = asker.and_then(|(members, at)| {
            let object = members[at].library.object.as_ref().ok()?;
            Some(expand(object.dynamic.runpath.as_deref()?, &members[at]))
        });
        if runpath.is_none() {
            let mut chain = Vec::new();
            let mut next = asker.map(|(_, at)| at);
            while let (Some(at), Some((members, _))) = (next, asker) {
                chain.push(&members[at]);
                // A parent always comes before its children, so that this ends.
                next = members[at].parent;
            }
            chain.extend(self.program.first());
            for member in chain {
                if let Ok(object) = &member.library.object
                    && object.dynamic.runpath.is_none()
                    && let Some(path) = &object.dynamic.rpath
                {
                    add("rpath", expand(path, member));
                }
            }
        }
        add("LD_LIBRARY_PATH", self.library_path.clone());
        add("set_env.sh", self.assumed.clone());
        add("runpath", runpath.unwrap_or_default());
        if self.system.cache.is_none() {
            add("ld.so.conf", self.system.configured.clone());
        }
        out
    }

    fn is_foreign(&self, library: &Library) -> bool {
        match &library.object {
            Ok(object) => object.machine != self.machine,
            Err(defect) => *defect == ElfDefect::Class,
        }
    }

    /// `None` to go on searching.
    fn try_file(&self, path: &str, via: &str, skipped: &mut Vec<String>) -> Option<Search> {
        match self.store.open(path) {
            Ok(library) if self.is_foreign(&library) => {
                if skipped.len() < 16 {
                    skipped.push(path.to_owned());
                }
                None
            }
            Ok(library) => {
                let real = library.real.clone();
                let found = Resolved { path: path.to_owned(), real, via: via.to_owned() };
                Some(Search::Found(found, library))
            }
            Err(ReadError::NotFound | ReadError::NotDirectory) => None,
            Err(_) => {
                if skipped.len() < 16 {
                    skipped.push(path.to_owned());
                }
                None
            }
        }
    }
}

fn join(dir: &str, name: &str) -> String {
    format!("{}/{name}", dir.trim_end_matches('/'))
}
