//! Settings of a site or a project: `ascend-doctor.toml`.
//!
//! ```toml
//! fail-on = "warning"
//! goal = "torch"
//!
//! [fail-on-family]
//! NET = "never"
//!
//! [data]
//! pack = "ascend-doctor.data"
//! key = "site.pub"
//! matrix = "matrix-2026-11.toml"
//!
//! [[skip]]
//! id = "TNPU-MANIFEST"
//! reason = "our own build of torch_npu, OPS-112"
//! until = 2027-01-31
//! ```
//!
//! This module only handles text; `cmd::settings` finds and reads the file.

mod day;
mod policy;
mod skip;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use base::report::{FailOn, OnInconclusive};
use base::text::Lang;
use checks::site::{Expectations, GROUPS};
use data::{FileError, TableEntries, UserFile, WithLine, faults};
use machine::sysroot::environ;

pub use day::Day;
pub use policy::{ExpectedGoal, Policy};
pub use skip::{Skip, Skips};

/// The name of the file in the working directory.
pub const NAME: &str = "ascend-doctor.toml";

/// The content of the file.
#[derive(Debug, Default)]
pub struct Config {
    /// Language of the messages.
    pub lang: Option<Lang>,
    /// The level at which a finding fails the run.
    pub fail_on: Option<FailOn>,
    /// The exit status of an inconclusive result.
    pub on_inconclusive: Option<OnInconclusive>,
    /// The goal that `check` must prove, not looked up yet.
    goal: Option<WithLine<String>>,
    /// Fail levels of families, not looked up yet.
    families: Option<WithLine<BTreeMap<String, FailOn>>>,
    /// A matrix that overlays the built-in one, like `--matrix`.
    pub matrix: Option<PathBuf>,
    /// The manifest to compare the files of torch_npu with, like `check --manifest`.
    pub manifest: Option<PathBuf>,
    /// Error codes and causes that overlay the built-in ones, like `translate-error --data`.
    pub errors: Option<PathBuf>,
    /// A data pack, like `--data-pack`.
    pub pack: Option<PathBuf>,
    /// The public key of the data pack, like `--data-key`.
    pub key: Option<String>,
    /// Whether the data pack needs no signature, like `--data-unsigned`.
    pub unsigned: bool,
    /// The expected state of a machine, without the name of the file.
    expect: Option<TableEntries>,
    /// Findings that are known and accepted for a time. Their IDs are not looked up yet, because
    /// the tables may come from the data pack.
    skips: Vec<WithLine<skip::Written>>,
}

/// The length of a minisign public key in base64.
const KEY_LENGTH: usize = 56;

/// Whether a text is a minisign public key rather than the name of a file.
pub fn is_key(text: &str) -> bool {
    text.len() == KEY_LENGTH && text.starts_with("RW") && !text.contains('.')
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Data {
    matrix: Option<PathBuf>,
    manifest: Option<PathBuf>,
    errors: Option<PathBuf>,
    pack: Option<PathBuf>,
    key: Option<String>,
    unsigned: bool,
}

impl Config {
    /// Parses the text of a file in `dir`, to which its paths are relative.
    pub fn parse(text: &str, dir: &Path) -> Result<Self, FileError> {
        const KEYS: &[&str] = &[
            "lang",
            "fail-on",
            "on-inconclusive",
            "goal",
            "fail-on-family",
            "data",
            "skip",
            "expect",
        ];
        let mut file = UserFile::parse(text, KEYS)?;
        let lang = file.take_value("lang")?.map(|lang| lang.value);
        let fail_on = file.take_value("fail-on")?.map(|level| level.value);
        let on_inconclusive = file.take_value("on-inconclusive")?.map(|policy| policy.value);
        let goal = file.take_value("goal")?;
        let families = file.take_value("fail-on-family")?;
        let data: Data = file.take_value("data")?.map_or_else(Data::default, |data| data.value);
        let skips = file.take_rows("skip")?;
        let expect = file.take_entries("expect", &GROUPS)?;
        let beside = |path: Option<PathBuf>| path.map(|path| dir.join(path));
        Ok(Self {
            lang,
            fail_on,
            on_inconclusive,
            goal,
            families,
            matrix: beside(data.matrix),
            manifest: beside(data.manifest),
            errors: beside(data.errors),
            pack: beside(data.pack),
            key: data.key.map(
                |key| {
                    if is_key(&key) { key } else { dir.join(key).display().to_string() }
                },
            ),
            unsigned: data.unsigned,
            expect,
            skips,
        })
    }

    /// The settings of the gate other than levels, looked up in the tables. `file` is its displayed
    /// name.
    ///
    /// # Errors
    ///
    /// With the line of a goal or family that does not exist.
    pub fn policy(&self, file: &str) -> Result<Policy, FileError> {
        policy::read(self.goal.as_ref(), self.families.as_ref(), file)
    }

    /// The expected state of a machine. `file` is its displayed name.
    ///
    /// # Errors
    ///
    /// With the line of the first invalid entry, or of one that requires a variable that is not
    /// read.
    pub fn expectations(&self, file: &str) -> Result<Option<Expectations>, FileError> {
        let Some(WithLine { line, value }) = &self.expect else { return Ok(None) };
        let read = Expectations::read(value.clone(), *line, file);
        let site = read.map_err(|(line, what)| FileError::new(line, what))?;
        let unread = site.variables().find(|(name, _)| !environ::allowed(name));
        match unread {
            None => Ok(Some(site)),
            Some((name, line)) => Err(FileError::new(line, faults::ExpectVariable { name })),
        }
    }

    /// The skips, looked up in the tables.
    ///
    /// # Errors
    ///
    /// With the line of the first skip that names no finding, gives no reason or has no last day.
    pub fn skips(&self) -> Result<Vec<Skip>, FileError> {
        let read = |WithLine { line, value }: &WithLine<skip::Written>| {
            skip::read(value, *line).map_err(|what| FileError::new(*line, what))
        };
        self.skips.iter().map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"lang = "zh"
fail-on = "warning"

[data]
matrix = "newer.toml"
errors = "/etc/site/errors.toml"
pack = "site.data"
key = "site.pub"

[[skip]]
id = "tnpu-manifest"
reason = "our own build"
until = 2027-01-31

[[skip]]
id = "net"
reason = "one node"
until = "2027-02-28"
"#;

    fn bad(from: &str, to: &str) -> (usize, String) {
        let text = GOOD.replacen(from, to, 1);
        assert_ne!(text, GOOD, "{from}");
        let config = Config::parse(&text, Path::new("/site"));
        let error = config.and_then(|config| config.skips()).unwrap_err();
        (error.line, error.what.en)
    }

    #[test]
    fn a_good_file_is_read_and_paths_are_counted_from_it() {
        let config = Config::parse(GOOD, Path::new("/site")).unwrap();
        assert_eq!((config.lang, config.fail_on), (Some(Lang::Zh), Some(FailOn::Warning)));
        assert_eq!(config.matrix.as_deref(), Some(Path::new("/site/newer.toml")));
        assert_eq!(config.errors.as_deref(), Some(Path::new("/etc/site/errors.toml")));
        assert_eq!(config.pack.as_deref(), Some(Path::new("/site/site.data")));
        assert!(config.key.as_deref() == Some("/site/site.pub") && !config.unsigned);
        let skips = config.skips().unwrap();
        let skips: Vec<_> = skips.iter().map(|s| (s.id.as_str(), s.line)).collect();
        assert_eq!(skips, [("TNPU-MANIFEST", 10), ("NET", 15)]);
        assert!(Config::parse("", Path::new("")).unwrap().skips().unwrap().is_empty());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let (line, what) = bad("fail-on", "fail_on");
        assert!(line == 2 && what.contains("`fail_on`") && what.contains("`fail-on`"), "{what}");
        let (line, what) = bad("\"warning\"", "\"loud\"");
        assert!(line == 2 && what.contains("`loud`") && what.contains("`never`"), "{what}");
        assert_eq!(bad("matrix =", "matrx =").0, 5);
        assert_eq!(bad("reason = \"our own build\"\n", "").0, 10);
        assert_eq!(bad("reason = \"our own build\"", "reason = \" \"").0, 10);
        assert_eq!(bad("until = 2027-01-31\n", "").0, 10);
        assert_eq!(bad("until = 2027-01-31", "until = 2027-02-30").0, 13);
        assert_eq!(bad("until = 2027-01-31", "until = \"soon\"").0, 10);
        assert_eq!(bad("until = 2027-01-31", "until = 2027-01-31T10:00:00Z").0, 10);
        let (line, what) = bad("id = \"tnpu-manifest\"", "id = \"tnpu-manifst\"");
        assert_eq!(line, 10);
        assert!(what.ends_with("did you mean `TNPU-MANIFEST`?"), "{what}");
        assert_eq!(bad("lang = \"zh\"", "lang = ").0, 1);
    }
}
