//! What is known of every CUDA name: `data/convert_rules.toml` and `data/convert/*.toml`.

mod place;
mod presence;
#[cfg(test)]
mod tests;
mod told;

use std::sync::LazyLock;

use foldhash::{HashMap, HashSet};
use serde::{Deserialize, Serialize};

pub use place::Place;
pub use presence::Presence;
pub use told::{Example, Told};

use data::table;

/// The files of the rules below `data/convert/`, by field.
const FILES: &[&str] = &[
    "torch_cuda",
    "torch",
    "distributed",
    "build",
    "environment",
    "libraries",
    "files",
    "formats",
];

static BUILTIN: LazyLock<Rules> = LazyLock::new(|| {
    let files = FILES.iter().map(|field| (*field, table(&format!("convert/{field}"))));
    Rules::new(table("convert_rules"), files).expect("the built-in rules are proved by a test")
});

/// How a rule is recognised in a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Match {
    /// A dotted Python name, after imports and aliases are resolved.
    Api,
    /// All dotted Python names that begin so.
    Prefix,
    /// A method of tensors, modules and storages.
    Method,
    /// An attribute of tensors, modules, streams and events.
    Attribute,
    /// Environment variables.
    Env,
    /// Python packages that are imported.
    Library,
    /// Names in requirement files.
    Package,
    /// An execution provider of onnxruntime.
    Provider,
    /// A place that the code recognises by its shape.
    Site,
    /// Something of a file that is not Python.
    File,
}

impl Match {
    /// The key of its name in `data/ui.toml`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Api => "rule_api",
            Self::Prefix => "rule_prefix",
            Self::Method => "rule_method",
            Self::Attribute => "rule_attribute",
            Self::Env => "rule_env",
            Self::Library => "rule_library",
            Self::Package => "rule_package",
            Self::Provider => "rule_provider",
            Self::Site => "rule_site",
            Self::File => "rule_file",
        }
    }
}

/// How what is written relates to what stood there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// The same name with the same meaning.
    Direct,
    /// Another name.
    Renamed,
    /// It exists, but means or returns something else.
    Semantics,
    /// Must stay as it is.
    Keep,
    /// There is no equivalent.
    Missing,
    /// Text to add.
    Insert,
}

impl Class {
    /// The key of its name in `data/ui.toml`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Direct => "rule_direct",
            Self::Renamed => "rule_renamed",
            Self::Semantics => "rule_semantics",
            Self::Keep => "rule_stays",
            Self::Missing => "rule_missing",
            Self::Insert => "rule_added",
        }
    }
}

/// What `convert` does about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Replace it.
    Rewrite,
    /// Add to it.
    Insert,
    /// Report it: a person has to act.
    Flag,
    /// Report it as information.
    Note,
    /// Leave it.
    Keep,
}

impl Action {
    /// The key of its name in `data/ui.toml`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Rewrite => "rule_rewrite",
            Self::Insert => "rule_insert",
            Self::Flag => "rule_flag",
            Self::Note => "rule_note",
            Self::Keep => "rule_keep",
        }
    }
}

/// One row of the table, as far as planning needs it; the rest is in [`Rule::told`]. Its texts are
/// those of the binary itself: nothing of some hundred rules is copied before it is said.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// `CVnnnn`, never reused.
    pub id: &'static str,
    /// How it is recognised.
    #[serde(rename = "match")]
    pub how: Match,
    /// What is matched; alternatives are separated by `|`.
    pub name: &'static str,
    /// What is written instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<&'static str>,
    /// How that relates to what stood there.
    pub class: Class,
    /// What is done.
    pub action: Action,
    /// The versions of torch_npu in whose sources `to` was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub torch_npu: Option<Vec<&'static str>>,
    /// The rule under which places of this one are reported, where its shape is no place of
    /// its own: `Module.cuda()` looks like `Tensor.cuda()`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_as: Option<&'static str>,
    /// The field that it belongs to: the stem of its file.
    #[serde(default, skip_deserializing)]
    pub field: &'static str,
}

impl Rule {
    /// The names that this rule matches.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.name.split('|')
    }
}

/// The whole table, with its indices.
#[derive(Debug)]
pub struct Rules {
    /// All rules, in id order.
    pub rules: Vec<Rule>,
    /// The versions in whose sources presence was looked up.
    pub versions: Vec<&'static str>,
    /// What matches exactly this name: few kinds each.
    exact: HashMap<&'static str, Vec<(Match, usize)>>,
    /// The rule of each place, by its number.
    places: Vec<usize>,
    /// Names that end in `*` or are prefixes by kind, without the star.
    prefixes: Vec<(Match, &'static str, usize)>,
    /// The first parts of all dotted names.
    roots: HashSet<&'static str>,
}

/// What makes a table unusable.
#[derive(Debug, thiserror::Error)]
enum Unusable {
    /// An id or a name that stands twice.
    #[error("{0} and {1} have the same id or match the same name {2}")]
    Duplicate(&'static str, &'static str, &'static str),
    /// A place that the code knows has none.
    #[error("there is no rule for the place `{0}`")]
    Place(&'static str),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(rename = "schema")]
    _schema: u32,
    #[serde(borrow)]
    torch_npu: Vec<&'static str>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "Rule: Deserialize<'de>"))]
struct File {
    rule: Vec<Rule>,
}

impl Rules {
    /// The table that ships in the binary.
    pub fn builtin() -> &'static Self {
        &BUILTIN
    }

    fn new(
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
            for name in rule.names() {
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
        Ok(Self { rules, versions: entry.torch_npu, exact, places, prefixes, roots })
    }

    /// Whether any rule speaks of dotted names that begin as `path` does.
    pub fn knows_root(&self, path: &str) -> bool {
        self.roots.contains(root(path))
    }

    /// The rule of this kind for exactly `name`, or the one whose prefix it has.
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

    /// The rule of a place.
    pub fn site(&self, place: Place) -> &Rule {
        &self.rules[self.places[place as usize]]
    }

    /// The fields, in the order of the files, and their rules.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, Vec<&Rule>)> {
        FILES
            .iter()
            .map(|field| (*field, self.rules.iter().filter(|rule| rule.field == *field).collect()))
    }

    /// The rule of this id.
    pub fn by_id(&self, id: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.id.eq_ignore_ascii_case(id))
    }
}

/// The first part of a dotted name.
fn root(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}
