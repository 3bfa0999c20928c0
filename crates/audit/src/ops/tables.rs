//! The tables below `data/ops/`; `data/sources.toml` names their sources.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::LazyLock;

use foldhash::{HashMap, HashMapExt as _};

use super::rows::rows;

/// Values over the columns of a table, as runs of equal ones: `0-11:NL 12:L`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Runs<'a>(&'a str);

impl<'a> Runs<'a> {
    /// Wraps the runs in a cell of a table.
    pub(super) fn new(cell: &'a str) -> Self {
        Self(cell)
    }

    /// Returns the value in a column, if there is one.
    pub fn at(self, column: usize) -> Option<&'a str> {
        self.iter().find(|(first, last, _)| (*first..=*last).contains(&column)).map(|run| run.2)
    }

    /// Returns the first and last column of each run, and its value. Text of another form is
    /// skipped.
    pub fn iter(self) -> impl Iterator<Item = (usize, usize, &'a str)> {
        self.0.split(' ').filter_map(|run| {
            let (span, value) = run.split_once(':')?;
            let (first, last) = span.split_once('-').unwrap_or((span, span));
            Some((first.parse().ok()?, last.parse().ok()?, value))
        })
    }
}

/// The origin of a table of operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The registration files in the sources of a release.
    Release,
    /// The dispatcher, after the library of a published wheel registered its operators.
    Dispatcher,
    /// The registration files in a published wheel.
    Files,
}

impl Origin {
    /// Parses the kind in `data/ops/tables.tsv`.
    fn of(kind: &str) -> Self {
        match kind {
            "wheel" => Self::Dispatcher,
            "files" => Self::Files,
            _ => Self::Release,
        }
    }

    /// Returns whether the table covers only one wheel.
    pub fn is_wheel(self) -> bool {
        self != Self::Release
    }
}

/// One column of the tables: a release of torch_npu, or a wheel of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The origin of the column.
    pub origin: Origin,
    /// The PyTorch version.
    pub torch: &'static str,
    /// The release of torch_npu, such as `7.3.0`, or the version of the wheel.
    pub release: &'static str,
    /// The wheels that are built from this release.
    pub wheels: Vec<&'static str>,
    /// The CANN versions that its documents name, one or none in practice.
    pub cann: Vec<&'static str>,
    /// The release date, as published.
    pub date: Option<&'static str>,
}

/// How PyTorch runs an overload on a device that registers nothing, in one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Native<'a> {
    /// The overload that the generated code calls.
    pub source: Option<&'a str>,
    /// Flags as `data/ops/aten.tsv` explains them.
    pub flags: &'a str,
}

/// The operators that a PyTorch API reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Api {
    /// Dotted name, `torch.nn.functional.gelu`.
    pub name: &'static str,
    /// Other names of the API, without `torch.`.
    pub aliases: Vec<&'static str>,
    /// Whether `Tensor` has a method of this name.
    pub method: bool,
    /// Overloads that every use reaches.
    pub always: Vec<&'static str>,
    /// Overloads that some uses reach, depending on their arguments.
    pub sometimes: Vec<&'static str>,
    /// Overloads of the backward pass.
    pub backward: Vec<&'static str>,
}

/// All built-in operator tables.
#[derive(Debug)]
pub struct Tables {
    /// The columns, ordered by PyTorch version and then by release.
    pub columns: Vec<Column>,
    /// The PyTorch versions of `native`.
    pub torch: Vec<&'static str>,
    kernels: BTreeMap<&'static str, Runs<'static>>,
    custom: BTreeMap<&'static str, Runs<'static>>,
    native: BTreeMap<&'static str, (Option<&'static str>, Runs<'static>)>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    // The rows live as long as the program, and each table is read at most once.
    let text = |name: &str| data::text(&format!("ops/{name}.tsv"));
    let runs = |name| -> BTreeMap<&'static str, Runs<'static>> {
        rows(text(name)).map(|row| (row[0], Runs::new(row[1]))).collect()
    };
    let aten = text("aten");
    Tables {
        columns: rows(text("tables")).map(|row| column(&row)).collect(),
        torch: aten
            .lines()
            .find_map(|line| line.strip_prefix("# Versions: "))
            .map_or_else(Vec::new, |line| line.split(' ').collect()),
        kernels: runs("kernels"),
        custom: runs("custom"),
        native: rows(aten).map(|row| (row[0], (given(row[1]), Runs::new(row[2])))).collect(),
    }
});

static APIS: LazyLock<(Vec<Api>, HashMap<&'static str, usize>)> = LazyLock::new(|| {
    let text = data::text("ops/api.tsv");
    let apis: Vec<Api> = rows(text).map(|row| api(&row)).collect();
    let mut names = HashMap::with_capacity(apis.len() * 2);
    for (index, api) in apis.iter().enumerate() {
        for alias in &api.aliases {
            names.entry(*alias).or_insert(index);
        }
    }
    for (index, api) in apis.iter().enumerate() {
        names.insert(api.name.strip_prefix("torch.").unwrap_or(api.name), index);
    }
    (apis, names)
});

fn given(cell: &'static str) -> Option<&'static str> {
    (cell != "-").then_some(cell)
}

fn words(cell: &'static str) -> Vec<&'static str> {
    given(cell).map_or_else(Vec::new, |cell| cell.split(' ').collect())
}

fn column(row: &[&'static str]) -> Column {
    Column {
        origin: Origin::of(row[1]),
        torch: row[2],
        release: row[3],
        wheels: words(row[4]),
        cann: words(row[5]),
        date: given(row[6]),
    }
}

fn api(row: &[&'static str]) -> Api {
    Api {
        name: row[0],
        aliases: words(row[1]),
        method: row[2] == "m",
        always: words(row[3]),
        sometimes: words(row[4]),
        backward: words(row[5]),
    }
}

impl Column {
    /// Returns whether the column is of a published release or beta, not of a branch.
    pub fn is_published(&self) -> bool {
        self.origin == Origin::Release
            && !self.release.starts_with("branch")
            && self.release != "master"
    }
}

impl Tables {
    /// Returns the release for facts that are known by release only. For a wheel, it is the release
    /// that the wheel is built from, or the last one for the same PyTorch before the build. A wheel
    /// without a known release keeps its own version.
    pub fn release_of(&self, column: &Column) -> &'static str {
        if !column.origin.is_wheel() {
            return column.release;
        }
        let published =
            || self.columns.iter().filter(|one| one.torch == column.torch && one.is_published());
        let named = published().find(|one| one.wheels.contains(&column.release));
        let before = || published().filter(|one| one.date.is_some() && one.date <= column.date);
        let found = named.or_else(|| before().max_by_key(|one| one.date));
        found.map_or(column.release, |one| one.release)
    }

    /// Returns the built-in tables.
    pub fn get() -> &'static Self {
        &TABLES
    }

    /// Returns the columns with an NPU kernel for the aten overload `name` (without `aten::`), with
    /// flags as `data/ops/kernels.tsv` explains them.
    pub fn kernel(&self, name: &str) -> Option<Runs<'static>> {
        self.kernels.get(name).copied()
    }

    /// Returns the columns with an operator `npu::name`.
    pub fn custom(&self, name: &str) -> Option<Runs<'static>> {
        self.custom.get(name).copied()
    }

    /// Returns how a PyTorch version (an index of `torch`) runs the aten overload `name` on a
    /// device that registers nothing; `None` if that version does not have the overload.
    pub fn native(&self, name: &str, torch: usize) -> Option<Native<'static>> {
        let (source, runs) = self.native.get(name)?;
        runs.at(torch).map(|flags| Native { source: *source, flags })
    }

    /// Returns whether any PyTorch version has this aten overload.
    pub fn knows(&self, name: &str) -> bool {
        self.native.contains_key(name) || self.kernels.contains_key(name)
    }

    /// Returns the index of a PyTorch version in `torch`.
    pub fn torch_number(&self, version: &str) -> Option<usize> {
        self.torch.iter().position(|known| *known == version)
    }

    /// Returns the aten overloads with the base name `base`, sorted by name: `add` gives
    /// `add.Tensor`, `add.out` and so on.
    pub fn overloads(&self, base: &str) -> Vec<&'static str> {
        let mut names = of_base(&self.native, base);
        names.extend(of_base(&self.kernels, base));
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the names of all aten operators without overload. Some occur more than once.
    pub fn base_names(&self) -> impl Iterator<Item = &'static str> {
        let names = self.native.keys().chain(self.kernels.keys());
        names.map(|name| name.split('.').next().unwrap_or(name))
    }

    /// Returns the `npu::` operators with this base name and any overload.
    pub fn custom_overloads(&self, base: &str) -> Vec<&'static str> {
        of_base(&self.custom, base)
    }

    /// Returns the PyTorch API with this name, with or without `torch.`, or with this alias.
    pub fn api(name: &str) -> Option<&'static Api> {
        let (apis, names) = &*APIS;
        let name = name.strip_prefix("torch.").unwrap_or(name);
        names.get(name).map(|index| &apis[*index])
    }
}

/// Returns the names that equal `base`, or `base` with an overload.
fn of_base<T>(rows: &BTreeMap<&'static str, T>, base: &str) -> Vec<&'static str> {
    let from = rows.range::<str, _>((Bound::Included(base), Bound::Unbounded));
    let names = from.map(|(name, _)| *name).take_while(|name| name.starts_with(base));
    names.filter(|name| name.split('.').next() == Some(base)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_found_by_its_columns() {
        let runs = Runs("0-11:NL 12:L 14-20:N");
        assert_eq!(runs.at(0), Some("NL"));
        assert_eq!(runs.at(11), Some("NL"));
        assert_eq!(runs.at(12), Some("L"));
        assert_eq!(runs.at(13), None);
        assert_eq!(runs.at(20), Some("N"));
        assert_eq!(Runs("nonsense 3-x:N").iter().count(), 0);
    }

    /// Every row can be parsed completely and uses only existing columns.
    #[test]
    fn tables_are_whole() {
        let tables = Tables::get();
        assert!(tables.columns.len() > 100 && tables.torch.len() == 16);
        let sound = |runs: Runs, most: usize| {
            let mut next = 0;
            let mut count = 0;
            for (first, last, value) in runs.iter() {
                assert!(next <= first && first <= last && last < most && !value.is_empty());
                next = last + 1;
                count += 1;
            }
            assert_eq!(count, runs.0.split(' ').count(), "{runs:?}");
        };
        for runs in tables.kernels.values().chain(tables.custom.values()) {
            sound(*runs, tables.columns.len());
        }
        for (name, (source, runs)) in &tables.native {
            sound(*runs, tables.torch.len());
            if let Some(source) = source {
                assert!(tables.native.contains_key(source), "{name} is made of {source}");
            }
        }
        for name in [
            "aclnn",
            "aclnn_docs",
            "api",
            "aten",
            "custom",
            "fusions",
            "host",
            "kernels",
            "methods",
            "onnx",
            "python",
            "sync",
        ] {
            let text = data::text(&format!("ops/{name}.tsv"));
            let mut last = String::new();
            for row in rows(text) {
                assert!(*row[0] >= *last, "{name}: {} stands behind {last}", row[0]);
                assert!(row.iter().all(|cell| !cell.is_empty()), "{name}: {row:?}");
                row[0].clone_into(&mut last);
            }
        }
    }

    #[test]
    fn wheels_belong_to_releases() {
        let tables = Tables::get();
        let of = |wheel: &str| {
            let is = |one: &&Column| one.origin.is_wheel() && one.release == wheel;
            tables.release_of(tables.columns.iter().find(is).unwrap())
        };
        // Named by the release; built after it; of no known release.
        assert_eq!(of("2.5.1.post1"), "7.1.0");
        assert_eq!(of("2.9.0.post4"), "26.0.1");
        assert_eq!(of("2.9.1"), "26.0.0");
        assert_eq!(of("2.1.0.post3"), "6.0.rc1");
        assert_eq!(of("2.14.0"), "2.14.0");
        assert_eq!(of("2.13.0"), "2.13.0");
    }

    #[test]
    fn apis_are_found_by_all_their_names() {
        let by_name = Tables::api("torch.nn.functional.gelu").unwrap();
        assert_eq!(by_name.always, ["empty.memory_format", "gelu", "gelu.out"]);
        assert_eq!(Tables::api("arccos").unwrap().name, "torch.acos");
        assert_eq!(Tables::api("torch.no_such"), None);
    }
}
