//! The log engine of `translate-error` as a library: clean logs, trees of many ranks.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
#![expect(clippy::disallowed_methods, reason = "tests build the logs that are examined")]

mod clean;
mod cluster;
mod command;
mod known_codes;
mod ranks;
mod reading;

use std::path::Path;

use errcodes::log::{Diagnosis, Filter, Input, diagnose, read};
use machine::sysroot::Sysroot;

/// The diagnosis of the logs below `path`.
fn examined(path: &Path) -> Diagnosis {
    let path = path.canonicalize().unwrap().display().to_string();
    let shown = path.rsplit('/').next().unwrap().to_owned();
    let reading =
        read(vec![Input::Path { shown, path }], &ascend_doctor::MachineFiles(&Sysroot::live()));
    diagnose(reading, &Filter::default())
}
