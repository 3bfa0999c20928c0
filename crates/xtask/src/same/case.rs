//! One comparison: command lines, input, and the files of the working directory.

use std::path::{Path, PathBuf};

/// Builds the arguments of one command line from values of any displayable type.
macro_rules! args {
    ($($arg:expr),* $(,)?) => { vec![$($arg.to_string()),*] };
}
/// The arguments as an array, which can be borrowed.
macro_rules! arg_array {
    ($($arg:expr),* $(,)?) => { [$($arg.to_string()),*] };
}
pub(crate) use {arg_array, args};

/// Input that is copied into the working directory before each run.
#[derive(Debug, Clone)]
pub(crate) enum Input {
    /// A file with this content.
    File { name: String, content: Vec<u8> },
    /// A copy of a directory or file.
    Copy { name: String, from: PathBuf },
}

/// One comparison. Every run starts in a new working directory, which is also its home directory,
/// so that unexpected files are detected.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// `class/subject/variant`.
    pub(crate) name: String,
    /// Command lines without the program, run one after the other.
    pub(crate) steps: Vec<Vec<String>>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) stdin: Vec<u8>,
    /// Variables in addition to the fixed environment.
    pub(crate) env: Vec<(String, String)>,
    /// Whether exit status 2 is the purpose of the case. Otherwise it suggests a wrong command
    /// line, and equal outputs prove nothing.
    pub(crate) refusal: bool,
    /// Whether tables of the report contain durations and process IDs.
    pub(crate) timed: bool,
}

impl Case {
    /// Returns a case without a command line.
    pub(crate) fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            steps: Vec::new(),
            inputs: Vec::new(),
            stdin: Vec::new(),
            env: Vec::new(),
            refusal: false,
            timed: false,
        }
    }

    /// Adds a command line.
    pub(crate) fn step(mut self, args: Vec<String>) -> Self {
        self.steps.push(args);
        self
    }

    /// Appends arguments, separated by blanks, to the last command line.
    pub(crate) fn flags(mut self, flags: &str) -> Self {
        if let Some(step) = self.steps.last_mut() {
            step.extend(flags.split_whitespace().map(str::to_owned));
        }
        self
    }

    /// Adds a file to the working directory.
    pub(crate) fn file(mut self, name: &str, content: impl Into<Vec<u8>>) -> Self {
        self.inputs.push(Input::File { name: name.to_owned(), content: content.into() });
        self
    }

    /// Adds a copy of a file or directory to the working directory.
    pub(crate) fn copy(mut self, name: &str, from: &Path) -> Self {
        self.inputs.push(Input::Copy { name: name.to_owned(), from: from.to_owned() });
        self
    }

    /// Sets the standard input.
    pub(crate) fn stdin(mut self, stdin: impl Into<Vec<u8>>) -> Self {
        self.stdin = stdin.into();
        self
    }

    /// Sets a variable.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Marks exit status 2 as expected.
    pub(crate) fn refused(mut self) -> Self {
        self.refusal = true;
        self
    }

    /// Marks tables of the report as containing durations.
    pub(crate) fn timed(mut self) -> Self {
        self.timed = true;
        self
    }

    /// Returns the first part of the name.
    pub(crate) fn class(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }
}

/// The cases of a run, and the inputs that were not available.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) cases: Vec<Case>,
    pub(crate) unexamined: Vec<String>,
    /// Directories that cases read and no program may change.
    pub(crate) dirs: Vec<PathBuf>,
}

impl Plan {
    /// Adds a case.
    pub(crate) fn add(&mut self, case: Case) {
        self.cases.push(case);
    }

    /// Records inputs that were not available.
    pub(crate) fn skip(&mut self, what: impl Into<String>) {
        self.unexamined.push(what.into());
    }
}
