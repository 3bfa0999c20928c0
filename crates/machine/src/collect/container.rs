//! Signs of a container, and the relevant mounts.

use crate::sysroot::Sysroot;
use facts::Space;
use facts::{Container, Mount};

/// Maximum length of the kept options of one mount, in characters; those of overlay list every
/// layer.
const MAX_OPTIONS: usize = 400;
/// Maximum number of kept mounts.
const MAX_MOUNTS: usize = 256;

/// Prefixes of the relevant mount points: parts of the driver in a container, and file systems that
/// fill up.
const POINTS: &[&str] = &[
    "/dev/shm",
    "/dev/davinci",
    "/dev/devmm_svm",
    "/dev/hisi_hdc",
    "/tmp",
    "/usr/local/Ascend",
    "/usr/local/dcmi",
    "/usr/local/bin/npu-smi",
    "/usr/local/sbin/npu-smi",
    "/usr/bin/npu-smi",
    "/var/queue_schedule",
    "/etc/ascend_install.info",
    "/etc/hccn.conf",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/resolv.conf",
];

/// Words in a control group's path, with their runtimes.
const CGROUPS: &[(&str, &str)] = &[
    ("kubepods", "kubernetes"),
    ("docker", "docker"),
    ("libpod", "podman"),
    ("containerd", "containerd"),
    ("isulad", "isulad"),
    ("lxc", "lxc"),
];

pub(super) fn collect(sysroot: &Sysroot) -> Container {
    let mut found = Container::default();
    // `/proc/self` of a tree, if it is mounted there, is this process and not one of the examined
    // machine. Process 1 is.
    let processes: &[&str] =
        if sysroot.is_live() { &["/proc/self"] } else { &["/proc/1", "/proc/self"] };
    let text = |name: &str| {
        let mut paths = processes.iter().map(|process| format!("{process}/{name}"));
        paths.find_map(|path| Some((sysroot.read_text(&path).ok()?, path)))
    };
    let mut looked = sysroot.is_live();

    let mut sign = |runtime: Option<&str>, evidence: String| {
        found.evidence.push(evidence);
        if found.runtime.is_none() {
            found.runtime = runtime.map(str::to_owned);
        }
    };
    if sysroot.exists("/.dockerenv") {
        sign(Some("docker"), "/.dockerenv".to_owned());
    }
    if sysroot.exists("/run/.containerenv") {
        sign(Some("podman"), "/run/.containerenv".to_owned());
    }
    let env = sysroot.env();
    if let Some(value) = env.non_empty("container") {
        sign(Some(value), format!("container={value}"));
    }
    if env.non_empty("KUBERNETES_SERVICE_PORT").is_some() {
        sign(Some("kubernetes"), "KUBERNETES_SERVICE_PORT".to_owned());
    }
    if let Some((groups, path)) = text("cgroup") {
        looked = true;
        let hit = groups.lines().find_map(|line| {
            let (_, runtime) = CGROUPS.iter().find(|(word, _)| line.contains(word))?;
            Some((line, *runtime))
        });
        if let Some((line, runtime)) = hit {
            sign(Some(runtime), format!("{path}: {}", bounded(line)));
        }
    }
    if let Some((table, path)) = text("mountinfo") {
        found.mounts = mounts(&table, mountinfo_line);
        looked = true;
        found.evidence.extend(overlay(&found.mounts, &path));
    } else if let Ok(table) = sysroot.read_text("/proc/mounts") {
        found.mounts = mounts(&table, mounts_line);
        looked = true;
        found.evidence.extend(overlay(&found.mounts, "/proc/mounts"));
    }
    found.inside = match sysroot.process().in_container {
        Some(told) => {
            found.evidence.insert(0, format!("in_container: {told}"));
            Some(told)
        }
        None if !found.evidence.is_empty() => Some(true),
        None => looked.then_some(false),
    };
    found
}

/// A root of layers indicates a container if the files that a runtime provides are mounted over it;
/// the root of a live system is made of layers too.
fn overlay(mounts: &[Mount], path: &str) -> Option<String> {
    let at = |point: &str| mounts.iter().find(|mount| mount.point == point);
    let provided = ["/etc/hostname", "/etc/hosts", "/etc/resolv.conf"];
    let is_overlay = at("/").is_some_and(|root| root.fstype == "overlay");
    (is_overlay && provided.iter().any(|point| at(point).is_some()))
        .then(|| format!("{path}: / is overlay"))
}

fn mounts(table: &str, parse: fn(&str) -> Option<Mount>) -> Vec<Mount> {
    let all = table.lines().filter_map(parse);
    all.filter(|mount| {
        mount.point == "/" || POINTS.iter().any(|start| mount.point.starts_with(start))
    })
    .take(MAX_MOUNTS)
    .collect()
}

/// All mounts that the process sees, in mount order; `None` without a table.
pub(super) fn all_mounts(sysroot: &Sysroot) -> Option<Vec<Mount>> {
    let process =
        sysroot.process().pid.map_or_else(|| "self".to_owned(), |number| number.to_string());
    if let Ok(table) = sysroot.read_text(&format!("/proc/{process}/mountinfo")) {
        return Some(table.lines().filter_map(mountinfo_line).collect());
    }
    let table = sysroot.read_text("/proc/mounts").ok()?;
    Some(table.lines().filter_map(mounts_line).collect())
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`
fn mountinfo_line(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(4);
    let (point, own) = (left.next()?, left.next()?);
    let mut right = right.split(' ');
    let (fstype, _, shared) = (right.next()?, right.next()?, right.next().unwrap_or_default());
    Some(mount(point, fstype, &format!("{own},{shared}")))
}

/// `tmpfs /dev/shm tmpfs rw,nosuid,size=65536k 0 0`
fn mounts_line(line: &str) -> Option<Mount> {
    let mut fields = line.split_whitespace().skip(1);
    Some(mount(fields.next()?, fields.next()?, fields.next()?))
}

fn mount(point: &str, fstype: &str, options: &str) -> Mount {
    Mount { point: unescape(point), fstype: bounded(fstype), options: bounded(options) }
}

/// Blanks and backslashes in a mount point are written as octal numbers (`\040`).
fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((head, tail)) = rest.split_once('\\') {
        out.push_str(head);
        let code = tail.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        if let Some(code) = code {
            out.push(char::from(code));
            rest = &tail[3..];
        } else {
            out.push('\\');
            rest = tail;
        }
    }
    out.push_str(rest);
    out
}

/// The size in the options of a tmpfs, as the size of the file system at `path`. Its free space is
/// unknown and assumed to be all of it.
pub(super) fn size_of(container: &Container, path: &str) -> Option<Space> {
    // The last mount on a point hides the others.
    let mount = container.mounts.iter().rev().find(|mount| mount.point == path)?;
    let size = mount.options.split(',').find_map(|option| option.strip_prefix("size="))?;
    let total = bytes(size)?;
    Some(Space { total, available: total })
}

/// `65536k`, `64m`, `1g`, or bytes.
fn bytes(size: &str) -> Option<u64> {
    let digits = size.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &size[digits.len()..] {
        "" => 1,
        "k" | "K" => 1 << 10,
        "m" | "M" => 1 << 20,
        "g" | "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

fn bounded(text: &str) -> String {
    text.chars().take(MAX_OPTIONS).collect()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "builds trees for the sysroot to read")]
mod tests {
    use std::fs;

    use super::*;

    fn tree(files: &[(&str, &str)]) -> Container {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let at = dir.path().join(path.trim_start_matches('/'));
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            fs::write(at, text).unwrap();
        }
        collect(&Sysroot::tree(dir.path()).unwrap())
    }

    #[test]
    fn missing_evidence_gives_no_verdict() {
        assert_eq!(tree(&[]), Container::default());
    }

    #[test]
    fn host_is_not_a_container() {
        let found = tree(&[("/proc/1/cgroup", "0::/init.scope\n")]);
        assert_eq!(found.inside, Some(false));
        // The root of a live system.
        let found = tree(&[("/proc/mounts", "overlay / overlay rw,lowerdir=/a 0 0\n")]);
        assert_eq!(found.inside, Some(false));
    }

    #[test]
    fn a_mounted_host_is_not_taken_for_our_own_container() {
        let found = tree(&[
            ("/proc/1/cgroup", "0::/init.scope\n"),
            ("/proc/self/cgroup", "0::/kubepods/pod1\n"),
        ]);
        assert_eq!(found.inside, Some(false));
    }

    #[test]
    fn each_sign_is_enough() {
        let cases = [
            ("/.dockerenv", "", Some("docker")),
            ("/run/.containerenv", "", Some("podman")),
            ("/proc/self/cgroup", "12:cpu:/kubepods/besteffort/pod1\n", Some("kubernetes")),
            (".env.json", r#"{"KUBERNETES_SERVICE_PORT": "443"}"#, Some("kubernetes")),
            (".process.json", r#"{"in_container": true}"#, None),
            (
                "/proc/self/mountinfo",
                "1 0 0:1 / / rw - overlay overlay rw,lowerdir=/x\n\
                 2 1 8:1 /h /etc/hosts rw - ext4 /dev/sda rw\n",
                None,
            ),
        ];
        for (path, text, runtime) in cases {
            let found = tree(&[(path, text)]);
            assert!(found.is_inside(), "{path}");
            assert_eq!(found.runtime.as_deref(), runtime, "{path}");
        }
    }

    #[test]
    fn sidecar_overrides_evidence() {
        let found = tree(&[("/.dockerenv", ""), (".process.json", r#"{"in_container": false}"#)]);
        assert_eq!(found.inside, Some(false));
    }

    #[test]
    fn tmpfs_sizes_are_parsed() {
        let found = tree(&[(
            "/proc/self/mountinfo",
            "1 0 0:1 / /dev/shm rw,nosuid shared:2 - tmpfs shm rw,size=65536k\n",
        )]);
        assert_eq!(size_of(&found, "/dev/shm").map(|space| space.total), Some(64 << 20));
        assert_eq!(size_of(&found, "/tmp"), None);
        assert_eq!(bytes("50%"), None);
        assert_eq!(bytes("99999999999999999999g"), None);
        assert_eq!(unescape("/a\\040b\\9\\"), "/a b\\9\\");
    }
}
