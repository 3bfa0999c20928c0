//! `ascend_*_install.info` and `version.info` of driver, firmware and toolkit.
//!
//! All use `version=`, so the neighboring keys decide whose version it is. Excerpts are often cut
//! before `package_name=` or after `innerversion=`.

use super::Found;
use crate::candidate::{Form, Rank};
use crate::kind::Kind;
use crate::lines::Line;

/// Neighboring lines that belong to one file.
const REACH: usize = 12;

pub(super) fn read(lines: &[Line], found: &mut Found) {
    for (index, line) in lines.iter().enumerate() {
        if line.kind == Kind::Quotation {
            continue;
        }
        let Some((key, value)) = pair(&line.text) else { continue };
        match key.as_str() {
            "version" | "package_version" => {
                let Some(owner) = owner(lines, index) else { continue };
                found.take(index);
                found.add_version(owner, value, line, Form::InfoFile, Rank::Measured);
            }
            "version_dir" => {
                found.take(index);
                found.add_version("cann", value, line, Form::InfoFile, Rank::Measured);
            }
            "arch" if neighbors(lines, index).any(|(key, _)| is_install_key(&key)) => {
                if let Some(arch) = super::system::arch(value) {
                    found.take(index);
                    found.add("arch", arch, line, Form::InfoFile, Rank::Measured);
                }
            }
            // Lines of the same files, without separate facts.
            "innerversion" | "compatible_version" | "os" | "path" | "compatible_version_fw"
                if value.contains("V100R")
                    || neighbors(lines, index).any(|(key, _)| key == "innerversion") =>
            {
                found.take(index);
            }
            _ => {}
        }
    }
}

fn is_install_key(key: &str) -> bool {
    matches!(key, "package_name" | "innerversion")
}

/// `key=value` without blanks in the key.
fn pair(text: &str) -> Option<(String, &str)> {
    let (key, value) = text.split_once('=')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (key.chars().all(plain) && !value.starts_with('=') && value.len() < 400)
        .then(|| (key.to_ascii_lowercase(), value.trim()))
}

/// The pairs in the lines around a line, in the same paragraph.
fn neighbors(lines: &[Line], index: usize) -> impl Iterator<Item = (String, &str)> {
    let block = lines.get(index).map_or(0, |line| line.block);
    let from = index.saturating_sub(REACH);
    lines
        .iter()
        .skip(from)
        .take(2 * REACH + 1)
        .filter(move |line| line.block == block)
        .filter_map(|line| pair(&line.text))
}

/// The component whose file the command in the previous line printed.
fn shown(lines: &[Line], index: usize) -> Option<&'static str> {
    let before = lines.get(index.checked_sub(1)?)?;
    let line = lines.get(index)?;
    let near = line.number <= before.number + 2;
    ["driver", "firmware"]
        .into_iter()
        .find(|owner| near && before.text.contains(&format!("/{owner}/version.info")))
}

/// The component whose file contains the `version=` line.
fn owner(lines: &[Line], index: usize) -> Option<&'static str> {
    let mut owner = None;
    for (key, value) in neighbors(lines, index) {
        let lower = value.to_ascii_lowercase();
        let named = match key.as_str() {
            "package_name" if lower.contains("nnal") || lower.contains("atb") => Some("nnal"),
            "package_name"
                if lower.contains("toolkit")
                    || lower.contains("nnae")
                    || lower.contains("nnrt") =>
            {
                Some("cann")
            }
            "package_name" if lower.contains("kernels") || lower.contains("ops") => Some("cann"),
            "package_name" if lower.contains("driver") => Some("driver"),
            "package_name" if lower.contains("firmware") => Some("firmware"),
            "ascendhal_version" | "tsfw_version" => Some("driver"),
            "firmware_version" => Some("firmware"),
            // `version_dir` has the version of CANN, and `Version` that of a component.
            "version_dir" => return None,
            _ => None,
        };
        owner = named.or(owner);
    }
    // Without a name: only CANN packages have both an inner version and a path or a list.
    owner
        .or_else(|| {
            neighbors(lines, index)
                .any(|(key, value)| key == "innerversion" && value.starts_with("V100R"))
                .then_some("cann")
        })
        .or_else(|| shown(lines, index))
}
