//! Dictionary keys that are device names: `{'cpu': f, 'cuda': g}`.
//!
//! They are devices if a device is used to look up the value (`table[x.device.type]`), and names
//! that belong to the file or to its checkpoints if they are read literally (`states['cuda']`):
//! then both places keep them.

use foldhash::HashSet;

use ruff_python_ast::{Expr, ExprSubscript};
use ruff_text_size::{Ranged as _, TextRange};

use super::literal;
use super::names::{cuda_device, nccl_backend};
use super::roles::Role;
use super::source::Source;
use pysyntax::scope::ScopeId;

/// Keys of dictionaries that may be devices, and how the file uses them.
#[derive(Debug, Default)]
pub(super) struct DeviceKeys<'a> {
    tables: Vec<(&'a Expr, Role, ScopeId)>,
    /// Keys that name devices of a checkpoint file: `map_location` uses them to find saved tensors.
    saved: HashSet<TextRange>,
    /// A value is read with a literal key: `states['cuda']`.
    named: bool,
    /// A value is looked up with a device: `table[device]`.
    found_by_device: bool,
}

impl<'a> DeviceKeys<'a> {
    /// Records a key of a dictionary that has another device, or backend, among its keys.
    pub(super) fn add_key(&mut self, key: &'a Expr, role: Role, scope: ScopeId) {
        self.tables.push((key, role, scope));
    }

    /// Records the keys of a `map_location`: they name the devices in the loaded file.
    pub(super) fn keep(&mut self, keys: impl Iterator<Item = TextRange>) {
        self.saved.extend(keys);
    }

    /// Records `object[…]`.
    pub(super) fn add_subscript(
        &mut self,
        source: &Source<'_>,
        subscript: &ExprSubscript,
        scope: ScopeId,
    ) {
        match literal::plain(&subscript.slice) {
            Some(key) => self.named |= cuda_device(key) || nccl_backend(key),
            None => self.found_by_device |= source.is_device(&subscript.slice, scope),
        }
    }

    /// Returns the keys that hold devices or backends, after the walk over the whole file. `likely`
    /// means that the file may hold devices at all.
    pub(super) fn settle(self, likely: bool) -> impl Iterator<Item = (&'a Expr, Role, ScopeId)> {
        let keep_all = (self.named || !likely) && !self.found_by_device;
        let tables = if keep_all { Vec::new() } else { self.tables };
        tables.into_iter().filter(move |(key, ..)| !self.saved.contains(&key.range()))
    }
}
