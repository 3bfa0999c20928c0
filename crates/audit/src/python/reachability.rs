//! Follows references from the named files to everything that they reach.

use std::collections::VecDeque;
use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use rayon::prelude::*;

use super::aggregate;
use super::facts::{Facts, Role};
use super::linked_file::{Definition, File, Reference};
use super::name_resolution::{self, LoadedModules, Modules};
use super::packed::{Lists, index};
use super::references;
use crate::model::{Model, Note};

/// The maximum number of files that are followed.
const MOST_FILES: usize = 4_000;

/// Returns the facts of an imported module by its dotted name; `None` if the import is not
/// followed.
pub(super) type Load<'l> = &'l dyn Fn(&str) -> Option<Arc<Facts>>;

struct Reachability<'l> {
    files: Vec<File>,
    /// The number of files named by the user. All of their methods are reached.
    named: usize,
    /// The number of the file of a module; `None` if the module has no file.
    modules: HashMap<String, Option<usize>>,
    /// `None` if imports are not followed.
    load: Option<Load<'l>>,
    queue: VecDeque<(usize, usize)>,
    /// Names of methods called on values of unknown kind.
    called: HashSet<String>,
    /// Methods of reached classes that were not called yet.
    waiting: HashMap<String, Vec<(usize, usize)>>,
    /// Classes whose methods were processed, each as a file and the first piece with the name.
    classes: HashSet<(usize, usize)>,
    full: bool,
}

/// Returns the model of the files and of everything that they reach.
pub(super) fn model(roots: Vec<Arc<Facts>>, load: Option<Load<'_>>, backward: bool) -> Model {
    let mut reacher = Reachability {
        files: Vec::with_capacity(roots.len()),
        named: roots.len(),
        modules: HashMap::default(),
        load,
        queue: VecDeque::new(),
        called: HashSet::default(),
        waiting: HashMap::default(),
        classes: HashSet::default(),
        full: false,
    };
    let file = if load.is_some() { File::followed } else { File::of };
    for (number, facts) in roots.into_iter().enumerate() {
        reacher.modules.entry(facts.module.clone()).or_insert(Some(number));
        reacher.files.push(file(facts));
    }
    if load.is_none() {
        reacher.link();
    }
    reacher.roots();
    reacher.run();
    let mut model = aggregate::model(&reacher.files, backward);
    if reacher.full {
        model.note(Note::NotFollowed);
    }
    // Dropping thousands of files is slow, so it happens in the background.
    rayon::spawn(move || drop(reacher.files));
    model
}

impl Reachability<'_> {
    /// Resolves the names of all files in parallel, which is possible because no file is loaded
    /// later.
    fn link(&mut self) {
        let known = LoadedModules::of(&self.files, &self.modules);
        let links: Vec<Lists<Reference>> = (0..self.files.len())
            .into_par_iter()
            .map(|file| references::references(&known, file))
            .collect();
        for (file, links) in self.files.iter_mut().zip(links) {
            file.links = links;
        }
    }

    /// Reaches everything in the named files. A referenced function takes its role from its uses.
    fn roots(&mut self) {
        let mut referred: Vec<Vec<bool>> =
            self.files.iter().map(|file| vec![false; file.facts.pieces.len()]).collect();
        for file in 0..self.named {
            let links = self.files[file].links.all().iter();
            for link in links.filter(|link| link.role != Role::Named) {
                referred[link.to.0][link.to.1] = true;
            }
            if self.load.is_none() {
                continue;
            }
            let facts = Arc::clone(&self.files[file].facts);
            for at in 0..facts.pieces.len() {
                for one in facts.refs.at(at).iter().filter(|one| one.role != Role::Named) {
                    if let Some(to) = self.meaning(file, one.path)
                        && to != (file, at)
                        && let Some(referred) = referred.get_mut(to.0)
                    {
                        referred[to.1] = true;
                    }
                }
            }
        }
        for (file, referred) in referred.into_iter().enumerate() {
            let facts = Arc::clone(&self.files[file].facts);
            for (at, referred) in referred.into_iter().enumerate() {
                let always = |name: &str| name.is_empty() || name.contains('.');
                if !referred || facts.is_class(at) || always(facts.pieces.of(at)) {
                    self.reach((file, at), Role::Run);
                }
            }
        }
    }

    fn reach(&mut self, to: (usize, usize), role: Role) {
        let Some(known) = self.files[to.0].roles.get_mut(to.1) else { return };
        if known.is_some_and(|known| known <= role) {
            return;
        }
        *known = Some(role);
        if self.load.is_some() || !self.files[to.0].links.at(to.1).is_empty() {
            self.queue.push_back(to);
        }
    }

    fn run(&mut self) {
        while let Some((file, at)) = self.queue.pop_front() {
            if self.load.is_none() {
                self.along(file, at);
                continue;
            }
            let facts = Arc::clone(&self.files[file].facts);
            let role = self.files[file].roles.get(at).copied().flatten().unwrap_or(Role::Run);
            self.calls(facts.calls.at(at));
            let name = facts.pieces.of(at);
            if file >= self.named && !name.is_empty() && !name.contains('.') {
                self.members(file, name);
            }
            for one in facts.refs.at(at) {
                if let Some(to) = self.meaning(file, one.path) {
                    let class = self.files[to.0].facts.is_class(to.1);
                    self.reach(to, role.max(one.role.of_reference(class)));
                }
            }
        }
    }

    /// Follows the references of a piece if no files are loaded.
    fn along(&mut self, file: usize, at: usize) {
        let role = self.files[file].roles.get(at).copied().flatten().unwrap_or(Role::Run);
        let mut next = 0;
        while let Some(link) = self.files[file].links.at(at).get(next).copied() {
            self.reach(link.to, role.max(link.role));
            next += 1;
        }
    }

    /// Reaches the methods that a piece calls on values of unknown kind.
    fn calls(&mut self, methods: &[String]) {
        for name in methods {
            if self.called.insert(name.clone()) {
                for method in self.waiting.remove(name).unwrap_or_default() {
                    self.reach(method, Role::Run);
                }
            }
        }
    }

    /// Reaches the methods of a class that run when it is called, and those that are called by
    /// name.
    fn members(&mut self, file: usize, class: &str) {
        let facts = Arc::clone(&self.files[file].facts);
        if facts.named(class).is_none_or(|first| !self.classes.insert((file, first))) {
            return;
        }
        for (at, method) in facts.methods(class) {
            let always = matches!(method, "forward" | "__call__" | "__init__");
            if always || self.called.contains(method) {
                self.reach((file, at), Role::Run);
            } else {
                self.waiting.entry(method.to_owned()).or_default().push((file, at));
            }
        }
    }

    /// Returns the piece that a path of a file refers to.
    fn meaning(&mut self, file: usize, path: u32) -> Definition {
        let at = index(path);
        if let Some(known) = self.files[file].meant.get(at)? {
            return *known;
        }
        let facts = Arc::clone(&self.files[file].facts);
        let meaning = name_resolution::definition(self, file, facts.paths.of(at));
        self.files[file].meant[at] = Some(meaning);
        meaning
    }
}

impl Modules for Reachability<'_> {
    type Held = Arc<Facts>;

    fn facts(&self, file: usize) -> Self::Held {
        Arc::clone(&self.files[file].facts)
    }

    fn module(&mut self, name: &str) -> Option<usize> {
        if let Some(known) = self.modules.get(name) {
            return *known;
        }
        // Without followed imports, all files are in the tree already.
        let load = self.load?;
        let number = if self.files.len() >= MOST_FILES {
            self.full = true;
            None
        } else {
            load(name).map(|facts| {
                self.files.push(File::followed(facts));
                self.files.len() - 1
            })
        };
        self.modules.insert(name.to_owned(), number);
        number
    }
}
