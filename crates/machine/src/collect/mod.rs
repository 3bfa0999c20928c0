//! Collects [`Facts`] from the examined machine: the only I/O of `check`, without conclusions.

pub mod cann;
mod container;
mod device;
pub mod driver;
mod host;
mod info_file;
mod integrity;
mod libc;
mod link;
mod net;
mod nnal;
pub mod npu_smi;
pub mod npu_smi_state;
pub mod python;
mod site;

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::manifest::Manifest;
use crate::sysroot::Sysroot;
use facts::{FACTS_SCHEMA, Facts};

pub use base::progress::Progress;
pub use info_file::parse_info;
pub use site::Named;

/// The scope of the collection.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The interpreter to examine (`--python`).
    pub python: Option<String>,
    /// Whether files are hashed.
    pub hash: bool,
    /// The reference for the files of `torch_npu`, instead of the published wheels.
    pub manifest: Option<Arc<Manifest>>,
    /// Receives the progress of the hashing.
    pub progress: Progress,
    /// Whether npu-smi is run on a live machine.
    pub npu_smi: bool,
    /// The files, mounts and names in the expectations of a site.
    pub named: Named,
}

/// Finds a distribution that the machine's Python would import, by the names of metadata
/// directories only. Returns its version and the directory that contains it. Runs no program and
/// reads no other files.
pub fn find_installed(sysroot: &Sysroot, name: &str) -> Option<(String, String)> {
    python::find_installed(sysroot, name)
}

/// Digests that identify a machine, as in [`facts::Host`]: `machine`, `boot`.
pub fn read_identity(sysroot: &Sysroot) -> (Option<String>, Option<String>) {
    host::identities(sysroot)
}

/// Collects only the driver and the devices.
pub fn collect_devices(sysroot: &Sysroot) -> Facts {
    let mut facts = Facts::default();
    driver::collect(sysroot, &mut facts);
    device::collect(sysroot, &mut facts);
    facts
}

/// Collects only the installations of CANN, and the environment that selects one.
pub fn collect_cann(sysroot: &Sysroot) -> Facts {
    let mut facts = Facts { env: sysroot.env().clone(), ..Facts::default() };
    driver::collect(sysroot, &mut facts);
    cann::collect(sysroot, &mut facts);
    facts
}

/// Reads everything that the checks need.
pub fn collect(sysroot: &Sysroot, options: &Options) -> Facts {
    let mut facts = Facts {
        schema: FACTS_SCHEMA.to_owned(),
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        source: if sysroot.is_live() {
            "live".to_owned()
        } else {
            sysroot.root().display().to_string()
        },
        process: sysroot.process().clone(),
        env: sysroot.env().clone(),
        ..Facts::default()
    };
    timed("driver", || driver::collect(sysroot, &mut facts));
    timed("devices", || device::collect(sysroot, &mut facts));
    timed("host", || host::collect(sysroot, &mut facts));
    if options.npu_smi {
        facts.driver.npu_smi = timed("npu-smi", || npu_smi::collect(sysroot, &facts.driver));
    }
    timed("CANN", || cann::collect(sysroot, &mut facts));
    facts.python = timed("Python", || python::collect(sysroot, options));
    facts.host.pip_indexes = python::pip_indexes(sysroot, &facts.python);
    timed("NNAL", || nnal::collect(sysroot, &mut facts));
    timed("network", || net::collect(sysroot, &mut facts));
    // The resolution of libraries is mostly sequential, so the other cores compare files at the
    // same time.
    let (link, begun) = rayon::join(
        || timed("libraries", || link::collect(sysroot, &facts)),
        || timed("files", || integrity::begin(sysroot, &facts.python, options)),
    );
    facts.link = link;
    facts.integrity = timed("further files", || {
        integrity::finish(sysroot, &facts.python, &facts.link, options, begun)
    });
    facts.site = timed("site", || site::collect(sysroot, &options.named));
    facts.problems = sysroot.problems();
    facts.unreadable = sysroot.unreadable_paths();
    // Taken at the end, because `fleet merge` compares it with the time at which reports arrive.
    facts.taken = sysroot.is_live().then(read_clock).flatten();
    facts
}

/// Seconds since 1970, UTC; `None` if the clock is before 1970.
pub fn read_clock() -> Option<u64> {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
}

/// Runs a part of the work, and logs its duration.
fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    if !log::log_enabled!(log::Level::Info) {
        return work();
    }
    let begin = Instant::now();
    let done = work();
    log::info!("{what}: {:.1} ms", begin.elapsed().as_secs_f64() * 1e3);
    done
}
