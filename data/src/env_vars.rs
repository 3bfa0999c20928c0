//! Names of environment variables and of allocator options: `data/env_vars.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::data_pack::{Pack, PackError};

static TABLE: LazyLock<EnvVars> = LazyLock::new(|| super::table("env_vars"));

/// The variables that the Ascend stack is known to read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvVars {
    /// Format of the file; 1.
    pub schema: u32,
    /// The sources of the names, by the short name used in `names`.
    pub source: BTreeMap<String, String>,
    /// The variables, by source.
    pub names: BTreeMap<String, Vec<String>>,
    /// Options of `PYTORCH_NPU_ALLOC_CONF`.
    pub alloc: AllocKeys,
}

/// Options of `PYTORCH_NPU_ALLOC_CONF`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllocKeys {
    /// Options with the values `True` or `False`.
    pub switches: Vec<String>,
    /// Options with other values.
    pub other: Vec<String>,
}

/// Decodes the table of a pack.
pub(crate) fn check(pack: &'static Pack) -> Result<(), PackError> {
    pack.table::<EnvVars>("env_vars").map(drop)
}

impl EnvVars {
    /// Returns the built-in table.
    pub fn builtin() -> &'static Self {
        &TABLE
    }

    /// Returns every known variable.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.names.values().flatten().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_list_names_its_source_and_no_variable_twice() {
        let table = EnvVars::builtin();
        assert_eq!(table.schema, 1);
        assert!(
            table.names.keys().eq(table.names.keys().filter(|k| table.source.contains_key(*k)))
        );
        let mut seen = BTreeSet::new();
        for name in table.all() {
            assert!(seen.insert(name), "{name} occurs twice");
        }
    }
}
