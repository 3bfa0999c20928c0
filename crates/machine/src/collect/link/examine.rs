//! Examines one object: its dependencies, missing libraries, unresolved symbols and versions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use super::objects::{self, Candidate};
use crate::elf::machine_name;
use crate::link::{
    Closure, Library, Loader, Member, NotFound, abi_of, library_class, symbol_class,
};
use crate::sysroot::Sysroot;
use facts::{ElfDefect, Facts, LinkedObject, MissingLibrary, MissingVersion, UndefinedSymbol};

/// Maximum number of kept undefined symbols of one object.
const MAX_SYMBOLS: usize = 100;
/// Maximum number of listed copies of a missing library.
const MAX_COPIES: usize = 8;

pub(super) struct Examiner<'a> {
    sysroot: &'a Sysroot,
    loader: &'a Loader<'a>,
    /// `torch_npu._C` and all its dependencies.
    torch: Option<&'a str>,
    known: Vec<String>,
    live: bool,
    has_libc: bool,
    not_in_copy: Mutex<BTreeSet<String>>,
}

impl<'a> Examiner<'a> {
    pub(super) fn new(sysroot: &'a Sysroot, facts: &'a Facts, loader: &'a Loader<'a>) -> Self {
        Self {
            sysroot,
            loader,
            torch: facts.python.torch.dirs.get("torch").map(String::as_str),
            known: objects::known_directories(facts, &machine_name(loader.machine())),
            live: sysroot.is_live(),
            has_libc: loader.find("libc.so.6").is_some(),
            not_in_copy: Mutex::default(),
        }
    }

    pub(super) fn not_in_copy(&self) -> Vec<String> {
        self.not_in_copy.lock().map(|names| names.iter().cloned().collect()).unwrap_or_default()
    }

    pub(super) fn examine(&self, candidate: &Candidate) -> (LinkedObject, Option<Closure>) {
        let mut out = LinkedObject {
            path: candidate.path.clone(),
            owner: candidate.owner.clone(),
            lazy: candidate.lazy,
            ..LinkedObject::default()
        };
        let library = match self.loader.open(&candidate.path) {
            Ok(library) => library,
            Err(error) => {
                out.defect = Some(ElfDefect::Unreadable { reason: error.to_string() });
                return (out, None);
            }
        };
        out.defect = defect_for(&library, Some(self.loader.machine()));
        let Ok(object) = &library.object else { return (out, None) };
        out.arch = Some(object.arch());
        out.needed = object.dynamic.needed.clone();
        out.max_versions = max_versions(&object.dynamic.version_needs);
        let undefined = if candidate.owner == "torch" || !candidate.follow {
            Vec::new()
        } else {
            match library.undefined() {
                Ok(undefined) => undefined,
                Err(defect) => {
                    out.defect = Some(defect);
                    return (out, None);
                }
            }
        };
        out.cxx11_abi = undefined.iter().find_map(|symbol| abi_of(&symbol.name));
        if !candidate.follow || out.defect.is_some() {
            return (out, None);
        }
        let Ok(closure) = self.loader.closure(&candidate.path) else { return (out, None) };
        let absent = self.sort_missing(&closure, &mut out);
        out.versions = self.versions(&closure);
        let open: Vec<_> = undefined
            .into_iter()
            .filter(|symbol| symbol.library.is_none())
            .map(|symbol| symbol.name)
            .collect();
        self.symbols(open, &closure, &absent, &mut out);
        (out, Some(closure))
    }

    /// Keeps libraries that are really missing. Returns the classes of all libraries that cannot be
    /// examined.
    fn sort_missing(&self, closure: &Closure, out: &mut LinkedObject) -> BTreeSet<&'static str> {
        let mut absent = BTreeSet::new();
        for member in &closure.members {
            if member.defect().is_some() || !member.library.has_symbols() {
                absent.insert(library_class(&member.name));
            }
        }
        for missing in &closure.missing {
            let class = library_class(&missing.name);
            absent.insert(class);
            // Torch loads its dependencies in its own way, and other checks cover them.
            if self.is_torchs(&missing.needed_by) {
                continue;
            }
            if self.is_outside_of_the_copy(missing, class) {
                if let Ok(mut names) = self.not_in_copy.lock() {
                    names.insert(missing.name.clone());
                }
                continue;
            }
            out.missing.push(MissingLibrary {
                name: missing.name.clone(),
                class: class.to_owned(),
                needed_by: missing.needed_by.clone(),
                elsewhere: self.elsewhere(missing),
                skipped: missing.skipped.clone(),
            });
        }
        absent
    }

    fn is_torchs(&self, path: &str) -> bool {
        self.torch.is_some_and(|dir| {
            path.strip_prefix(dir).is_some_and(|rest| rest.starts_with(['/', '.']))
        })
    }

    /// Returns whether a library may be missing only in the copied tree, which often omits the
    /// system's directories or the interpreter. A file of that name that is not a library for this
    /// machine is still a finding.
    fn is_outside_of_the_copy(&self, missing: &NotFound, class: &str) -> bool {
        let may_lack = match class {
            "system" => !self.live,
            "python" => self.loader.program().is_empty(),
            "other" | "cuda" => !self.live && !self.has_libc,
            _ => false,
        };
        may_lack && missing.skipped.is_empty()
    }

    /// Copies outside of the search path. A pipe or directory of that name is not a copy, and a
    /// file that the search skipped would not be useful elsewhere either.
    fn elsewhere(&self, missing: &NotFound) -> Vec<String> {
        let name = &missing.name;
        if name.contains('/') {
            return Vec::new();
        }
        let passed_over = missing.skipped.iter().filter_map(|path| self.sysroot.real(path).ok());
        let mut reals: BTreeSet<String> = passed_over.collect();
        let mut out = Vec::new();
        for dir in &self.known {
            let path = format!("{dir}/{name}");
            if let Ok(real) = self.sysroot.real(&path)
                && reals.insert(real)
                && self.sysroot.is_file(&path)
            {
                out.push(path);
            }
            if out.len() >= MAX_COPIES {
                break;
            }
        }
        out
    }

    /// Versions that the first matching file does not define. The linker accepts a library without
    /// any version, with a warning, so it is accepted here, too.
    fn versions(&self, closure: &Closure) -> Vec<MissingVersion> {
        let mut out = Vec::new();
        for member in &closure.members {
            let Ok(object) = &member.library.object else { continue };
            if self.is_torchs(&member.found.path) {
                continue;
            }
            for (library, needed) in &object.dynamic.version_needs {
                let program = || self.loader.program().iter().find(|one| one.answers_to(library));
                let Some(provider) = closure.get(library).or_else(program) else { continue };
                let Ok(provided) = &provider.library.object else { continue };
                let provided = &provided.dynamic.versions;
                if provided.is_empty() {
                    continue;
                }
                for version in needed.iter().filter(|version| !provided.contains(version)) {
                    let family = family(version);
                    let same = provided.iter().filter(|known| self::family(known) == family);
                    out.push(MissingVersion {
                        version: version.clone(),
                        needed_by: member.found.path.clone(),
                        library: library.clone(),
                        found: provider.found.path.clone(),
                        highest: same.max_by_key(|known| numbers(known)).cloned(),
                    });
                }
            }
        }
        out
    }

    fn symbols(
        &self,
        undefined: Vec<String>,
        closure: &Closure,
        absent: &BTreeSet<&'static str>,
        out: &mut LinkedObject,
    ) {
        // Global scope first, then that of the opened object. `resolve_in_loaders` searches other
        // objects that load this one.
        let scope: Vec<&Member> = self.loader.program().iter().chain(&closure.members).collect();
        for name in undefined {
            let class = symbol_class(&name);
            let unknowable = match class {
                "other" => !absent.is_empty(),
                "python" => self.loader.program().is_empty() || absent.contains("python"),
                class => absent.contains(class),
            };
            if unknowable || scope.iter().any(|member| member.library.defines(&name) == Some(true))
            {
                continue;
            }
            let expected = scope.iter().find(|member| is_home(&member.name, &name, class));
            out.undefined.push(UndefinedSymbol {
                expected_in: expected.map(|member| member.found.path.clone()),
                class: class.to_owned(),
                name,
            });
        }
    }
}

/// Drops symbols that an object does not resolve by itself, if they are defined in the scope of an
/// object that loads it: `_torchair.so` defines the functions that its dependency
/// `_abi_compat_ge_apis.so` calls, and `torch_npu._C` loads the torch that `libtorch_npu.so` calls.
pub(super) fn resolve_in_loaders(results: &mut [(LinkedObject, Option<Closure>)]) {
    let (mut objects, closures): (Vec<&mut LinkedObject>, Vec<Option<&Closure>>) =
        results.iter_mut().map(|(object, closure)| (object, closure.as_ref())).unzip();
    for (object, own) in objects.iter_mut().zip(&closures) {
        if let (false, Some(own)) = (object.undefined.is_empty(), own) {
            let real = &own.members[0].library.real;
            let loaders = || {
                closures.iter().flatten().filter(|other| {
                    other.members.iter().skip(1).any(|member| member.library.real == *real)
                })
            };
            object.undefined.retain(|symbol| !loaders().any(|other| may_define(other, symbol)));
        }
        object.undefined_count = u32::try_from(object.undefined.len()).unwrap_or(u32::MAX);
        object.undefined.truncate(MAX_SYMBOLS);
    }
}

/// Returns whether one of these libraries defines the symbol, or might define it because it cannot
/// be examined.
fn may_define(closure: &Closure, symbol: &UndefinedSymbol) -> bool {
    let suspect = |name: &str| symbol.class == "other" || library_class(name) == symbol.class;
    closure.members.iter().any(|member| match member.library.defines(&symbol.name) {
        Some(defines) => defines,
        None => suspect(&member.name),
    }) || closure.missing.iter().any(|missing| suspect(&missing.name))
}

/// Returns whether a library is expected to define symbols of this class.
fn is_home(library: &str, symbol: &str, class: &str) -> bool {
    let stems: &[&str] = match class {
        "torch" if symbol.contains("3c10") => &["libc10.so"],
        "torch" => &["libtorch_cpu.so", "libtorch_python.so", "libtorch.so"],
        "cann" if symbol.starts_with("Hccl") => &["libhccl.so"],
        "cann" if symbol.starts_with("rt") => &["libruntime.so"],
        "cann" if symbol.starts_with("acl") => &["libascendcl.so"],
        "cann" => &["libge_runner.so", "libgraph.so"],
        "atb" => &["libatb.so"],
        "driver" => &["libascend_hal.so"],
        "torch_npu" => &["libtorch_npu.so"],
        _ => &[],
    };
    stems.iter().any(|stem| library.ends_with(stem))
}

/// `GLIBC` of `GLIBC_2.28`.
fn family(version: &str) -> &str {
    version.rsplit_once('_').map_or(version, |(family, _)| family)
}

/// `[3, 4, 22]` of `GLIBCXX_3.4.22`.
fn numbers(version: &str) -> Vec<u32> {
    version.split(['_', '.']).filter_map(|part| part.parse().ok()).collect()
}

fn max_versions(needs: &[(String, Vec<String>)]) -> BTreeMap<String, String> {
    let mut out: BTreeMap<String, String> = BTreeMap::new();
    for version in needs.iter().flat_map(|(_, versions)| versions) {
        let Some((family, number)) = version.rsplit_once('_') else { continue };
        // `GLIBC_PRIVATE` and the like have no order.
        if !["GLIBC", "GLIBCXX", "CXXABI", "GCC"].contains(&family)
            || !number.starts_with(|c: char| c.is_ascii_digit())
        {
            continue;
        }
        let known = out.entry(family.to_owned()).or_insert_with(|| number.to_owned());
        if numbers(number) > numbers(known) {
            *known = number.to_owned();
        }
    }
    out
}

/// The defect of a file, as far as it matters on a host of `machine`.
fn defect_for(library: &Library, machine: Option<u16>) -> Option<ElfDefect> {
    match (&library.object, machine) {
        (Err(defect), _) => Some(defect.clone()),
        (Ok(object), Some(machine)) if object.machine != machine => {
            Some(ElfDefect::Arch { have: object.arch(), want: machine_name(machine) })
        }
        _ => None,
    }
}
