//! Which files cannot have anything to convert: most files of most trees, told by one search.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::kind::FileKind;
use super::rules::{Action, Match, Rules};

/// Words of CUDA's world in any case; whoever says one of them is read.
const PLAIN: &[&str] = &[
    "cuda",
    "cudnn",
    "cublas",
    "nccl",
    "nvidia",
    "nvml",
    "nvcc",
    "nvtx",
    "nvrtc",
    "gpu",
    "tensorrt",
    "xformers",
    "bitsandbytes",
    "deepspeed",
    "flash-attn",
    "apex",
    "triton",
    "cupy",
];

/// Names with CUDA behaviour that do not say so.
const SILENT: &[&str] = &[
    "GradScaler",
    "autocast",
    "fork_rng",
    "DataParallel",
    "pin_memory",
    "init_process_group",
    "torch.load",
    "torch.compile",
    "torch.ops",
    "ProfilerActivity",
    // As a package that is asked for; models have attributes that end in it.
    "\"flash_attn",
    "'flash_attn",
    "accelerator",
    "map_location",
];

static PLAIN_WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(PLAIN)
        .expect("a few words make a small automaton")
});

/// Further names, as they are written in Python.
static NAMES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let mut names: Vec<String> = SILENT.iter().map(|&name| name.to_owned()).collect();
    for rule in &Rules::builtin().rules {
        if !matches!(
            rule.how,
            Match::Api | Match::Prefix | Match::Library | Match::Env | Match::Provider
        ) || rule.action == Action::Keep
        {
            // What a rule leaves alone without a word makes no file worth reading.
            continue;
        }
        for name in rule.names() {
            let name = name.trim_end_matches('*');
            let last = name.rsplit('.').find(|part| !part.is_empty()).unwrap_or(name);
            if PLAIN_WORDS.is_match(name) || last.len() < 3 {
                continue;
            }
            if rule.how == Match::Library {
                names.extend([format!("import {name}"), format!("from {name}")]);
            } else {
                names.push(last.to_owned());
            }
        }
    }
    names.sort();
    names.dedup();
    AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::DFA))
        .build(&names)
        .expect("the names of the rules make a small automaton")
});

/// Makes what the search needs, which takes some milliseconds: while files are looked for.
pub fn prepare() {
    LazyLock::force(&PLAIN_WORDS);
    LazyLock::force(&NAMES);
}

/// Whether a file of this kind may have something to convert.
pub fn any(kind: FileKind, bytes: &[u8]) -> bool {
    if matches!(kind, FileKind::Native | FileKind::Requirements | FileKind::Rust) {
        return true;
    }
    let python = matches!(kind, FileKind::Python | FileKind::Notebook);
    PLAIN_WORDS.is_match(bytes)
        || (python && NAMES.is_match(bytes))
        || (kind != FileKind::Python && memchr::memmem::find(bytes, b"flash_attn").is_some())
}
