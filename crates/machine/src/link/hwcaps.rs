//! Subdirectories of the search path that glibc prefers if the processor supports them.
//!
//! `glibc-hwcaps/<name>` since glibc 2.33; the older scheme (`tls`, the platform, a few features,
//! and all combinations of them) from 2.5 until 2.37 removed it: `ld.so(8)`. Both apply to every
//! searched directory, regardless of the rule that adds it. The order within one directory is:
//! `glibc-hwcaps`, the old combinations, the directory itself.

use facts::Cpu;

/// First minor version of glibc 2 with `glibc-hwcaps`, and the first without the old scheme.
const SINCE: u32 = 33;
const LEGACY_UNTIL: u32 = 37;
/// All names in glibc for `x86_64`, the best one first. There are none for aarch64.
const X86_64: &[(u8, &str)] = &[(4, "x86-64-v4"), (3, "x86-64-v3"), (2, "x86-64-v2")];

/// The search position of a cache entry or directory, by the processor that it requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rank {
    /// Searched at this place, the least number first.
    At(usize),
    /// Only if nothing else is found, because the processor is unknown.
    Maybe(usize),
    /// Never.
    Never,
}

/// The subdirectories for one machine.
#[derive(Debug, Default, Clone)]
pub(super) struct Hwcaps {
    /// Searched before the directory itself, in this order.
    pub(super) first: Vec<String>,
    /// Searched in a second round if the processor is unknown: the least demanding first. A library
    /// that is only there then counts as found.
    pub(super) maybe: Vec<String>,
    /// Value of `$PLATFORM`.
    pub(super) platform: String,
}

impl Hwcaps {
    /// The subdirectories for an architecture in the form of `uname -m`. `glibc` is its version
    /// (`2.34`), if known.
    pub(super) fn new(arch: &str, glibc: Option<&str>, cpu: Option<&Cpu>) -> Self {
        let minor = glibc.and_then(|version| version.strip_prefix("2.")?.parse::<u32>().ok());
        let intel = cpu.is_some_and(|cpu| cpu.vendor.as_deref() == Some("GenuineIntel"));
        let level = cpu.and_then(Cpu::level);
        let mut out = Self { platform: platform(arch, intel, level), ..Self::default() };
        if arch == "x86_64" && minor.is_none_or(|minor| minor >= SINCE) {
            for (wanted, name) in X86_64 {
                let name = format!("glibc-hwcaps/{name}");
                match level {
                    Some(level) if *wanted <= level => out.first.push(name),
                    Some(_) => {}
                    None => out.maybe.insert(0, name),
                }
            }
        }
        // Without the version of glibc the scheme is unknown. Distributions removed the directories
        // earlier than glibc removed the code that searches them.
        if let (Some(minor), Some(cpu)) = (minor, cpu)
            && minor < LEGACY_UNTIL
        {
            out.first.extend(combinations(&legacy_names(arch, &out.platform, intel, cpu)));
        }
        out
    }

    /// The rank of a path in the cache, by its directory.
    pub(super) fn rank(&self, path: &str, tagged: bool) -> Rank {
        if !tagged {
            return Rank::At(self.first.len());
        }
        let dir = super::path::parent(path);
        let place = |names: &[String]| {
            names.iter().position(|name| {
                dir.strip_suffix(name.as_str()).is_some_and(|rest| rest.ends_with('/'))
            })
        };
        match (place(&self.first), place(&self.maybe)) {
            (Some(at), _) => Rank::At(at),
            (None, Some(at)) => Rank::Maybe(at),
            (None, None) => Rank::Never,
        }
    }
}

/// `$PLATFORM`: the value of the kernel, except for newer Intel processors (glibc's
/// `cpu_features.c`).
fn platform(arch: &str, intel: bool, level: Option<u8>) -> String {
    let newer = arch == "x86_64" && intel && level.is_some_and(|level| level >= 3);
    if newer { "haswell".to_owned() } else { arch.to_owned() }
}

/// The applicable names of the old scheme, the most significant first.
fn legacy_names<'a>(arch: &'a str, platform: &'a str, intel: bool, cpu: &Cpu) -> Vec<&'a str> {
    let mut names = vec!["tls", platform];
    match arch {
        "x86_64" => {
            if intel && cpu.level() == Some(4) {
                names.push("avx512_1");
            }
            names.push("x86_64");
        }
        "aarch64" if cpu.has("atomics") => names.push("atomics"),
        _ => {}
    }
    names
}

/// All non-empty subsets, in the order in which glibc counts them down.
fn combinations(names: &[&str]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for bits in (1..1_u32 << names.len()).rev() {
        let chosen =
            names.iter().enumerate().filter(|(at, _)| bits >> (names.len() - 1 - at) & 1 == 1);
        let dir = chosen.map(|(_, name)| *name).collect::<Vec<_>>().join("/");
        // The platform and a feature have the same name on some machines.
        if !out.contains(&dir) {
            out.push(dir);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const V3: &str = "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3 avx avx2 bmi1 bmi2 f16c fma abm \
                      movbe xsave";

    fn cpu(vendor: &str, flags: &str) -> Cpu {
        Cpu {
            vendor: Some(vendor.to_owned()),
            features: flags.split_whitespace().map(str::to_owned).collect(),
        }
    }

    #[test]
    fn subdirectories_depend_on_processor_and_glibc() {
        let amd = cpu("AuthenticAMD", V3);
        let of = |glibc, cpu: Option<&Cpu>| Hwcaps::new("x86_64", glibc, cpu);
        let new = ["glibc-hwcaps/x86-64-v3", "glibc-hwcaps/x86-64-v2"];
        assert_eq!(of(Some("2.38"), Some(&amd)).first, new);
        assert_eq!(of(None, Some(&amd)).first, new);
        // As printed by `LD_DEBUG=libs` of glibc 2.36 on such a machine.
        let old = ["tls/x86_64/x86_64", "tls/x86_64", "tls", "x86_64/x86_64", "x86_64"];
        assert_eq!(of(Some("2.36"), Some(&amd)).first, [&new[..], &old].concat());
        assert_eq!(of(Some("2.31"), Some(&amd)).first, old);
        let unknown = of(Some("2.35"), None);
        assert!(unknown.first.is_empty());
        assert_eq!(unknown.maybe[0], "glibc-hwcaps/x86-64-v2");
        assert!(of(Some("2.28"), None).maybe.is_empty());

        let intel = of(Some("2.36"), Some(&cpu("GenuineIntel", V3)));
        assert_eq!(intel.platform, "haswell");
        assert_eq!(intel.first[2..5], ["tls/haswell/x86_64", "tls/haswell", "tls/x86_64"]);
        assert_eq!(of(Some("2.38"), Some(&cpu("GenuineIntel", "sse2"))).first, [""; 0]);
    }

    #[test]
    fn arm_has_the_old_scheme_only() {
        let arm = cpu("0x48", "fp asimd atomics");
        let new = Hwcaps::new("aarch64", Some("2.38"), Some(&arm));
        assert!(new.first.is_empty() && new.maybe.is_empty());
        let old = Hwcaps::new("aarch64", Some("2.31"), Some(&arm)).first;
        assert_eq!(old[0], "tls/aarch64/atomics");
        assert_eq!(old.last().unwrap(), "atomics");
    }

    #[test]
    fn cache_entries_are_ranked_by_their_directory() {
        let caps = Hwcaps::new("x86_64", Some("2.38"), Some(&cpu("AuthenticAMD", V3)));
        assert_eq!(caps.rank("/lib64/glibc-hwcaps/x86-64-v3/libz.so.1", true), Rank::At(0));
        assert_eq!(caps.rank("/lib64/glibc-hwcaps/x86-64-v4/libz.so.1", true), Rank::Never);
        assert_eq!(caps.rank("/lib64/libz.so.1", false), Rank::At(2));
        let unknown = Hwcaps::new("x86_64", None, None);
        assert_eq!(unknown.rank("/lib64/glibc-hwcaps/x86-64-v2/libz.so.1", true), Rank::Maybe(0));
    }
}
