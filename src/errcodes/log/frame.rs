//! Where a Python exception was raised: the innermost frame of the traceback above its line.
//!
//! The meaning of a message depends on its origin: an unknown argument is a mistake if a user's
//! script passes it, and a sign of incompatible package versions if one package calls another.

use super::prefix::{self, Writer};

/// The start of a frame.
const FILE: &[u8] = b"File \"";
/// Directories below which Python installs packages.
const INSTALLED: [&str; 2] = ["site-packages", "dist-packages"];
/// The known properties of a package that raises exceptions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Also run from a checkout. An argument that a script passes to it is the script's mistake.
    CheckedOut,
    /// A program, or a library that performs a complete step: an exception raised in it is its own.
    Program,
    /// Both.
    CheckedOutProgram,
}

const PACKAGES: [(&str, Kind); 42] = [
    ("torch_npu", Kind::CheckedOut),
    ("vllm_ascend", Kind::CheckedOutProgram),
    ("vllm_omni", Kind::CheckedOutProgram),
    ("vllm", Kind::CheckedOutProgram),
    ("mindspeed", Kind::CheckedOutProgram),
    ("mindspeed_llm", Kind::CheckedOutProgram),
    ("mindspeed_mm", Kind::CheckedOutProgram),
    ("mindspeed_rl", Kind::CheckedOutProgram),
    ("megatron", Kind::CheckedOutProgram),
    ("transformers", Kind::CheckedOutProgram),
    ("deepspeed", Kind::CheckedOutProgram),
    ("mindspore", Kind::CheckedOut),
    ("mindformers", Kind::CheckedOutProgram),
    ("mindnlp", Kind::CheckedOutProgram),
    ("tilelang", Kind::CheckedOutProgram),
    ("mindie_llm", Kind::CheckedOutProgram),
    ("atb_llm", Kind::CheckedOutProgram),
    ("sglang", Kind::CheckedOutProgram),
    ("lmdeploy", Kind::CheckedOutProgram),
    ("dlinfer", Kind::CheckedOutProgram),
    ("verl", Kind::CheckedOutProgram),
    ("llamafactory", Kind::CheckedOutProgram),
    ("swift", Kind::CheckedOutProgram),
    ("accelerate", Kind::CheckedOutProgram),
    ("torchair", Kind::CheckedOutProgram),
    ("triton", Kind::CheckedOutProgram),
    ("tbe", Kind::CheckedOutProgram),
    ("flag_gems", Kind::CheckedOutProgram),
    ("lmcache", Kind::CheckedOutProgram),
    ("lmcache_ascend", Kind::CheckedOutProgram),
    ("ais_bench", Kind::Program),
    ("diffusers", Kind::Program),
    ("peft", Kind::Program),
    ("trl", Kind::Program),
    ("ray", Kind::Program),
    ("onnxruntime", Kind::Program),
    ("paddlex", Kind::Program),
    ("xllm", Kind::Program),
    ("mooncake", Kind::Program),
    ("xinference", Kind::Program),
    ("optimum", Kind::Program),
    ("funasr", Kind::Program),
];

fn kind_of(package: &str) -> Option<Kind> {
    PACKAGES.iter().find(|(name, _)| *name == package).map(|(_, kind)| *kind)
}

/// A frame of a traceback.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Frame {
    /// The package; `python` for the standard library, empty for a script.
    pub package: String,
    /// File, line and function, for display.
    pub place: String,
}

impl Frame {
    /// Whether the exception belongs to a program or library, not to the script.
    pub(super) fn is_of_program(&self) -> bool {
        matches!(kind_of(&self.package), Some(Kind::Program | Kind::CheckedOutProgram))
    }
}

/// The innermost frame of the traceback that `above` ends with, written by the same process.
pub(super) fn find_innermost(above: &[u8], writer: &Writer) -> Option<Frame> {
    let mut upper = above.len();
    while let Some(at) = find_last_file(&above[..upper]) {
        let start = memchr::memrchr(b'\n', &above[..at]).map_or(0, |end| end + 1);
        if prefix::strip(&above[start..at]).1 == *writer {
            let end = memchr::memchr(b'\n', &above[at..]).map_or(above.len(), |end| at + end);
            return parse_frame(&above[at + FILE.len()..end]);
        }
        upper = at;
    }
    None
}

/// The start of the last frame. A search for the quotation mark, which is rare, takes a twentieth
/// of the time of one for all of its bytes.
fn find_last_file(text: &[u8]) -> Option<usize> {
    memchr::memrchr_iter(b'"', text)
        .find(|at| text[..=*at].ends_with(FILE))
        .map(|at| at + 1 - FILE.len())
}

/// `…/site-packages/torch/_ops.py", line 12, in __call__`.
fn parse_frame(text: &[u8]) -> Option<Frame> {
    let text = String::from_utf8_lossy(text);
    let (path, rest) = text.split_once('"')?;
    let rest = rest.strip_prefix(", line ")?;
    let line: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let function = rest.split_once(", in ").map_or("", |(_, name)| name.trim());
    let parts: Vec<&str> = path.split('/').collect();
    let from = find_package(&parts);
    let shown = from.map_or(parts.len().saturating_sub(2), |(at, _)| at);
    let mut place = format!("{}:{line}", parts[shown..].join("/"));
    if !function.is_empty() {
        place = format!("{place} {function}");
    }
    Some(Frame { package: from.map_or("", |(_, package)| package).to_owned(), place })
}

/// Whether a directory of this name belongs to a package even outside the installation directories
/// of Python.
fn is_checked_out(part: &str) -> bool {
    matches!(kind_of(part), Some(Kind::CheckedOut | Kind::CheckedOutProgram))
}

/// The package of a path, and its position in the path.
fn find_package<'a>(parts: &[&'a str]) -> Option<(usize, &'a str)> {
    let module = |part: &'a str| part.strip_suffix(".py").unwrap_or(part);
    if let Some(at) = parts.iter().rposition(|part| INSTALLED.contains(part))
        && let Some(package) = parts.get(at + 1)
    {
        return Some((at + 1, module(package)));
    }
    if let Some(at) = parts.iter().rposition(|part| is_checked_out(part)) {
        return Some((at, parts[at]));
    }
    let standard = |part: &&str| part.starts_with("python3.") || part.starts_with("<frozen ");
    let at = parts.iter().rposition(standard)?;
    Some(((at + 1).min(parts.len() - 1), "python"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raised(above: &str, writer: &Writer) -> Option<(String, String)> {
        find_innermost(above.as_bytes(), writer).map(|frame| (frame.package, frame.place))
    }

    #[test]
    fn the_last_frame_says_which_package_raised() {
        let writer = Writer::default();
        for (path, package, place) in [
            ("/usr/lib/python3.10/site-packages/torch/_ops.py", "torch", "torch/_ops.py:12 f"),
            (
                "/opt/vllm-ascend/vllm_ascend/worker/a.py",
                "vllm_ascend",
                "vllm_ascend/worker/a.py:12 f",
            ),
            (
                "/usr/local/python3.11/lib/python3.11/json/decoder.py",
                "python",
                "json/decoder.py:12 f",
            ),
            ("<frozen importlib._bootstrap>", "python", "<frozen importlib._bootstrap>:12 f"),
            ("/home/x/work/train.py", "", "work/train.py:12 f"),
            ("train.py", "", "train.py:12 f"),
        ] {
            let text = format!(
                "  File \"a.py\", line 1, in <module>\n    f()\n  File \"{path}\", line 12, in f\n    x\n"
            );
            let found = raised(&text, &writer).unwrap();
            assert_eq!((found.0.as_str(), found.1.as_str()), (package, place));
        }
        assert_eq!(raised("nothing\n", &writer), None);
        assert_eq!(raised("File \"cut", &writer), None);
    }

    #[test]
    fn frames_of_other_processes_are_not_taken() {
        let text = "[rank0]:   File \"/x/mindspeed/a.py\", line 3, in f\n[rank1]:   File \"b.py\", line 4, in g\n";
        let writer = Writer { rank: Some(0), ..Writer::default() };
        assert_eq!(raised(text, &writer).unwrap().0, "mindspeed");
        let writer = Writer { rank: Some(7), ..Writer::default() };
        assert_eq!(raised(text, &writer), None);
    }
}
