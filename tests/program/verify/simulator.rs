//! Installations of simulated libraries, and the results of `verify` with them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// The directory in which cargo puts the shared objects of the dev-dependencies: that of this
/// program.
fn built(name: &str) -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().join(name)
}

/// A separate directory of libraries.
#[derive(Debug)]
pub(crate) struct Installation {
    dir: TempDir,
    libraries: PathBuf,
}

impl Installation {
    pub(crate) fn empty() -> Self {
        let dir = tempfile::Builder::new().prefix("cann-").tempdir().unwrap();
        let libraries = dir.path().join("lib64");
        std::fs::create_dir(&libraries).unwrap();
        Self { dir, libraries }
    }

    /// CANN up to 8.3: one library of operators.
    pub(crate) fn old() -> Self {
        let installation = Self::empty();
        for name in ["libascendcl.so", "libnnopbase.so", "libopapi.so"] {
            installation.link(name, name);
        }
        installation
    }

    /// CANN from 8.5 on: the runtime under another name, operators split by repository.
    pub(crate) fn new() -> Self {
        let installation = Self::empty();
        installation.link("libascendcl.so", "libacl_rt.so");
        installation.link("libnnopbase.so", "libnnopbase.so");
        installation.copy("libopapi.so", "libopapi_math.so");
        installation.hide("libopapi_math.so", &["aclnnMatmul", "aclnnMatmulGetWorkspaceSize"]);
        installation.copy("libopapi.so", "libopapi_nn.so");
        installation.hide("libopapi_nn.so", &["aclnnAdd", "aclnnAddGetWorkspaceSize"]);
        installation
    }

    /// Adds the device management of the driver.
    pub(crate) fn with_dcmi(self) -> Self {
        self.link("libdcmi.so", "libdcmi.so");
        self
    }

    /// CANN from 8.5 on with all its parts: the run-time compiler, and HCCL.
    pub(crate) fn rtc() -> Self {
        let installation = Self::new();
        // A copy, because the compiler searches its parts relative to itself.
        installation.copy("libacl_rtc.so", "libacl_rtc.so");
        std::fs::create_dir_all(installation.compiler_part().parent().unwrap()).unwrap();
        std::fs::write(installation.compiler_part(), "").unwrap();
        installation.link("libhccl.so", "libhccl.so");
        installation
    }

    /// CANN of this version: libraries split as in that version, without later ones.
    pub(crate) fn version(version: &str) -> Self {
        static BUILT: Mutex<BTreeMap<String, Installation>> = Mutex::new(BTreeMap::new());
        let mut built = BUILT.lock().unwrap();
        let first = built.entry(version.to_owned()).or_insert_with(|| {
            let installation = Self::empty();
            let at = VERSIONS.iter().position(|known| *known == version).unwrap();
            installation.fill(version, at);
            installation
        });
        first.again()
    }

    /// The same libraries in another directory, as hard links: changing one of them writes a new
    /// file.
    fn again(&self) -> Self {
        let installation = Self::empty();
        for entry in self.path().read_dir().unwrap() {
            let entry = entry.unwrap();
            std::fs::hard_link(entry.path(), installation.path().join(entry.file_name())).unwrap();
        }
        installation
    }

    fn fill(&self, version: &str, at: usize) {
        let from = |first: &str| at >= VERSIONS.iter().position(|known| *known == first).unwrap();
        self.copy("libnnopbase.so", "libnnopbase.so");
        self.copy("libhccl.so", "libhccl.so");
        let runtime = if from("8.5.0") { "libacl_rt.so" } else { "libascendcl.so" };
        self.copy("libascendcl.so", runtime);
        // Both exist until 9.1.
        if from("8.5.0") && !from("9.1.0") {
            self.copy("libascendcl.so", "libascendcl.so");
        }
        if from("8.5.0") {
            self.copy("libopapi.so", "libopapi_math.so");
            self.hide("libopapi_math.so", &["aclnnMatmul", "aclnnMatmulGetWorkspaceSize"]);
            self.copy("libopapi.so", "libopapi_nn.so");
            self.hide("libopapi_nn.so", &["aclnnAdd", "aclnnAddGetWorkspaceSize"]);
        } else {
            self.copy("libopapi.so", "libopapi.so");
        }
        if from("8.3.RC1") {
            self.copy("libacl_rtc.so", "libacl_rtc.so");
        }
        let later: Vec<&str> = acl_abi::functions()
            .into_iter()
            .filter(|function| {
                let since = VERSIONS.iter().position(|known| *known == function.since);
                let since =
                    since.unwrap_or_else(|| panic!("{version}: when is {}?", function.since));
                since > at && function.group == acl_abi::Group::Acl
            })
            .map(|function| function.name)
            .collect();
        for library in ["libascendcl.so", "libacl_rt.so"] {
            if self.path().join(library).exists() {
                self.hide(library, &later);
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.libraries
    }

    /// The part of the run-time compiler that it loads.
    fn compiler_part(&self) -> PathBuf {
        self.dir.path().join("ccec_compiler/lib/libasrtc.so")
    }

    /// Removes that part, as in a partial installation of the toolkit.
    pub(crate) fn remove_compiler_part(&self) {
        std::fs::remove_file(self.compiler_part()).unwrap();
    }

    /// A link to the same file is the same library; that is correct if only one of the names is
    /// used.
    pub(crate) fn link(&self, from: &str, to: &str) {
        std::os::unix::fs::symlink(built(from), self.path().join(to)).unwrap();
    }

    pub(crate) fn copy(&self, from: &str, to: &str) {
        std::fs::copy(built(from), self.path().join(to)).unwrap();
    }

    pub(crate) fn remove(&self, name: &str) {
        std::fs::remove_file(self.path().join(name)).unwrap();
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path().join(name);
        let _ = std::fs::remove_file(&path);
        std::fs::write(path, bytes).unwrap();
    }

    /// Hides functions, as in versions without them: changes the first letter in the names of the
    /// symbols.
    pub(crate) fn hide(&self, library: &str, symbols: &[&str]) {
        let path = self.path().join(library);
        let mut bytes = std::fs::read(&path).unwrap();
        for symbol in symbols {
            let name = [b"\0", symbol.as_bytes(), b"\0"].concat();
            let places: Vec<usize> = memchr::memmem::find_iter(&bytes, &name).collect();
            assert!(!places.is_empty(), "{library} has no {symbol}");
            for place in places {
                bytes[place + 1] = b'X';
            }
        }
        self.write(library, &bytes);
    }

    /// Replaces a link by a copy of `library` with hidden functions.
    pub(crate) fn hide_in_copy(&self, library: &str, symbols: &[&str]) {
        self.remove(library);
        self.copy(library, library);
        self.hide(library, symbols);
    }
}

/// Versions of CANN that added functions, in order.
pub(crate) const VERSIONS: [&str; 11] = [
    "6.0.1",
    "7.0.0",
    "8.0.RC1",
    "8.0.0",
    "8.1.RC1",
    "8.2.RC1",
    "8.3.RC1",
    "8.5.0",
    "9.0.0",
    "9.1.0",
    "9.2.0-beta.2",
];

pub(crate) static OLD: LazyLock<Installation> = LazyLock::new(Installation::old);
pub(crate) static NEW: LazyLock<Installation> = LazyLock::new(Installation::new);
pub(crate) static RTC: LazyLock<Installation> = LazyLock::new(Installation::rtc);

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) status: Option<i32>,
    pub(crate) report: Value,
    pub(crate) took: Duration,
}

impl Said {
    /// `ID message` of all findings.
    pub(crate) fn found(&self) -> Vec<String> {
        let findings = self.report["findings"].as_array().unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        findings
            .iter()
            .map(|finding| format!("{} {}", text(&finding["id"]), text(&finding["message"])))
            .collect()
    }

    /// The events of the process of a device with this name.
    pub(crate) fn told(&self, list: &str, at: usize, event: &str) -> Vec<&Value> {
        let told = self.report[list][at]["told"].as_array().unwrap();
        told.iter().filter(|one| one["event"] == event).collect()
    }

    pub(crate) fn title(&self, at: usize) -> &str {
        self.report["findings"][at]["title"]["en"].as_str().unwrap()
    }
}

/// `ascend-doctor` with these libraries and no other variables in its environment.
pub(crate) fn doctor(libraries: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ascend-doctor"));
    command
        .env_clear()
        .env("LD_LIBRARY_PATH", libraries)
        .env("ASCEND_DOCTOR_ALLOW_SIM", "1")
        // Products follow the number of cores. With those of a real chip each takes a tenth of a
        // second here, so other tests use fewer.
        .env("ASCSIM_CUBE_CORES", "2")
        .env("LANG", "C");
    command
}

/// Runs `verify` and reads its JSON report.
pub(crate) fn verify(libraries: &Path, args: &[&str], variables: &[(&str, &str)]) -> Said {
    let start = Instant::now();
    let mut command = doctor(libraries);
    command.args(["verify", "--format", "json"]).args(args).envs(variables.iter().copied());
    let output = command.output().unwrap();
    let took = start.elapsed();
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        let errors = String::from_utf8_lossy(&output.stderr);
        panic!("no report ({error}) of {args:?} {variables:?}: {errors}")
    });
    Said { status: output.status.code(), report, took }
}

/// The outcome of a check.
pub(crate) fn verdict<'a>(said: &'a Said, id: &str) -> &'a str {
    let checks = said.report["checks"].as_array().unwrap();
    let row = checks.iter().find(|row| row["id"] == id).unwrap();
    row["state"].as_str().unwrap()
}
