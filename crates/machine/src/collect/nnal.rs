//! NNAL, the package with the ATB operator library.

use data::faults;
use std::collections::BTreeSet;

use super::cann::names;
use crate::sysroot::Sysroot;
use base::version::CannVersion;
use facts::FileKind;
use facts::{CannLink, Facts, InfoFile, Nnal, ProblemKind};

/// Maximum number of versions.
const MAX_VERSIONS: usize = 64;

/// Fills [`facts::Cann::nnal`]; needs the bases that the search for CANN found.
pub(super) fn collect(sysroot: &Sysroot, facts: &mut Facts) {
    let mut roots = BTreeSet::new();
    for base in &facts.cann.bases {
        let dir = format!("{base}/nnal/atb");
        for name in names(sysroot, &dir).into_iter().take(MAX_VERSIONS) {
            let path = format!("{dir}/{name}");
            let is_link = sysroot.lstat(&path).is_ok_and(|stat| stat.kind == FileKind::Link);
            let real = sysroot.real(&path).ok();
            let is_root = real.as_deref().is_some_and(|real| is_root(sysroot, real));
            // The search for CANN may have followed the variables of NNAL to this link.
            let is_known = facts.cann.links.iter().any(|link| link.path == path);
            if is_link && !is_known && (is_root || real.is_none()) {
                let target = sysroot.read_link(&path).unwrap_or_default();
                let root = real.clone().filter(|_| is_root);
                facts.cann.links.push(CannLink { path, target, real: real.clone(), root });
            }
            roots.extend(real.filter(|_| is_root));
        }
    }
    // `<root>/atb/cxx_abi_<n>`
    if let Some(home) = sysroot.env().non_empty("ATB_HOME_PATH")
        && let Ok(real) = sysroot.real(home)
        && let Some((root, _)) = real.rsplit_once("/atb/cxx_abi_")
        && is_root(sysroot, root)
    {
        roots.insert(root.to_owned());
    }
    facts.cann.nnal = roots.iter().take(MAX_VERSIONS).map(|root| read(sysroot, root)).collect();
}

fn is_root(sysroot: &Sysroot, dir: &str) -> bool {
    sysroot.is_dir(&format!("{dir}/atb")) || sysroot.is_file(&format!("{dir}/version.info"))
}

fn read(sysroot: &Sysroot, root: &str) -> Nnal {
    let info = version_info(sysroot, &format!("{root}/version.info"));
    let named = root.rsplit('/').next().unwrap_or_default();
    let version = info
        .as_ref()
        .and_then(|info| info.get("Ascend-cann-atb").or_else(|| info.get("version_dir")))
        .or_else(|| named.parse::<CannVersion>().is_ok().then_some(named))
        .map(str::to_owned);
    let mut nnal = Nnal { path: root.to_owned(), version, info, ..Nnal::default() };
    for abi in 0..=1 {
        let dir = format!("{root}/atb/cxx_abi_{abi}");
        let library = format!("{dir}/lib/libatb.so");
        if sysroot.is_file(&library) {
            nnal.abis.insert(abi, library);
        } else if sysroot.is_dir(&dir) {
            nnal.hollow.push(dir);
        }
    }
    let above = root.rsplit_once('/').map(|(up, _)| format!("{up}/set_env.sh"));
    let own = Some(format!("{root}/atb/set_env.sh"));
    nnal.set_env = [above, own].into_iter().flatten().find(|path| sysroot.is_file(path));
    nnal
}

/// Reads a `version.info` with lines `key : value`, unlike that of CANN.
fn version_info(sysroot: &Sysroot, path: &str) -> Option<InfoFile> {
    let text = sysroot.read_text_if_exists(path)?;
    let mut info = InfoFile { path: path.to_owned(), ..InfoFile::default() };
    for (number, line) in (1..=256).zip(text.lines()) {
        if let Some((key, value)) = line.split_once([':', '=']) {
            info.fields.insert(key.trim().to_owned(), value.trim().to_owned());
            info.lines.insert(key.trim().to_owned(), number);
        }
    }
    if info.fields.is_empty() {
        sysroot.problem(path, ProblemKind::Malformed, &faults::NoKeyValueColon.value());
    }
    Some(info)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "builds trees on disk")]

    use std::fs;

    use super::*;

    #[test]
    fn an_installation_and_its_latest_are_one() {
        let dir = tempfile::tempdir().unwrap();
        let atb = dir.path().join("usr/local/Ascend/nnal/atb");
        for abi in ["cxx_abi_0/lib", "cxx_abi_1"] {
            fs::create_dir_all(atb.join("8.1.RC1/atb").join(abi)).unwrap();
        }
        let text = "    Ascend-cann-atb : 8.1.RC1\n    Ascend-cann-atb Version : 8.1.RC1.B150\n";
        fs::write(atb.join("8.1.RC1/version.info"), text).unwrap();
        fs::write(atb.join("8.1.RC1/atb/cxx_abi_0/lib/libatb.so"), "").unwrap();
        fs::write(atb.join("set_env.sh"), "").unwrap();
        std::os::unix::fs::symlink("8.1.RC1", atb.join("latest")).unwrap();
        let sysroot = Sysroot::tree(dir.path()).unwrap();
        let mut facts = Facts::default();
        facts.cann.bases = vec!["/usr/local/Ascend".to_owned()];
        collect(&sysroot, &mut facts);
        let [nnal] = facts.cann.nnal.as_slice() else { panic!("{:?}", facts.cann.nnal) };
        assert_eq!(nnal.version.as_deref(), Some("8.1.RC1"));
        assert_eq!(nnal.abis.keys().copied().collect::<Vec<_>>(), [0]);
        assert_eq!(nnal.hollow, ["/usr/local/Ascend/nnal/atb/8.1.RC1/atb/cxx_abi_1"]);
        assert_eq!(nnal.set_env.as_deref(), Some("/usr/local/Ascend/nnal/atb/set_env.sh"));
        assert_eq!(facts.cann.links[0].root.as_ref(), Some(&nnal.path));
    }
}
