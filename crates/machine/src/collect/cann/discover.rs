//! Finds CANN installations.

use std::collections::{BTreeMap, BTreeSet};

use super::listing::names;
use crate::sysroot::Sysroot;
use base::version::CannVersion;
use facts::FileKind;
use facts::{CannLink, Facts, InfoFile, is_below};

/// Maximum number of installations; a hostile tree may have any number.
const MAX_INSTALLS: usize = 64;
/// Maximum number of entries read from a directory.
const MAX_ENTRIES: usize = 256;
/// Maximum number of parent directories that are searched for the installation of a directory named
/// by a variable.
const MAX_CLIMB: usize = 10;

/// Kinds of packages that contain a complete installation.
pub(super) const KINDS: &[&str] = &["toolkit", "nnae", "nnrt"];

/// Directories of an installation that `latest` links to one by one.
const LINKED: &[&str] = &["compiler", "runtime", "hccl", "opp", "toolkit", "opp_kernel"];

/// The directories below which installations are searched, in search order.
pub(super) fn bases(sysroot: &Sysroot, facts: &Facts) -> Vec<String> {
    let mut bases = vec!["/usr/local/Ascend".to_owned()];
    let field = |info: &Option<InfoFile>, key: &str| {
        info.as_ref().and_then(|info| info.get(key)).map(str::to_owned)
    };
    let driver = &facts.driver.install_info;
    bases.extend(field(driver, "Driver_Install_Path_Param"));
    let install =
        crate::collect::info_file::read_info(sysroot, "/etc/Ascend/ascend_cann_install.info");
    bases.extend(field(&install, "Install_Path"));
    let env = sysroot.env();
    bases.extend(sysroot.home().map(|home| format!("{home}/Ascend")));
    let prefixes = ["CONDA_PREFIX", "VIRTUAL_ENV"].into_iter().filter_map(|v| env.non_empty(v));
    bases.extend(prefixes.map(|prefix| format!("{prefix}/Ascend")));
    // `<prefix>/bin/python`
    let prefix = sysroot.process().python.as_deref().and_then(parent).and_then(parent);
    bases.extend(prefix.map(|prefix| format!("{prefix}/Ascend")));
    let mut seen = BTreeSet::new();
    bases
        .iter()
        .map(|base| base.trim_end_matches('/').to_owned())
        .filter(|base| base.starts_with('/') && seen.insert(base.clone()))
        .collect()
}

/// The parent directory of `path`.
pub(super) fn parent(path: &str) -> Option<&str> {
    path.trim_end_matches('/').rsplit_once('/').map(|(head, _)| head).filter(|p| !p.is_empty())
}

/// The results of the search.
pub(super) struct Discovery<'a> {
    sysroot: &'a Sysroot,
    bases: Vec<String>,
    roots: BTreeSet<String>,
    /// Directories of links, and the installation that most of their links point to.
    aliases: BTreeMap<String, Option<String>>,
    links: BTreeMap<String, CannLink>,
    /// Results of [`Discovery::examine`] by real path.
    known: BTreeMap<String, Option<String>>,
}

impl<'a> Discovery<'a> {
    pub(super) fn new(sysroot: &'a Sysroot) -> Self {
        Self {
            sysroot,
            bases: Vec::new(),
            roots: BTreeSet::new(),
            aliases: BTreeMap::new(),
            links: BTreeMap::new(),
            known: BTreeMap::new(),
        }
    }

    /// The roots of all installations, without links.
    pub(super) fn roots(&self) -> impl Iterator<Item = &str> {
        self.roots.iter().map(String::as_str)
    }

    pub(super) fn bases(&self) -> &[String] {
        &self.bases
    }

    pub(super) fn into_links(self) -> Vec<CannLink> {
        self.links.into_values().collect()
    }

    /// The installation that contains a real path, also through a directory of links.
    pub(super) fn root_of(&self, real: &str) -> Option<&str> {
        let of_alias = || self.aliases.iter().find(|(dir, _)| is_below(real, dir));
        self.roots
            .iter()
            .find(|root| is_below(real, root))
            .or_else(|| of_alias().and_then(|(_, root)| root.as_ref()))
            .map(String::as_str)
    }

    /// Searches the default locations of installers below `base`.
    pub(super) fn search_base(&mut self, base: &str) {
        if !self.sysroot.is_dir(base) {
            return;
        }
        self.bases.push(base.to_owned());
        let is_cann = |name: &str| name == "cann" || name.starts_with("cann-") || name == "latest";
        for name in names(self.sysroot, base).iter().filter(|name| is_cann(name)).take(MAX_ENTRIES)
        {
            self.entry(&format!("{base}/{name}"));
        }
        for product in ["ascend-toolkit", "nnae", "nnrt"] {
            let dir = format!("{base}/{product}");
            let plausible =
                |name: &str| name == "latest" || name.starts_with(|c: char| c.is_ascii_digit());
            let entries = names(self.sysroot, &dir);
            for name in entries.iter().filter(|name| plausible(name)).take(MAX_ENTRIES) {
                self.entry(&format!("{dir}/{name}"));
            }
        }
    }

    /// Searches a directory named by the environment, and its parent directories.
    pub(super) fn search_upwards(&mut self, place: &str) {
        let mut at = Some(place);
        for _ in 0..MAX_CLIMB {
            let Some(dir) = at else { return };
            if let Ok(real) = self.sysroot.real(dir)
                && self.root_of(&real).is_some()
            {
                return;
            }
            if self.entry(dir).is_some() {
                return;
            }
            at = parent(dir);
        }
    }

    /// Examines one directory or link: records the link and its installation.
    fn entry(&mut self, path: &str) -> Option<String> {
        let is_link = self.sysroot.lstat(path).is_ok_and(|stat| stat.kind == FileKind::Link);
        let real = self.sysroot.real(path).ok();
        let root = real.as_deref().and_then(|real| self.examine(real));
        let worth = root.is_some() || (real.is_none() && is_version_name(path));
        if is_link && worth {
            let target = self.sysroot.read_link(path).unwrap_or_default();
            self.note(CannLink { path: path.to_owned(), target, real, root: root.clone() });
        }
        root
    }

    fn note(&mut self, link: CannLink) {
        if self.links.len() < MAX_ENTRIES {
            self.links.insert(link.path.clone(), link);
        }
    }

    /// The root of the installation that `real` is, or links to.
    fn examine(&mut self, real: &str) -> Option<String> {
        if let Some(known) = self.known.get(real) {
            return known.clone();
        }
        let root = self.examine_anew(real);
        self.known.insert(real.to_owned(), root.clone());
        root
    }

    fn examine_anew(&mut self, real: &str) -> Option<String> {
        // `<root>/<arch>-linux` contains an info file too, but the root is above it.
        if real.ends_with("-linux") || !self.sysroot.is_dir(real) {
            return None;
        }
        if let Some(root) = self.examine_alias(real) {
            return Some(root);
        }
        if !self.is_install(real) || self.roots.len() >= MAX_INSTALLS {
            return None;
        }
        self.roots.insert(real.to_owned());
        Some(real.to_owned())
    }

    /// The installation of a directory of links, such as `latest` up to 8.3.
    fn examine_alias(&mut self, dir: &str) -> Option<String> {
        let mut links = Vec::new();
        for name in LINKED {
            let path = format!("{dir}/{name}");
            if !self.sysroot.lstat(&path).is_ok_and(|stat| stat.kind == FileKind::Link) {
                continue;
            }
            let real = self.sysroot.real(&path).ok();
            if real.as_deref().is_some_and(|real| is_below(real, dir)) {
                continue;
            }
            let target = self.sysroot.read_link(&path).unwrap_or_default();
            links.push(CannLink { path, target, real, root: None });
        }
        if links.is_empty() {
            return None;
        }
        for link in &mut links {
            let up = link.real.as_deref().and_then(parent).map(str::to_owned);
            link.root = up.filter(|up| self.is_install(up));
        }
        let mut votes: BTreeMap<&str, usize> = BTreeMap::new();
        for root in links.iter().filter_map(|link| link.root.as_deref()) {
            *votes.entry(root).or_default() += 1;
        }
        let root =
            votes.iter().max_by_key(|(_, votes)| **votes).map(|(root, _)| (*root).to_owned());
        self.aliases.insert(dir.to_owned(), root.clone());
        let whole = CannLink {
            path: dir.to_owned(),
            target: String::new(),
            real: Some(dir.to_owned()),
            root: root.clone(),
        };
        for link in links.into_iter().chain([whole]) {
            self.roots.extend(link.root.clone().filter(|_| self.roots.len() < MAX_INSTALLS));
            self.note(link);
        }
        root
    }

    /// Returns whether a directory looks like the root of an installation, even a damaged one.
    fn is_install(&self, dir: &str) -> bool {
        let there = |name: &str| self.sysroot.exists(&format!("{dir}/{name}"));
        let info = |place: &str| {
            KINDS.iter().any(|kind| there(&format!("{place}ascend_{kind}_install.info")))
        };
        let parts =
            ["opp", "runtime", "compiler", "toolkit", "hccl", "fwkacllib", "share/info/runtime"];
        info("")
            || info("aarch64-linux/")
            || info("x86_64-linux/")
            || (there("version.cfg") && there("opp"))
            || (there("lib64/libascendcl.so") && (there("opp") || there("set_env.sh")))
            || parts.iter().filter(|part| there(part)).count() >= 2
    }
}

/// Returns whether the last part of a path is a name that installers use for an installation or a
/// link to one.
fn is_version_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let version = name.strip_prefix("cann-").unwrap_or(name);
    matches!(name, "latest" | "cann") || version.parse::<CannVersion>().is_ok()
}
