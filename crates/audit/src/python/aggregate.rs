//! Adds up the operators, calls and notes of all reached pieces.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};
use rayon::prelude::*;

use super::api::{self, Method};
use super::facts::Role;
use super::linked_file::File;
use super::packed::index;
use crate::model::{Calls, Format, Model, Note, Op};
use crate::place::Place;

/// The maximum number of places kept per operator.
const MOST_PLACES: usize = 200;
/// The maximum number of places kept per API.
const MOST_API_PLACES: usize = 8;
/// The number of files that one thread counts at a time.
const AT_A_TIME: usize = 64;

/// An operator that was found.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Operator<'f> {
    /// An operator of the tables, by its number.
    Known(u16),
    /// An operator that a source writes out.
    Written(&'f Op),
}

impl Operator<'_> {
    fn op(self) -> Op {
        match self {
            Self::Known(number) => {
                let name = api::name_of(number);
                let (namespace, name) = name.split_once("::").unwrap_or(("aten", name));
                Op::named(namespace, name)
            }
            Self::Written(op) => op.clone(),
        }
    }
}

/// The number of uses of an operator and their places, as file numbers and lines.
#[derive(Default)]
struct Found {
    count: u64,
    maybe: u64,
    setup: u64,
    sure: Vec<(usize, u32)>,
    others: Vec<(usize, u32)>,
}

impl Found {
    /// Adds a use with this role. A `maybe` use may never run.
    fn note(&mut self, role: Role, maybe: bool, place: (usize, u32)) {
        let maybe = maybe || role == Role::Named;
        let setup = role == Role::Setup;
        self.count += 1;
        self.maybe += u64::from(maybe && !setup);
        self.setup += u64::from(setup);
        let places = if setup || maybe { &mut self.others } else { &mut self.sure };
        if places.len() < MOST_PLACES && places.last() != Some(&place) {
            places.push(place);
        }
    }

    /// Adds uses that were found later, or by another name of the same operator.
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.maybe += other.maybe;
        self.setup += other.setup;
        self.sure.extend(other.sure);
        self.others.extend(other.others);
    }

    /// Returns the first places: those that certainly run, or else those that may.
    fn places(&self, files: &[File]) -> Vec<Place> {
        let mut places = if self.sure.is_empty() { &self.others } else { &self.sure }.clone();
        places.sort_unstable();
        places.dedup();
        places.truncate(MOST_PLACES);
        places.iter().map(|(file, line)| place(&files[*file], *line)).collect()
    }
}

fn place(file: &File, line: u32) -> Place {
    Place::Line(Arc::clone(&file.facts.path), line)
}

/// Returns the model of all reached pieces.
pub(super) fn model(files: &[File], backward: bool) -> Model {
    // A class of the tree may have a method with the name of a tensor method.
    let own: HashSet<Method> =
        files.iter().flat_map(|file| file.facts.shadows.iter().copied()).collect();
    let part = |at: usize, files| (operators(files, at * AT_A_TIME, &own, backward), apis(files));
    let (operators, apis): (Vec<_>, Vec<_>) = if files.len() <= AT_A_TIME {
        std::iter::once(part(0, files)).unzip()
    } else {
        files.par_chunks(AT_A_TIME).enumerate().map(|(at, files)| part(at, files)).unzip()
    };
    let mut used: HashMap<Operator<'_>, Found> = HashMap::default();
    for (operator, found) in operators.into_iter().flatten() {
        used.entry(operator).or_default().add(found);
    }
    let mut model = Model::new(Format::Python);
    for (api, calls) in apis.into_iter().flatten() {
        model.apis.entry(api).or_default().add(calls);
    }
    let used = used.into_iter().map(|(operator, found)| (operator.op(), found));
    let mut used: Vec<(Op, Found)> = used.collect();
    // A source may also write out an operator of the tables.
    used.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    used.dedup_by(|next, first| {
        let same = next.0 == first.0;
        if same {
            first.1.add(std::mem::take(&mut next.1));
        }
        same
    });
    // There are thousands of places, and each list is sorted.
    let places: Vec<Vec<Place>> = used.par_iter().map(|(_, found)| found.places(files)).collect();
    for ((op, found), places) in used.into_iter().zip(places) {
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

/// Returns the operators of some files. `first` is the number of the first file.
fn operators<'f>(
    files: &'f [File],
    first: usize,
    own: &HashSet<Method>,
    backward: bool,
) -> HashMap<Operator<'f>, Found> {
    let mut used: HashMap<Operator<'_>, Found> = HashMap::default();
    for (file, number) in files.iter().zip(first..) {
        for (piece, role) in file.roles.iter().enumerate() {
            let Some(role) = *role else { continue };
            for one in file.facts.uses.at(piece) {
                let role = role.max(one.role);
                let maybe = one.maybe || one.method.is_some_and(|name| own.contains(&name));
                for called in one.reach.operators() {
                    if backward || !(one.backward || called.backward) {
                        let found = used.entry(Operator::Known(called.operator)).or_default();
                        found.note(role, maybe || called.maybe, (number, one.line));
                    }
                }
            }
        }
        for (piece, one) in &file.facts.written {
            if let Some(role) = file.roles.get(index(*piece)).copied().flatten() {
                let found = used.entry(Operator::Written(&one.op)).or_default();
                found.note(role.max(one.role), one.maybe, (number, one.line));
            }
        }
    }
    used
}

/// Returns the reached calls of documented APIs in some files.
fn apis(files: &[File]) -> HashMap<&'static str, Calls> {
    let mut called: HashMap<&'static str, Calls> = HashMap::default();
    for file in files {
        for (piece, one) in &file.facts.apis {
            let role = file.roles.get(index(*piece)).copied().flatten();
            if role.is_none_or(|role| one.role.max(role) != Role::Run) {
                continue;
            }
            let known = called.entry(one.api).or_default();
            known.count += 1;
            if known.places.len() < MOST_API_PLACES {
                known.places.push(place(file, one.line));
            }
            for given in &one.given {
                let places = known.given.entry(given.clone()).or_default();
                if places.len() < MOST_API_PLACES {
                    places.push(place(file, one.line));
                }
            }
        }
    }
    called
}

impl Calls {
    /// Adds the calls of later files.
    fn add(&mut self, later: Self) {
        let first = |places: &mut Vec<Place>, later: Vec<Place>| {
            places.extend(later);
            places.truncate(MOST_API_PLACES);
        };
        self.count += later.count;
        first(&mut self.places, later.places);
        for (given, places) in later.given {
            first(self.given.entry(given).or_default(), places);
        }
    }
}

/// Adds the other facts of a file, as far as it was reached.
fn others(file: &File, model: &mut Model) {
    let facts = &file.facts;
    model.files += u64::from(file.roles.iter().any(Option::is_some));
    let role = |piece: u32| file.roles.get(index(piece)).copied().flatten();
    for (_, one) in facts.suggestions.iter().filter(|(piece, _)| role(*piece).is_some()) {
        model.suggestions.push((one.clone(), facts.path.to_string()));
        if let Some(at) = facts.import_at {
            model.imports.insert(facts.path.to_string(), at);
        }
    }
    let hints = facts.hints.iter().filter(|(piece, _)| role(*piece).is_some());
    model.hints.extend(hints.map(|(_, hint)| (hint.clone(), facts.path.to_string())));
}
