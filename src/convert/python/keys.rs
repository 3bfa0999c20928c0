//! The keys of dictionaries that are called by devices: `{'cpu': f, 'cuda': g}`.
//!
//! They are devices if a device finds the value (`table[x.device.type]`), and names that belong
//! to the file or to its checkpoints if they are read as they are written
//! (`states['cuda']`): then both places keep them.

use foldhash::HashSet;

use ruff_python_ast::{Expr, ExprSubscript};
use ruff_text_size::{Ranged as _, TextRange};

use super::engine::Engine;
use super::literal;
use super::names::{cuda_device, nccl_backend};
use super::roles::Role;
use crate::rules::Place;
use pysyntax::scope::ScopeId;

/// What a file does with such keys.
#[derive(Debug, Default)]
pub(super) struct Keys<'a> {
    tables: Vec<(ScopeId, &'a Expr, Role)>,
    /// Keys that name devices of a file: where `map_location` finds what was saved.
    saved: HashSet<TextRange>,
    /// A key is written out where a value is read: `states['cuda']`.
    named: bool,
    /// A value is found by a device: `table[device]`.
    found_by_device: bool,
}

impl<'a> Engine<'a> {
    /// A key of a dictionary that has another device, or backend, beside it.
    pub(super) fn table_key(&mut self, key: &'a Expr, role: Role) {
        self.keys.tables.push((self.scope, key, role));
    }

    /// `object[…]`
    pub(super) fn subscript_key(&mut self, subscript: &ExprSubscript) {
        match literal::plain(&subscript.slice) {
            Some(key) => self.keys.named |= cuda_device(key) || nccl_backend(key),
            None => self.keys.found_by_device |= self.is_device(&subscript.slice),
        }
    }

    /// Decides about the keys, when the whole file has been seen.
    pub(super) fn settle_keys(&mut self) {
        let keys = std::mem::take(&mut self.keys);
        if keys.named && !keys.found_by_device {
            return;
        }
        for (scope, key, role) in keys.tables {
            if !keys.saved.contains(&key.range()) {
                self.spread_in(scope, key, role);
            }
        }
    }

    /// `map_location={'cuda:0': 'cuda:1'}`: the keys are devices of the file, the values of
    /// this host. Whether `expr` is such a dictionary.
    pub(super) fn location(&mut self, expr: &'a Expr) -> bool {
        let role = Role::device(Place::MapLocation);
        match expr {
            Expr::Dict(dict) => {
                self.flag_site(Place::MapLocationDict, expr.range());
                for item in &dict.items {
                    self.keys.saved.extend(item.key.iter().map(Expr::range));
                    self.spread(&item.value, role);
                }
            }
            Expr::DictComp(one) => {
                self.flag_site(Place::MapLocationDict, expr.range());
                self.inside(expr.range(), |me| me.spread(&one.value, role));
            }
            _ => return false,
        }
        true
    }
}
