//! `cargo xtask faults`: writes the code that names the errors of `data/faults.toml`.

use std::fs;

use anyhow::{Context as _, Result};

use crate::workspace;

// Shared with the build script and the tests of the data crate, which does not compile while an
// error that it uses is missing.
#[path = "../../../data/faults.rs"]
mod code;

/// Writes `data/src/faults.rs` if it differs.
pub(crate) fn run() -> Result<bool> {
    let data = workspace::root().join("data");
    let text = fs::read_to_string(data.join("faults.toml")).context("data/faults.toml")?;
    let new = code::generate(&text).map_err(anyhow::Error::msg)?;
    let target = data.join("src/faults.rs");
    if fs::read_to_string(&target).is_ok_and(|old| old == new) {
        return Ok(true);
    }
    fs::write(&target, new).context("data/src/faults.rs")?;
    println!("wrote data/src/faults.rs");
    Ok(true)
}
