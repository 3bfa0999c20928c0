//! The origin of values: strings that reach a place that requires a device.
//!
//! `arg = 'cuda:0'` is a device if `torch.device(arg)` follows later. A [`Slot`] is anything that
//! can hold a value; if a slot is used as a device, all its values are devices.

use std::borrow::Cow;
use std::collections::BTreeMap;

use foldhash::{HashMap, HashSet};
use ruff_python_ast::Expr;
use ruff_text_size::{Ranged as _, TextRange};

use super::roles::{Role, Want, by_name};
use pysyntax::scope::ScopeId;

/// A place that holds a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Slot<'a> {
    /// A variable or parameter, by the scope that binds it.
    Name(ScopeId, &'a str),
    /// An attribute of any object of the file: fields of options and of `self`.
    Attr(Cow<'a, str>),
    /// A key of any dictionary of the file.
    Key(&'a str),
    /// The result of a function, by the scope that it opens.
    Returns(ScopeId),
    /// The result of a function of another file of the tree, by its dotted name.
    Foreign(String),
}

/// A value of a slot, with the number of the next one.
#[derive(Debug)]
struct Value<'a> {
    scope: ScopeId,
    expr: &'a Expr,
    next: Option<usize>,
}

/// Roles and values of a slot.
#[derive(Debug, Default)]
struct Known {
    /// One role for each kind of value.
    roles: [Option<Role>; Want::ALL.len()],
    /// Numbers of the first and the last value.
    values: Option<(usize, usize)>,
}

/// Values of the slots of a file, and the roles in which they are used.
#[derive(Debug, Default)]
pub(super) struct ValueFlow<'a> {
    slots: HashMap<Slot<'a>, Known>,
    /// The values of all slots; most slots have one or two.
    values: Vec<Value<'a>>,
    worklist: Vec<(Role, ScopeId, &'a Expr)>,
    /// Values whose role is weaker than the roles that reach them later.
    later: Vec<(Role, ScopeId, &'a Expr)>,
    /// Variables and results that hold exactly the value of another slot.
    readers: BTreeMap<Slot<'a>, Vec<Slot<'a>>>,
    /// Strings that are compared with a slot, or are the keys of one.
    compared: Vec<(Slot<'a>, ScopeId, &'a Expr)>,
    spread: HashSet<(TextRange, Want)>,
}

impl<'a> ValueFlow<'a> {
    /// Records that `slot` gets the value of `expr`.
    pub(super) fn give(&mut self, slot: Slot<'a>, scope: ScopeId, expr: &'a Expr) {
        let known = self.slots.entry(slot).or_default();
        for role in known.roles.iter().flatten() {
            self.worklist.push((*role, scope, expr));
        }
        let number = self.values.len();
        self.values.push(Value { scope, expr, next: None });
        known.values = match known.values {
            None => Some((number, number)),
            Some((first, last)) => {
                self.values[last].next = Some(number);
                Some((first, number))
            }
        };
    }

    /// Records that `slot` is used in `role`, as are all slots that hold exactly its value.
    pub(super) fn mark(&mut self, slot: &Slot<'a>, role: Role) {
        if !self.mark_one(slot, role) || !matches!(role.want, Want::Device | Want::Backend) {
            return;
        }
        let mut marked = self.readers.get(slot).cloned().unwrap_or_default();
        while let Some(slot) = marked.pop() {
            if self.mark_one(&slot, role) {
                marked.extend(self.readers.get(&slot).into_iter().flatten().cloned());
            }
        }
    }

    /// Marks one slot; returns whether it had no such role.
    fn mark_one(&mut self, slot: &Slot<'a>, role: Role) -> bool {
        let known = match self.slots.get_mut(slot) {
            Some(known) => known,
            None => self.slots.entry(slot.clone()).or_default(),
        };
        if known.roles[role.want as usize].replace(role).is_some() {
            return false;
        }
        let mut at = known.values.map(|(first, _)| first);
        while let Some(number) = at {
            let Value { scope, expr, next } = self.values[number];
            self.worklist.push((role, scope, expr));
            at = next;
        }
        true
    }

    /// Records that `reader` holds exactly the value of `slot`. Only for variables and results:
    /// attributes and keys are identified only by name.
    pub(super) fn read(&mut self, slot: Slot<'a>, reader: &Slot<'a>) {
        let precise = |slot: &Slot<'_>| !matches!(slot, Slot::Attr(_) | Slot::Key(_));
        if !precise(&slot) || !precise(reader) || slot == *reader {
            return;
        }
        for role in self.slots.get(&slot).map(|known| known.roles).into_iter().flatten().flatten() {
            if matches!(role.want, Want::Device | Want::Backend) {
                self.mark(reader, role);
            }
        }
        self.readers.entry(slot).or_default().push(reader.clone());
    }

    /// The device or backend that a slot holds.
    pub(super) fn role_of(&self, slot: &Slot<'a>) -> Option<Want> {
        let roles = &self.slots.get(slot)?.roles;
        [Want::Device, Want::Backend].into_iter().find(|want| roles[*want as usize].is_some())
    }

    /// The slots that hold a device or backend.
    pub(super) fn roles(&self) -> impl Iterator<Item = (&Slot<'a>, Want)> {
        self.slots.keys().filter_map(|slot| Some((slot, self.role_of(slot)?)))
    }

    /// Strings that a variable without a role holds or is compared with, each with the string on
    /// the other side: the words of a choice within the file.
    pub(super) fn own_words(
        &self,
        is_wanted: impl Fn(&Expr) -> bool,
    ) -> Vec<(TextRange, TextRange)> {
        // A slot that passes its value on holds words of the same choice.
        let mut sources: HashMap<&Slot<'a>, Vec<&Slot<'a>>> = HashMap::default();
        for (from, readers) in &self.readers {
            for reader in readers {
                sources.entry(reader).or_default().push(from);
            }
        }
        // Each slot once: the strings assigned to it, and the first string that it is compared
        // with.
        let mut compared: BTreeMap<&Slot<'a>, Vec<&'a Expr>> = BTreeMap::new();
        for (slot, _, expr) in &self.compared {
            if matches!(slot, Slot::Name(..)) && self.role_of(slot).is_none() {
                compared.entry(slot).or_default().push(expr);
            }
        }
        let mut found = Vec::new();
        for (slot, comparisons) in compared {
            let from = sources.get(slot).into_iter().flatten().copied();
            let from = from.filter(|from| self.role_of(from).is_none());
            let given: Vec<&'a Expr> =
                std::iter::once(slot).chain(from).flat_map(|slot| self.texts_of(slot)).collect();
            let (Some(first), Some(comparison)) = (given.first(), comparisons.first()) else {
                continue;
            };
            let wanted = |all: &[&'a Expr], witness: TextRange| {
                let wanted = all.iter().filter(|expr| is_wanted(expr));
                wanted.map(|expr| (expr.range(), witness)).collect::<Vec<_>>()
            };
            found.extend(wanted(&comparisons, first.range()));
            found.extend(wanted(&given, comparison.range()));
        }
        found.sort_unstable_by_key(|(word, _)| (word.start(), word.end()));
        found.dedup_by_key(|(word, _)| *word);
        found
    }

    /// The strings assigned to a slot.
    fn texts_of(&self, slot: &Slot<'a>) -> Vec<&'a Expr> {
        let mut found = Vec::new();
        let mut at = self.slots.get(slot).and_then(|known| known.values).map(|(first, _)| first);
        while let Some(number) = at {
            let Value { expr, next, .. } = self.values[number];
            if expr.is_string_literal_expr() {
                found.push(expr);
            }
            at = next;
        }
        found
    }

    /// The names of variables and fields that hold or are compared with a value that `is_wanted`
    /// accepts.
    pub(super) fn holders(&self, is_wanted: impl Fn(&Expr) -> bool) -> Vec<String> {
        let name = |slot: &Slot<'a>| match slot {
            Slot::Name(_, name) | Slot::Key(name) => Some((*name).to_owned()),
            Slot::Attr(name) => Some(name.to_string()),
            Slot::Foreign(path) => path.rsplit('.').next().map(str::to_owned),
            // The function is identified by a parameter name or by its own name.
            Slot::Returns(_) => Some(String::new()),
        };
        let holds = |known: &Known| {
            let mut at = known.values.map(|(first, _)| first);
            std::iter::from_fn(|| {
                let Value { expr, next, .. } = self.values[at?];
                at = next;
                Some(expr)
            })
            .any(&is_wanted)
        };
        let given = self.slots.iter().filter(|(_, known)| holds(known));
        let mut found: Vec<String> = given.filter_map(|(slot, _)| name(slot)).collect();
        found.sort_unstable();
        let compared = self.compared.iter().filter(|(_, _, expr)| is_wanted(expr));
        found.extend(compared.filter_map(|(slot, ..)| name(slot)));
        found
    }

    /// Marks `slot` with the role that its name implies; returns whether it implies one.
    pub(super) fn mark_by_name(&mut self, slot: &Slot<'a>, name: &str) -> bool {
        let role = by_name(name);
        if let Some(role) = role {
            self.mark(slot, role);
        }
        if name == "map_location" {
            self.mark(slot, Role::LOCATION);
        }
        role.is_some()
    }

    /// Records that `slot` is compared with `expr`.
    pub(super) fn compare(&mut self, slot: Slot<'a>, scope: ScopeId, expr: &'a Expr) {
        self.compared.push((slot, scope, expr));
    }

    /// Returns the next value that is used in a role.
    pub(super) fn next(&mut self) -> Option<(Role, ScopeId, &'a Expr)> {
        self.worklist.pop().or_else(|| self.later.pop())
    }

    /// Records that `expr` is used in a role, unless another role reaches it first.
    pub(super) fn use_later(&mut self, role: Role, scope: ScopeId, expr: &'a Expr) {
        self.later.push((role, scope, expr));
    }

    /// Removes and returns the comparisons whose slot holds a device or backend.
    pub(super) fn take_compared(&mut self) -> Vec<(Want, ScopeId, &'a Expr)> {
        let mut found = Vec::new();
        let slots = &self.slots;
        self.compared.retain(|(slot, scope, expr)| {
            let before = found.len();
            if let Some(known) = slots.get(slot) {
                let wants = [Want::Device, Want::Backend].into_iter();
                let wants = wants.filter(|want| known.roles[*want as usize].is_some());
                found.extend(wants.map(|want| (want, *scope, *expr)));
            }
            found.len() == before
        });
        found
    }

    /// Whether this is the first call for an expression (by its range) in this role.
    pub(super) fn first_time(&mut self, expr: &Expr, want: Want) -> bool {
        self.spread.insert((expr.range(), want))
    }
}
