//! Operators of other libraries than torch: `data/ops/libraries.tsv`.

use std::sync::LazyLock;

use foldhash::HashMap;

use super::rows::rows;

/// What a call with NPU tensors meets, by what the library registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    /// A kernel for NPUs.
    Native,
    /// A kernel for the CPU and none for NPUs: torch_npu copies, where it has a fallback.
    Fallback,
    /// The library's function runs for every device, and what it calls decides.
    Neutral,
    /// CUDA kernels alone, or a check for CUDA tensors.
    Raises,
}

/// An operator of a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LibraryOperator {
    /// What happens to it.
    pub behaviour: Behaviour,
    /// The Python package that defines it.
    pub library: &'static str,
    /// What computes the same on an NPU, where the sources name something.
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

/// An operator by its name with namespace, `torchvision::nms`.
pub fn operator(name: &str) -> Option<LibraryOperator> {
    KNOWN.get(name).copied()
}

/// Whether torch_npu for this torch copies what has no kernel to the CPU, in every namespace: 1.11
/// and 2.0.1 send only listed operators there (`codegen/dest/register_dispatch_key.py`).
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
    fn the_oldest_releases_have_no_fallback() {
        assert!(!falls_back("1.11.0") && !falls_back("2.0.1"));
        assert!(falls_back("2.1.0") && falls_back("2.10.0"));
    }
}
