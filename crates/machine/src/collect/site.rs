//! Limits, settings of the system and named files, for the expectations of a site.

use std::collections::{BTreeMap, BTreeSet};

use crate::sysroot::{ReadError, Sysroot};
use facts::{NodeOwner, Site, SiteFile};

use super::container;

/// Maximum number of processors and of network interfaces that are read.
const MAX_ENTRIES: usize = 4096;
/// Maximum length of a word read from a kernel file.
const MAX_WORD: usize = 64;

/// Rows of `/proc/<pid>/limits` by their names in limits.conf(5).
const LIMITS: &[(&str, &str)] = &[
    ("Max open files", "nofile"),
    ("Max processes", "nproc"),
    ("Max locked memory", "memlock"),
    ("Max stack size", "stack"),
    ("Max core file size", "core"),
    ("Max address space", "as"),
    ("Max file size", "fsize"),
    ("Max data size", "data"),
    ("Max cpu time", "cpu"),
    ("Max pending signals", "sigpending"),
    ("Max msgqueue size", "msgqueue"),
];

/// Names in expectations that are not collected otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Named {
    /// Files, and whether their hash is needed.
    pub files: BTreeMap<String, bool>,
    /// Mount points.
    pub mounts: BTreeSet<String>,
    /// Name servers.
    pub nameservers: BTreeSet<String>,
    /// Host names.
    pub hosts: BTreeSet<String>,
}

/// Reads limits and settings, and the named files, mounts and hosts.
pub(super) fn collect(sysroot: &Sysroot, named: &Named) -> Site {
    Site {
        limits: limits(sysroot),
        hugepages: hugepages(sysroot),
        transparent_hugepages: transparent_hugepages(sysroot),
        cpu_governors: cpu_governors(sysroot),
        interfaces: interfaces(sysroot),
        default_route: default_route(sysroot),
        nameservers: words_present(sysroot, "/etc/resolv.conf", &named.nameservers, |words| {
            (words.next() == Some("nameserver"))
                .then(|| words.next().map(str::to_owned).into_iter().collect())
        }),
        hosts: words_present(sysroot, "/etc/hosts", &named.hosts, |words| {
            words.next().map(|_address| words.map(str::to_owned).collect())
        }),
        mounts: mounts(sysroot, &named.mounts),
        files: named
            .files
            .iter()
            .map(|(path, hash)| (path.clone(), file(sysroot, path, *hash)))
            .collect(),
    }
}

fn limits(sysroot: &Sysroot) -> BTreeMap<String, Option<u64>> {
    let process =
        sysroot.process().pid.map_or_else(|| "self".to_owned(), |number| number.to_string());
    let text = sysroot.read_text(&format!("/proc/{process}/limits")).unwrap_or_default();
    text.lines().filter_map(limit).collect()
}

/// `Max open files            1024                 524288               files`
fn limit(line: &str) -> Option<(String, Option<u64>)> {
    let (rest, name) =
        LIMITS.iter().find_map(|(row, name)| Some((line.strip_prefix(row)?, *name)))?;
    let soft = rest.split_whitespace().next()?;
    let value = if soft == "unlimited" { None } else { Some(soft.parse().ok()?) };
    Some((name.to_owned(), value))
}

fn hugepages(sysroot: &Sysroot) -> Option<u64> {
    let text = sysroot.read_text("/proc/meminfo").ok()?;
    text.lines().find_map(|line| line.strip_prefix("HugePages_Total:"))?.trim().parse().ok()
}

/// `always [madvise] never`
fn transparent_hugepages(sysroot: &Sysroot) -> Option<String> {
    let text = sysroot.read_text("/sys/kernel/mm/transparent_hugepage/enabled").ok()?;
    let (_, rest) = text.split_once('[')?;
    word(rest.split_once(']')?.0)
}

fn cpu_governors(sysroot: &Sysroot) -> Vec<String> {
    let dir = "/sys/devices/system/cpu";
    let names = sysroot.list(dir).unwrap_or_default();
    let cpus = names.iter().filter(|name| {
        name.strip_prefix("cpu").is_some_and(|number| number.parse::<u32>().is_ok())
    });
    let governors: BTreeSet<String> = cpus
        .take(MAX_ENTRIES)
        .filter_map(|name| {
            word(&sysroot.read_text(&format!("{dir}/{name}/cpufreq/scaling_governor")).ok()?)
        })
        .collect();
    governors.into_iter().collect()
}

fn interfaces(sysroot: &Sysroot) -> BTreeMap<String, String> {
    let dir = "/sys/class/net";
    let names = sysroot.list(dir).unwrap_or_default().into_iter().take(MAX_ENTRIES);
    names
        .filter_map(|name| {
            let state = word(&sysroot.read_text(&format!("{dir}/{name}/operstate")).ok()?)?;
            Some((name, state))
        })
        .collect()
}

/// Returns whether there is a default route. The IPv4 table has the destination 0 in its second
/// column. The IPv6 table has it in its first, followed by the length of the prefix, and also lists
/// routes of the loopback interface that lead nowhere.
fn default_route(sysroot: &Sysroot) -> Option<bool> {
    let four = sysroot.read_text("/proc/net/route").ok();
    let six = sysroot.read_text("/proc/net/ipv6_route").ok();
    if four.is_none() && six.is_none() {
        return None;
    }
    let is_default = |line: &str| {
        let mut fields = line.split_whitespace().skip(1);
        let destination = fields.next();
        destination == Some("00000000") && fields.nth(5) == Some("00000000")
    };
    let is_default6 = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let all_zero = |field: &str| field.bytes().all(|byte| byte == b'0');
        matches!(fields.as_slice(), [destination, "00", .., interface]
            if all_zero(destination) && *interface != "lo")
    };
    Some(
        four.unwrap_or_default().lines().any(is_default)
            || six.unwrap_or_default().lines().any(is_default6),
    )
}

/// The names that are among the words of a file. Empty if the file is unreadable.
fn words_present(
    sysroot: &Sysroot,
    path: &str,
    names: &BTreeSet<String>,
    words_of: fn(&mut std::str::SplitWhitespace<'_>) -> Option<Vec<String>>,
) -> BTreeMap<String, bool> {
    if names.is_empty() {
        return BTreeMap::new();
    }
    let text = match sysroot.read_text(path) {
        Ok(text) => text,
        Err(ReadError::NotFound) => String::new(),
        Err(_) => return BTreeMap::new(),
    };
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let known: BTreeSet<String> =
        lines.filter_map(|line| words_of(&mut line.split_whitespace())).flatten().collect();
    names.iter().map(|name| (name.clone(), known.contains(name))).collect()
}

fn mounts(sysroot: &Sysroot, points: &BTreeSet<String>) -> BTreeMap<String, Option<facts::Mount>> {
    if points.is_empty() {
        return BTreeMap::new();
    }
    let Some(all) = container::all_mounts(sysroot) else { return BTreeMap::new() };
    let find = |point: &String| {
        // The last mount on a point hides the others.
        let found = all.iter().rev().find(|mount| mount.point == *point);
        (point.clone(), found.cloned())
    };
    points.iter().map(find).collect()
}

fn file(sysroot: &Sysroot, path: &str, hash: bool) -> SiteFile {
    let stat = match sysroot.stat(path) {
        Ok(stat) => stat,
        Err(ReadError::NotFound | ReadError::NotDirectory) => return SiteFile::default(),
        Err(error) => return unreadable(&error),
    };
    let mut file = SiteFile {
        kind: Some(stat.kind),
        owner: stat.owner_known.then_some(NodeOwner {
            mode: stat.mode,
            uid: stat.uid,
            gid: stat.gid,
        }),
        ..SiteFile::default()
    };
    if hash {
        match sysroot.sha256(path, &|_| ()) {
            Ok(hash) => file.sha256 = Some(hash.hex()),
            Err(error) => file.unreadable = Some(error.to_string()),
        }
    }
    file
}

fn unreadable(error: &ReadError) -> SiteFile {
    SiteFile { unreadable: Some(error.to_string()), ..SiteFile::default() }
}

fn word(text: &str) -> Option<String> {
    let word = text.trim();
    let plain = !word.is_empty() && word.len() <= MAX_WORD && !word.contains(char::is_control);
    plain.then(|| word.to_owned())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "builds a tree for the sysroot to read")]
mod tests {
    use super::*;

    #[test]
    fn limits_settings_and_named_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put(
            "proc/self/limits",
            "Limit                     Soft Limit           Hard Limit           Units\n\
             Max open files            1024                 524288               files\n\
             Max locked memory         unlimited            unlimited            bytes\n",
        );
        put("proc/meminfo", "HugePages_Total:      12\n");
        put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
        for cpu in 0..3 {
            put(
                &format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"),
                if cpu == 2 { "powersave\n" } else { "performance\n" },
            );
        }
        put("sys/class/net/bond0/operstate", "up\n");
        put(
            "proc/net/route",
            "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\n\
             bond0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\n",
        );
        put("etc/resolv.conf", "# 10.0.0.9\nnameserver 10.0.0.2\n");
        put("etc/hosts", "10.0.0.7 node7 node7.site # node8\n");
        put("etc/site.conf", "x");
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let named = Named {
            files: [("/etc/site.conf".to_owned(), true), ("/etc/none".to_owned(), true)].into(),
            mounts: names(&["/data"]),
            nameservers: names(&["10.0.0.2", "10.0.0.9"]),
            hosts: names(&["node7.site", "node8"]),
        };
        let site = collect(&Sysroot::tree(dir.path()).unwrap(), &named);
        assert_eq!(site.limits["nofile"], Some(1024));
        assert_eq!(site.limits["memlock"], None);
        assert_eq!(
            (site.hugepages, site.transparent_hugepages.as_deref()),
            (Some(12), Some("madvise"))
        );
        assert_eq!(site.cpu_governors, ["performance", "powersave"]);
        assert_eq!(site.interfaces["bond0"], "up");
        assert_eq!(site.default_route, Some(true));
        assert_eq!((site.nameservers["10.0.0.2"], site.nameservers["10.0.0.9"]), (true, false));
        assert_eq!((site.hosts["node7.site"], site.hosts["node8"]), (true, false));
        // Without a table of mounts, mounts are unknown.
        assert!(site.mounts.is_empty());
        assert_eq!(site.files["/etc/none"], SiteFile::default());
        assert!(site.files["/etc/site.conf"].sha256.as_deref().unwrap().starts_with("2d711642"));
    }

    #[test]
    fn only_a_route_to_everything_is_a_default_route() {
        let dir = tempfile::tempdir().unwrap();
        let route = |four: &str, six: &str| {
            std::fs::create_dir_all(dir.path().join("proc/net")).unwrap();
            std::fs::write(dir.path().join("proc/net/route"), four).unwrap();
            std::fs::write(dir.path().join("proc/net/ipv6_route"), six).unwrap();
            default_route(&Sysroot::tree(dir.path()).unwrap())
        };
        let zero = "0".repeat(32);
        let lo =
            format!("{zero} 00 {zero} 00 {zero} ffffffff 00000001 00000000 00200200       lo\n");
        let eth = lo.replace("lo", "eth0");
        assert_eq!(
            route("eth0\t0000000A\t00000000\t0001\t0\t0\t0\t000000FF\t0\n", &lo),
            Some(false)
        );
        assert_eq!(route("", &eth), Some(true));
    }
}
