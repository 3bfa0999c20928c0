//! The locations of the system's libraries: `/etc/ld.so.cache`, `/etc/ld.so.conf`, default
//! directories.

use std::collections::BTreeMap;

use crate::sysroot::Sysroot;

const CACHE: &str = "/etc/ld.so.cache";
const CONF: &str = "/etc/ld.so.conf";
/// Maximum size of a cache in bytes. That of a large installation has some 100 kB.
const CACHE_LIMIT: u64 = 16 << 20;
const MAX_DEPTH: usize = 8;
const MAX_FILES: usize = 256;
/// Maximum number of directories: more than any loader would search in reasonable time.
const MAX_DIRECTORIES: usize = 4096;

/// The system's part of the search.
#[derive(Debug, Default)]
pub(super) struct System {
    /// Name -> entries, in the order of the cache. `None` if there is no readable cache.
    pub(super) cache: Option<BTreeMap<String, Vec<CacheEntry>>>,
    /// Directories of `ld.so.conf`, in order.
    pub(super) configured: Vec<String>,
    /// Directories that are always searched.
    pub(super) default: Vec<String>,
    /// Possible values of `$LIB`.
    pub(super) lib: Vec<String>,
}

/// A file in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CacheEntry {
    pub(super) path: String,
    /// Whether it is only for some processors.
    pub(super) tagged: bool,
}

impl System {
    pub(super) fn read(sysroot: &Sysroot, machine: u16) -> Self {
        let mut configured = Vec::new();
        let mut files = 0;
        read_conf(sysroot, CONF, 0, &mut files, &mut configured);
        let cache = sysroot.read(CACHE, CACHE_LIMIT).ok();
        let style = Style::of(sysroot, machine);
        Self {
            cache: cache.and_then(|bytes| parse_cache(&bytes, machine)),
            configured,
            default: style.default_directories(machine),
            lib: style.lib(machine),
        }
    }
}

/// The library layout of a distribution, for which its linker is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// Debian and its descendants: `/usr/lib/aarch64-linux-gnu`.
    Multiarch,
    /// openEuler, Red Hat, SUSE and most others: `/usr/lib64`.
    Lib64,
    /// There is no C library that would show the layout.
    Unknown,
}

impl Style {
    fn of(sysroot: &Sysroot, machine: u16) -> Self {
        let multiarch = format!("{}-linux-gnu", crate::elf::machine_name(machine));
        let has = |dir: &str| sysroot.is_file(&format!("{dir}/libc.so.6"));
        if has(&format!("/lib/{multiarch}")) || has(&format!("/usr/lib/{multiarch}")) {
            Self::Multiarch
        } else if has("/lib64") || has("/usr/lib64") {
            Self::Lib64
        } else {
            Self::Unknown
        }
    }

    /// The default search directories of glibc.
    fn default_directories(self, machine: u16) -> Vec<String> {
        let name = crate::elf::machine_name(machine);
        let multiarch = [format!("/lib/{name}-linux-gnu"), format!("/usr/lib/{name}-linux-gnu")];
        let lib64 = ["/lib64", "/usr/lib64"].map(str::to_owned);
        let lib = ["/lib", "/usr/lib"].map(str::to_owned);
        match self {
            Self::Multiarch => [multiarch, lib].concat(),
            // Only some builds search `/usr/lib` too.
            Self::Lib64 => [lib64, lib].concat(),
            Self::Unknown => [multiarch, lib64, lib].concat(),
        }
    }

    fn lib(self, machine: u16) -> Vec<String> {
        let multiarch = format!("lib/{}-linux-gnu", crate::elf::machine_name(machine));
        match self {
            Self::Multiarch => vec![multiarch],
            Self::Lib64 => vec!["lib64".to_owned()],
            Self::Unknown => vec![multiarch, "lib64".to_owned()],
        }
    }
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
    let Some(text) = sysroot.read_text_if_exists(path) else { return };
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let mut words = line.split_whitespace();
        match words.next() {
            Some("include") => {
                for pattern in words {
                    for file in glob(sysroot, &pattern_next_to(path, pattern)) {
                        read_conf(sysroot, &file, depth + 1, files, out);
                    }
                }
            }
            Some("hwcap") | None => {}
            Some(_) => {
                for dir in line.split([' ', '\t', ':', ',']).filter(|dir| dir.starts_with('/')) {
                    // Old files contain `directory=libc5`.
                    let dir = dir.split('=').next().unwrap_or(dir);
                    if out.len() < MAX_DIRECTORIES && !out.iter().any(|known| known == dir) {
                        out.push(dir.to_owned());
                    }
                }
            }
        }
    }
}

fn pattern_next_to(file: &str, pattern: &str) -> String {
    if pattern.starts_with('/') {
        return pattern.to_owned();
    }
    let dir = file.rfind('/').map_or("", |at| &file[..at]);
    format!("{dir}/{pattern}")
}

/// Files that match a pattern with `*` in its last component, the only form in these files.
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
/// Format of glibc's `dl-cache.h`: the size of the header of the new format, and of one entry.
const HEAD: usize = 48;
const ENTRY: usize = 24;

/// Parses the cache in the format that glibc writes since 2.2, also after an old-format header.
fn parse_cache(bytes: &[u8], machine: u16) -> Option<BTreeMap<String, Vec<CacheEntry>>> {
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
    let mut out: BTreeMap<String, Vec<CacheEntry>> = BTreeMap::new();
    for index in 0..count.min(bytes.len() / ENTRY) {
        let at = HEAD + index * ENTRY;
        let (flags, name, path) = (word(at)?, word(at + 4)?, word(at + 8)?);
        if flags != wanted {
            continue;
        }
        // Bits of the old scheme, or a reference into the table of `glibc-hwcaps` names.
        let tagged = (word(at + 16)?, word(at + 20)?) != (0, 0);
        let entries = out.entry(text_at(bytes, name)?).or_default();
        if entries.len() < 16 {
            entries.push(CacheEntry { path: text_at(bytes, path)?, tagged });
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
        for (flags, name, path, hwcap) in [(0x0303_u32, 0, 10, 1_u32 << 30), (0x0a03, 0, 25, 0)] {
            bytes.extend(flags.to_le_bytes());
            bytes.extend(u32::try_from(strings + name).unwrap().to_le_bytes());
            bytes.extend(u32::try_from(strings + path).unwrap().to_le_bytes());
            bytes.extend([0; 8]);
            bytes.extend(hwcap.to_le_bytes());
        }
        bytes.extend(b"libx.so.1\0/lib64/libx.so\0/arm/libx.so\0");
        let of = |machine| parse_cache(&bytes, machine).unwrap()["libx.so.1"].clone();
        assert_eq!(of(62), [CacheEntry { path: "/lib64/libx.so".to_owned(), tagged: true }]);
        assert_eq!(of(183), [CacheEntry { path: "/arm/libx.so".to_owned(), tagged: false }]);
        for size in 0..bytes.len() {
            let _ = parse_cache(&bytes[..size], 62);
        }
    }
}
