//! Words: names that look like a device, strings that are a device, words for NPUs.

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

/// Device types of PyTorch other than CUDA's: a `'cuda'` next to one of them is a device, too.
const DEVICE_WORDS: &[&str] = &["cpu", "mps", "xpu", "hpu", "tpu", "xla", "meta", "mlu", "musa"];

/// Backends of torch.distributed other than NCCL.
const BACKEND_WORDS: &[&str] = &["gloo", "mpi", "ucc", "xccl", "smddp"];

/// Aliases of objects that exist in several modules, with their public names.
const CANONICAL: &[(&str, &str)] = &[
    ("torch.autocast", "torch.amp.autocast"),
    ("torch.amp.autocast_mode", "torch.amp"),
    ("torch.amp.grad_scaler", "torch.amp"),
    ("torch.cuda.amp.autocast_mode", "torch.cuda.amp"),
    ("torch.cuda.amp.grad_scaler", "torch.cuda.amp"),
    ("torch.nn.parallel.data_parallel.DataParallel", "torch.nn.DataParallel"),
    ("torch.nn.parallel.data_parallel.data_parallel", "torch.nn.parallel.data_parallel"),
    ("torch.nn.parallel.DataParallel", "torch.nn.DataParallel"),
    // The name from before c10d, kept as an alias of the class.
    ("torch.distributed.distributed_c10d.dist_backend", "torch.distributed.Backend"),
    ("torch.distributed.dist_backend", "torch.distributed.Backend"),
    ("torch.distributed.distributed_c10d", "torch.distributed"),
    ("torch.distributed.device_mesh", "torch.distributed"),
    ("torch.serialization.load", "torch.load"),
    ("torch.profiler.profiler", "torch.profiler"),
    ("torch.fork_rng", "torch.random.fork_rng"),
];

/// The public name of the object `path`.
pub(super) fn canonical(path: &str) -> Cow<'_, str> {
    if !path.starts_with("torch.") {
        return Cow::Borrowed(path);
    }
    for (from, to) in CANONICAL {
        if let Some(rest) = path.strip_prefix(from)
            && (rest.is_empty() || rest.starts_with('.'))
        {
            return Cow::Owned(format!("{to}{rest}"));
        }
    }
    Cow::Borrowed(path)
}

/// Whether a variable, attribute, key or parameter of this name holds a device.
pub(super) fn device_like(name: &str) -> bool {
    let is = |word: &str| name.eq_ignore_ascii_case(word);
    contains_ignoring_case(name, "device") || is("dev") || is("map_location")
}

/// Whether `text` contains the lowercase word `word`, ignoring case.
pub(super) fn contains_ignoring_case(text: &str, word: &str) -> bool {
    let (text, word) = (text.as_bytes(), word.as_bytes());
    text.windows(word.len()).any(|window| {
        window[0].to_ascii_lowercase() == word[0] && window.eq_ignore_ascii_case(word)
    })
}

/// Whether a variable, attribute, key or parameter of this name holds a backend of
/// torch.distributed.
pub(super) fn backend_like(name: &str) -> bool {
    contains_ignoring_case(name, "backend")
}

/// Whether `text` is a device of another type than CUDA.
pub(super) fn other_device(text: &str) -> bool {
    let kind = text.split(':').next().unwrap_or(text);
    DEVICE_WORDS.contains(&kind)
}

/// Whether `text` is a backend other than NCCL.
pub(super) fn other_backend(text: &str) -> bool {
    BACKEND_WORDS.contains(&text)
}

/// Whether `text` is a CUDA device: `cuda`, `cuda:0`, `cuda:%d`, `cuda:`, or a list of them.
pub(super) fn cuda_device(text: &str) -> bool {
    text.split(',').all(|one| {
        let one = one.trim();
        match one.strip_prefix("cuda") {
            Some("") => true,
            Some(rest) => rest.strip_prefix(':').is_some_and(|index| {
                index.bytes().all(|byte| byte.is_ascii_digit())
                    || matches!(index, "%d" | "%s" | "%i" | "{}" | "{0}" | "*")
                    || (index.starts_with('{') && index.ends_with('}'))
                    || (index.starts_with("%(") && index.len() > 3)
            }),
            None => false,
        }
    })
}

/// Whether `text` names a CUDA device with an index, which excludes other meanings.
pub(super) fn cuda_with_index(text: &str) -> bool {
    text.contains(':') && cuda_device(text)
}

/// Whether `text` is NCCL, either the plain name or by device (`cpu:gloo,cuda:nccl`).
pub(super) fn nccl_backend(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower == "nccl"
        || (lower.contains(':')
            && lower.split(',').all(|one| {
                one.trim()
                    .split_once(':')
                    .is_some_and(|(device, _)| device == "cuda" || other_device(device))
            })
            && lower.split(',').any(|one| one.trim() == "cuda:nccl"))
}

/// The first three letters of each NPU word in all combinations of case, so that one search finds
/// them all.
static NPU_WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let cases = NPU.iter().flat_map(|word| {
        (0..8u8).map(|upper| {
            let letters = word.bytes().take(3).enumerate();
            letters
                .map(|(at, letter)| letter - if upper >> at & 1 == 1 { b'a' - b'A' } else { 0 })
                .collect::<Vec<u8>>()
        })
    });
    // Leftmost matching allows the vectorized search.
    let builder = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(cases);
    builder.expect("a few letters make a small automaton")
});

/// Words for NPUs; none begins with the end of another.
const NPU: &[&str] = &["npu", "hccl", "ascend"];

/// Whether source text already mentions NPUs. `input` does not count.
pub(super) fn mentions_npu(text: &str) -> bool {
    let bytes = text.as_bytes();
    NPU_WORDS.find_iter(bytes).any(|found| {
        let at = found.start();
        let begins = |word: &&&str| {
            let here = bytes.get(at..at + word.len());
            here.is_some_and(|here| here.eq_ignore_ascii_case(word.as_bytes()))
        };
        let Some(word) = NPU.iter().find(begins) else { return false };
        let before = at.checked_sub(1).map(|at| bytes[at]);
        let after = bytes.get(at + word.len());
        let camel = bytes[at].is_ascii_uppercase() && bytes[at + 1].is_ascii_lowercase();
        (camel || !before.is_some_and(|byte| byte.is_ascii_alphabetic()))
            && !after.is_some_and(|byte| byte.is_ascii_lowercase() && *byte != b's')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn npu_mentions_are_detected() {
        for yes in
            ["x == 'npu'", "is_npu_available()", "torch.npu.is_available()", "HAS_NPU", "isNpu"]
        {
            assert!(mentions_npu(yes), "{yes}");
        }
        for no in ["input", "inputs.cuda()", "INPUT", "x == 'cuda'", "unpublished", "np.unpack"] {
            assert!(!mentions_npu(no), "{no}");
        }
    }

    #[test]
    fn device_strings() {
        for yes in ["cuda", "cuda:0", "cuda:%d", "cuda:{}", "cuda:{rank}", "cuda:", "cuda:0,cuda:1"]
        {
            assert!(cuda_device(yes), "{yes}");
        }
        for no in ["cudart", "cuda_rng_state", "cuda out of memory", "cuda/lib64", "", "cuda:a b"] {
            assert!(!cuda_device(no), "{no}");
        }
        assert!(nccl_backend("nccl") && nccl_backend("cpu:gloo,cuda:nccl"));
        assert!(!nccl_backend("nccl2.h") && !nccl_backend("cpu:gloo"));
    }

    #[test]
    fn aliases_map_to_the_public_name() {
        assert_eq!(canonical("torch.autocast"), "torch.amp.autocast");
        assert_eq!(canonical("torch.autocast_x"), "torch.autocast_x");
        assert_eq!(canonical("torch.nn.parallel.DataParallel"), "torch.nn.DataParallel");
    }
}
