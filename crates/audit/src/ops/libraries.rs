//! Operators of libraries other than torch: `data/ops/libraries.tsv`.

use std::sync::LazyLock;

use foldhash::HashMap;

use super::rows::rows;

/// The result of a call with NPU tensors, by the registrations of the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    /// A kernel for NPUs.
    Native,
    /// A kernel for the CPU and none for NPUs: torch_npu copies the tensors, if it has a fallback.
    Fallback,
    /// The library's function runs on every device, and the operators that it calls decide.
    Neutral,
    /// CUDA kernels only, or a check for CUDA tensors.
    Raises,
}

/// An operator of a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LibraryOperator {
    /// The result of calling it.
    pub behaviour: Behaviour,
    /// The Python package that defines it.
    pub library: &'static str,
    /// The equivalent on an NPU, if the sources name one.
    pub replacement: Option<&'static str>,
}

static KNOWN: LazyLock<HashMap<&'static str, LibraryOperator>> = LazyLock::new(|| {
    let rows = rows(data::text("ops/libraries.tsv")).filter_map(|row| {
        let [name, behaviour, library, replacement, _source] = *row else { return None };
        let behaviour = match behaviour {
            "native" => Behaviour::Native,
            "fallback" => Behaviour::Fallback,
            "neutral" => Behaviour::Neutral,
            "raises" => Behaviour::Raises,
            _ => return None,
        };
        let replacement = (replacement != "-").then_some(replacement);
        Some((name, LibraryOperator { behaviour, library, replacement }))
    });
    rows.collect()
});

/// Returns an operator by its name with namespace, such as `torchvision::nms`.
pub fn operator(name: &str) -> Option<LibraryOperator> {
    KNOWN.get(name).copied()
}

/// A module with kernels that are not torch operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelModule {
    /// Its name.
    pub name: &'static str,
    /// Whether a part of it runs on NPUs; otherwise nothing does.
    pub partly: bool,
    /// The equivalent on an NPU, if the sources name one.
    pub replacement: Option<&'static str>,
}

static MODULES: LazyLock<HashMap<&'static str, KernelModule>> = LazyLock::new(|| {
    let rows = rows(data::text("ops/modules.tsv")).filter_map(|row| {
        let [name, extent, replacement, _source] = *row else { return None };
        let partly = match extent {
            "none" => false,
            "some" => true,
            _ => return None,
        };
        let replacement = (replacement != "-").then_some(replacement);
        Some((name, KernelModule { name, partly, replacement }))
    });
    rows.collect()
});

/// Returns the row of a module, or of a package above it, whose kernels need CUDA tensors.
pub fn kernel_module(module: &str) -> Option<KernelModule> {
    let mut ends = module.match_indices('.').map(|(end, _)| end).chain([module.len()]);
    ends.find_map(|end| MODULES.get(&module[..end]).copied())
}

/// Returns whether the torch_npu for this torch version runs operators without a kernel on the CPU
/// in every namespace. The versions for 1.11 and 2.0.1 do so only for listed operators
/// (`codegen/dest/register_dispatch_key.py`).
pub fn falls_back(torch: &str) -> bool {
    !["1.", "2.0"].iter().any(|old| torch.starts_with(old))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_understood() {
        let all = rows(data::text("ops/libraries.tsv")).count();
        assert!(all > 700 && KNOWN.len() == all, "{} of {all}", KNOWN.len());
    }

    #[test]
    fn operators_are_found_with_their_library() {
        let nms = operator("torchvision::nms").unwrap();
        assert_eq!((nms.behaviour, nms.library), (Behaviour::Fallback, "torchvision"));
        assert!(nms.replacement.unwrap().starts_with("torchvision_npu"));
        assert_eq!(operator("torchvision::no_such"), None);
    }

    #[test]
    fn modules_are_found_by_their_package() {
        let name = |module: &str| kernel_module(module).map(|found| found.name);
        assert_eq!(name("mamba_ssm.ops.x"), Some("mamba_ssm"));
        assert_eq!(name("detectron2._C"), Some("detectron2._C"));
        assert_eq!((name("detectron2"), name("spconv2"), name("mmcv")), (None, None, None));
        assert!(kernel_module("mmcv.ops").is_some_and(|found| found.partly));
        let all = rows(data::text("ops/modules.tsv")).count();
        assert!(all >= 30 && MODULES.len() == all, "{} of {all}", MODULES.len());
    }

    #[test]
    fn the_oldest_releases_have_no_fallback() {
        assert!(!falls_back("1.11.0") && !falls_back("2.0.1"));
        assert!(falls_back("2.1.0") && falls_back("2.10.0"));
    }
}
