//! The limits, with their preparation, edit and measured commands.

use std::fmt::Write as _;
use std::path::Path;

/// A command in the clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) program: String,
    pub(super) args: Vec<String>,
    /// Whether any exit status of the program is accepted: `check` reports findings by 1 and 3,
    /// which do not make a build slower.
    pub(super) any_status: bool,
    /// Whether the caches of Cargo and of `.ci/run` are empty.
    pub(super) empty_caches: bool,
}

impl Step {
    /// Returns a Cargo command from its arguments, separated by blanks.
    pub(super) fn cargo(args: &str) -> Self {
        Self {
            program: "cargo".to_owned(),
            args: args.split_whitespace().map(str::to_owned).collect(),
            any_status: false,
            empty_caches: false,
        }
    }

    /// Returns the step with the id of a finding in place of `ID`.
    pub(super) fn with_id(&self, id: &str) -> Self {
        let args = self.args.iter().map(|arg| if arg == "ID" { id } else { arg }.to_owned());
        Self { args: args.collect(), ..self.clone() }
    }

    fn with_any_status(self) -> Self {
        Self { any_status: true, ..self }
    }
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words = [self.program.as_str()].into_iter().chain(self.args.iter().map(String::as_str));
        f.write_str(&words.collect::<Vec<_>>().join(" "))
    }
}

/// The edit between preparation and measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edit {
    None,
    /// An item is appended to a source file.
    Source,
    /// A sentence of a finding is changed, and `explain` must print it.
    Sentence,
}

/// A limit on the time of some commands.
#[derive(Debug, Clone)]
pub(super) struct Limit {
    pub(super) name: &'static str,
    /// Description for the table.
    pub(super) title: String,
    pub(super) seconds: u64,
    /// Cargo profile. Limits with the same profile share a target directory.
    pub(super) profile: &'static str,
    /// Whether the target directory is removed first.
    pub(super) clean: bool,
    pub(super) prepare: Vec<Step>,
    pub(super) edit: Edit,
    pub(super) measure: Vec<Step>,
}

impl Limit {
    /// Describes the limit for `--dry-run`.
    pub(super) fn describe(&self, source: &Path) -> String {
        let mut text = format!("{} ({} s, profile {})\n", self.name, self.seconds, self.profile);
        if self.clean {
            text.push_str("  remove the target directory\n");
        }
        for step in &self.prepare {
            let _ = writeln!(text, "  prepare  {step}");
        }
        match self.edit {
            Edit::None => {}
            Edit::Source => {
                let _ = writeln!(text, "  append an item to {}", source.display());
            }
            Edit::Sentence => text.push_str("  change the name of a finding in data/findings\n"),
        }
        for step in &self.measure {
            let _ = writeln!(text, "  measure  {step}");
        }
        text
    }
}

/// Returns all limits. `package` is the one whose tests run separately.
pub(super) fn all(package: &str) -> Vec<Limit> {
    let check = || Step::cargo("run --release -- check").with_any_status();
    vec![
        Limit {
            name: "release",
            title: "`cargo run --release -- check` in a clean clone".to_owned(),
            seconds: 180,
            profile: "release",
            clean: true,
            prepare: Vec::new(),
            edit: Edit::None,
            measure: vec![check()],
        },
        Limit {
            name: "release-edit",
            title: "the same after an edit in convert".to_owned(),
            seconds: 60,
            profile: "release",
            clean: false,
            prepare: vec![check()],
            edit: Edit::Source,
            measure: vec![check()],
        },
        Limit {
            name: "test",
            title: "`cargo test` in a clean clone".to_owned(),
            seconds: 420,
            profile: "dev",
            clean: true,
            prepare: Vec::new(),
            edit: Edit::None,
            measure: vec![Step::cargo("test")],
        },
        Limit {
            name: "package-test",
            title: format!("`cargo test -p {package}` after an edit in convert"),
            seconds: 60,
            profile: "dev",
            clean: false,
            prepare: vec![Step::cargo(&format!("test --no-run -p {package}"))],
            edit: Edit::Source,
            measure: vec![Step::cargo(&format!("test -p {package}"))],
        },
        Limit {
            name: "check-edit",
            title: "`cargo check` after an edit in convert".to_owned(),
            seconds: 10,
            profile: "dev",
            clean: false,
            prepare: vec![Step::cargo("check")],
            edit: Edit::Source,
            measure: vec![Step::cargo("check")],
        },
        Limit {
            name: "sentence-edit",
            title: "an edited sentence in a debug program (`cargo run -- explain ID`)".to_owned(),
            seconds: 20,
            profile: "dev",
            clean: false,
            prepare: vec![Step::cargo("run --quiet -- explain --list")],
            edit: Edit::Sentence,
            measure: vec![Step::cargo("run --quiet -- explain ID")],
        },
        Limit {
            name: "ci",
            title: "`.ci/run` in a clean clone with empty caches".to_owned(),
            seconds: 1200,
            profile: "dev",
            clean: true,
            prepare: Vec::new(),
            edit: Edit::None,
            measure: vec![Step {
                program: ".ci/run".to_owned(),
                args: Vec::new(),
                any_status: false,
                empty_caches: true,
            }],
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_commands_described() {
        let limits = all("convert");
        let mut names: Vec<_> = limits.iter().map(|limit| limit.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), limits.len());
        let text = limits[3].describe(Path::new("src/convert/mod.rs"));
        assert_eq!(
            text,
            "package-test (60 s, profile dev)\n  prepare  cargo test --no-run -p convert\n  \
             append an item to src/convert/mod.rs\n  measure  cargo test -p convert\n"
        );
    }
}
