//! Which files cannot have anything to convert: most files of most trees, told by one search.
//!
//! Python sources are searched for every name that a rule speaks of, and what is found counts
//! only where it means something: not in comments and documentation, see [`context`]. Files of
//! other kinds are few, and read if they have a word of CUDA's world.

mod context;

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use foldhash::HashMap;
use memchr::memmem;

use super::kind::FileKind;
use super::options::Options;
use super::rules::{Action, Match, Rules};
use context::{Contexts, Kind};

/// Words of CUDA's world in any case; whoever says one of them is read, unless it is Python.
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
    "flash_attn",
    "apex",
    "triton",
    "cupy",
];

/// The same as code and strings of Python hold them, wherever in a word.
const ANYWHERE: &[&str] = &[
    "cuda",
    "CUDA",
    "Cuda",
    "nccl",
    "NCCL",
    "Nccl",
    "cudnn",
    "CUDNN",
    "cuDNN",
    "CUBLAS",
    "nvcc",
    "NVCC",
    "nvidia-",
    "nvidia_",
    "nvidia.",
    "NVIDIA_",
    ".cu'",
    ".cu\"",
    "ExecutionProvider",
];

/// Names with CUDA behaviour that do not say so, besides those of the rules; whole words.
const SILENT: &[&str] = &[
    "GradScaler",
    "fork_rng",
    "is_autocast_enabled",
    "DataParallel",
    "data_parallel",
    "init_process_group",
    "map_location",
    "torch.load",
    "jit.load",
    "torch.compile",
    "torch.ops",
    "torch.classes",
    "profiler",
    "key_averages",
    "onnxruntime",
];

/// What counts with `--transfer` only.
const TRANSFERRED: &str = "jit.script";

static PLAIN_WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(PLAIN)
        .expect("a few words make a small automaton")
});

/// When a needle that was found counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Counts {
    /// Always.
    Anywhere,
    /// As a whole word.
    Word,
    /// As a whole word, with `--transfer`.
    Transferred,
    /// As a package that is imported or named in a string.
    Package,
}

/// What Python sources are searched for.
struct Needles {
    search: AhoCorasick,
    counts: Vec<Counts>,
    /// What else has to stand in the file, by the number of the needle: `ops` for
    /// `torchvision.ops`. Without an entry nothing has to.
    besides: HashMap<usize, Vec<&'static str>>,
}

static NEEDLES: LazyLock<Needles> = LazyLock::new(|| {
    let mut all: Vec<(Cow<'static, str>, Counts)> = Vec::new();
    let mut besides: HashMap<&str, Vec<&str>> = HashMap::default();
    all.extend(ANYWHERE.iter().map(|&word| (word.into(), Counts::Anywhere)));
    all.extend(SILENT.iter().map(|&word| (word.into(), Counts::Word)));
    all.push((TRANSFERRED.into(), Counts::Transferred));
    for rule in &Rules::builtin().rules {
        if rule.action == Action::Keep {
            // What a rule leaves alone without a word makes no file worth reading.
            continue;
        }
        let covered = |name: &&str| !ANYWHERE.iter().any(|word| name.contains(word));
        for name in rule.names().map(|name| name.trim_end_matches(['*', '.'])).filter(covered) {
            match rule.how {
                Match::Api | Match::Prefix => {
                    // Whoever says the name says all its parts: the longest is the rarest.
                    let parts = name.split('.').filter(|part| *part != "torch");
                    let rarest = parts.reduce(|a, b| if b.len() > a.len() { b } else { a });
                    all.push((rarest.unwrap_or(name).into(), Counts::Word));
                }
                Match::Method | Match::Attribute | Match::Env | Match::Provider => {
                    all.push((name.into(), Counts::Word));
                }
                Match::Library => {
                    let (root, rest) = name.split_once('.').unwrap_or((name, ""));
                    all.push((root.into(), Counts::Package));
                    // As a package that is asked for, it is written so.
                    all.push((root.replace('_', "-").into(), Counts::Package));
                    besides.entry(root).or_default().push(rest);
                }
                Match::Package => all.push((name.into(), Counts::Package)),
                Match::Site | Match::File => {}
            }
        }
    }
    all.sort_unstable();
    all.dedup_by(|later, first| later.0 == first.0);
    let besides = all.iter().enumerate().filter_map(|(at, (word, _))| {
        let rests = besides.get(word.as_ref())?;
        (!rests.contains(&"")).then(|| (at, rests.clone()))
    });
    Needles {
        besides: besides.collect(),
        counts: all.iter().map(|(_, counts)| *counts).collect(),
        search: AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::DFA))
            .build(all.iter().map(|(word, _)| word.as_bytes()))
            .expect("the names of the rules make a small automaton"),
    }
});

/// Makes what the search needs, which takes some milliseconds: while files are looked for.
pub fn prepare() {
    LazyLock::force(&PLAIN_WORDS);
    LazyLock::force(&NEEDLES);
}

/// Tells what may have something to convert.
#[derive(Debug, Clone, Default)]
pub struct Sieve {
    transfer: bool,
    /// Modules that the tree builds from CUDA sources: whoever imports one is told so.
    extensions: Vec<String>,
}

impl Sieve {
    /// For a run; `extensions` are the modules that its tree builds from CUDA sources.
    pub fn new(options: &Options, extensions: impl IntoIterator<Item = String>) -> Self {
        Self { transfer: options.transfer, extensions: extensions.into_iter().collect() }
    }

    /// Whether a file of this kind may have something to convert.
    pub fn passes(&self, kind: FileKind, bytes: &[u8]) -> bool {
        match kind {
            FileKind::Native | FileKind::Requirements | FileKind::Rust => true,
            FileKind::Python => self.is_worth_parsing(bytes),
            // Its sources are strings of JSON, in which the mark of a string looks otherwise.
            FileKind::Notebook => PLAIN_WORDS.is_match(bytes) || NEEDLES.search.is_match(bytes),
            FileKind::Shell | FileKind::Config | FileKind::Container => PLAIN_WORDS.is_match(bytes),
        }
    }

    fn is_worth_parsing(&self, bytes: &[u8]) -> bool {
        let mut contexts = Contexts::of(bytes);
        let known = NEEDLES.search.find_overlapping_iter(bytes).any(|found| {
            let (start, end) = (found.start(), found.end());
            let at = found.pattern().as_usize();
            let right = match NEEDLES.counts[at] {
                Counts::Anywhere => true,
                Counts::Word => is_word(bytes, start, end),
                Counts::Transferred => self.transfer && is_word(bytes, start, end),
                Counts::Package => {
                    is_word(bytes, start, end)
                        && is_package(bytes, start)
                        && NEEDLES
                            .besides
                            .get(&at)
                            .is_none_or(|rests| rests.iter().any(|rest| all_parts(bytes, rest)))
                }
            };
            right && matches!(contexts.at(start), Kind::Code | Kind::Text)
        });
        known
            || self.extensions.iter().any(|name| {
                memmem::find_iter(bytes, name)
                    .any(|start| is_word(bytes, start, start + name.len()))
            })
    }
}

fn is_word(bytes: &[u8], start: usize, end: usize) -> bool {
    let goes_on = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let before = start.checked_sub(1).map(|at| &bytes[at]);
    !before.is_some_and(goes_on) && !bytes.get(end).is_some_and(goes_on)
}

/// Whether the word at `start` may be a package: a line of imports, or the begin of a string.
fn is_package(bytes: &[u8], start: usize) -> bool {
    let line = memchr::memrchr2(b'\n', b'\r', &bytes[..start]).map_or(0, |at| at + 1);
    let before = &bytes[line..start];
    before.ends_with(b"\"")
        || before.ends_with(b"'")
        || [&b"import "[..], b"import\t", b"from ", b"from\t"]
            .iter()
            .any(|word| memmem::find(before, word).is_some())
}

fn all_parts(bytes: &[u8], rest: &str) -> bool {
    rest.split('.').all(|part| memmem::find(bytes, part.as_bytes()).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::python;

    fn any(source: &str) -> bool {
        Sieve::default().passes(FileKind::Python, source.as_bytes())
    }

    #[test]
    fn what_rules_speak_of_is_found() {
        for source in [
            "x.cuda()",
            "s = 'cuda:0'",
            "scaler = torch.amp.GradScaler()",
            "model = nn.DataParallel(model)",
            "import os, apex",
            "from apex import amp",
            "from torchvision import ops",
            "check_requirements('xformers')",
            "def f():\n    '''x'''\n    return f'{a}cuda'",
            "torch.backends.cudnn.benchmark = True",
            "with torch.profiler.profile() as p: pass",
            "load(name, sources=['a.cu'])",
        ] {
            assert!(any(source), "{source}");
        }
    }

    #[test]
    fn what_only_readers_see_is_not() {
        for source in [
            "# for CUDA\nx = 1",
            "x = 1  # on cuda\n",
            "'''Uses cuda.'''\nx = 1",
            "def f():\n    \"\"\"On a \"cuda\" device.\"\"\"\n    return 1",
            "model = DistributedDataParallel(model)",
            "self.flash_attn = 1",
            "x = apex\n",
            "from torchvision import transforms",
            "get_profilers()",
            "from_pretrained('nvidia/segformer')",
        ] {
            assert!(!any(source), "{source}");
        }
    }

    #[test]
    fn what_the_tree_builds_is_found_where_it_is_imported() {
        let sieve = Sieve::new(&Options::default(), ["window_process".to_owned()]);
        assert!(sieve.passes(FileKind::Python, b"import window_process\n"));
        assert!(!sieve.passes(FileKind::Python, b"import window_processes\n"));
    }

    #[test]
    fn every_example_of_a_rule_is_read() {
        let prelude = "import torch\nimport os\n";
        for rule in &Rules::builtin().rules {
            let Some(example) = rule.example.as_ref().filter(|one| one.file.is_none()) else {
                continue;
            };
            let source = if example.prelude {
                format!("{prelude}{}", example.before)
            } else {
                example.before.clone()
            };
            let options = Options::default();
            let plan = python::plan(&source, &python::Context::alone(&options)).unwrap();
            assert!(plan.sites.is_empty() || any(&source), "{}: {source}", rule.id);
        }
    }
}
