//! The table of rules that ships in the binary, with its indices.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use foldhash::{HashMap, HashSet};
use serde::Deserialize;

use data::{
    data_pack::{Pack, PackError, invalid},
    table, ui,
};

use super::call::{self, Parameter};
use super::place::Place;
use super::rule::{FIELDS, FILES, Match, Rule};
use super::texts;

static BUILTIN: LazyLock<Rules> = LazyLock::new(|| {
    let files = FILES.iter().map(|field| (*field, table(&format!("convert/{field}"))));
    Rules::new(table("convert_rules"), files).expect("the built-in rules are proved by a test")
});

/// Decodes the tables of a pack, and checks them as the tests check the built-in ones.
///
/// # Errors
///
/// For the first table that its reader rejects.
pub fn check_pack(pack: &'static Pack) -> Result<(), PackError> {
    let files = FILES.iter().map(|field| Ok((*field, pack.table(&format!("convert/{field}"))?)));
    let files: Vec<_> = files.collect::<Result<_, PackError>>()?;
    let rules = Rules::new(pack.table("convert_rules")?, files)
        .map_err(|error| invalid("convert_rules", error.to_string()))?;
    texts::check(pack, &rules.rules)
}

/// The whole table, with its indices.
#[derive(Debug)]
pub struct Rules {
    /// All rules, in order of their IDs.
    pub rules: Vec<Rule>,
    /// The versions in whose sources presence was looked up.
    pub versions: Vec<&'static str>,
    /// The rules that match exactly this name: few kinds each.
    exact: HashMap<&'static str, Vec<(Match, usize)>>,
    /// The rule of each place, by its number.
    places: Vec<usize>,
    /// The parameters of functions, by the function: a dotted name, or `*.method`.
    calls: HashMap<&'static str, Vec<Parameter>>,
    /// The last parts of the names of these functions.
    called: HashSet<&'static str>,
    /// Names that end in `*` or are prefixes by kind, without the star.
    prefixes: Vec<(Match, &'static str, usize)>,
    /// The first parts of all dotted names.
    roots: HashSet<&'static str>,
}

/// A defect that makes a table unusable.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unusable {
    /// A duplicate id or name.
    #[error("{0} and {1} have the same id or match the same name {2}")]
    Duplicate(&'static str, &'static str, &'static str),
    /// The name of a parameter that cannot be read.
    #[error("{0}: `{1}` is not `function(parameter)` or `function()`")]
    Call(&'static str, &'static str),
    /// A place of the code without a rule.
    #[error("there is no rule for the place `{0}`")]
    Place(&'static str),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    #[serde(rename = "schema")]
    _schema: u32,
    #[serde(borrow)]
    torch_npu: Vec<&'static str>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "Rule: Deserialize<'de>"))]
pub(super) struct File {
    rule: Vec<Rule>,
}

impl Rules {
    /// The table that ships in the binary.
    pub fn builtin() -> &'static Self {
        &BUILTIN
    }

    pub(super) fn new(
        entry: Entry,
        files: impl IntoIterator<Item = (&'static str, File)>,
    ) -> Result<Self, Unusable> {
        let mut rules = Vec::new();
        for (field, file) in files {
            rules.extend(file.rule.into_iter().map(|rule| Rule { field, ..rule }));
        }
        rules.sort_by_key(|rule| rule.id);
        let mut exact: HashMap<&str, Vec<(Match, usize)>> = HashMap::default();
        let mut prefixes = Vec::new();
        for (at, rule) in rules.iter().enumerate() {
            if at > 0 && rules[at - 1].id == rule.id {
                return Err(Unusable::Duplicate(rule.id, rule.id, ""));
            }
            // Several rules may apply to the values of one parameter.
            for name in rule.names().filter(|_| rule.how != Match::Call) {
                if rule.how == Match::Prefix || name.ends_with('*') {
                    prefixes.push((rule.how, name.trim_end_matches('*'), at));
                    continue;
                }
                let kinds = exact.entry(name).or_default();
                if let Some((_, other)) = kinds.iter().find(|(how, _)| *how == rule.how) {
                    let other: &Rule = &rules[*other];
                    return Err(Unusable::Duplicate(other.id, rule.id, name));
                }
                kinds.push((rule.how, at));
            }
        }
        let mut calls: HashMap<&str, Vec<Parameter>> = HashMap::default();
        for (at, rule) in rules.iter().enumerate().filter(|(_, rule)| rule.how == Match::Call) {
            for name in rule.names() {
                let (function, parameter, position) =
                    call::read(name).ok_or(Unusable::Call(rule.id, name))?;
                let known = calls.entry(function).or_default();
                Parameter::add(known, (parameter, position), &rules, at)?;
            }
        }
        let called = calls.keys().map(|function| last(function)).collect();
        let places = Place::ALL.iter().map(|place| {
            let named = |how| {
                let kinds: &Vec<_> = exact.get(place.name())?;
                kinds.iter().find(|(kind, _)| *kind == how).map(|&(_, at)| at)
            };
            named(Match::Site).or_else(|| named(Match::File)).ok_or(Unusable::Place(place.name()))
        });
        let places = places.collect::<Result<_, _>>()?;
        let dotted = rules.iter().filter(|rule| matches!(rule.how, Match::Api | Match::Prefix));
        let roots = dotted.flat_map(Rule::names).map(root).collect();
        let versions = entry.torch_npu;
        Ok(Self { rules, versions, exact, places, calls, called, prefixes, roots })
    }

    /// Whether any rule matches dotted names with the same root as `path`.
    pub fn knows_root(&self, path: &str) -> bool {
        self.roots.contains(root(path))
    }

    /// The rule of this kind for exactly `name`, or the one with the longest matching prefix.
    pub fn find(&self, how: Match, name: &str) -> Option<&Rule> {
        let kinds = self.exact.get(name).map_or(&[][..], Vec::as_slice);
        if let Some(&(_, at)) = kinds.iter().find(|(kind, _)| *kind == how) {
            return Some(&self.rules[at]);
        }
        self.prefixes
            .iter()
            .filter(|(kind, prefix, _)| {
                (*kind == how || (how == Match::Api && *kind == Match::Prefix))
                    && name.starts_with(prefix)
            })
            .max_by_key(|(_, prefix, _)| prefix.len())
            .map(|&(_, _, at)| &self.rules[at])
    }

    /// Whether rules exist for a function or method whose name ends with `name`.
    pub fn may_call(&self, name: &str) -> bool {
        self.called.contains(name)
    }

    /// Whether rules exist for the function of exactly this dotted name.
    pub fn has_function(&self, function: &str) -> bool {
        self.calls.contains_key(function)
    }

    /// The parameters of a function that have rules. `function` is its dotted name, or the name of
    /// a method of an unknown object. Rules of the function precede those of all methods of this
    /// name.
    pub fn parameters(&self, function: &str) -> Vec<&Parameter> {
        let own = self.calls.get(function).map_or(&[][..], Vec::as_slice);
        let any = self.calls.get(&*format!("*.{}", last(function)));
        let any = any.into_iter().flatten();
        let any = any.filter(|one| own.iter().all(|known| known.name != one.name));
        own.iter().chain(any).collect()
    }

    /// The packages on whose version a rule depends.
    pub fn packages(&self) -> BTreeSet<&'static str> {
        self.rules.iter().flat_map(Rule::needed_packages).collect()
    }

    /// The rules of a parameter, in order of precedence.
    pub fn of_parameter(&self, parameter: &Parameter) -> impl Iterator<Item = &Rule> {
        parameter.rules.iter().map(|rule| &self.rules[*rule])
    }

    /// The rule of a place.
    pub fn site(&self, place: Place) -> &Rule {
        &self.rules[self.places[place as usize]]
    }

    /// The names of the fields, in the order of the files, and their rules.
    pub fn fields(&self) -> impl Iterator<Item = (ui::Label, Vec<&Rule>)> {
        let rules =
            |field| self.rules.iter().filter(move |rule: &&Rule| rule.field == field).collect();
        FIELDS.into_iter().zip(FILES).map(move |(label, field)| (label, rules(*field)))
    }

    /// The rule with this ID.
    pub fn by_id(&self, id: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.id.eq_ignore_ascii_case(id))
    }
}

/// The last part of a dotted name.
fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// The first part of a dotted name.
fn root(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}
