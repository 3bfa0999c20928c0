//! What was reached of all files, counted: the operators with their places, and what else they say.

use std::fmt::Write as _;

use foldhash::{HashMap, HashSet};
use rayon::prelude::*;

use super::facts::{Operator, Role};
use super::reach::File;
use crate::audit::{Format, Model, Note, Op};

/// Places that are kept of each operator.
const MOST_PLACES: usize = 200;
/// Places that are kept of each API.
const MOST_API_PLACES: usize = 8;
/// Files that one thread counts at a time.
const AT_A_TIME: usize = 64;

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
    /// Adds what was found later, or by another name of the same operator.
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.maybe += other.maybe;
        self.setup += other.setup;
        self.sure.extend(other.sure);
        self.others.extend(other.others);
    }

    /// The first places: where it certainly runs; where it may, if it does so nowhere.
    fn places(&mut self, files: &[File]) -> Vec<String> {
        let places = if self.sure.is_empty() { &mut self.others } else { &mut self.sure };
        places.sort_unstable();
        places.dedup();
        places.truncate(MOST_PLACES);
        places.iter().map(|(file, line)| place(&files[*file].facts.path, *line)).collect()
    }
}

/// A place as it is shown.
fn place(path: &str, line: u32) -> String {
    let mut place = String::with_capacity(path.len() + 8);
    place.push_str(path);
    // Nothing keeps a text from growing.
    let _ = write!(place, ":{line}");
    place
}

/// What all that was reached uses.
pub(super) fn model(files: &[File], backward: bool) -> Model {
    // A class of the tree may have a method of the name of one of tensors.
    let own: HashSet<&str> =
        files.iter().flat_map(|file| file.facts.shadows.iter().copied()).collect();
    let parts: Vec<HashMap<&Operator, Found>> = if files.len() <= AT_A_TIME {
        vec![operators(files, 0, &own, backward)]
    } else {
        let parts = files.par_chunks(AT_A_TIME).enumerate();
        parts.map(|(at, files)| operators(files, at * AT_A_TIME, &own, backward)).collect()
    };
    let mut used: HashMap<&Operator, Found> = HashMap::default();
    for (operator, found) in parts.into_iter().flatten() {
        used.entry(operator).or_default().add(found);
    }
    let used = used.into_iter().map(|(operator, found)| (operator.op(), found));
    let mut used: Vec<(Op, Found)> = used.collect();
    // One that the tables name may be written out in a source too.
    used.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    used.dedup_by(|next, first| {
        let same = next.0 == first.0;
        if same {
            first.1.add(std::mem::take(&mut next.1));
        }
        same
    });
    // Thousands of places, each of which is written out.
    let used: Vec<(Op, Found, Vec<String>)> = used
        .into_par_iter()
        .map(|(op, mut found)| {
            let places = found.places(files);
            (op, found, places)
        })
        .collect();
    let mut model = Model::new(Format::Python);
    for (op, found, places) in used {
        model.uses(op.clone(), found.count, None);
        let Some(entry) = model.uses.get_mut(&op) else { continue };
        (entry.maybe, entry.setup, entry.places) = (found.maybe, found.setup, places);
    }
    for file in files {
        others(file, &mut model);
    }
    if files.iter().any(|file| file.facts.partly) {
        model.note(Note::NotParsed);
    }
    model
}

/// The operators of some files, the first of which has the number `first`.
fn operators<'f>(
    files: &'f [File],
    first: usize,
    own: &HashSet<&str>,
    backward: bool,
) -> HashMap<&'f Operator, Found> {
    let mut used: HashMap<&Operator, Found> = HashMap::default();
    for (file, number) in files.iter().zip(first..) {
        for (unit, role) in file.facts.units.iter().zip(&file.roles) {
            let Some(role) = *role else { continue };
            for one in unit.uses.iter().filter(|one| backward || !one.backward) {
                let role = role.max(one.role);
                let other = one.method.is_some_and(|name| own.contains(name));
                let maybe = one.maybe || other || role == Role::Named;
                let setup = role == Role::Setup;
                let found = used.entry(&one.op).or_default();
                found.count += 1;
                found.maybe += u64::from(maybe && !setup);
                found.setup += u64::from(setup);
                let places = if setup || maybe { &mut found.others } else { &mut found.sure };
                if places.len() < MOST_PLACES && places.last() != Some(&(number, one.line)) {
                    places.push((number, one.line));
                }
            }
        }
    }
    used
}

/// What else a file says, as far as it was reached.
fn others(file: &File, model: &mut Model) {
    let facts = &file.facts;
    model.files += u64::from(file.roles.iter().any(Option::is_some));
    for (unit, role) in facts.units.iter().zip(&file.roles) {
        let Some(role) = *role else { continue };
        for one in &unit.suggestions {
            model.suggestions.push((one.clone(), facts.path.clone()));
            if let Some(at) = facts.import_at {
                model.imports.insert(facts.path.clone(), at);
            }
        }
        for one in unit.apis.iter().filter(|one| !one.maybe && one.role.max(role) == Role::Run) {
            let place = || place(&facts.path, one.line);
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
}
