//! The keys of dictionaries that are called by devices: `{'cpu': f, 'cuda': g}`.
//!
//! They are devices if a device finds the value (`table[x.device.type]`), and names that belong
//! to the file or to its checkpoints if they are read as they are written
//! (`states['cuda']`): then both places keep them.

use ruff_python_ast::{Expr, ExprSubscript};

use super::engine::Engine;
use super::literal;
use super::names::{cuda_device, nccl_backend};
use super::roles::Role;
use super::scope::ScopeId;

/// What a file does with such keys.
#[derive(Debug, Default)]
pub(super) struct Keys<'a> {
    tables: Vec<(ScopeId, &'a Expr, Role)>,
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
            self.spread_in(scope, key, role);
        }
    }
}
