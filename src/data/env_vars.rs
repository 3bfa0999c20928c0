//! Names of environment variables and of allocator options: `data/env_vars.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

static TABLE: LazyLock<EnvVars> = LazyLock::new(|| super::table("env_vars"));

/// What the Ascend stack is known to read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnvVars {
    /// Format of the file; 1.
    pub schema: u32,
    /// Where the names come from, by the short name used in `names`.
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
    /// Those that are `True` or `False`.
    pub switches: Vec<String>,
    /// Those with another value.
    pub other: Vec<String>,
}

impl EnvVars {
    /// The built-in table.
    pub fn builtin() -> &'static Self {
        &TABLE
    }

    /// Every known variable.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.names.values().flatten().map(String::as_str)
    }
}

/// How many letters have to be inserted, removed, replaced or swapped with their neighbour to
/// turn one word into the other, if it is at most `limit`.
pub fn distance(one: &str, other: &str, limit: usize) -> Option<usize> {
    let (a, b) = (one.as_bytes(), other.as_bytes());
    if a.len().abs_diff(b.len()) > limit || a.len().max(b.len()) > 128 {
        return None;
    }
    let width = b.len() + 1;
    let mut rows: Vec<Vec<usize>> = vec![(0..width).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i; width];
        for j in 1..width {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(rows[i - 2][j - 2] + 1);
            }
        }
        rows.push(row);
    }
    rows.last().and_then(|row| row.last()).copied().filter(|distance| *distance <= limit)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::sysroot::environ;

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

    #[test]
    fn distances() {
        assert_eq!(distance("ASCEND_HOME_PATH", "ASCEND_HOME_PATH", 2), Some(0));
        assert_eq!(distance("ASCEND_HOME_PTAH", "ASCEND_HOME_PATH", 2), Some(1));
        assert_eq!(distance("HCCL_BUFSIZE", "HCCL_BUFFSIZE", 2), Some(1));
        assert_eq!(distance("HCCL_ALGO", "HCCL_IF_IP", 2), None);
        assert_eq!(distance("", "", 0), Some(0));
    }

    #[test]
    fn most_names_are_collected() {
        let missed = EnvVars::builtin().all().filter(|name| !environ::allowed(name)).count();
        assert!(missed < 25, "{missed} names are known but never collected");
    }
}
