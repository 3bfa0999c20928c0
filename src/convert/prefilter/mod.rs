//! Skips files that cannot have anything to convert, which are most files of most trees, with one
//! search.
//!
//! Python sources are searched for every name in the rules, and a match counts only if it has an
//! effect: not in comments and documentation, see [`context`]. Files of other kinds are few; they
//! are planned if they contain a word related to CUDA.

mod context;

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use foldhash::HashMap;
use memchr::memmem;

use super::options::Options;
use super::rules::{Action, Match, Rules};
use super::settings;
use context::{Contexts, Kind};
use treeedit::kind::FileKind;

/// Words related to CUDA, in any case. A file other than Python that contains one of them is
/// planned.
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

/// The same words as they occur in code and strings of Python, anywhere in a word.
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

/// Names with CUDA behavior that contain no such word, in addition to those of the rules; whole
/// words.
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

/// Counts only with `--transfer`.
const TRANSFERRED: &str = "jit.script";

static PLAIN_WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(PLAIN)
        .expect("a few words make a small automaton")
});

/// Words in code that installs or requires packages.
const INSTALLERS: &[&str] = &["requirement", "Requirement", "REQUIREMENT", "install", "pip", "Pip"];

/// The condition under which a match counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Counts {
    /// Always.
    Anywhere,
    /// As a whole word.
    Word,
    /// As a whole word, with `--transfer`.
    Transferred,
    /// Not by itself: packages are searched for in the whole file.
    Installer,
}

/// The search terms for Python sources.
struct Needles {
    /// A small set, so that the search can process many bytes at a time.
    search: AhoCorasick,
    counts: Vec<Counts>,
    /// Packages: searched in import statements, and in strings if the file installs packages.
    packages: AhoCorasick,
    /// Further names that the file must contain, by the number of the package: `ops` for
    /// `torchvision.ops`. A package without an entry needs none.
    besides: HashMap<usize, Vec<&'static str>>,
}

static NEEDLES: LazyLock<Needles> = LazyLock::new(|| {
    let mut all: Vec<(&str, Counts)> = Vec::new();
    let mut packages: Vec<Cow<'static, str>> = Vec::new();
    let mut besides: HashMap<&str, Vec<&str>> = HashMap::default();
    all.extend(ANYWHERE.iter().map(|&word| (word, Counts::Anywhere)));
    all.extend(SILENT.iter().map(|&word| (word, Counts::Word)));
    all.extend(INSTALLERS.iter().map(|&word| (word, Counts::Installer)));
    all.push((TRANSFERRED, Counts::Transferred));
    for rule in &Rules::builtin().rules {
        if rule.action == Action::Keep && rule.needs.is_none() {
            // A rule that silently leaves a name unchanged does not justify parsing a file.
            continue;
        }
        let covered = |name: &&str| !ANYWHERE.iter().any(|word| name.contains(word));
        for name in rule.names().map(|name| name.trim_end_matches(['*', '.'])).filter(covered) {
            match rule.how {
                Match::Api | Match::Prefix => {
                    // A file that contains the name contains all its parts; the longest part is the
                    // rarest.
                    let parts = name.split('.').filter(|part| *part != "torch");
                    let rarest = parts.reduce(|a, b| if b.len() > a.len() { b } else { a });
                    all.push((rarest.unwrap_or(name), Counts::Word));
                }
                Match::Method | Match::Attribute | Match::Env | Match::Provider => {
                    all.push((name, Counts::Word));
                }
                Match::Library => {
                    let (root, rest) = name.split_once('.').unwrap_or((name, ""));
                    packages.push(root.into());
                    // Requirements use this spelling of the package.
                    packages.push(root.replace('_', "-").into());
                    besides.entry(root).or_default().push(rest);
                }
                Match::Package => packages.push(name.into()),
                // A caller of a package function imports the package, except for methods of unknown
                // objects.
                Match::Call => {
                    let root = name.split(['.', '(']).next().unwrap_or(name);
                    let (function, parameter) = name.rsplit_once('(').unwrap_or((name, ""));
                    if root == "*" {
                        let end = parameter.find([':', ')']).unwrap_or(parameter.len());
                        // A call that omits the parameter, or passes it by position, contains only
                        // the name of the method.
                        let by_name = end > 0 && !parameter.contains(':');
                        let by_method = !by_name || rule.is_for_omitted();
                        let method = function.rsplit('.').next().unwrap_or(function);
                        let word = if by_method { method } else { &parameter[..end] };
                        all.push((word, Counts::Word));
                    } else {
                        packages.push(root.into());
                        let rest = function.split_once('.').map_or("", |(_, rest)| rest);
                        besides.entry(root).or_default().push(rest);
                    }
                }
                Match::Site | Match::File | Match::Option => {}
            }
        }
    }
    all.sort_unstable();
    all.dedup_by_key(|(word, _)| *word);
    packages.sort_unstable();
    packages.dedup();
    let besides = packages.iter().enumerate().filter_map(|(at, word)| {
        let rests = besides.get(word.as_ref())?;
        (!rests.contains(&"")).then(|| (at, rests.clone()))
    });
    let automaton = |words: &mut dyn Iterator<Item = &str>, kind| {
        let mut builder = AhoCorasick::builder();
        // The vectorized search passes only candidates to the automaton, and building its full
        // transition table would take longer than searching a tree.
        builder.match_kind(kind).kind(Some(AhoCorasickKind::ContiguousNFA));
        builder.build(words).expect("the names of the rules make a small automaton")
    };
    Needles {
        besides: besides.collect(),
        counts: all.iter().map(|(_, counts)| *counts).collect(),
        search: automaton(&mut all.iter().map(|(word, _)| *word), MatchKind::LeftmostFirst),
        packages: automaton(&mut packages.iter().map(AsRef::as_ref), MatchKind::Standard),
    }
});

/// Builds the search, which takes some milliseconds, while the walk looks for files.
pub fn prepare() {
    LazyLock::force(&PLAIN_WORDS);
    LazyLock::force(&NEEDLES);
}

/// Detects files that may have something to convert.
#[derive(Debug, Clone, Default)]
pub struct Prefilter {
    transfer: bool,
    /// Modules that the tree builds from CUDA sources: their importers are reported.
    extensions: Vec<String>,
}

impl Prefilter {
    /// For a run; `extensions` are the modules that its tree builds from CUDA sources.
    pub fn new(options: &Options, extensions: impl IntoIterator<Item = String>) -> Self {
        Self { transfer: options.transfer, extensions: extensions.into_iter().collect() }
    }

    /// Whether a file of this kind may have something to convert.
    pub fn passes(&self, kind: FileKind, bytes: &[u8]) -> bool {
        match kind {
            FileKind::Native | FileKind::Requirements | FileKind::Rust => true,
            FileKind::Python => self.is_worth_parsing(bytes),
            // The cells are JSON strings, in which quotes are escaped.
            FileKind::Notebook => {
                PLAIN_WORDS.is_match(bytes)
                    || NEEDLES.search.is_match(bytes)
                    || NEEDLES.packages.is_match(bytes)
            }
            FileKind::Text => false,
            FileKind::Shell | FileKind::Config | FileKind::Container => {
                PLAIN_WORDS.is_match(bytes) || settings::mentions(bytes)
            }
        }
    }

    fn is_worth_parsing(&self, bytes: &[u8]) -> bool {
        let mut contexts = Contexts::of(bytes);
        let mut installs = false;
        let known = NEEDLES.search.find_iter(bytes).any(|found| {
            let (start, end) = (found.start(), found.end());
            let right = match NEEDLES.counts[found.pattern().as_usize()] {
                Counts::Anywhere => true,
                Counts::Word => is_word(bytes, start, end),
                Counts::Transferred => self.transfer && is_word(bytes, start, end),
                Counts::Installer => {
                    // `pipeline` is not `pip`.
                    installs |= bytes.get(end) != Some(&b'e');
                    false
                }
            };
            right && matches!(contexts.at(start), Kind::Code | Kind::Text)
        });
        known || has_package(bytes, installs) || self.has_extension(bytes)
    }

    fn has_extension(&self, bytes: &[u8]) -> bool {
        self.extensions.iter().any(|name| {
            memmem::find_iter(bytes, name).any(|start| is_word(bytes, start, start + name.len()))
        })
    }
}

/// Whether a source imports a package with rules, or names it in a string if the file `installs`
/// packages.
fn has_package(bytes: &[u8], installs: bool) -> bool {
    let line_of = |at: usize| {
        let start = memchr::memrchr2(b'\n', b'\r', &bytes[..at]).map_or(0, |before| before + 1);
        let end = memchr::memchr2(b'\n', b'\r', &bytes[at..]).map_or(bytes.len(), |end| at + end);
        start..end
    };
    let mut contexts = Contexts::of(bytes);
    let imported = memmem::find_iter(bytes, b"import").any(|at| {
        let line = line_of(at);
        let named = NEEDLES.packages.find_overlapping_iter(&bytes[line.clone()]).any(|found| {
            let (start, end) = (line.start + found.start(), line.start + found.end());
            is_word(bytes, start, end) && besides(bytes, found.pattern().as_usize())
        });
        named && matches!(contexts.at(at), Kind::Code | Kind::Text)
    });
    imported
        || installs
            && NEEDLES.packages.find_overlapping_iter(bytes).any(|found| {
                let (start, end) = (found.start(), found.end());
                let quoted = matches!(bytes[..start].last(), Some(b'"' | b'\''));
                quoted && is_word(bytes, start, end)
            })
}

/// Whether a source contains the further names that a rule for a package needs.
fn besides(bytes: &[u8], package: usize) -> bool {
    // The object of a method is written as a call: `InferenceSession().io_binding`.
    let has = |part: &str| memmem::find(bytes, part.trim_end_matches("()").as_bytes()).is_some();
    NEEDLES
        .besides
        .get(&package)
        .is_none_or(|rests| rests.iter().any(|rest| rest.split('.').all(has)))
}

fn is_word(bytes: &[u8], start: usize, end: usize) -> bool {
    let goes_on = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let before = start.checked_sub(1).map(|at| &bytes[at]);
    !before.is_some_and(goes_on) && !bytes.get(end).is_some_and(goes_on)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::python;

    fn any(source: &str) -> bool {
        Prefilter::default().passes(FileKind::Python, source.as_bytes())
    }

    #[test]
    fn files_that_name_a_rule_pass() {
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
    fn comments_and_documentation_do_not_pass() {
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
    fn imports_of_built_extensions_pass() {
        let sieve = Prefilter::new(&Options::default(), ["window_process".to_owned()]);
        assert!(sieve.passes(FileKind::Python, b"import window_process\n"));
        assert!(!sieve.passes(FileKind::Python, b"import window_processes\n"));
    }

    #[test]
    fn every_example_of_a_rule_is_read() {
        let prelude = "import torch\nimport os\n";
        for rule in &Rules::builtin().rules {
            let Some(example) = rule.text().example.as_ref().filter(|one| one.file.is_none())
            else {
                continue;
            };
            let source = if example.prelude {
                format!("{prelude}{}", example.before)
            } else {
                example.before.to_owned()
            };
            let options = Options::default();
            let plan = python::plan(&source, &python::Context::alone(&options)).unwrap();
            assert!(plan.sites.is_empty() || any(&source), "{}: {source}", rule.id);
        }
    }
}
