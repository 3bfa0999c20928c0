//! Where the system's libraries are: `/etc/ld.so.cache`, `/etc/ld.so.conf`, default directories.

use std::collections::BTreeMap;

use crate::sysroot::Sysroot;

const CACHE: &str = "/etc/ld.so.cache";
const CONF: &str = "/etc/ld.so.conf";
/// A cache of a large installation has some 100 kB.
const CACHE_LIMIT: u64 = 16 << 20;
const MAX_DEPTH: usize = 8;
const MAX_FILES: usize = 256;

/// The system's part of the search.
#[derive(Debug, Default)]
pub(super) struct System {
    /// Name -> paths, in the order of the cache. `None` if there is no cache that can be read.
    pub(super) cache: Option<BTreeMap<String, Vec<String>>>,
    /// Directories of `ld.so.conf`, in order.
    pub(super) configured: Vec<String>,
    /// Directories that are searched in any case.
    pub(super) default: Vec<String>,
}

impl System {
    pub(super) fn read(sysroot: &Sysroot, machine: u16) -> Self {
        let mut configured = Vec::new();
        let mut files = 0;
        read_conf(sysroot, CONF, 0, &mut files, &mut configured);
        let cache = sysroot.read(CACHE, CACHE_LIMIT).ok();
        Self {
            cache: cache.and_then(|bytes| parse_cache(&bytes, machine)),
            configured,
            default: default_directories(machine),
        }
    }
}

/// What glibc of the usual distributions searches without being told.
fn default_directories(machine: u16) -> Vec<String> {
    let name = crate::elf::machine_name(machine);
    let multiarch = format!("{name}-linux-gnu");
    let mut out = vec![format!("/lib/{multiarch}"), format!("/usr/lib/{multiarch}")];
    out.extend(["/lib64", "/usr/lib64", "/lib", "/usr/lib"].map(str::to_owned));
    out
}

fn read_conf(
    sysroot: &Sysroot,
    path: &str,
    depth: usize,
    files: &mut usize,
    out: &mut Vec<String>,
) {
    *files += 1;
    if depth > MAX_DEPTH || *files > MAX_FILES {
        return;
    }
    let Some(text) = sysroot.text_if_there(path) else { return };
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let mut words = line.split_whitespace();
        match words.next() {
            Some("include") => {
                for pattern in words {
                    for file in glob(sysroot, &beside(path, pattern)) {
                        read_conf(sysroot, &file, depth + 1, files, out);
                    }
                }
            }
            Some("hwcap") | None => {}
            Some(_) => {
                for dir in line.split([' ', '\t', ':', ',']).filter(|dir| dir.starts_with('/')) {
                    // Old files say `directory=libc5`.
                    let dir = dir.split('=').next().unwrap_or(dir);
                    if !out.iter().any(|known| known == dir) {
                        out.push(dir.to_owned());
                    }
                }
            }
        }
    }
}

fn beside(file: &str, pattern: &str) -> String {
    if pattern.starts_with('/') {
        return pattern.to_owned();
    }
    let dir = file.rfind('/').map_or("", |at| &file[..at]);
    format!("{dir}/{pattern}")
}

/// Files that match a pattern with `*` in its last component, which is all that these files use.
fn glob(sysroot: &Sysroot, pattern: &str) -> Vec<String> {
    let Some((dir, name)) = pattern.rsplit_once('/') else { return Vec::new() };
    let Some((head, tail)) = name.split_once('*') else { return vec![pattern.to_owned()] };
    let names = sysroot.list(dir).unwrap_or_default();
    names
        .into_iter()
        .filter(|name| {
            name.len() >= head.len() + tail.len()
                && name.starts_with(head)
                && name.ends_with(tail)
                && !name.starts_with('.')
        })
        .map(|name| format!("{dir}/{name}"))
        .collect()
}

const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
/// Format of glibc's `dl-cache.h`: the head of the new format, and of one entry.
const HEAD: usize = 48;
const ENTRY: usize = 24;

/// Parses the cache; only the format that glibc writes since 2.2, also behind an old-format head.
fn parse_cache(bytes: &[u8], machine: u16) -> Option<BTreeMap<String, Vec<String>>> {
    let start = bytes.windows(MAGIC.len()).position(|window| window == MAGIC)?;
    let bytes = &bytes[start..];
    let word =
        |at: usize| bytes.get(at..)?.first_chunk().map(|chunk| u32::from_le_bytes(*chunk) as usize);
    let count = word(20)?;
    let wanted = match machine {
        62 => 0x0303,
        183 => 0x0a03,
        _ => return None,
    };
    let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for index in 0..count.min(bytes.len() / ENTRY) {
        let at = HEAD + index * ENTRY;
        let (flags, name, path) = (word(at)?, word(at + 4)?, word(at + 8)?);
        if flags != wanted {
            continue;
        }
        let paths = out.entry(text_at(bytes, name)?).or_default();
        if paths.len() < 8 {
            paths.push(text_at(bytes, path)?);
        }
    }
    Some(out)
}

fn text_at(bytes: &[u8], at: usize) -> Option<String> {
    let rest = bytes.get(at..)?;
    let rest = &rest[..rest.len().min(4096)];
    let end = rest.iter().position(|byte| *byte == 0)?;
    Some(String::from_utf8_lossy(&rest[..end]).into_owned())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test builds the tree that is examined")]
mod tests {
    use super::*;

    #[test]
    fn includes_are_followed_and_circles_end() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("etc/ld.so.conf.d")).unwrap();
        let conf = "# comment\ninclude ld.so.conf.d/*.conf\n/opt/a:/opt/b /opt/c # end\n";
        std::fs::write(dir.path().join("etc/ld.so.conf"), conf).unwrap();
        let inner = "/usr/local/lib\ninclude /etc/ld.so.conf\nhwcap 1 x\n";
        std::fs::write(dir.path().join("etc/ld.so.conf.d/x.conf"), inner).unwrap();
        std::fs::write(dir.path().join("etc/ld.so.conf.d/x.txt"), "/no\n").unwrap();
        let system = System::read(&Sysroot::tree(dir.path()).unwrap(), 183);
        assert_eq!(system.configured, ["/usr/local/lib", "/opt/a", "/opt/b", "/opt/c"]);
        assert!(system.default.contains(&"/usr/lib/aarch64-linux-gnu".to_owned()));
        assert!(system.cache.is_none());
    }

    #[test]
    fn the_cache_is_read_for_one_machine() {
        let mut bytes = b"glibc-ld.so.cache1.1".to_vec();
        bytes.extend(2_u32.to_le_bytes());
        bytes.resize(HEAD, 0);
        let strings = HEAD + 2 * ENTRY;
        for (flags, name, path) in [(0x0303_u32, 0, 10), (0x0a03, 0, 25)] {
            bytes.extend(flags.to_le_bytes());
            bytes.extend(u32::try_from(strings + name).unwrap().to_le_bytes());
            bytes.extend(u32::try_from(strings + path).unwrap().to_le_bytes());
            bytes.extend([0; 12]);
        }
        bytes.extend(b"libx.so.1\0/lib64/libx.so\0/arm/libx.so\0");
        let cache = parse_cache(&bytes, 62).unwrap();
        assert_eq!(cache["libx.so.1"], ["/lib64/libx.so"]);
        for size in 0..bytes.len() {
            let _ = parse_cache(&bytes[..size], 62);
        }
    }
}
