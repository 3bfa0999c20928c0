//! What a dynamic linker would do with the Ascend-linked libraries.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Results of the static dynamic linker.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Link {
    /// Whether the environment's search path was known. Without it, libraries are also searched
    /// where `set_env.sh` would look, and "not on the path" is never claimed.
    pub env_known: bool,
    /// The objects that were examined: libraries of `torch_npu`, plug-ins, …
    pub objects: Vec<LinkedObject>,
    /// Library names that several checks ask for, resolved over the same path: file name and
    /// where it was found first (`libascend_hal.so`, `libstdc++.so.6`, `libatb.so`, …).
    pub probes: BTreeMap<String, Option<ResolvedLibrary>>,
    /// All copies of `libgomp` that a process could load.
    pub libgomp: Vec<String>,
    /// Libraries that a copied tree does not hold since nobody copied the system's directories:
    /// nothing is concluded from their absence.
    pub not_in_copy: Vec<String>,
    /// C++ ABI of torch, by the form in which `libc10.so` defines `torchCheckFail`: 0 before
    /// C++11, 1 C++11.
    pub torch_abi: Option<u8>,
    /// Where each `DT_NEEDED` of the objects, and of all that they load, is found: path of the
    /// object that asks, then the name. Where an object is loaded by several, the first that is
    /// examined decides.
    #[serde(default)]
    pub loads: BTreeMap<String, BTreeMap<String, ResolvedLibrary>>,
    /// Entries of `LD_PRELOAD` and `/etc/ld.so.preload` that cannot be loaded; the linker
    /// complains of each in every process, and goes on.
    #[serde(default)]
    pub preload_refused: Vec<String>,
}

impl Link {
    /// The objects of an owner.
    pub fn of<'a>(&'a self, owner: &'a str) -> impl Iterator<Item = &'a LinkedObject> {
        self.objects.iter().filter(move |object| object.owner == owner)
    }

    /// Where a probed library was found first.
    pub fn probe(&self, name: &str) -> Option<&ResolvedLibrary> {
        self.probes.get(name)?.as_ref()
    }
}

/// A library found on the search path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResolvedLibrary {
    /// Path as the search composed it.
    pub path: String,
    /// Path without links.
    pub real: String,
    /// How it was found: `rpath`, `LD_LIBRARY_PATH`, `set_env.sh` (where the environment is not
    /// known), `runpath`, `ld.so.cache`, `ld.so.conf`, `default`, `path` (the name is a path),
    /// `preloaded` (by another package), `loaded` (before, by whoever asked first), `argument`
    /// (the object that is opened).
    pub via: String,
}

/// Owners of objects that are no Python extensions of the stack.
const LIBRARIES: &[&str] = &["cann", "atb", "driver", "torch", "mooncake", "mindspore"];

impl LinkedObject {
    /// Whether this is a Python extension that is loaded beside torch: of `torch_npu`,
    /// vllm-ascend, or another package of the stack.
    pub fn is_extension(&self) -> bool {
        !LIBRARIES.contains(&self.owner.as_str())
    }

    /// Whether this is an extension of a package other than `torch_npu` and vllm-ascend.
    pub fn is_extension_of_others(&self) -> bool {
        self.is_extension() && self.owner != "torch-npu" && self.owner != "vllm-ascend"
    }
}

/// One shared object under examination.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinkedObject {
    /// Path.
    pub path: String,
    /// The distribution or product that it belongs to: `torch-npu`, `torch`, `vllm-ascend`,
    /// `mooncake`, `mindspore`, `cann`, `atb`, `driver`, `other`.
    pub owner: String,
    /// Whether it is only loaded when a feature that needs it is used, so that an `import`
    /// succeeds without it.
    pub lazy: bool,
    /// What is wrong with the file itself, if anything: truncated, foreign architecture, …
    pub defect: Option<ElfDefect>,
    /// Architecture in the header (`aarch64`, `x86_64`, or the number).
    pub arch: Option<String>,
    /// Direct and indirect dependencies that no directory on the search path holds.
    pub missing: Vec<MissingLibrary>,
    /// Undefined symbols that no library in scope defines; at most 100 of them.
    pub undefined: Vec<UndefinedSymbol>,
    /// How many there are.
    pub undefined_count: u32,
    /// Versions (`GLIBC_2.28`) that the library found first does not define.
    pub versions: Vec<MissingVersion>,
    /// C++ ABI: 0 before C++11, 1 C++11, by the symbols it uses; `None` if it tells nothing.
    pub cxx11_abi: Option<u8>,
    /// `DT_NEEDED`, as written.
    pub needed: Vec<String>,
    /// The highest version it needs of `GLIBC`, `GLIBCXX` and `CXXABI`.
    pub max_versions: BTreeMap<String, String>,
}

/// What is wrong with a file that should be a shared object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ElfDefect {
    /// No bytes at all.
    Empty,
    /// Not an ELF file.
    NotElf,
    /// Headers point beyond the end of the file.
    Truncated {
        /// Size of the file in bytes.
        size: u64,
        /// Size that the headers ask for, in bytes.
        expected: u64,
    },
    /// Built for another machine.
    Arch {
        /// Architecture in the header.
        have: String,
        /// Architecture of the host.
        want: String,
    },
    /// 32-bit, or big-endian.
    Class,
    /// Not readable.
    Unreadable {
        /// Why.
        reason: String,
    },
    /// Malformed in another way.
    Malformed {
        /// How.
        reason: String,
    },
}

/// A dependency that is not on the search path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissingLibrary {
    /// `DT_NEEDED` name.
    pub name: String,
    /// Whose library it is: `torch`, `torch_npu`, `cann`, `atb`, `driver`, `cuda`, `system`,
    /// `other`.
    pub class: String,
    /// The object that asks for it (path).
    pub needed_by: String,
    /// Copies that lie elsewhere on the machine, where no search would look.
    pub elsewhere: Vec<String>,
    /// Copies on the path that are skipped as the linker does: foreign architecture or class.
    pub skipped: Vec<String>,
}

/// An undefined symbol.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UndefinedSymbol {
    /// Mangled name.
    pub name: String,
    /// Who should define it: `torch`, `torch_npu`, `cann`, `atb`, `driver`, `python`, `other`.
    pub class: String,
    /// The library that was expected to define it, where it is resolved.
    pub expected_in: Option<String>,
}

/// A symbol version that the library found does not define.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissingVersion {
    /// For example `GLIBC_2.28`.
    pub version: String,
    /// The object that needs it (path): the one under examination, or one that it loads.
    pub needed_by: String,
    /// The `DT_NEEDED` name that should define it.
    pub library: String,
    /// The file that was found first under that name.
    pub found: String,
    /// The highest version of that family which it defines.
    pub highest: Option<String>,
}
