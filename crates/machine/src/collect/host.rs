//! The machine and its operating system.

use std::collections::{BTreeMap, BTreeSet};

use crate::sysroot::{ReadError, Sysroot};
use base::hash::Sha256;
use facts::Space;
use facts::{Cpu, Facts, Host, InfoFile, NodeOwner};

use super::{container, info_file::parse_info, libc};

/// Prefixes of the names of the driver's kernel modules (cann/driver).
const MODULES: &[&str] = &["asdrv_", "ascend_", "drv_", "ts_agent", "devdrv", "npu_"];
/// Maximum number of kept modules, interfaces or mounts.
const MAX_ENTRIES: usize = 512;

/// Collects the facts of the host. Needs those of driver and devices, because they name users and
/// groups.
pub(super) fn collect(sysroot: &Sysroot, facts: &mut Facts) {
    let os_release = os_release(sysroot);
    let os = &os_release.fields;
    let machine = sysroot.machine();
    let cpuinfo = sysroot.read_text("/proc/cpuinfo").ok();
    let container = container::collect(sysroot);
    let log_dir = log_dir(facts);
    let mut space = BTreeMap::new();
    for path in ["/dev/shm", "/tmp"].into_iter().chain(log_dir.as_deref()) {
        if let Some(found) =
            space_of(sysroot, path).or_else(|| container::size_of(&container, path))
        {
            space.insert(path.to_owned(), found);
        }
    }
    let identities = identities(sysroot);
    facts.host = Host {
        name: machine.hostname.clone().or_else(|| first_line(sysroot, "/etc/hostname")),
        machine: identities.0,
        boot: identities.1,
        arch: machine.arch.clone().or_else(|| libc::arch(sysroot)),
        kernel: machine
            .kernel
            .clone()
            .or_else(|| first_line(sysroot, "/proc/sys/kernel/osrelease")),
        os_id: os.get("ID").cloned(),
        os_version: os.get("VERSION_ID").cloned(),
        os_pretty: os.get("PRETTY_NAME").cloned(),
        os_source: Some(os_release.path).filter(|path| !path.is_empty()),
        os_lines: os_release.lines,
        glibc: libc::version(sysroot),
        cpus: sysroot.cpus().or_else(|| count_cpus(cpuinfo.as_deref()?)),
        cpu: cpuinfo.as_deref().and_then(cpu),
        memory: sysroot.memory().or_else(|| memory(sysroot)),
        modules: modules(sysroot),
        space,
        log_dir,
        container,
        interfaces: sysroot
            .list("/sys/class/net")
            .ok()
            .map(|names| names.into_iter().take(MAX_ENTRIES).collect()),
        ..Host::default()
    };
    users(sysroot, facts);
}

fn os_release(sysroot: &Sysroot) -> InfoFile {
    let paths = ["/etc/os-release", "/usr/lib/os-release"];
    let Some((path, text)) =
        paths.iter().find_map(|path| Some((path, sysroot.read_text_if_exists(path)?)))
    else {
        return InfoFile::default();
    };
    let mut file = parse_info(path, &text).0;
    for value in file.fields.values_mut() {
        // The file is shell code, so single quotes are equivalent to double ones.
        if let Some(bare) = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\'')) {
            *value = bare.to_owned();
        }
    }
    file
}

fn first_line(sysroot: &Sysroot, path: &str) -> Option<String> {
    let text = sysroot.read_text(path).ok()?;
    let line = text.lines().next()?.trim();
    (!line.is_empty() && line.len() <= 256).then(|| line.to_owned())
}

/// Digests of the IDs of the installation and of its last boot.
pub(super) fn identities(sysroot: &Sysroot) -> (Option<String>, Option<String>) {
    let [machine, boot] =
        ["/etc/machine-id", "/proc/sys/kernel/random/boot_id"].map(|path| identity(sysroot, path));
    (machine, boot)
}

/// A digest that identifies a machine without revealing its ID: machine-id(5) requires that the ID
/// itself is not passed on.
fn identity(sysroot: &Sysroot, path: &str) -> Option<String> {
    let id = first_line(sysroot, path).filter(|id| id.len() >= 32)?;
    let mut digest = Sha256::of(format!("ascend-doctor {id}").as_bytes()).hex();
    digest.truncate(16);
    Some(digest)
}

/// The log directory of CANN's processes (CANN documentation, log reference).
fn log_dir(facts: &Facts) -> Option<String> {
    let named = facts.env.non_empty("ASCEND_PROCESS_LOG_PATH").map(str::to_owned);
    named
        .or_else(|| Some(format!("{}/ascend/log", facts.env.non_empty("HOME")?)))
        .filter(|path| path.starts_with('/'))
}

/// The space of the file system that contains `path`, or would contain it.
fn space_of(sysroot: &Sysroot, path: &str) -> Option<Space> {
    let mut at = path;
    loop {
        if let Some(space) = sysroot.space(at) {
            return Some(space);
        }
        at = match at.rfind('/') {
            Some(0) if at.len() > 1 => "/",
            Some(slash) if slash > 0 => &at[..slash],
            _ => return None,
        };
        // The file system above `/dev` or `/tmp` is not that of these directories.
        if at == "/" && (path == "/dev/shm" || path == "/tmp") && !sysroot.is_dir(path) {
            return None;
        }
    }
}

fn memory(sysroot: &Sysroot) -> Option<u64> {
    let text = sysroot.read_text("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

fn count_cpus(cpuinfo: &str) -> Option<u32> {
    let count = cpuinfo.lines().filter(|line| line.starts_with("processor")).count();
    u32::try_from(count).ok().filter(|&count| count > 0)
}

/// Vendor and features of the first processor; all processors are assumed to be equal.
fn cpu(cpuinfo: &str) -> Option<Cpu> {
    let value = |keys: &[&str]| {
        cpuinfo.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            keys.contains(&key.trim()).then(|| value.trim())
        })
    };
    let flags = value(&["flags", "Features"])?;
    let kept: BTreeSet<&str> = flags.split_whitespace().filter(|name| Cpu::is_kept(name)).collect();
    Some(Cpu {
        vendor: value(&["vendor_id", "CPU implementer"])
            .map(|vendor| vendor.chars().take(64).collect()),
        features: kept.into_iter().map(str::to_owned).collect(),
    })
}

/// The loaded modules that may belong to the Ascend driver.
fn modules(sysroot: &Sysroot) -> Option<Vec<String>> {
    let text = sysroot.read_text("/proc/modules").ok()?;
    Some(
        text.lines()
            .filter_map(|line| line.split_whitespace().next())
            .filter(|name| MODULES.iter().any(|start| name.starts_with(start)))
            .take(MAX_ENTRIES)
            .map(str::to_owned)
            .collect(),
    )
}

/// Returns whether `/etc/passwd` is the only source of users. Without a configuration, the C
/// library uses the files.
fn accounts_of_files(sysroot: &Sysroot) -> bool {
    let text = match sysroot.read_text("/etc/nsswitch.conf") {
        Ok(text) => text,
        Err(error) => return matches!(error, ReadError::NotFound | ReadError::NotDirectory),
    };
    let sources = text.lines().find_map(|line| line.trim_start().strip_prefix("passwd:"));
    // systemd provides only its own users, not those of people.
    sources.is_none_or(|sources| {
        let mut sources = sources.split('#').next().unwrap_or_default().split_whitespace();
        sources.all(|source| matches!(source, "files" | "compat" | "systemd"))
    })
}

/// Reads the user of the driver, the user under examination, and the relevant groups of both.
fn users(sysroot: &Sysroot, facts: &mut Facts) {
    let info = facts.driver.install_info.as_ref();
    let driver_user = info.and_then(|info| info.get("UserName")).unwrap_or("HwHiAiUser");
    let driver_group = info.and_then(|info| info.get("UserGroup")).unwrap_or("HwHiAiUser");
    let owners = facts.devices.nodes.iter().filter_map(|node| node.owner.as_ref());
    let owning: Vec<u32> = owners.map(|&NodeOwner { gid, .. }| gid).collect();

    let (Ok(passwd), Ok(group)) =
        (sysroot.read_text("/etc/passwd"), sysroot.read_text("/etc/group"))
    else {
        return;
    };
    facts.host.accounts_read = true;
    facts.host.accounts_of_files = accounts_of_files(sysroot);
    facts.host.cwd_owner = facts.process.cwd.as_deref().and_then(|cwd| {
        let stat = sysroot.stat(cwd).ok()?;
        stat.owner_known.then_some(NodeOwner { mode: stat.mode, uid: stat.uid, gid: stat.gid })
    });
    let mut first_group = None;
    for line in passwd.lines() {
        let fields: Vec<&str> = line.split(':').collect();
        let [name, _, uid, gid, ..] = fields[..] else { continue };
        let Ok(uid) = uid.parse() else { continue };
        if name == driver_user {
            facts.host.users.insert(name.to_owned(), uid);
        }
        if facts.process.uid == Some(uid) && facts.host.user.is_none() {
            facts.host.user = Some(name.to_owned());
            first_group = gid.parse::<u32>().ok();
        }
    }
    for (number, line) in (1..).zip(group.lines()) {
        let fields: Vec<&str> = line.split(':').collect();
        let [name, _, gid, members, ..] = fields[..] else { continue };
        let Ok(gid) = gid.parse() else { continue };
        if name != driver_group && !owning.contains(&gid) {
            continue;
        }
        facts.host.groups.insert(name.to_owned(), gid);
        facts.host.group_lines.insert(name.to_owned(), number);
        let listed = facts
            .host
            .user
            .as_deref()
            .is_some_and(|user| members.split(',').any(|member| member == user));
        if listed || first_group == Some(gid) {
            facts.host.user_groups.push(name.to_owned());
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "builds trees for the sysroot to read")]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::collect::Options;

    fn write(root: &Path, path: &str, text: &str) {
        let at = root.join(path.trim_start_matches('/'));
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::write(at, text).unwrap();
    }

    fn facts(root: &Path) -> Facts {
        super::super::collect(&Sysroot::tree(root).unwrap(), &Options::default())
    }

    #[test]
    fn reads_copied_host() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        write(
            root,
            "/etc/os-release",
            "ID='openEuler'\nVERSION_ID=\"22.03\"\nPRETTY_NAME=\"x y\"\n",
        );
        write(root, "/proc/sys/kernel/osrelease", "5.10.0\n");
        write(root, "/proc/meminfo", "MemTotal:       2048 kB\n");
        write(
            root,
            "/proc/cpuinfo",
            "processor\t: 0\nCPU implementer\t: 0x48\nFeatures\t: fp atomics\n\nprocessor\t: 1\n",
        );
        write(root, "/proc/modules", "asdrv_svm 1 0 - Live 0x0\next4 1 0 - Live 0x0\n");
        write(root, "/proc/mounts", "tmpfs /dev/shm tmpfs rw,size=65536k 0 0\n");
        write(root, "/etc/passwd", "root:x:0:0::/:/bin/sh\nme:x:1000:1000::/:/bin/sh\nbad\n");
        write(root, "/etc/group", "HwHiAiUser:x:1001:a,me\nother:x:5:\n");
        write(root, ".process.json", r#"{"uid": 1000, "gid": 1000, "arch": "aarch64"}"#);
        write(root, ".env.json", r#"{"HOME": "/home/me"}"#);
        let host = facts(root).host;
        assert_eq!(
            (host.os_id.as_deref(), host.os_version.as_deref()),
            (Some("openEuler"), Some("22.03"))
        );
        assert_eq!(
            (host.kernel.as_deref(), host.arch.as_deref()),
            (Some("5.10.0"), Some("aarch64"))
        );
        assert_eq!((host.memory, host.cpus), (Some(2 << 20), Some(2)));
        let cpu = host.cpu.unwrap();
        assert_eq!(
            (cpu.vendor.as_deref(), &cpu.features[..]),
            (Some("0x48"), &["atomics".to_owned()][..])
        );
        assert_eq!(host.modules, Some(vec!["asdrv_svm".to_owned()]));
        assert_eq!(host.space["/dev/shm"].total, 64 << 20);
        assert_eq!(host.log_dir.as_deref(), Some("/home/me/ascend/log"));
        assert_eq!(host.user.as_deref(), Some("me"));
        assert_eq!((host.os_lines["VERSION_ID"], host.group_lines["HwHiAiUser"]), (2, 1));
        assert_eq!(host.groups, BTreeMap::from([("HwHiAiUser".to_owned(), 1001)]));
        assert_eq!(host.user_groups, ["HwHiAiUser"]);
    }

    #[test]
    fn sizes_from_a_recording_go_before_mount_options() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        write(root, "/proc/mounts", "tmpfs /dev/shm tmpfs rw,size=65536k 0 0\n");
        let space = r#"{"paths": {"/dev/shm": {"total": 9, "available": 8}, "/home": {"total": 7, "available": 6}}}"#;
        write(root, ".space.json", space);
        write(root, ".env.json", r#"{"HOME": "/home/me"}"#);
        let host = facts(root).host;
        assert_eq!(host.space["/dev/shm"], Space { total: 9, available: 8 });
        assert_eq!(host.space["/home/me/ascend/log"], Space { total: 7, available: 6 });
        assert!(!host.space.contains_key("/tmp"));
    }
}
