//! Facts about the live machine that are not in its files.
#![expect(clippy::disallowed_methods, reason = "part of the sysroot")]

use std::collections::BTreeSet;
use std::io;
use std::os::fd::OwnedFd;

use super::sidecar::ProcessMeta;
use facts::Space;
use facts::{MappedFile, Process};

/// The names of the Linux capabilities, by bit (`linux/capability.h`).
const CAPS: &[&str] = &[
    "chown",
    "dac_override",
    "dac_read_search",
    "fowner",
    "fsetid",
    "kill",
    "setgid",
    "setuid",
    "setpcap",
    "linux_immutable",
    "net_bind_service",
    "net_broadcast",
    "net_admin",
    "net_raw",
    "ipc_lock",
    "ipc_owner",
    "sys_module",
    "sys_rawio",
    "sys_chroot",
    "sys_ptrace",
    "sys_pacct",
    "sys_admin",
    "sys_boot",
    "sys_nice",
    "sys_resource",
    "sys_time",
    "sys_tty_config",
    "mknod",
    "lease",
    "audit_write",
    "audit_control",
    "setfcap",
    "mac_override",
    "mac_admin",
    "syslog",
    "wake_alarm",
    "block_suspend",
    "audit_read",
    "perfmon",
    "bpf",
    "checkpoint_restore",
];

/// The calling process and the machine that it runs on.
pub(super) fn process() -> (Process, ProcessMeta) {
    let uname = rustix::system::uname();
    let text = |value: &std::ffi::CStr| value.to_string_lossy().into_owned();
    let groups = rustix::process::getgroups().unwrap_or_default();
    let process = Process {
        uid: Some(rustix::process::geteuid().as_raw()),
        gid: Some(rustix::process::getegid().as_raw()),
        groups: groups.into_iter().map(rustix::process::Gid::as_raw).collect(),
        caps: std::fs::read("/proc/self/status")
            .ok()
            .and_then(|status| caps(&String::from_utf8_lossy(&status))),
        python: None,
        in_container: None,
        cwd: std::env::current_dir().ok().map(|dir| dir.to_string_lossy().into_owned()),
        ..Process::default()
    };
    let meta = ProcessMeta {
        arch: Some(text(uname.machine())),
        hostname: Some(text(uname.nodename())),
        kernel: Some(text(uname.release())),
        ..ProcessMeta::default()
    };
    (process, meta)
}

/// Another process: its user, and its environment.
pub(super) fn attach(pid: u32) -> io::Result<(Process, Vec<(String, String)>)> {
    // The kernel truncates the name of a program at 15 bytes, which may be within a character.
    let status = std::fs::read(format!("/proc/{pid}/status"))?;
    let status = String::from_utf8_lossy(&status).into_owned();
    let environ = std::fs::read(format!("/proc/{pid}/environ"))?;
    let link = |name: &str| {
        let target = std::fs::read_link(format!("/proc/{pid}/{name}")).ok()?;
        Some(target.to_string_lossy().into_owned())
    };
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
    // `Uid:` and `Gid:` contain real, effective, saved and file system ids.
    let effective = |name: &str| field(name)?.split_whitespace().nth(1)?.parse().ok();
    let exe = link("exe")
        .filter(|exe| exe.rsplit('/').next().is_some_and(|name| name.starts_with("python")));
    let process = Process {
        argv0: argv0(&std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default()),
        uid: effective("Uid:"),
        gid: effective("Gid:"),
        groups: field("Groups:")
            .map(|groups| groups.split_whitespace().filter_map(|id| id.parse().ok()).collect())
            .unwrap_or_default(),
        caps: caps(&status),
        python: exe,
        in_container: None,
        cwd: link("cwd"),
        pid: Some(pid),
        mapped: mapped(&std::fs::read(format!("/proc/{pid}/maps")).unwrap_or_default()),
    };
    let vars = environ
        .split(|&byte| byte == 0)
        .filter_map(|entry| {
            let entry = String::from_utf8_lossy(entry);
            let (name, value) = entry.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        })
        .collect();
    Ok((process, vars))
}

/// The first argument in `/proc/<pid>/cmdline`, if it names a Python. The others may be secrets,
/// and a process may have written any other text there.
fn argv0(cmdline: &[u8]) -> Option<String> {
    let first = cmdline.split(|&byte| byte == 0).next()?;
    let first = std::str::from_utf8(first).ok().filter(|first| first.len() < 4096)?;
    let name = first.rsplit('/').next()?;
    (name.starts_with("python") && !name.contains(char::is_whitespace)).then(|| first.to_owned())
}

/// The shared objects in the text of `/proc/<pid>/maps`, each once, in order of path.
fn mapped(maps: &[u8]) -> Vec<MappedFile> {
    let files: BTreeSet<MappedFile> = String::from_utf8_lossy(maps)
        .lines()
        .filter_map(|line| {
            // address perms offset dev inode path; the path is the rest of the line.
            let path = line.splitn(6, char::is_whitespace).nth(5)?.trim_start();
            let (path, deleted) = match path.strip_suffix(" (deleted)") {
                Some(path) => (path, true),
                None => (path, false),
            };
            let name = path.rsplit('/').next()?;
            (path.starts_with('/') && (name.ends_with(".so") || name.contains(".so.")))
                .then(|| MappedFile { path: path.to_owned(), deleted })
        })
        .collect();
    files.into_iter().collect()
}

/// The effective capabilities in the text of `/proc/<pid>/status`.
fn caps(status: &str) -> Option<BTreeSet<String>> {
    let bits = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    let bits = u64::from_str_radix(bits.trim(), 16).ok()?;
    Some(
        CAPS.iter()
            .enumerate()
            .filter(|(bit, _)| bits >> bit & 1 == 1)
            .map(|(_, name)| (*name).to_owned())
            .collect(),
    )
}

/// Size and free space of the file system that contains `file`.
pub(super) fn space(file: &OwnedFd) -> Option<Space> {
    let stat = rustix::fs::fstatvfs(file).ok()?;
    Some(Space {
        total: stat.f_blocks.saturating_mul(stat.f_frsize),
        available: stat.f_bavail.saturating_mul(stat.f_frsize),
    })
}

/// Main memory in bytes.
pub(super) fn memory() -> Option<u64> {
    let kind = sysinfo::MemoryRefreshKind::nothing().with_ram();
    let system =
        sysinfo::System::new_with_specifics(sysinfo::RefreshKind::nothing().with_memory(kind));
    Some(system.ok()?.total_memory()).filter(|&bytes| bytes > 0)
}

/// Logical processors.
pub(super) fn cpus() -> Option<u32> {
    std::thread::available_parallelism().ok().and_then(|count| u32::try_from(count.get()).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capability_bits_map_to_names() {
        let caps = caps("Name:\tx\nCapEff:\t0000000000000003\n").unwrap();
        assert_eq!(caps, BTreeSet::from(["chown".to_owned(), "dac_override".to_owned()]));
    }

    #[test]
    fn mapped_lists_shared_objects() {
        let maps = b"7f00-7f01 r-xp 00000000 08:01 1234   /a b/libhccl.so (deleted)\n\
            7f01-7f02 r--p 00001000 08:01 1234   /a b/libhccl.so (deleted)\n\
            7f02-7f03 rw-p 00000000 00:00 0 \n\
            7f03-7f04 rw-p 00000000 00:00 0      [stack]\n\
            7f04-7f05 r-xp 00000000 08:01 99     /usr/lib/libc.so.6\n";
        let files: Vec<_> = mapped(maps).into_iter().map(|f| (f.path, f.deleted)).collect();
        assert_eq!(
            files,
            [("/a b/libhccl.so".to_owned(), true), ("/usr/lib/libc.so.6".to_owned(), false)]
        );
    }

    #[test]
    fn argv0_returns_only_python_interpreters() {
        assert_eq!(argv0(b"/v/bin/python3\0-m\0x\0").as_deref(), Some("/v/bin/python3"));
        assert_eq!(argv0(b"python\0").as_deref(), Some("python"));
        for other in [&b""[..], b"VLLM::EngineCore\0", b"/bin/sh\0python\0", b"python -c secret"] {
            assert_eq!(argv0(other), None);
        }
    }

    #[test]
    fn process_has_user_and_architecture() {
        let (process, meta) = process();
        assert!(process.uid.is_some() && meta.arch.is_some());
    }
}
