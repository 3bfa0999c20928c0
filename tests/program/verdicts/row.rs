//! A row of the table: an input, the command on it, and the result that the contract demands.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use serde::Deserialize;
use serde_json::Value;

use crate::fleet::site;
use crate::support::machine::Spec;
use crate::support::recipe;
use crate::support::unprivileged::{Place, give, mode};
use crate::verify::simulator;

/// The rows of one subcommand.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    /// The arguments that all rows start with.
    pub(crate) command: Vec<String>,
    pub(crate) row: Vec<Row>,
}

/// An input with its result.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// Further arguments.
    #[serde(default)]
    pub(super) args: Vec<String>,
    /// Expected goal; `None` for lookups.
    #[serde(default)]
    pub(super) goal: Option<String>,
    /// Expected verdict; `None` for lookups.
    #[serde(default)]
    pub(super) verdict: Option<String>,
    /// Expected exit status.
    pub(super) status: i32,
    /// The same input, repaired.
    #[serde(default)]
    pub(super) twin: Option<String>,
    /// The subject of the issue that will fix the row.
    #[serde(default)]
    pub(super) pending: Option<String>,
    /// A recipe of `tests/fixtures/hosts`, in `machine`.
    #[serde(default)]
    recipe: Option<String>,
    /// A machine instead of a recipe, in `machine`.
    #[serde(default)]
    machine: Option<Spec>,
    /// Paths missing on the machine.
    #[serde(default)]
    removed: Vec<String>,
    /// Files and their content.
    #[serde(default)]
    pub(super) files: BTreeMap<String, String>,
    /// Files that are not text, in hexadecimal digits.
    #[serde(default)]
    pub(super) bytes: BTreeMap<String, String>,
    /// Files of comments, in MiB.
    #[serde(default)]
    large: BTreeMap<String, usize>,
    /// Targets of the exported program `model.pt2`.
    #[serde(default)]
    export: Vec<String>,
    /// Paths without any permission; the program then runs as an unprivileged user.
    #[serde(default)]
    pub(super) closed: Vec<String>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// Simulated libraries: `old`, `new`, `rtc`, or a version.
    #[serde(default)]
    pub(super) libraries: Option<String>,
    /// Reports of hosts, in `reports`.
    #[serde(default)]
    hosts: Vec<HostReport>,
}

/// The report of a host.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HostReport {
    number: u32,
    /// The machine; a healthy one by default.
    #[serde(default)]
    recipe: Option<String>,
    /// Values by JSON pointer.
    #[serde(default)]
    set: BTreeMap<String, Value>,
    /// Version 1 of the schema, with these reasons for an inconclusive result.
    #[serde(default)]
    version_1: Option<Vec<String>>,
}

/// The result of the program.
pub(super) struct Answer {
    pub(super) status: i32,
    pub(super) report: Value,
    errors: String,
}

impl Answer {
    pub(super) fn goal(&self) -> Option<&str> {
        self.report["goal"]["id"].as_str()
    }

    pub(super) fn verdict(&self) -> Option<&str> {
        self.report["verdict"].as_str()
    }

    /// IDs of the required links in a state.
    pub(super) fn required(&self, state: &str) -> Vec<&str> {
        let links = self.report["coverage"].as_array().into_iter().flatten();
        links
            .filter(|link| link["need"] == "required" && link["state"] == state)
            .filter_map(|link| link["id"].as_str())
            .collect()
    }

    /// The headline, or the error.
    pub(super) fn says(&self) -> String {
        match self.report["headline"]["en"].as_str() {
            Some(headline) => headline.to_owned(),
            None => self.errors.lines().next().unwrap_or_default().to_owned(),
        }
    }
}

static PLACE: LazyLock<Place> = LazyLock::new(Place::new);

impl Row {
    /// Writes the input and runs the program on it.
    pub(super) fn run(&self, command: &[String]) -> Answer {
        let arguments: Vec<&str> = command.iter().chain(&self.args).map(String::as_str).collect();
        let output = self.output(&arguments);
        Answer {
            status: output.status.code().unwrap_or(-1),
            report: serde_json::from_slice(&output.stdout).unwrap_or_default(),
            errors: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The text output of a run with further arguments.
    pub(crate) fn text(&self, command: &[String], more: &[&str]) -> String {
        let words = command.iter().chain(&self.args).map(String::as_str);
        let words = words.filter(|word| *word != "--json").chain(more.iter().copied());
        let Output { stdout, stderr, .. } = self.output(&words.collect::<Vec<_>>());
        [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat()
    }

    fn output(&self, arguments: &[&str]) -> Output {
        static RUNS: AtomicUsize = AtomicUsize::new(0);
        let dir = tempfile::tempdir().unwrap();
        let (work, mut program) = if self.closed.is_empty() {
            let mut program = Command::new(env!("CARGO_BIN_EXE_ascend-doctor"));
            program.env_clear();
            (dir.path().to_owned(), program)
        } else {
            let work = PLACE.work().join(format!("{}-{}", self.name, RUNS.fetch_add(1, Relaxed)));
            std::fs::create_dir(&work).unwrap();
            (work, PLACE.program())
        };
        self.write(&work);
        if !self.closed.is_empty() {
            give(&work);
        }
        for path in &self.closed {
            let path = work.join(path);
            assert!(path.exists(), "{}: no {}", self.name, path.display());
            mode(&path, 0);
        }
        program.current_dir(&work).args(arguments);
        // The age of the data is part of the report.
        program.env("LC_ALL", "C.UTF-8").env("PATH", "/usr/bin:/bin").env("COLUMNS", "80");
        program.env("ASCEND_DOCTOR_NOW", "1795392000").envs(&self.env);
        let libraries = self.libraries.as_deref().map(Libraries::of);
        if let Some(libraries) = &libraries {
            program.env("LD_LIBRARY_PATH", libraries.path());
            program.env("ASCEND_DOCTOR_ALLOW_SIM", "1").envs(&self.env);
        }
        let output = program.stdin(std::process::Stdio::null()).output().unwrap();
        for path in &self.closed {
            mode(&work.join(path), 0o755);
        }
        output
    }

    fn write(&self, work: &Path) {
        if let Some(recipe) = &self.recipe {
            let recipe = recipe::all().remove(recipe).expect("a known recipe");
            recipe.build().write(&new_dir(work, "machine"));
        } else if let Some(machine) = &self.machine {
            machine.build().write(&new_dir(work, "machine"));
        }
        for path in &self.removed {
            let path = work.join("machine").join(path);
            if path.is_dir() {
                std::fs::remove_dir_all(path).unwrap();
            } else {
                std::fs::remove_file(path).unwrap();
            }
        }
        let write = |name: &str, content: &[u8]| {
            let path = work.join(name);
            if name.ends_with('/') {
                std::fs::create_dir_all(path).unwrap();
            } else {
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, content).unwrap();
            }
        };
        for (name, text) in &self.files {
            write(name, text.as_bytes());
        }
        for (name, digits) in &self.bytes {
            let digit = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
            write(name, &(0..digits.len()).step_by(2).map(digit).collect::<Vec<_>>());
        }
        for (name, size) in &self.large {
            write(name, &vec![b'#'; size << 20]);
        }
        if !self.export.is_empty() {
            let targets: Vec<&str> = self.export.iter().map(String::as_str).collect();
            crate::audit_ops::export(work, &targets);
        }
        if !self.hosts.is_empty() {
            let reports = new_dir(work, "reports");
            for host in &self.hosts {
                let report = host.report();
                site::put(&reports, report["subject"].as_str().unwrap(), &report);
            }
        }
    }
}

fn new_dir(work: &Path, name: &str) -> PathBuf {
    let dir = work.join(name);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

impl HostReport {
    fn report(&self) -> Value {
        let mut report = match &self.recipe {
            None => site::report(self.number),
            Some(recipe) => {
                let tree = recipe::all().remove(recipe).expect("a known recipe").build();
                let dir = tempfile::tempdir().unwrap();
                tree.write(dir.path());
                let root = dir.path().to_str().unwrap();
                let (_, text, _) = site::run(&["check", "--sysroot", root, "--json"]);
                site::renamed(&serde_json::from_str(&text).unwrap(), self.number)
            }
        };
        for (pointer, value) in &self.set {
            *report.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = value.clone();
        }
        if let Some(reasons) = &self.version_1 {
            let fields = report.as_object_mut().unwrap();
            for name in ["goal", "coverage", "verdict", "gate", "headline"] {
                fields.remove(name);
            }
            fields.insert("schema".to_owned(), "ascend-doctor/check/1".into());
            let text = |text: &String| serde_json::json!({ "en": text, "zh": text });
            fields.insert("no_verdict".to_owned(), reasons.iter().map(text).collect());
            for check in fields["checks"].as_array_mut().unwrap() {
                let state = check["state"].take();
                let check = check.as_object_mut().unwrap();
                check.remove("state");
                check.insert("verdict".to_owned(), state);
            }
        }
        report
    }
}

/// Simulated libraries.
enum Libraries {
    Shared(&'static simulator::Installation),
    Own(simulator::Installation),
}

impl Libraries {
    fn of(name: &str) -> Self {
        match name {
            "old" => Self::Shared(&simulator::OLD),
            "new" => Self::Shared(&simulator::NEW),
            "rtc" => Self::Shared(&simulator::RTC),
            "none" => Self::Own(simulator::Installation::empty()),
            version => Self::Own(simulator::Installation::version(version)),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Shared(libraries) => libraries.path(),
            Self::Own(libraries) => libraries.path(),
        }
    }
}
