//! From the examined machine to [`Facts`]: the only I/O of `check`, and no judgement.

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

/// What to collect, and how far to go.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The interpreter to look at (`--python`).
    pub python: Option<String>,
    /// Whether files are hashed.
    pub hash: bool,
    /// What the files of `torch_npu` are compared with instead of the published wheels.
    pub manifest: Option<Arc<Manifest>>,
    /// Is told how far the hashing is.
    pub progress: Progress,
    /// Whether npu-smi is run on a live machine.
    pub npu_smi: bool,
    /// What the expectations of a site name.
    pub named: Named,
}

/// A distribution that the machine's Python would import, by the names of metadata alone: its
/// version, and the directory that it stands in. Neither runs nor reads anything else.
pub fn find_installed(sysroot: &Sysroot, name: &str) -> Option<(String, String)> {
    python::find_installed(sysroot, name)
}

/// Digests that tell machines apart, as [`facts::Host`] has them: `machine`, `boot`.
pub fn read_identity(sysroot: &Sysroot) -> (Option<String>, Option<String>) {
    host::identities(sysroot)
}

/// Only the driver and the devices.
pub fn collect_devices(sysroot: &Sysroot) -> Facts {
    let mut facts = Facts::default();
    driver::collect(sysroot, &mut facts);
    device::collect(sysroot, &mut facts);
    facts
}

/// Only the installations of CANN, and the environment that selects one.
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
    // The resolution of libraries is one chain for a good part: the other cores compare files.
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
    // At the end: what gathers reports compares it with the moment at which they arrive.
    facts.taken = sysroot.is_live().then(read_clock).flatten();
    facts
}

/// Seconds since 1970, UTC; `None` of a clock that stands before.
pub fn read_clock() -> Option<u64> {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
}

/// Does a part of the work, and logs how long it took.
fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    if !log::log_enabled!(log::Level::Info) {
        return work();
    }
    let begin = Instant::now();
    let done = work();
    log::info!("{what}: {:.1} ms", begin.elapsed().as_secs_f64() * 1e3);
    done
}
