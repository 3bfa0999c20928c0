//! Where values come from: the strings that reach a place where a device is wanted.
//!
//! `arg = 'cuda:0'` is a device since `torch.device(arg)` stands further down. What can hold a
//! value is a [`Slot`]; a slot that is used as a device makes devices of all that it is given.

use std::collections::{HashMap, HashSet};

use ruff_python_ast::Expr;

use super::roles::{Role, Want};
use super::scope::ScopeId;

/// Something that holds a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Slot {
    /// A variable or parameter, by the scope that binds it.
    Name(ScopeId, String),
    /// An attribute of any object of the file: fields of options and of `self`.
    Attr(String),
    /// A key of any dictionary of the file.
    Key(String),
    /// What a function returns, by the scope that it opens.
    Returns(ScopeId),
}

/// What is known of the values of a file.
#[derive(Debug, Default)]
pub(super) struct Flow<'a> {
    values: HashMap<Slot, Vec<(ScopeId, &'a Expr)>>,
    roles: HashMap<(Slot, Want), Role>,
    worklist: Vec<(Role, ScopeId, &'a Expr)>,
    /// Strings that are compared with a slot, or are the keys of one.
    compared: Vec<(Slot, ScopeId, &'a Expr)>,
    spread: HashSet<(usize, Want)>,
}

impl<'a> Flow<'a> {
    /// `slot` is given the value of `expr`.
    pub(super) fn give(&mut self, slot: Slot, scope: ScopeId, expr: &'a Expr) {
        for want in Want::ALL {
            if let Some(&role) = self.roles.get(&(slot.clone(), want)) {
                self.worklist.push((role, scope, expr));
            }
        }
        self.values.entry(slot).or_default().push((scope, expr));
    }

    /// `slot` is used where `role` is wanted.
    pub(super) fn mark(&mut self, slot: &Slot, role: Role) {
        if self.roles.insert((slot.clone(), role.want), role).is_none()
            && let Some(values) = self.values.get(slot)
        {
            self.worklist.extend(values.iter().map(|&(scope, expr)| (role, scope, expr)));
        }
    }

    /// `slot` is compared with `expr`.
    pub(super) fn compare(&mut self, slot: Slot, scope: ScopeId, expr: &'a Expr) {
        self.compared.push((slot, scope, expr));
    }

    /// The next value that reaches a place where a role is wanted.
    pub(super) fn next(&mut self) -> Option<(Role, ScopeId, &'a Expr)> {
        self.worklist.pop()
    }

    /// Takes the comparisons whose slot turned out to hold a device or backend.
    pub(super) fn take_compared(&mut self) -> Vec<(Want, ScopeId, &'a Expr)> {
        let mut known = Vec::new();
        let roles = &self.roles;
        self.compared.retain(|(slot, scope, expr)| {
            let mut found = false;
            for want in [Want::Device, Want::Backend] {
                if roles.contains_key(&(slot.clone(), want)) {
                    known.push((want, *scope, *expr));
                    found = true;
                }
            }
            !found
        });
        known
    }

    /// Whether an expression (by the offset where it starts) is met for the first time in this
    /// role.
    pub(super) fn first_time(&mut self, expr: &Expr, want: Want) -> bool {
        use ruff_text_size::Ranged as _;
        let range = expr.range();
        let key = range.start().to_usize() ^ range.end().to_usize().rotate_left(32);
        self.spread.insert((key, want))
    }
}
