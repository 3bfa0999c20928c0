//! The data pack of a run: reads its files, has the layers verify it, and installs it.
#![expect(clippy::disallowed_methods, reason = "reads files that the user named")]

use data::{Fault, OrFault as _, faults};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use anyhow::ensure;

use super::argument_file::open_argument;
use super::clock;
use super::settings::Found;
use super::standard_streams::print_to_stderr;
use crate::cli::OutputArgs;
use crate::config::{Day, is_key};
use base::report::{DataInUse, DataOrigin};
use base::text::Lang;
use data::{
    as_of,
    data_pack::{MAX_FILE, Pack, PackError, Trust},
    installed, ui,
};

/// The public key that the owner of the program supplies at build time, if any.
const BUILT_IN_KEY: Option<&str> = option_env!("ASCEND_DOCTOR_RELEASE_DATA_KEY");
/// Whether a pack of this run is installed.
static LOADED: AtomicBool = AtomicBool::new(false);
/// Maximum size of a key or signature file, in bytes.
const SMALL: usize = 8 << 10;

/// Verifies and installs the pack that options or settings name. Options have precedence.
///
/// # Errors
///
/// If there is a pack and it is unusable. No part of it is used then.
pub(super) fn load(args: &mut OutputArgs, found: Option<&Found>) -> anyhow::Result<()> {
    let by_option = args.data_pack.is_some();
    if let Some(found) = found {
        let Found { config, is_named, shown, .. } = found;
        ensure!(*is_named || !config.unsigned, faults::PackUnsignedSetting { file: shown }.fault());
        args.data_pack = args.data_pack.take().or_else(|| config.pack.clone());
        // Other users with access to the working directory must not choose the key of another pack.
        if *is_named || !by_option {
            args.data_unsigned |= config.unsigned && args.data_key.is_none();
            args.data_key = args.data_key.take().or_else(|| config.key.clone());
        }
    }
    let Some(path) = args.data_pack.clone() else { return Ok(()) };
    // These tables already identified an input without a subcommand. (`installed` would prevent
    // later installation of a pack.)
    if LOADED.load(Ordering::Relaxed) {
        return Ok(());
    }
    let shown = path.display().to_string();
    let pack = open(&path, args)
        .map_err(super::error_message::as_cause)
        .or_fault(|| faults::CannotUsePack { path: &shown }.fault())?;
    data::install(pack).map_err(Fault::from)?;
    LOADED.store(true, Ordering::Relaxed);
    log::info!("data pack {shown} as of {}, signed by {:?}", pack.as_of(), pack.signed_by());
    if !args.quiet {
        let lang = args.lang.unwrap_or(Lang::En);
        let key = pack.signed_by().unwrap_or_default().to_owned();
        let said = match found {
            _ if args.data_unsigned => Some(ui::DataUnsigned { pack: shown }.text()),
            Some(found) if !found.is_named && !by_option => {
                let file = found.shown.clone();
                Some(ui::DataSettings { file, key, pack: shown }.text())
            }
            _ => None,
        };
        if let Some(said) = said {
            print_to_stderr(said.get(lang));
        }
    }
    Ok(())
}

/// Reads and verifies a pack. Every table is decoded by its reader.
fn open(path: &Path, args: &OutputArgs) -> anyhow::Result<&'static Pack> {
    let bytes = read_regular(path, MAX_FILE)?;
    let signature;
    let key;
    let trust = if args.data_unsigned {
        Trust::Unsigned
    } else {
        key = match &args.data_key {
            Some(key) if is_key(key) => key.clone(),
            Some(file) => text(Path::new(file))?,
            None => BUILT_IN_KEY.or_fault(|| faults::PackNoKey.fault())?.to_owned(),
        };
        signature = text(&signature_of(path))?;
        Trust::Signed { signature: &signature, key: &key }
    };
    let pack = Pack::open(&bytes, trust, env!("CARGO_PKG_VERSION"), args.data_older)
        .map_err(Fault::from)?;
    drop(bytes);
    // Tables are used until the process ends.
    let pack: &'static Pack = Box::leak(Box::new(pack));
    check_tables(pack).map_err(Fault::from)?;
    Ok(pack)
}

/// Has every layer decode its tables.
pub(super) fn check_tables(pack: &'static Pack) -> Result<(), PackError> {
    pack.check_common_tables()?;
    errcodes::check_pack(pack)?;
    triage::check_pack(pack)?;
    crate::lint::check_pack(pack)?;
    convert::check_pack(pack)?;
    audit::check_pack(pack)
}

/// `FILE.minisig`.
pub(super) fn signature_of(pack: &Path) -> PathBuf {
    let mut name = pack.as_os_str().to_owned();
    name.push(".minisig");
    name.into()
}

fn text(path: &Path) -> anyhow::Result<String> {
    let bytes = read_regular(path, SMALL)?;
    Ok(String::from_utf8(bytes).or_fault(|| faults::NotUtf8 { path: path.display() }.fault())?)
}

/// Reads a regular file up to a limit. Rejects pipes and devices without waiting for them.
fn read_regular(path: &Path, limit: usize) -> anyhow::Result<Vec<u8>> {
    let shown = path.display();
    let failed = || faults::CannotRead { path: &shown }.fault();
    let regular = |meta: std::fs::Metadata| {
        ensure!(meta.is_file(), faults::CannotReadNotRegular { path: &shown }.fault());
        Ok(())
    };
    regular(path.metadata().or_fault(failed)?)?;
    let file = open_argument(path).or_fault(failed)?;
    regular(file.metadata().or_fault(failed)?)?;
    let mut bytes = Vec::new();
    file.take(limit as u64 + 1).read_to_end(&mut bytes).or_fault(failed)?;
    ensure!(bytes.len() <= limit, faults::FileTooLarge { path: &shown, limit }.fault());
    Ok(bytes)
}

/// The data of this run, for its report.
pub(super) fn in_use() -> DataInUse {
    let pack = installed();
    let as_of = as_of();
    let age_days = clock::now().and_then(|now| {
        let today = Day::of(UNIX_EPOCH.checked_add(Duration::from_secs(now))?);
        Some(Day::parse(as_of)?.days_until(today))
    });
    DataInUse {
        as_of: as_of.to_owned(),
        age_days,
        origin: if pack.is_some() { DataOrigin::Pack } else { DataOrigin::Builtin },
        sha256: pack.map(|pack| pack.sha256().hex()),
        signed_by: pack.and_then(Pack::signed_by).map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use data::data_pack::write;

    fn check(parts: &[(String, Vec<u8>)]) -> Result<(), PackError> {
        let bytes = write(parts, as_of(), "0.1.0").unwrap();
        let pack = Pack::open(&bytes, Trust::Unsigned, env!("CARGO_PKG_VERSION"), false)?;
        check_tables(Box::leak(Box::new(pack)))
    }

    /// A signed but malformed table must be an error before it is used.
    #[test]
    fn every_table_is_checked_by_its_reader() {
        let good = data::built_in_parts();
        let mut parts = good.clone();
        for (_, content) in &mut parts {
            *content = vec![0xc1, b'\n'];
        }
        // Every reader rejects its table until the table is correct.
        let mut refused = 0;
        while let Err(error) = check(&parts) {
            let PackError::Invalid(name, _) = &error else { panic!("{error}") };
            let at = parts.iter().position(|(known, _)| known == name).unwrap();
            assert_ne!(parts[at], good[at], "{error}");
            parts[at] = good[at].clone();
            refused += 1;
        }
        let unread: Vec<&String> =
            parts.iter().filter(|(_, part)| part[0] == 0xc1).map(|(name, _)| name).collect();
        assert!(unread.is_empty(), "no reader: {unread:?}");
        assert_eq!(refused, parts.len());
    }
}
