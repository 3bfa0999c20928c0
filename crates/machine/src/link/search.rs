//! The search for one name, in the order of the [module documentation](super).

use std::collections::HashSet;
use std::sync::Arc;

use super::hwcaps::Rank;
use super::path::{Words, directories, parent};
use super::{Library, Loader, Member};
use crate::sysroot::ReadError;
use facts::{ElfDefect, ResolvedLibrary};

/// Maximum number of recorded skipped files of a name.
const MAX_SKIPPED: usize = 16;

/// The result of one search.
#[derive(Debug)]
pub(super) enum Search {
    /// Found now.
    Found(ResolvedLibrary, Arc<Library>),
    /// Loaded before, with the location of that time.
    Loaded(ResolvedLibrary, Arc<Library>),
    /// Not found, with the skipped files of that name.
    NotFound(Vec<String>),
}

/// The requesting object: the objects loaded so far, and its position among them.
pub(super) type Asker<'a> = Option<(&'a [Member], usize)>;

/// The subdirectories of one round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    /// Subdirectories that this processor is known to support, and the directories themselves.
    Certain,
    /// Subdirectories for processors, if the processor is unknown.
    Maybe,
}

impl Loader<'_> {
    /// Searches a name as the program itself would by `dlopen`.
    pub fn find(&self, name: &str) -> Option<ResolvedLibrary> {
        match self.search(name, self.program_asks()) {
            Search::Found(found, _) | Search::Loaded(found, _) => Some(found),
            Search::NotFound(_) => None,
        }
    }

    pub(super) fn program_asks(&self) -> Asker<'_> {
        (!self.program.is_empty()).then_some((&self.program, 0))
    }

    pub(super) fn search(&self, name: &str, asker: Asker<'_>) -> Search {
        let mut skipped = Vec::new();
        if name.contains('/') {
            let origin = asker.map(|(members, at)| parent(&members[at].found.path));
            return directories(name, &[], self.words(origin))
                .iter()
                .find_map(|path| self.try_file(path, "path", &mut skipped))
                .unwrap_or(Search::NotFound(skipped));
        }
        if let Some(found) = self.loaded.get(name)
            && let Ok(library) = self.store.open(&found.path)
        {
            return Search::Loaded(found.clone(), library);
        }
        let order = self.order(asker);
        let unknown = !self.hwcaps.maybe.is_empty();
        let rounds: &[Round] =
            if unknown { &[Round::Certain, Round::Maybe] } else { &[Round::Certain] };
        for round in rounds {
            for (via, dir) in &order {
                if let Some(found) = self.try_directory(dir, name, via, *round, &mut skipped) {
                    return found;
                }
            }
            if let Some(found) = self.try_system(name, *round, &mut skipped) {
                return found;
            }
            for dir in &self.system.default {
                if let Some(found) = self.try_directory(dir, name, "default", *round, &mut skipped)
                {
                    return found;
                }
            }
        }
        Search::NotFound(skipped)
    }

    /// Searches the results of `ldconfig`: those in the cache, or those that it would find now.
    fn try_system(&self, name: &str, round: Round, skipped: &mut Vec<String>) -> Option<Search> {
        let Some(cache) = &self.system.cache else {
            return self.try_configured(name, round, skipped);
        };
        let mut ranked: Vec<(usize, &str)> = Vec::new();
        for entry in cache.get(name).into_iter().flatten() {
            match (self.hwcaps.rank(&entry.path, entry.tagged), round) {
                (Rank::At(at), Round::Certain) | (Rank::Maybe(at), Round::Maybe) => {
                    ranked.push((at, &entry.path));
                }
                _ => {}
            }
        }
        ranked.sort_by_key(|(at, _)| *at);
        ranked.iter().find_map(|(_, path)| self.try_file(path, "ld.so.cache", skipped))
    }

    /// Prefers a file for this processor in any directory, including the default ones, over a plain
    /// one, like `ldconfig`.
    fn try_configured(
        &self,
        name: &str,
        round: Round,
        skipped: &mut Vec<String>,
    ) -> Option<Search> {
        let names = if round == Round::Certain { &self.hwcaps.first } else { &self.hwcaps.maybe };
        for sub in names {
            for dir in self.system.configured.iter().chain(&self.system.default) {
                if self.has_subdirectory(dir, sub)
                    && let Some(found) =
                        self.try_file(&join(&join(dir, sub), name), "ld.so.conf", skipped)
                {
                    return Some(found);
                }
            }
        }
        let mut plain = self.system.configured.iter().filter(|_| round == Round::Certain);
        plain.find_map(|dir| self.try_file(&join(dir, name), "ld.so.conf", skipped))
    }

    fn try_directory(
        &self,
        dir: &str,
        name: &str,
        via: &str,
        round: Round,
        skipped: &mut Vec<String>,
    ) -> Option<Search> {
        let dirs = self.with_subdirectories(dir, round);
        dirs.iter().find_map(|dir| self.try_file(&join(dir, name), via, skipped))
    }

    fn with_subdirectories(&self, dir: &str, round: Round) -> Vec<String> {
        let certain = round == Round::Certain;
        let names = if certain { &self.hwcaps.first } else { &self.hwcaps.maybe };
        let mut out: Vec<String> = names
            .iter()
            .filter(|name| self.has_subdirectory(dir, name))
            .map(|name| join(dir, name))
            .collect();
        out.extend(certain.then(|| dir.to_owned()));
        out
    }

    /// Returns whether the first component of a subdirectory exists; checked once for each.
    fn has_subdirectory(&self, dir: &str, sub: &str) -> bool {
        let first = sub.split('/').next().unwrap_or(sub);
        let path = join(dir, first);
        let known = self.subdirectories.lock().ok().and_then(|known| known.get(&path).copied());
        known.unwrap_or_else(|| {
            let there = self.store.sysroot.is_dir(&path);
            if let Ok(mut known) = self.subdirectories.lock() {
                known.insert(path, there);
            }
            there
        })
    }

    pub(super) fn words<'a>(&'a self, origin: Option<&'a str>) -> Words<'a> {
        Words {
            origin,
            lib: &self.system.lib,
            platform: &self.hwcaps.platform,
            cwd: self.cwd.as_deref(),
        }
    }

    /// The searched directories, except for the cache and the defaults.
    fn order(&self, asker: Asker<'_>) -> Vec<(&'static str, String)> {
        let mut out: Vec<(&'static str, String)> = Vec::new();
        let mut known = HashSet::new();
        let mut add = |via: &'static str, dirs: Vec<String>| {
            for dir in dirs {
                if known.insert(dir.clone()) {
                    out.push((via, dir));
                }
            }
        };
        let expand = |path: &str, member: &Member| {
            let origin = parent(&member.found.path);
            directories(path, &[':'], self.words(Some(origin)))
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
                // A parent always comes before its children, so the loop ends.
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
        add("LD_LIBRARY_PATH", self.library_path().to_vec());
        add("set_env.sh", self.assumed.clone());
        add("runpath", runpath.unwrap_or_default());
        out
    }

    fn library_path(&self) -> &[String] {
        self.library_directories.get_or_init(|| {
            directories(&self.library_path, &[':', ';'], self.words(self.origin.as_deref()))
        })
    }

    pub(super) fn is_foreign(&self, library: &Library) -> bool {
        match &library.object {
            Ok(object) => object.machine != self.machine,
            Err(defect) => *defect == ElfDefect::Class,
        }
    }

    /// Returns `None` to continue the search.
    fn try_file(&self, path: &str, via: &str, skipped: &mut Vec<String>) -> Option<Search> {
        match self.store.open(path) {
            Ok(library) if !self.is_foreign(&library) => {
                let real = library.real.clone();
                let found = ResolvedLibrary { path: path.to_owned(), real, via: via.to_owned() };
                Some(Search::Found(found, library))
            }
            Err(ReadError::NotFound | ReadError::NotDirectory) => None,
            Ok(_) | Err(_) => {
                if skipped.len() < MAX_SKIPPED && !skipped.iter().any(|known| known == path) {
                    skipped.push(path.to_owned());
                }
                None
            }
        }
    }
}

pub(super) fn join(dir: &str, name: &str) -> String {
    format!("{}/{name}", dir.trim_end_matches('/'))
}
