//! From the files that are named to all that they reach.

use std::collections::VecDeque;
use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use super::facts::{Facts, Operator, Role, Unit};
use crate::audit::{Format, Model, Note, Op};

/// As many re-exports as are followed from one name.
const MOST_STEPS: usize = 8;
/// As many files as are followed.
const MOST_FILES: usize = 4_000;

/// Gives the facts of a module that is imported, by its dotted name; nothing where it is not to be
/// followed.
pub(super) type Load<'l> = &'l dyn Fn(&str) -> Option<Arc<Facts>>;

struct File {
    facts: Arc<Facts>,
    /// What each of its paths means, as far as that was asked.
    meant: Vec<Option<Meaning>>,
}

/// The file and the piece that a path means; nothing where it means none that is read.
type Meaning = Option<(usize, usize)>;

impl File {
    fn of(facts: Arc<Facts>) -> Self {
        let meant = vec![None; facts.paths.len()];
        Self { facts, meant }
    }
}

struct Reacher<'l> {
    files: Vec<File>,
    /// The number of the file of a module; nothing where there is none.
    modules: HashMap<String, Option<usize>>,
    load: Load<'l>,
    /// What was reached, and how.
    roles: HashMap<(usize, usize), Role>,
    queue: VecDeque<(usize, usize)>,
    /// Names of methods that are called on what is not known.
    called: HashSet<String>,
    /// Methods of classes that were reached and not called yet.
    waiting: HashMap<String, Vec<(usize, usize)>>,
    classes: HashSet<(usize, String)>,
    full: bool,
}

/// What the files use, and what they reach of others.
pub(super) fn model(roots: Vec<Facts>, load: Load<'_>, backward: bool) -> Model {
    let mut reacher = Reacher {
        files: Vec::new(),
        modules: HashMap::default(),
        load,
        roles: HashMap::default(),
        queue: VecDeque::new(),
        called: HashSet::default(),
        waiting: HashMap::default(),
        classes: HashSet::default(),
        full: false,
    };
    for facts in roots {
        let number = reacher.files.len();
        reacher.modules.entry(facts.module.clone()).or_insert(Some(number));
        reacher.files.push(File::of(Arc::new(facts)));
    }
    reacher.roots();
    reacher.run();
    reacher.into_model(backward)
}

impl Reacher<'_> {
    /// Everything in the files that are named; a function that is referred to counts as its uses do.
    fn roots(&mut self) {
        let count = self.files.len();
        let mut referred: HashSet<(usize, usize)> = HashSet::default();
        for file in 0..count {
            let facts = Arc::clone(&self.files[file].facts);
            for (at, unit) in facts.units.iter().enumerate() {
                for (path, _) in unit.refs.iter().filter(|(_, role)| *role != Role::Named) {
                    if let Some(to) = self.meaning(file, *path)
                        && to != (file, at)
                        && to.0 < count
                    {
                        referred.insert(to);
                    }
                }
            }
        }
        for file in 0..count {
            let facts = Arc::clone(&self.files[file].facts);
            for (at, unit) in facts.units.iter().enumerate() {
                let member = unit.name.contains('.');
                let class = unit.name.starts_with(|c: char| c.is_ascii_uppercase());
                if member || class || unit.name.is_empty() || !referred.contains(&(file, at)) {
                    self.reach((file, at), Role::Run);
                }
            }
        }
    }

    fn reach(&mut self, to: (usize, usize), role: Role) {
        match self.roles.get(&to) {
            Some(known) if *known <= role => return,
            _ => {}
        }
        self.roles.insert(to, role);
        self.queue.push_back(to);
    }

    fn run(&mut self) {
        while let Some((file, at)) = self.queue.pop_front() {
            let facts = Arc::clone(&self.files[file].facts);
            let Some(unit) = facts.units.get(at) else { continue };
            let role = self.roles.get(&(file, at)).copied().unwrap_or(Role::Run);
            for name in &unit.calls {
                if self.called.insert(name.clone()) {
                    for method in self.waiting.remove(name).unwrap_or_default() {
                        self.reach(method, Role::Run);
                    }
                }
            }
            if !unit.name.is_empty() && !unit.name.contains('.') {
                self.members(file, unit);
            }
            for (path, of_ref) in &unit.refs {
                if let Some(to) = self.meaning(file, *path) {
                    // A class that is named while a model is built runs with the model.
                    let named = &self.files[to.0].facts.units[to.1].name;
                    let class = named.starts_with(|c: char| c.is_ascii_uppercase());
                    let named = *of_ref == Role::Named;
                    let role = if class && !named { role } else { role.max(*of_ref) };
                    self.reach(to, role);
                }
            }
        }
    }

    /// The methods of a class that run when it is called, and those that somebody calls.
    fn members(&mut self, file: usize, class: &Unit) {
        if !self.classes.insert((file, class.name.clone())) {
            return;
        }
        let facts = Arc::clone(&self.files[file].facts);
        for (at, unit) in facts.units.iter().enumerate() {
            let Some((owner, method)) = unit.name.split_once('.') else { continue };
            if owner != class.name {
                continue;
            }
            let always = matches!(method, "forward" | "__call__" | "__init__");
            if always || self.called.contains(method) {
                self.reach((file, at), Role::Run);
            } else {
                self.waiting.entry(method.to_owned()).or_default().push((file, at));
            }
        }
    }

    /// The piece that a path of a file means.
    fn meaning(&mut self, file: usize, path: u32) -> Meaning {
        let at = usize::try_from(path).ok()?;
        if let Some(known) = self.files[file].meant.get(at)? {
            return *known;
        }
        let facts = Arc::clone(&self.files[file].facts);
        let meaning = self.resolve(file, facts.paths.of(path), MOST_STEPS);
        self.files[file].meant[at] = Some(meaning);
        meaning
    }

    /// The piece that a dotted name means, seen from a file; `:name` is one of its own.
    fn resolve(&mut self, file: usize, path: &str, steps: usize) -> Option<(usize, usize)> {
        if steps == 0 {
            return None;
        }
        if let Some(name) = path.strip_prefix(':') {
            return self.within(file, name, steps);
        }
        let mut end = path.len();
        while let Some(dot) = path[..end].rfind('.') {
            if let Some(number) = self.module(&path[..dot]) {
                let rest = &path[dot + 1..];
                let name = rest.split('.').next().unwrap_or(rest);
                return self.within(number, name, steps);
            }
            end = dot;
        }
        None
    }

    fn within(&mut self, file: usize, name: &str, steps: usize) -> Option<(usize, usize)> {
        let facts = Arc::clone(&self.files[file].facts);
        if let Some(at) = facts.by_name.get(name) {
            return Some((file, *at));
        }
        let found = facts.exports.binary_search_by(|(known, _)| known.as_str().cmp(name));
        if let Some((_, path)) = found.ok().and_then(|at| facts.exports.get(at)) {
            return self.resolve(file, path, steps - 1);
        }
        facts.stars.iter().find_map(|star| self.resolve(file, &format!("{star}.{name}"), steps - 1))
    }

    fn module(&mut self, name: &str) -> Option<usize> {
        if let Some(known) = self.modules.get(name) {
            return *known;
        }
        let number = if self.files.len() >= MOST_FILES {
            self.full = true;
            None
        } else {
            (self.load)(name).map(|facts| {
                self.files.push(File::of(facts));
                self.files.len() - 1
            })
        };
        self.modules.insert(name.to_owned(), number);
        number
    }

    fn into_model(self, backward: bool) -> Model {
        let mut model = Model::new(Format::Python);
        let mut used: HashMap<&Operator, Found> = HashMap::default();
        let own: HashSet<&str> = self
            .files
            .iter()
            .flat_map(|file| &file.facts.units)
            .filter_map(|unit| Some(unit.name.split_once('.')?.1))
            .collect();
        let mut reached: Vec<((usize, usize), Role)> = self.roles.into_iter().collect();
        reached.sort_unstable_by_key(|(to, _)| *to);
        let mut files: HashSet<usize> = HashSet::default();
        for ((file, at), role) in reached {
            let facts = &self.files[file].facts;
            let Some(unit) = facts.units.get(at) else { continue };
            files.insert(file);
            for one in unit.uses.iter().filter(|one| backward || !one.backward) {
                let role = role.max(one.role);
                // A class of the tree has a method of this name too.
                let other = one.method.is_some_and(|name| own.contains(name));
                let maybe = one.maybe || other || role == Role::Named;
                let setup = role == Role::Setup;
                let found = used.entry(&one.op).or_default();
                found.count += 1;
                found.maybe += u64::from(maybe && !setup);
                found.setup += u64::from(setup);
                let places = if setup || maybe { &mut found.others } else { &mut found.sure };
                if places.len() < MOST_PLACES && places.last() != Some(&(file, one.line)) {
                    places.push((file, one.line));
                }
            }
            for one in &unit.suggestions {
                model.suggestions.push((one.clone(), facts.path.clone()));
                if let Some(at) = facts.import_at {
                    model.imports.insert(facts.path.clone(), at);
                }
            }
            for one in unit.apis.iter().filter(|one| !one.maybe && one.role.max(role) == Role::Run)
            {
                let place = || format!("{}:{}", facts.path, one.line);
                let known = model.apis.entry(one.api).or_default();
                known.count += 1;
                if known.places.len() < MOST_API_PLACES {
                    known.places.push(place());
                }
                for given in &one.given {
                    let places = known.given.entry(given.clone()).or_default();
                    if places.len() < MOST_API_PLACES {
                        places.push(place());
                    }
                }
            }
            for hint in &unit.hints {
                model.hints.push((hint.clone(), facts.path.clone()));
            }
        }
        let mut used: Vec<(Op, Found)> =
            used.into_iter().map(|(operator, found)| (operator.op(), found)).collect();
        used.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        // One that the tables name may be written out in a source too.
        used.dedup_by(|next, first| {
            let same = next.0 == first.0;
            if same {
                first.1.add(std::mem::take(&mut next.1));
            }
            same
        });
        for (op, found) in used {
            model.uses(op.clone(), found.count, None);
            let Some(entry) = model.uses.get_mut(&op) else { continue };
            (entry.maybe, entry.setup) = (found.maybe, found.setup);
            // Where it certainly runs; where it may, if it does so nowhere.
            let mut places = if found.sure.is_empty() { found.others } else { found.sure };
            places.sort_unstable();
            places.dedup();
            places.truncate(MOST_PLACES);
            let name =
                |(file, line): (usize, u32)| format!("{}:{line}", self.files[file].facts.path);
            entry.places = places.into_iter().map(name).collect();
        }
        if self.files.iter().any(|file| file.facts.partly) {
            model.note(Note::NotParsed);
        }
        model.files = files.len() as u64;
        if self.full {
            model.note(Note::NotFollowed);
        }
        model
    }
}

/// Places that are kept of each operator.
const MOST_PLACES: usize = 200;

/// Places that are kept of each API.
const MOST_API_PLACES: usize = 8;

/// Where and how often an operator is used: numbers of files, and lines.
#[derive(Default)]
struct Found {
    count: u64,
    maybe: u64,
    setup: u64,
    sure: Vec<(usize, u32)>,
    others: Vec<(usize, u32)>,
}

impl Found {
    /// Adds what was found by another name of the same operator.
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.maybe += other.maybe;
        self.setup += other.setup;
        self.sure.extend(other.sure);
        self.others.extend(other.others);
    }
}
