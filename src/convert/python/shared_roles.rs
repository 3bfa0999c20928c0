//! Roles that cross file boundaries: one file shows the role of a name that another one binds.
//!
//! ```text
//! plans of all files -> SharedRoles -> Project -> plans of the files that gain by it
//! ```
//!
//! `.to(PLACE)` shows that `PLACE = "cuda"` in another file is a device. Names that imply their
//! role need no sharing.

use std::collections::BTreeMap;

use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};
use ruff_text_size::{Ranged as _, TextRange};

use super::literal;
use super::names::{cuda_device, nccl_backend};
use super::role_flow::RoleFlow;
use super::roles::{Role, Want, by_name};
use super::source::Source;
use super::value_flow::{Slot, ValueFlow};
use crate::ledger::tokens::is_bare;
use crate::rules::Place;
use crate::site::Planner;
use pysyntax::scope::Binding;

/// Maximum number of shared names per tree.
const MAX_NAMES: usize = 20_000;

/// Generic names of attributes and keys: the `value` of one object is unrelated to that of another.
const GENERIC: &[&str] = &[
    "name", "type", "value", "values", "key", "kind", "mode", "id", "data", "text", "label",
    "args", "kwargs", "config", "default", "x", "y", "target", "source", "prefix", "suffix", "tag",
    "path",
];

/// Roles that a file shows to others.
#[derive(Debug, Clone, Default)]
pub(crate) struct ShownRoles {
    pub roles: SharedRoles,
    /// Names that hold a device or backend whose role no place of the file shows.
    pub open: Vec<String>,
    /// Words like devices that only select between variants within the file, each with the place
    /// that shows it.
    pub own_words: Vec<(TextRange, TextRange)>,
}

/// A parameter with the role of its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SharedParameter {
    pub name: String,
    /// Its position, without `self`.
    pub position: usize,
    pub want: Want,
}

/// Roles of names by their dotted names inside the tree.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedRoles {
    /// Variables of modules.
    variables: BTreeMap<String, Want>,
    /// Results of functions.
    results: BTreeMap<String, Want>,
    /// Parameters of functions and of constructors.
    parameters: BTreeMap<String, Vec<SharedParameter>>,
    /// Attributes and keys, only by name.
    fields: BTreeMap<String, Want>,
    /// Whether objects of the tree define `cuda()` and `to()`, but no `npu()`.
    own_movers: bool,
}

impl SharedRoles {
    /// Adds the roles that another file shows. Returns the names that gained a role.
    pub(super) fn merge(&mut self, other: &Self) -> Vec<String> {
        let mut new = Vec::new();
        if other.own_movers && !self.own_movers {
            self.own_movers = true;
            new.push("cuda".to_owned());
        }
        let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
        let pairs = [
            (&mut self.variables, &other.variables),
            (&mut self.results, &other.results),
            (&mut self.fields, &other.fields),
        ];
        for (own, others) in pairs {
            for (name, want) in others {
                if own.len() < MAX_NAMES && !own.contains_key(name) {
                    own.insert(name.clone(), *want);
                    new.push(last(name));
                }
            }
        }
        for (name, others) in &other.parameters {
            if self.parameters.len() >= MAX_NAMES {
                break;
            }
            let own = self.parameters.entry(name.clone()).or_default();
            for parameter in others {
                if !own.contains(parameter) {
                    own.push(parameter.clone());
                    new.push(last(name));
                }
            }
        }
        new
    }

    /// Whether it contains no roles.
    pub(super) fn is_empty(&self) -> bool {
        !self.own_movers
            && self.variables.is_empty()
            && self.results.is_empty()
            && self.parameters.is_empty()
            && self.fields.is_empty()
    }

    /// Whether objects of the tree define `cuda()` and `to()`, but no `npu()`.
    pub(super) fn own_movers(&self) -> bool {
        self.own_movers
    }

    /// The role of an attribute or key of this name.
    pub(crate) fn field(&self, name: &str) -> Option<Want> {
        self.fields.get(name).copied()
    }

    /// The role of the result of a function.
    pub(super) fn result(&self, function: &str) -> Option<Want> {
        self.results.get(function).copied()
    }

    /// The parameters of a function that have a role.
    pub(super) fn parameters(&self, function: &str) -> &[SharedParameter] {
        self.parameters.get(function).map_or(&[], Vec::as_slice)
    }
}

/// The role for a meaning that another file showed.
pub(super) fn role(want: Want) -> Role {
    match want {
        Want::Backend => Role::backend(Place::BackendString),
        _ => Role::device(Place::DeviceString),
    }
}

/// The functions and classes of a module that other files can call, by the called name, with the
/// number of leading `self` parameters.
fn functions(body: &[Stmt]) -> impl Iterator<Item = (String, &StmtFunctionDef, usize)> {
    body.iter().flat_map(|stmt| match stmt {
        Stmt::FunctionDef(def) => vec![(def.name.to_string(), def, 0)],
        Stmt::ClassDef(class) => class
            .body
            .iter()
            .filter_map(Stmt::as_function_def_stmt)
            .filter(|def| def.name.as_str() == "__init__")
            .map(|def| (class.name.to_string(), def, 1))
            .collect(),
        _ => Vec::new(),
    })
}

/// Applies the roles that other files show, before the walk.
pub(super) fn apply<'a>(flow: &mut RoleFlow<'a>, source: &'a Source<'a>, body: &'a [Stmt]) {
    let context = source.context;
    let Some(project) = context.project else { return };
    let shared = project.shared();
    if shared.is_empty() {
        return;
    }
    for (path, want) in &shared.variables {
        let Some((module, name)) = path.rsplit_once('.') else { continue };
        let Some((0, all)) = source.scopes.bindings(name, 0) else { continue };
        let imports = |binding: &Binding<'_>| {
            matches!(binding, Binding::Import { path: from, .. }
                if project.own_path(from, context.package).as_deref() == Some(path))
        };
        let imported = all.iter().any(imports);
        if module == context.name || imported {
            flow.values.mark(&Slot::Name(0, name), role(*want));
            // The constant will be an NPU, and the file that uses it needs torch_npu.
            flow.edits.needs.torch_npu |=
                imported && project.is_open(name) && source.imports.has_torch();
        }
    }
    for (name, want) in &shared.fields {
        flow.values.mark(&Slot::Attr(name.as_str().into()), role(*want));
        flow.values.mark(&Slot::Key(name), role(*want));
        // `settings.PLACE`, where `settings` is a module.
        if name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_') {
            flow.values.mark(&Slot::Name(0, name), role(*want));
        }
    }
    for (name, def, skip) in functions(body) {
        let path = format!("{}.{name}", context.name);
        let Some(opened) = source.scopes.opened_by(def.range()) else { continue };
        if let Some(want) = shared.result(&path) {
            flow.values.mark(&Slot::Returns(opened), role(want));
        }
        let all: Vec<&'a str> =
            def.parameters.iter_non_variadic_params().map(|one| one.name().as_str()).collect();
        for parameter in shared.parameters(&path) {
            if let Some(name) = all.get(parameter.position + skip) {
                flow.values.mark(&Slot::Name(opened, name), role(parameter.want));
            }
        }
    }
}

/// Collects the roles that the file shows for names of other files.
pub(super) fn collect<'a>(
    values: &ValueFlow<'a>,
    source: &Source<'a>,
    body: &'a [Stmt],
) -> SharedRoles {
    let context = source.context;
    let mut shared = SharedRoles::default();
    let Some(project) = context.project else { return shared };
    shared.own_movers = source.definitions.moves_objects();
    let own = |path: &str| project.own_path(path, context.package);
    let keeps_its_name = |name: &str| by_name(name).is_some();
    for (slot, want) in values.roles() {
        match slot {
            Slot::Name(scope, name) if !keeps_its_name(name) => {
                let Some((home, all)) = source.scopes.bindings(name, *scope) else { continue };
                let imported = all.iter().find_map(|binding| match binding {
                    Binding::Import { path, .. } => own(path),
                    _ => None,
                });
                if let Some(path) = imported {
                    shared.variables.insert(path, want);
                } else if home == 0 && !context.name.is_empty() {
                    shared.variables.insert(format!("{}.{name}", context.name), want);
                }
            }
            Slot::Attr(name) => add_field(&mut shared, name, want),
            Slot::Key(name) => add_field(&mut shared, name, want),
            Slot::Foreign(path) => {
                if let Some(path) = own(path) {
                    shared.results.insert(path, want);
                }
            }
            Slot::Name(..) | Slot::Returns(_) => {}
        }
    }
    for (name, def, skip) in functions(body) {
        let path = format!("{}.{name}", context.name);
        let Some(opened) = source.scopes.opened_by(def.range()) else { continue };
        if let Some(want) = values.role_of(&Slot::Returns(opened)) {
            shared.results.insert(path.clone(), want);
        }
        for (at, parameter) in def.parameters.iter_non_variadic_params().enumerate().skip(skip) {
            let name = parameter.name().as_str();
            if let Some(want) = values.role_of(&Slot::Name(opened, name)) {
                let all = shared.parameters.entry(path.clone()).or_default();
                all.push(SharedParameter { name: name.to_owned(), position: at - skip, want });
            }
        }
    }
    shared
}

fn add_field(shared: &mut SharedRoles, name: &str, want: Want) {
    if by_name(name).is_none() && !GENERIC.contains(&name) {
        shared.fields.insert(name.to_owned(), want);
    }
}

/// The names of variables, fields and functions that hold a device or backend whose role no place of
/// the file shows.
pub(super) fn open_names(
    values: &ValueFlow<'_>,
    source: &Source<'_>,
    planner: &Planner<'_>,
) -> Vec<String> {
    let mut names = values.holders(|expr| is_open(expr, planner));
    // Other files call the methods of these objects.
    if source.definitions.moves_objects() {
        names.push("cuda".to_owned());
    }
    names
}

/// Words like devices that only select between variants within the file, with the place that shows
/// it.
pub(super) fn own_words(
    values: &ValueFlow<'_>,
    planner: &Planner<'_>,
) -> Vec<(TextRange, TextRange)> {
    values.own_words(|expr| {
        literal::plain(expr).is_some_and(is_bare)
            && literal::texts(expr).iter().all(|range| !planner.touched(range))
    })
}

fn is_open(expr: &Expr, planner: &Planner<'_>) -> bool {
    literal::plain(expr).is_some_and(|text| cuda_device(text) || nccl_backend(text))
        && literal::texts(expr).iter().all(|range| !planner.touched(range))
}
