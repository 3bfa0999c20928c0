//! Facts from the system's binaries: architecture and version of the C library.

use crate::sysroot::Sysroot;

/// Paths of the C library, by distribution and architecture.
const LIBC: &[&str] = &[
    "/lib64/libc.so.6",
    "/usr/lib64/libc.so.6",
    "/lib/aarch64-linux-gnu/libc.so.6",
    "/usr/lib/aarch64-linux-gnu/libc.so.6",
    "/lib/x86_64-linux-gnu/libc.so.6",
    "/usr/lib/x86_64-linux-gnu/libc.so.6",
    "/lib/libc.so.6",
];

/// Binaries that every root has, in search order.
const BINARIES: &[&str] = &["/bin/sh", "/usr/bin/env", "/sbin/init", "/usr/bin/python3"];

/// The number of bytes to read from the library: the table of version names is near its beginning.
const HEAD: usize = 1 << 20;

/// The machine that the system's binaries are built for, in the form of `uname -m`.
pub(super) fn arch(sysroot: &Sysroot) -> Option<String> {
    BINARIES.iter().chain(LIBC).find_map(|path| {
        let mut head = [0_u8; 20];
        let count = sysroot.open(path).ok()?.read_at(&mut head, 0).ok()?;
        if count < head.len() || !head.starts_with(b"\x7fELF") {
            return None;
        }
        // `e_machine` (System V ABI); both are little-endian here.
        match u16::from_le_bytes([head[18], head[19]]) {
            0xB7 => Some("aarch64".to_owned()),
            0x3E => Some("x86_64".to_owned()),
            _ => None,
        }
    })
}

/// Version of the GNU C library, for example `2.34`.
pub(super) fn version(sysroot: &Sysroot) -> Option<String> {
    LIBC.iter().find_map(|path| {
        let real = sysroot.real(path).ok()?;
        // Until 2.33 the file was named after its version.
        let name = real.rsplit('/').next()?;
        if let Some(version) = name.strip_prefix("libc-").and_then(|name| name.strip_suffix(".so"))
            && version.starts_with("2.")
        {
            return Some(version.to_owned());
        }
        let file = sysroot.open(&real).ok()?;
        let mut head = vec![0_u8; HEAD.min(usize::try_from(file.len()).ok()?)];
        let count = file.read_at(&mut head, 0).ok()?;
        highest_version(&head[..count]).map(|minor| format!("2.{minor}"))
    })
}

/// The highest N of all strings `GLIBC_2.N` that end after N.
fn highest_version(bytes: &[u8]) -> Option<u32> {
    const NAME: &[u8] = b"GLIBC_2.";
    let mut highest = None;
    let mut at = 0;
    while let Some(step) = bytes[at..].iter().position(|&byte| byte == b'G') {
        at += step;
        if bytes[at..].starts_with(NAME) {
            let digits: Vec<u8> = bytes[at + NAME.len()..]
                .iter()
                .take(4)
                .copied()
                .take_while(u8::is_ascii_digit)
                .collect();
            let end = bytes.get(at + NAME.len() + digits.len());
            let minor = std::str::from_utf8(&digits).ok().and_then(|text| text.parse().ok());
            // `GLIBC_2.3.4` is older than 2.4, so it does not count.
            if matches!(end, None | Some(0)) {
                highest = highest.max(minor);
            }
        }
        at += 1;
    }
    highest
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "builds trees for the sysroot to read")]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn version_comes_from_file_name() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("lib64")).unwrap();
        fs::write(dir.path().join("lib64/libc-2.28.so"), "").unwrap();
        std::os::unix::fs::symlink("libc-2.28.so", dir.path().join("lib64/libc.so.6")).unwrap();
        let sysroot = Sysroot::tree(dir.path()).unwrap();
        assert_eq!(version(&sysroot).as_deref(), Some("2.28"));
        assert_eq!(arch(&sysroot), None);
    }

    #[test]
    fn highest_version_finds_glibc_symbols() {
        assert_eq!(
            highest_version(b"x\0GLIBC_2.17\0GLIBC_2.35\0GLIBC_2.3.4\0GLIBC_PRIVATE\0"),
            Some(35)
        );
        assert_eq!(highest_version(b"GLIBC_2.99x\0"), None);
        assert_eq!(highest_version(b"GLIBC_2."), None);
        assert_eq!(highest_version(b""), None);
    }

    #[test]
    fn this_machine_agrees_with_its_kernel() {
        let sysroot = Sysroot::live();
        assert_eq!(arch(&sysroot), sysroot.machine().arch);
    }
}
