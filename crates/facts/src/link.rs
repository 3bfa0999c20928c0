//! The behavior of a dynamic linker with the Ascend-linked libraries.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Results of the static dynamic linker.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Link {
    /// Whether the environment's search path was known. Without it, libraries are also searched on
    /// the paths of `set_env.sh`, and no finding claims "not on the path".
    pub env_known: bool,
    /// The examined objects: libraries of `torch_npu`, plug-ins, …
    pub objects: Vec<LinkedObject>,
    /// Library names that several checks need, resolved over the same path: file name and first
    /// match (`libascend_hal.so`, `libstdc++.so.6`, `libatb.so`, …).
    pub probes: BTreeMap<String, Option<ResolvedLibrary>>,
    /// All copies of `libgomp` that a process could load.
    pub libgomp: Vec<String>,
    /// Libraries missing in a copied tree because the system's directories were not copied. Nothing
    /// is concluded from their absence.
    pub not_in_copy: Vec<String>,
    /// C++ ABI of torch, by the form in which `libc10.so` defines `torchCheckFail`: 0 before
    /// C++11, 1 C++11.
    pub torch_abi: Option<u8>,
    /// The location of each `DT_NEEDED` of the objects and of all their dependencies: path of the
    /// loading object, then the name. If several objects load an object, the first examined one
    /// decides.
    #[serde(default)]
    pub loads: BTreeMap<String, BTreeMap<String, ResolvedLibrary>>,
    /// Entries of `LD_PRELOAD` and `/etc/ld.so.preload` that cannot be loaded. The linker prints an
    /// error for each in every process, and continues.
    #[serde(default)]
    pub preload_refused: Vec<String>,
}

impl Link {
    /// The objects of an owner.
    pub fn of<'a>(&'a self, owner: &'a str) -> impl Iterator<Item = &'a LinkedObject> {
        self.objects.iter().filter(move |object| object.owner == owner)
    }

    /// The first match of a probed library.
    pub fn probe(&self, name: &str) -> Option<&ResolvedLibrary> {
        self.probes.get(name)?.as_ref()
    }
}

/// A library found on the search path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResolvedLibrary {
    /// Path as composed by the search.
    pub path: String,
    /// Path without links.
    pub real: String,
    /// How it was found: `rpath`, `LD_LIBRARY_PATH`, `set_env.sh` (in an unknown environment),
    /// `runpath`, `ld.so.cache`, `ld.so.conf`, `default`, `path` (the name is a path). Also
    /// `preloaded` (by another package), `loaded` (earlier, by another object), `argument` (the
    /// object that is opened).
    pub via: String,
}

/// Owners of objects that are not Python extensions of the stack.
const LIBRARIES: &[&str] = &["cann", "atb", "driver", "torch", "mooncake", "mindspore"];

impl LinkedObject {
    /// Returns whether this is a Python extension loaded together with torch: of `torch_npu`,
    /// vllm-ascend, or another package of the stack.
    pub fn is_extension(&self) -> bool {
        !LIBRARIES.contains(&self.owner.as_str())
    }

    /// Returns whether this is an extension of a package other than `torch_npu` and vllm-ascend.
    pub fn is_extension_of_others(&self) -> bool {
        self.is_extension() && self.owner != "torch-npu" && self.owner != "vllm-ascend"
    }
}

/// An examined shared object.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinkedObject {
    /// Path.
    pub path: String,
    /// The distribution or product of the object: `torch-npu`, `torch`, `vllm-ascend`, `mooncake`,
    /// `mindspore`, `cann`, `atb`, `driver`, `other`.
    pub owner: String,
    /// Whether it is loaded only by a feature that needs it, so that an `import` succeeds without
    /// it.
    pub lazy: bool,
    /// The defect of the file, if any: truncated, foreign architecture, …
    pub defect: Option<ElfDefect>,
    /// Architecture in the header (`aarch64`, `x86_64`, or the number).
    pub arch: Option<String>,
    /// Direct and indirect dependencies that are in no directory on the search path.
    pub missing: Vec<MissingLibrary>,
    /// Undefined symbols that no library in scope defines; at most 100.
    pub undefined: Vec<UndefinedSymbol>,
    /// Total number of undefined symbols.
    pub undefined_count: u32,
    /// Versions (`GLIBC_2.28`) that the first matching library does not define.
    pub versions: Vec<MissingVersion>,
    /// C++ ABI, by the symbols it uses: 0 before C++11, 1 C++11; `None` if they do not determine
    /// it.
    pub cxx11_abi: Option<u8>,
    /// `DT_NEEDED`, as written.
    pub needed: Vec<String>,
    /// The highest required version of `GLIBC`, `GLIBCXX` and `CXXABI`.
    pub max_versions: BTreeMap<String, String>,
}

/// A defect of a file that should be a shared object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ElfDefect {
    /// The file is empty.
    Empty,
    /// Not an ELF file.
    NotElf,
    /// Headers point beyond the end of the file.
    Truncated {
        /// Size of the file in bytes.
        size: u64,
        /// Size required by the headers, in bytes.
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
        /// The reason.
        reason: String,
    },
    /// Malformed in another way.
    Malformed {
        /// The defect.
        reason: String,
    },
}

/// A dependency that is not on the search path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissingLibrary {
    /// `DT_NEEDED` name.
    pub name: String,
    /// The provider of the library: `torch`, `torch_npu`, `cann`, `atb`, `driver`, `cuda`,
    /// `system`, `other`.
    pub class: String,
    /// Path of the object that needs it.
    pub needed_by: String,
    /// Copies elsewhere on the machine, outside of all search paths.
    pub elsewhere: Vec<String>,
    /// Copies on the path that the linker would skip: foreign architecture or class.
    pub skipped: Vec<String>,
}

/// An undefined symbol.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UndefinedSymbol {
    /// Mangled name.
    pub name: String,
    /// The expected provider: `torch`, `torch_npu`, `cann`, `atb`, `driver`, `python`, `other`.
    pub class: String,
    /// The library expected to define it, if that library was found.
    pub expected_in: Option<String>,
}

/// A symbol version that the library found does not define.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissingVersion {
    /// For example `GLIBC_2.28`.
    pub version: String,
    /// Path of the object that needs it: the examined one, or one that it loads.
    pub needed_by: String,
    /// The `DT_NEEDED` name that should define it.
    pub library: String,
    /// The first file found under that name.
    pub found: String,
    /// The highest version of that family in the file.
    pub highest: Option<String>,
}
