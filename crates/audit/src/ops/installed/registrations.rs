//! The registrations that an installation lists in its own files or in its library.

use std::collections::BTreeSet;

use super::files::{Generic, Kernels};
use crate::ops::dispatch::{Registrations, Via, known_parts};
use crate::ops::tables::{Native, Tables};
use crate::ops::target::Target;

/// The function that makes every registration, mangled: `torch::Library::_impl`.
pub(super) const REGISTER: &str = "_ZNR5torch7Library5_implE";

/// The source of the kernels of an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum KernelSource {
    /// The registration files.
    Files,
    /// The names that `libtorch_npu.so` passes to `torch::Library::_impl`. Some of them are
    /// registered for dispatch keys other than that of the NPU (sparse tensors, autocast).
    Library,
}

/// The registrations of an installation.
#[derive(Debug, Clone)]
pub struct Installed<'a> {
    /// The torch_npu version in its metadata.
    pub version: Option<String>,
    /// The PyTorch version in its metadata.
    pub torch: Option<String>,
    /// The registrations of torch_npu.
    pub kernels: Kernels,
    /// The source of the registrations.
    pub evidence: KernelSource,
    /// How PyTorch runs its operators, if its files exist.
    pub generic: Option<std::collections::BTreeMap<String, Generic>>,
    /// The tables, for facts that the files do not contain.
    pub tables: &'a Tables,
    /// The nearest target in the tables.
    pub target: Target,
}

impl Registrations for Installed<'_> {
    fn kernel(&self, overload: &str) -> Option<Via> {
        self.kernels.aten.get(overload).map(|flags| Via::of(flags))
    }

    fn native(&self, overload: &str) -> Option<Native<'_>> {
        // The dispatcher has a few overloads that are only in the tables, not in the file.
        let table = || self.tables.native(overload, self.target.torch);
        match &self.generic {
            None => table(),
            Some(generic) => generic
                .get(overload)
                .map(|(source, flags)| Native { source: source.as_deref(), flags })
                .or_else(table),
        }
    }

    fn parts(&self, overload: &str) -> Vec<String> {
        known_parts(overload)
    }

    fn custom(&self, name: &str) -> Option<bool> {
        let there = self.kernels.custom.contains(name);
        (there || self.tables.custom(name).is_some()).then_some(there)
    }

    fn overloads(&self, base: &str) -> Vec<String> {
        let mut names: BTreeSet<String> =
            self.tables.overloads(base).into_iter().map(str::to_owned).collect();
        names.extend(of_base(self.kernels.aten.keys(), base));
        if let Some(generic) = &self.generic {
            names.extend(of_base(generic.keys(), base));
        }
        names.into_iter().collect()
    }

    fn custom_overloads(&self, base: &str) -> Vec<String> {
        let mut names: BTreeSet<String> =
            self.tables.custom_overloads(base).into_iter().map(str::to_owned).collect();
        names.extend(of_base(self.kernels.custom.iter(), base));
        names.into_iter().collect()
    }
}

fn of_base<'a>(
    names: impl Iterator<Item = &'a String>,
    base: &str,
) -> impl Iterator<Item = String> {
    names.filter(move |name| name.split('.').next() == Some(base)).cloned()
}

/// Returns the kernels of a library by the names that it registers: those of PyTorch operators and
/// those of torch_npu operators.
pub fn kernels_of_library(names: &BTreeSet<String>, tables: &Tables) -> Kernels {
    let mut kernels = Kernels::default();
    for name in names {
        let bare = name.strip_prefix("aten::").unwrap_or(name);
        if let Some(custom) = name.strip_prefix("npu::") {
            kernels.custom.insert(custom.to_owned());
        } else if tables.custom(bare).is_some() && !tables.knows(bare) {
            kernels.custom.insert(bare.to_owned());
        } else if tables.knows(bare) {
            kernels.aten.insert(bare.to_owned(), "K".to_owned());
        }
    }
    kernels
}

/// Returns the overloads that the files register and the library does not. The files then belong to
/// another build.
pub fn missing_in_library(files: &Kernels, names: &BTreeSet<String>) -> Vec<String> {
    let there = |name: &str| names.contains(name) || names.contains(&format!("aten::{name}"));
    files.aten.keys().filter(|name| !there(name)).cloned().collect()
}
