//! Reads an installation: `site-packages` of a machine, or a wheel.

use data::fault::quote;
use data::{Fault, faults};
use std::collections::BTreeSet;
use std::io::{Read, Seek};

use zip::ZipArchive;

use machine::elf;
use machine::sysroot::Sysroot;

use super::files::{Generic, Kernels, native_functions};
use super::registrations::{
    Installed, KernelSource, REGISTER, kernels_of_library, missing_in_library,
};
use crate::ops::tables::Tables;
use crate::ops::target::Target;

/// The torch_npu registration files, and whether their plain entries are kernels of torch_npu
/// itself.
const FILES: [(&str, bool); 2] = [
    ("torch_npu/csrc/aten/npu_native_functions.yaml", true),
    ("torch_npu/csrc/aten/npu_native_functions_by_codegen.yaml", false),
];
const GENERIC: &str = "torchgen/packaged/ATen/native/native_functions.yaml";
const LIBRARY: &str = "torch_npu/lib/libtorch_npu.so";
/// The maximum size of a registration file. The largest has 600 kB.
const FILE_LIMIT: u64 = 16 << 20;
/// The maximum unpacked size of a library in a wheel. The largest has 98 MB.
const LIBRARY_LIMIT: u64 = 512 << 20;

/// An installation, and whether its files and its library agree.
#[derive(Debug)]
pub struct FoundInstallation<'a> {
    /// Its registrations.
    pub installed: Installed<'a>,
    /// The overloads that the files register and the library does not; `None` if the library was
    /// not read.
    pub missing: Option<Vec<String>>,
}

/// Returns the directory that contains torch_npu: `dir` itself, or the `site-packages` of an
/// environment.
pub fn find_site(sysroot: &Sysroot, dir: &str) -> Option<String> {
    let dir = dir.trim_end_matches('/');
    let holds = |dir: &str| sysroot.is_dir(&format!("{dir}/torch_npu"));
    if holds(dir) {
        return Some(dir.to_owned());
    }
    for lib in ["lib", "lib64"] {
        for name in sysroot.list(&format!("{dir}/{lib}")).unwrap_or_default() {
            for packages in ["site-packages", "dist-packages"] {
                let site = format!("{dir}/{lib}/{name}/{packages}");
                if name.starts_with("python") && holds(&site) {
                    return Some(site);
                }
            }
        }
    }
    None
}

/// Reads the installation in a directory of packages. With `library`, also reads the library, which
/// is the evidence if the files are missing and otherwise compared with them.
///
/// # Errors
///
/// Returns a fault that names the expected files if neither they nor the library exist.
pub fn read_site<'a>(
    sysroot: &Sysroot,
    site: &str,
    library: bool,
    tables: &'a Tables,
) -> Result<FoundInstallation<'a>, Fault> {
    let text = |name: &str| -> Result<Option<String>, Fault> {
        let path = format!("{site}/{name}");
        if !sysroot.is_file(&path) {
            return Ok(None);
        }
        let bytes = sysroot
            .read(&path, FILE_LIMIT)
            .map_err(|error| faults::FileBecause { file: &path, why: &error }.fault())?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    };
    let path = format!("{site}/{LIBRARY}");
    let registered = if library && sysroot.is_file(&path) {
        let file = sysroot
            .open(&path)
            .map_err(|error| faults::FileBecause { file: &path, why: &error }.fault())?;
        Some(registered(&file, &path)?)
    } else {
        None
    };
    let names = sysroot.list(site).unwrap_or_default();
    assemble(text, registered, &names, site, tables)
}

/// Reads the installation from a wheel.
///
/// # Errors
///
/// Returns a fault that names the expected files if the file is not a wheel of torch_npu.
pub fn read_wheel(
    file: impl Read + Seek,
    library: bool,
    tables: &Tables,
) -> Result<FoundInstallation<'_>, Fault> {
    let zip = ZipArchive::new(file)
        .map_err(|error| faults::NotAWheel { why: quote(&error.to_string()) }.fault())?;
    let all: Vec<String> =
        zip.file_names().filter_map(Result::ok).map(|name| name.to_string()).collect();
    let zip = std::cell::RefCell::new(zip);
    let bytes = |name: &str, limit: u64| -> Result<Option<Vec<u8>>, Fault> {
        let mut zip = zip.borrow_mut();
        let entry = match zip.by_name(name) {
            Ok(entry) => entry,
            Err(zip::result::ZipError::FileNotFound) => return Ok(None),
            // An unreadable entry must not count as a missing registration.
            Err(error) => {
                return Err(
                    faults::FileBecause { file: name, why: quote(&error.to_string()) }.fault()
                );
            }
        };
        let mut bytes = Vec::new();
        let read = entry.take(limit + 1).read_to_end(&mut bytes);
        let read = read.map_err(|error| faults::FileBecause { file: name, why: &error }.fault())?;
        if read as u64 > limit {
            return Err(faults::MemberOverLimit { file: name, limit }.fault());
        }
        Ok(Some(bytes))
    };
    let text = |name: &str| {
        let bytes = bytes(name, FILE_LIMIT)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    };
    let names = if library { bytes(LIBRARY, LIBRARY_LIMIT)? } else { None };
    let names = names.map(|bytes| registered(&bytes.as_slice(), LIBRARY)).transpose()?;
    // The first path component of each entry, as a directory listing would show it.
    let top: BTreeSet<String> =
        all.iter().filter_map(|name| name.split('/').next()).map(str::to_owned).collect();
    let top: Vec<String> = top.into_iter().collect();
    assemble(text, names, &top, "the wheel", tables)
}

fn registered(source: &dyn elf::Source, path: &str) -> Result<BTreeSet<String>, Fault> {
    elf::find_plt_strings(source, REGISTER).map_err(|error| match error {
        elf::Error::Read(error) => faults::FileBecause { file: &path, why: &error }.fault(),
        elf::Error::Defect(defect) => {
            faults::BrokenLibrary { file: path, why: format!("{defect:?}") }.fault()
        }
    })
}

fn assemble<'a>(
    text: impl Fn(&str) -> Result<Option<String>, Fault>,
    library: Option<BTreeSet<String>>,
    names: &[String],
    site: &str,
    tables: &'a Tables,
) -> Result<FoundInstallation<'a>, Fault> {
    let mut kernels = Kernels::default();
    let mut files = false;
    for (name, own) in FILES {
        if let Some(text) = text(name)? {
            kernels
                .add(&text, own)
                .map_err(|why| faults::FileBecause { file: name, why }.fault())?;
            files = true;
        }
    }
    let generic: Option<std::collections::BTreeMap<String, Generic>> = match text(GENERIC)? {
        Some(text) => Some(
            native_functions(&text)
                .map_err(|why| faults::FileBecause { file: GENERIC, why }.fault())?,
        ),
        None => None,
    };
    let version = |package: &str| {
        let found = names.iter().find_map(|name| {
            name.strip_suffix(".dist-info")?.strip_prefix(package)?.strip_prefix('-')
        });
        found.map(str::to_owned)
    };
    let (npu, torch) = (version("torch_npu"), version("torch"));
    let (kernels, evidence, missing) = match (files, library) {
        (true, library) => {
            let missing = library.map(|names| missing_in_library(&kernels, &names));
            (kernels, KernelSource::Files, missing)
        }
        (false, Some(names)) => (kernels_of_library(&names, tables), KernelSource::Library, None),
        (false, None) => {
            return Err(
                faults::NoRegistrations { site, file: FILES[1].0, library: LIBRARY }.fault()
            );
        }
    };
    let nearest = npu.as_deref().or(torch.as_deref());
    let target = nearest.and_then(|version| Target::find(tables, version));
    let target =
        target.or_else(|| Target::newest(tables)).ok_or_else(|| faults::TablesEmpty.fault())?;
    Ok(FoundInstallation {
        installed: Installed { version: npu, torch, kernels, evidence, generic, tables, target },
        missing,
    })
}
