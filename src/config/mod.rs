//! Settings of a site or a project: `ascend-doctor.toml`.
//!
//! ```toml
//! fail-on = "warning"
//!
//! [data]
//! matrix = "matrix-2026-11.toml"
//!
//! [[skip]]
//! id = "TNPU-MANIFEST"
//! reason = "our own build of torch_npu, OPS-112"
//! until = 2027-01-31
//! ```
//!
//! Everything here is text; `cmd::settings` finds the file and reads it.

mod day;
mod skip;

use std::path::{Path, PathBuf};

use serde::Deserialize;

use base::report::FailOn;
use base::text::Lang;
use data::{FileError, UserFile, WithLine};

pub use day::Day;
pub use skip::{Skip, Skips};

/// The name of the file in the working directory.
pub const NAME: &str = "ascend-doctor.toml";

/// What the file says.
#[derive(Debug, Default)]
pub struct Config {
    /// Language of the messages.
    pub lang: Option<Lang>,
    /// The level at which a finding fails the run.
    pub fail_on: Option<FailOn>,
    /// A matrix over the built-in one, as `--matrix` names it.
    pub matrix: Option<PathBuf>,
    /// What the files of torch_npu are compared with, as `check --manifest` names it.
    pub manifest: Option<PathBuf>,
    /// Error codes and causes over the built-in ones, as `translate-error --data` names them.
    pub errors: Option<PathBuf>,
    /// Findings that are known and accepted for a time.
    pub skips: Vec<Skip>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Data {
    matrix: Option<PathBuf>,
    manifest: Option<PathBuf>,
    errors: Option<PathBuf>,
}

impl Config {
    /// Reads the text of a file that lies in `dir`, from which its paths are counted.
    pub fn parse(text: &str, dir: &Path) -> Result<Self, FileError> {
        let mut file = UserFile::parse(text, &["lang", "fail-on", "data", "skip"])?;
        let lang = file.take_value("lang")?.map(|lang| lang.value);
        let fail_on = file.take_value("fail-on")?.map(|level| level.value);
        let data: Data = file.take_value("data")?.map_or_else(Data::default, |data| data.value);
        let mut skips = Vec::new();
        for WithLine { line, value } in file.take_rows("skip")? {
            let skip = skip::read(&value, line);
            skips.push(skip.map_err(|what| FileError { line, what })?);
        }
        let beside = |path: Option<PathBuf>| path.map(|path| dir.join(path));
        Ok(Self {
            lang,
            fail_on,
            matrix: beside(data.matrix),
            manifest: beside(data.manifest),
            errors: beside(data.errors),
            skips,
        })
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
        let error = Config::parse(&text, Path::new("/site")).unwrap_err();
        (error.line, error.what)
    }

    #[test]
    fn a_good_file_is_read_and_paths_are_counted_from_it() {
        let config = Config::parse(GOOD, Path::new("/site")).unwrap();
        assert_eq!((config.lang, config.fail_on), (Some(Lang::Zh), Some(FailOn::Warning)));
        assert_eq!(config.matrix.as_deref(), Some(Path::new("/site/newer.toml")));
        assert_eq!(config.errors.as_deref(), Some(Path::new("/etc/site/errors.toml")));
        let skips: Vec<_> = config.skips.iter().map(|s| (s.id.as_str(), s.line)).collect();
        assert_eq!(skips, [("TNPU-MANIFEST", 8), ("NET", 13)]);
        assert!(Config::parse("", Path::new("")).unwrap().skips.is_empty());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let (line, what) = bad("fail-on", "fail_on");
        assert!(line == 2 && what.contains("`fail_on`") && what.contains("`fail-on`"), "{what}");
        let (line, what) = bad("\"warning\"", "\"loud\"");
        assert!(line == 2 && what.contains("`loud`") && what.contains("`never`"), "{what}");
        assert_eq!(bad("matrix =", "matrx =").0, 5);
        assert_eq!(bad("reason = \"our own build\"\n", "").0, 8);
        assert_eq!(bad("reason = \"our own build\"", "reason = \" \"").0, 8);
        assert_eq!(bad("until = 2027-01-31\n", "").0, 8);
        assert_eq!(bad("until = 2027-01-31", "until = 2027-02-30").0, 11);
        assert_eq!(bad("until = 2027-01-31", "until = \"soon\"").0, 8);
        assert_eq!(bad("until = 2027-01-31", "until = 2027-01-31T10:00:00Z").0, 8);
        let (line, what) = bad("id = \"tnpu-manifest\"", "id = \"tnpu-manifst\"");
        assert_eq!(line, 8);
        assert!(what.ends_with("did you mean `TNPU-MANIFEST`?"), "{what}");
        assert_eq!(bad("lang = \"zh\"", "lang = ").0, 1);
    }
}
