//! Stores compiled kernels, so that the compiler runs once and not in every test.
//!
//! The name of a file is a hash of its inputs: the source, the architecture, and the loaded
//! compiler (its files, by size and modification time). The file begins with the hash of its
//! content, so a damaged one is ignored. The directory must belong to this user, and no other user
//! may have write access; otherwise it is not used.
#![expect(
    clippy::disallowed_methods,
    reason = "keeps compiled kernels in the cache directory of this user"
)]

use std::ffi::OsStr;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use guard::dir::Dir;
use guard::named::{open_dir, open_or_create_dir};

use sha2::{Digest as _, Sha256};

use super::vendor::MAX_BINARY;

/// The first bytes of a file, which identify the format.
const MAGIC: &[u8] = b"ascend-doctor kernel 1\n";
/// Bytes of a hash.
const HASH: usize = 32;
/// The file of the run-time compiler.
const COMPILER: &str = "/libacl_rtc.so";
/// The parts that the compiler itself loads, from the directory of CANN (three levels above it).
const PARTS: [&str; 3] = [
    "tools/bisheng_compiler/lib/libasrtc.so",
    "compiler/ccec_compiler/lib/libasrtc.so",
    "ccec_compiler/lib/libasrtc.so",
];

/// The directory for compiled kernels: below `XDG_CACHE_HOME`, or `.cache` in the home directory.
pub fn cache_dir(xdg: Option<&str>, home: Option<&str>) -> Option<String> {
    let absolute = |path: &&str| path.starts_with('/');
    let base = match xdg.filter(absolute) {
        Some(xdg) => xdg.trim_end_matches('/').to_owned(),
        None => format!("{}/.cache", home.filter(absolute)?.trim_end_matches('/')),
    };
    Some(format!("{base}/ascend-doctor/kernels"))
}

/// The name of the file for a kernel that depends on `parts` and on the compiler that this process
/// has loaded.
pub fn cache_key(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts.iter().copied().map(str::to_owned).chain(list_compiler_files()) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    encode_hex(&hash.finalize())
}

/// The run-time compiler that this process has loaded.
fn loaded_compiler() -> Option<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mut paths = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    paths.find(|path| path.ends_with(COMPILER)).map(PathBuf::from)
}

/// The parts that a compiler may load: one of them is enough.
fn compiler_parts(library: &Path) -> Vec<PathBuf> {
    let root = library.ancestors().nth(3);
    // In some versions, there is an architecture directory in between.
    let roots = root.into_iter().chain(library.ancestors().nth(2));
    roots.flat_map(|root| PARTS.iter().map(|part| root.join(part))).collect()
}

/// Whether the loaded compiler has the parts that it loads; `None` if no compiler is loaded.
pub fn has_compiler_parts() -> Option<bool> {
    let library = loaded_compiler()?;
    Some(compiler_parts(&library).iter().any(|part| part.is_file()))
}

/// The files of the compiler: path, size, time of change.
fn list_compiler_files() -> Vec<String> {
    let Some(library) = loaded_compiler() else { return Vec::new() };
    let mut files = compiler_parts(&library);
    files.insert(0, library);
    files
        .iter()
        .filter_map(|path| {
            let seen = std::fs::metadata(path).ok()?;
            let (size, time, nanos) = (seen.size(), seen.mtime(), seen.mtime_nsec());
            Some(format!("{} {size} {time}.{nanos}", path.display()))
        })
        .collect()
}

/// A stored kernel, if there is an undamaged one.
pub fn read(dir: &Path, key: &str) -> Option<Vec<u8>> {
    let dir = check_owner(open_dir(dir).ok()?).ok()?;
    let file = dir.open(OsStr::new(key)).ok()?;
    let mut bytes = Vec::new();
    let limit = MAGIC.len() + HASH + MAX_BINARY + 1;
    file.take(limit as u64).read_to_end(&mut bytes).ok()?;
    let rest = bytes.strip_prefix(MAGIC)?;
    let (hash, binary) = rest.split_at_checked(HASH)?;
    let whole = bytes.len() < limit && Sha256::digest(binary)[..] == *hash;
    whole.then(|| binary.to_vec())
}

/// Stores a kernel atomically: a reader sees either the complete file or none.
pub fn write(dir: &Path, key: &str, binary: &[u8]) -> std::io::Result<()> {
    let dir = check_owner(open_or_create_dir(dir, 0o700)?)?;
    let (unfinished, mut file) = dir.create_temporary(&format!("{key}."), 0o600)?;
    let write = || {
        file.write_all(MAGIC)?;
        file.write_all(&Sha256::digest(binary))?;
        file.write_all(binary)?;
        drop(file);
        dir.rename(&unfinished, OsStr::new(key))
    };
    let done = write();
    if done.is_err() {
        let _ = dir.remove_file(&unfinished);
    }
    done
}

/// Removes a stored kernel.
pub fn remove(dir: &Path, key: &str) {
    if let Ok(dir) = open_dir(dir) {
        let _ = dir.remove_file(OsStr::new(key));
    }
}

/// The directory, if only this user can write to it: its files are executed.
fn check_owner(dir: Dir) -> std::io::Result<Dir> {
    let seen = dir.own_stat()?;
    let own = seen.st_uid == rustix::process::geteuid().as_raw() && seen.st_mode & 0o022 == 0;
    let denied = || std::io::Error::other(data::faults::DirectoryNotOwn.fault());
    if own { Ok(dir) } else { Err(denied()) }
}

/// Hexadecimal digits.
pub fn encode_hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_kernel_is_kept_whole_or_not_at_all() {
        let dir = tempfile::Builder::new().prefix("kernels-").tempdir().unwrap();
        let place = dir.path().join("a/b");
        let name = cache_key(&["source", "dav-2201"]);
        assert_ne!(name, cache_key(&["sourced", "av-2201"]));
        assert_eq!(read(&place, &name), None);
        write(&place, &name, b"binary").unwrap();
        assert_eq!(read(&place, &name).as_deref(), Some(&b"binary"[..]));
        let path = place.join(&name);
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 4;
            std::fs::write(&path, damaged).unwrap();
            assert_eq!(read(&place, &name), None, "byte {at}");
            std::fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(read(&place, &name), None, "the first {at} bytes");
        }
        std::fs::write(&path, &whole).unwrap();
        // Kernels that others can write to are not run.
        std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(read(&place, &name), None);
        assert!(write(&place, &name, b"binary").is_err());
        std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o700)).unwrap();
        remove(&place, &name);
        assert_eq!(read(&place, &name), None);
    }

    #[test]
    fn the_place_is_that_of_the_user() {
        let own = "/home/u/.cache/ascend-doctor/kernels";
        assert_eq!(cache_dir(None, Some("/home/u/")).as_deref(), Some(own));
        assert_eq!(cache_dir(Some("x"), Some("/home/u")).as_deref(), Some(own));
        assert_eq!(cache_dir(Some("/c"), None).as_deref(), Some("/c/ascend-doctor/kernels"));
        assert_eq!(cache_dir(None, Some("")), None);
        assert_eq!(cache_dir(None, None), None);
    }
}
