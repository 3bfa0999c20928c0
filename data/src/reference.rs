//! Reference facts about environment variables and files of the stack, looked up by name:
//! `data/env_values.tsv` and `data/paths.tsv`.

use std::sync::LazyLock;

use crate::data_pack::{Pack, PackError, invalid};
use crate::text;
use base::text::Text;

static VARIABLES: LazyLock<VariableTable> =
    LazyLock::new(|| VariableTable::parse(text(VALUES)).expect("the table is proved by a test"));
static FILES: LazyLock<PathTable> =
    LazyLock::new(|| PathTable::parse(text(PATHS)).expect("the table is proved by a test"));
const VALUES: &str = "env_values.tsv";
const PATHS: &str = "paths.tsv";

/// Parses the tables of a pack.
pub(crate) fn check(pack: &'static Pack) -> Result<(), PackError> {
    VariableTable::parse(pack.text(VALUES)?).map_err(|why| invalid(VALUES, why))?;
    PathTable::parse(pack.text(PATHS)?).map_err(|why| invalid(PATHS, why))?;
    Ok(())
}

/// The variables.
#[derive(Debug)]
pub struct VariableTable(Vec<Variable>);

/// An environment variable.
#[derive(Debug, Clone, Copy)]
pub struct Variable {
    /// The name.
    pub name: &'static str,
    /// Accepted values: `120..7200`, `1..`, `0|1|2`, `path`, `devices`, `interface`, `text`. Empty
    /// if no source lists them.
    pub values: &'static str,
    /// The value if the variable is not set; empty if no source states it.
    pub default: &'static str,
    /// The unit of a number.
    pub unit: &'static str,
    /// The effect of the variable.
    en: &'static str,
    zh: &'static str,
    /// The source of the row.
    pub source: &'static str,
}

impl VariableTable {
    /// Returns the built-in table.
    pub fn builtin() -> &'static Self {
        &VARIABLES
    }

    fn parse(text: &'static str) -> Result<Self, String> {
        let mut table = Vec::new();
        for (line, cells) in rows(text) {
            let [name, values, default, unit, en, zh, source] = cells[..] else {
                return Err(format!("line {line} has {} cells", cells.len()));
            };
            if name.is_empty() || source.is_empty() || en.is_empty() || zh.is_empty() {
                return Err(format!("line {line} has an empty cell"));
            }
            table.push(Variable { name, values, default, unit, en, zh, source });
        }
        Ok(Self(table))
    }

    /// Returns the variable with this name.
    pub fn find(&self, name: &str) -> Option<&Variable> {
        self.0.iter().find(|row| row.name == name)
    }

    /// Returns all variables.
    pub fn rows(&self) -> &[Variable] {
        &self.0
    }
}

impl Variable {
    /// Returns the effect of the variable.
    pub fn about(&self) -> Text {
        Text::new(self.en, self.zh)
    }

    /// Returns the variable that CANN reads instead, if CANN does not read this one.
    pub fn read_instead(&self) -> Option<&'static str> {
        self.values.strip_prefix("unread:")
    }

    /// Returns whether the source lists every value. Words such as `path` represent arbitrary
    /// texts.
    pub fn is_closed(&self) -> bool {
        let open = |part: &str| matches!(part, "path" | "interface" | "text");
        !self.values.is_empty()
            && self.read_instead().is_none()
            && !self.values.split('|').any(open)
    }

    /// Returns whether a value is one of those that the source lists; `None` if it lists none.
    pub fn accepts(&self, value: &str) -> Option<bool> {
        let number = value.parse::<i64>();
        let fits = |part: &str| match part.split_once("..") {
            Some((low, high)) => match (low.parse::<i64>(), &number) {
                // Without a documented maximum, every larger value is accepted.
                (Ok(low), Ok(number)) if high.is_empty() => *number >= low,
                (Ok(low), Ok(number)) => {
                    high.parse().is_ok_and(|high: i64| (low..=high).contains(number))
                }
                _ => false,
            },
            None if part == "devices" => {
                let is_id =
                    |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
                value.split(',').all(is_id)
            }
            None => part.eq_ignore_ascii_case(value),
        };
        self.is_closed().then(|| self.values.split('|').any(fits))
    }
}

/// The files.
#[derive(Debug)]
pub struct PathTable(Vec<KnownPath>);

/// A file, library or module.
#[derive(Debug, Clone, Copy)]
pub struct KnownPath {
    /// An absolute path, or the name of a library or module; `<N>` stands for a number.
    pub name: &'static str,
    /// The component of the stack that it belongs to.
    pub owner: &'static str,
    en: &'static str,
    zh: &'static str,
    findings: &'static str,
    /// The source of the row.
    pub source: &'static str,
}

impl PathTable {
    /// Returns the built-in table.
    pub fn builtin() -> &'static Self {
        &FILES
    }

    fn parse(text: &'static str) -> Result<Self, String> {
        let mut table = Vec::new();
        for (line, cells) in rows(text) {
            let [name, owner, en, zh, findings, source] = cells[..] else {
                return Err(format!("line {line} has {} cells", cells.len()));
            };
            if name.is_empty() || source.is_empty() || en.is_empty() || zh.is_empty() {
                return Err(format!("line {line} has an empty cell"));
            }
            table.push(KnownPath { name, owner, en, zh, findings, source });
        }
        Ok(Self(table))
    }

    /// Returns the row of a path, or of the file that it resolves to. A version after `.so` is
    /// ignored.
    pub fn find(&self, path: &str) -> Option<&KnownPath> {
        let path = path.trim_end_matches('/');
        let exact = self.0.iter().find(|row| row.fits(path));
        let file = path.rsplit('/').next().unwrap_or_default();
        let file = file.find(".so.").map_or(file, |at| &file[..at + 3]);
        exact.or_else(|| self.0.iter().find(|row| !row.name.contains('/') && row.fits(file)))
    }

    /// Returns all files.
    pub fn rows(&self) -> &[KnownPath] {
        &self.0
    }
}

impl KnownPath {
    /// Returns the description.
    pub fn about(&self) -> Text {
        Text::new(self.en, self.zh)
    }

    /// Returns the IDs of the findings about it.
    pub fn findings(&self) -> impl Iterator<Item = &'static str> {
        self.findings.split(',').filter(|id| !id.is_empty())
    }

    fn fits(&self, path: &str) -> bool {
        match self.name.split_once("<N>") {
            None => self.name == path,
            Some((before, after)) => {
                let rest = path.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
                rest.is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
            }
        }
    }
}

/// Returns the rows below the line of column names, with their line numbers.
fn rows(text: &'static str) -> impl Iterator<Item = (usize, Vec<&'static str>)> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.starts_with('#'));
    lines.skip(1).map(|(number, line)| (number, line.split('\t').collect()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{Catalog, EnvVars};

    #[test]
    fn no_variable_twice_and_no_value_that_cannot_be() {
        let mut names = BTreeSet::new();
        for row in VariableTable::builtin().rows() {
            assert!(names.insert(row.name), "{}", row.name);
            for part in row.values.split('|').filter(|_| row.is_closed()) {
                if let Some((low, high)) = part.split_once("..").filter(|range| !range.1.is_empty())
                {
                    let (low, high): (i64, i64) = (low.parse().unwrap(), high.parse().unwrap());
                    assert!(low < high, "{}", row.name);
                }
            }
            let is_stated = !row.default.is_empty() && row.default != "unset";
            if is_stated && let Some(fits) = row.accepts(row.default) {
                assert!(fits, "the default of {} is no value of it", row.name);
            }
            if let Some(other) = row.read_instead() {
                let known = VariableTable::builtin().find(other).is_some()
                    || EnvVars::builtin().all().any(|name| name == other);
                assert!(known, "{}: {other}", row.name);
            }
        }
    }

    #[test]
    fn no_path_twice_and_every_finding_exists() {
        let mut names = BTreeSet::new();
        let ids: BTreeSet<&str> =
            Catalog::builtin().entries().map(|entry| entry.id.as_str()).collect();
        for row in PathTable::builtin().rows() {
            assert!(names.insert(row.name), "{}", row.name);
            for id in row.findings() {
                assert!(ids.contains(id), "{}: {id}", row.name);
            }
        }
    }

    #[test]
    fn a_version_and_a_directory_do_not_matter() {
        let table = PathTable::builtin();
        let name = |path: &str| table.find(path).map(|row| row.name);
        assert_eq!(
            name("/usr/local/Ascend/driver/lib64/libascend_hal.so.1"),
            Some("libascend_hal.so")
        );
        assert_eq!(name("/dev/davinci7"), Some("/dev/davinci<N>"));
        assert_eq!(name("/dev/davinci"), None);
        assert_eq!(name("libfoo.so"), None);
    }
}
