//! CUDA and C++ sources and CMake files: reported, never rewritten. Kernels have to be rewritten
//! manually for the NPU; the report lists them, and the equivalents of the headers and calls around
//! them.

mod cmake;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::rules::{Place, Rules};
use super::site::Planner;

/// A C++ source without any of these words has nothing to report.
static WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build([
            "cuda",
            "nccl",
            "cublas",
            "cudnn",
            "cufft",
            "curand",
            "cusparse",
            "cusolver",
            "thrust/",
            "cub/",
            "cutlass",
            "cute/",
            "cooperative_groups",
            "nvtx",
            "__global__",
            "__nvcc__",
        ])
        .expect("a few words make a small automaton")
});

/// Plans a native source; the language follows from its `name` (without directories).
pub fn plan(planner: &mut Planner<'_>, name: &str) {
    let lower = name.to_ascii_lowercase();
    if lower == "cmakelists.txt" || lower.ends_with(".cmake") {
        cmake::plan(planner);
    } else {
        let cuda = lower.ends_with(".cu") || lower.ends_with(".cuh");
        if cuda || WORDS.is_match(planner.text) {
            source(planner, cuda);
        }
    }
}

/// Words and symbols of a C++ source, without comments and literals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    /// A name or a number.
    Word(usize, usize),
    /// A line that begins with `#`, up to its end.
    Directive(usize, usize),
    /// Any other character.
    Sign(u8, usize),
}

fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    let mut fresh = true;
    while at < bytes.len() {
        let byte = bytes[at];
        match byte {
            b'\n' => {
                fresh = true;
                at += 1;
                continue;
            }
            b' ' | b'\t' | b'\r' => {
                at += 1;
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at += text[at..].find('\n').unwrap_or(text.len() - at);
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at += text[at + 2..].find("*/").map_or(text.len() - at, |len| len + 4);
                continue;
            }
            b'#' if fresh => {
                let end = at + text[at..].find('\n').unwrap_or(text.len() - at);
                out.push(Token::Directive(at, end));
                at = end;
                continue;
            }
            b'"' if raw_string(&out, text, at) => at = raw_end(text, at),
            b'"' | b'\'' => at = literal_end(bytes, at),
            _ if is_word(byte) => {
                let start = at;
                // A quote inside a number is a digit separator.
                while at < bytes.len()
                    && (is_word(bytes[at])
                        || bytes[at] == b'\''
                            && bytes[start].is_ascii_digit()
                            && bytes.get(at + 1).is_some_and(|&b| is_word(b)))
                {
                    at += 1;
                }
                out.push(Token::Word(start, at));
            }
            _ => {
                out.push(Token::Sign(byte, at));
                at += 1;
            }
        }
        fresh = false;
    }
    out
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn raw_string(before: &[Token], text: &str, at: usize) -> bool {
    matches!(before.last(), Some(&Token::Word(start, end)) if end == at && text[start..end].ends_with('R'))
}

fn raw_end(text: &str, at: usize) -> usize {
    let rest = &text[at + 1..];
    let Some(open) = rest.find('(') else { return text.len() };
    let close = format!("){}\"", &rest[..open]);
    rest.find(&close).map_or(text.len(), |len| at + 1 + len + close.len())
}

fn literal_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' => return at,
            byte if byte == bytes[start] => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn source(planner: &mut Planner<'_>, cuda: bool) {
    let text = planner.text;
    let rules = Rules::builtin();
    let tokens = tokens(text);
    let aware = text.contains("torch_npu") || text.contains("c10_npu");
    let kernels = kernels(text, &tokens);
    if cuda || !kernels.is_empty() {
        let count = match kernels.len() {
            0 => String::new(),
            count => format!("{count} × __global__"),
        };
        planner.flag(
            rules.site(Place::NativePort),
            0..0,
            Some(count).filter(|text| !text.is_empty()),
        );
        for kernel in &kernels {
            let name = text[kernel.clone()].to_owned();
            planner.flag(rules.site(Place::CudaSource), kernel.clone(), Some(name));
        }
    }
    if aware {
        return;
    }
    // Calls of the runtime, each name once with its number of calls.
    let mut calls: BTreeMap<&str, (usize, Range<usize>)> = BTreeMap::new();
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            Token::Directive(start, end) => directive(planner, start..end),
            Token::Word(start, end) => {
                let word = &text[start..end];
                let before = at.checked_sub(1).and_then(|at| tokens.get(at));
                if let Some(site) = of_torch(text, word, before, &tokens[at..]) {
                    planner.flag(rules.site(site), start..end, Some(word.to_owned()));
                } else if of_runtime(word) {
                    calls.entry(word).or_insert((0, start..end)).0 += 1;
                }
            }
            Token::Sign(..) => {}
        }
    }
    for (name, (count, range)) in calls {
        let detail = format!("{name} × {count}");
        planner.flag(rules.site(Place::CppCudaRuntime), range, Some(detail));
    }
}

/// Names of the functions that are declared with `__global__`.
fn kernels(text: &str, tokens: &[Token]) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut names = BTreeSet::new();
    let mut at = 0;
    while at < tokens.len() {
        let is_global =
            matches!(tokens[at], Token::Word(start, end) if &text[start..end] == "__global__");
        at += 1;
        if !is_global {
            continue;
        }
        // The name is the word before the `(` of the parameters; `__launch_bounds__(…)` has a
        // separate pair.
        let mut name = None;
        while let Some(token) = tokens.get(at) {
            match *token {
                Token::Word(start, end) => name = Some(start..end),
                Token::Sign(b'(', _) => {
                    match name.take() {
                        Some(range) if !text[range.clone()].starts_with("__") => {
                            if names.insert(&text[range.clone()]) {
                                out.push(range);
                            }
                            break;
                        }
                        _ => {}
                    }
                    at += closing(&tokens[at..]);
                    continue;
                }
                Token::Sign(b';' | b'{' | b'}', _) => break,
                _ => {}
            }
            at += 1;
        }
    }
    out
}

/// Number of tokens of a pair of parentheses.
fn closing(tokens: &[Token]) -> usize {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign(b'(', _) => depth += 1,
            Token::Sign(b')', _) => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

/// `#include <ATen/cuda/CUDAContext.h>`.
fn directive(planner: &mut Planner<'_>, range: Range<usize>) {
    let line = planner.text[range.clone()].trim_end();
    let place = range.start..range.start + line.len();
    let body = line[1..].trim_start();
    let site = if let Some(header) = body.strip_prefix("include") {
        let header = header.trim_start().trim_start_matches(['<', '"']);
        let header = &header[..header.find(['>', '"']).unwrap_or(header.len())];
        let last = header.rsplit('/').next().unwrap_or(header);
        if last.starts_with("CUDAGuard") {
            Place::CppCudaGuard
        } else if header.starts_with("ATen/cuda/") || header.starts_with("c10/cuda/") {
            Place::CppCudaContext
        } else if last.starts_with("cuda")
            || ["cublas", "cudnn", "cufft", "curand", "cusparse", "cusolver", "nccl", "nvtx"]
                .iter()
                .any(|name| last.starts_with(name))
            || ["thrust/", "cub/", "cutlass/", "cute/", "cooperative_groups"]
                .iter()
                .any(|prefix| header.starts_with(prefix))
        {
            Place::CppCudaRuntime
        } else {
            return;
        }
    } else if ["CUDA_VERSION", "CUDART_VERSION", "__CUDA_ARCH__", "__CUDACC__", "__NVCC__"]
        .iter()
        .any(|name| body.contains(name))
    {
        Place::CppCudaVersion
    } else {
        return;
    };
    planner.flag(Rules::builtin().site(site), place, Some(body.to_owned()));
}

/// Names of PyTorch's C++ interface that refer to CUDA.
fn of_torch(text: &str, word: &str, before: Option<&Token>, tokens: &[Token]) -> Option<Place> {
    let called = matches!(tokens.get(1), Some(Token::Sign(b'(', _)));
    let after_path = matches!(before, Some(Token::Sign(b':', _)));
    Some(match word {
        "getCurrentCUDAStream" | "getStreamFromPool" | "CUDAStream" | "CUDAStreamGuard" => {
            Place::CppCurrentStream
        }
        "CUDAGuard" | "OptionalCUDAGuard" => Place::CppCudaGuard,
        "is_cuda" if called => Place::CppIsCuda,
        "kCUDA" => Place::CppDispatchKey,
        "CUDA" if after_path => Place::CppDispatchKey,
        "CUDA" => {
            // `TORCH_LIBRARY_IMPL(name, CUDA, m)`: a comma before and after.
            let between = matches!(before, Some(Token::Sign(b',', _)))
                && matches!(tokens.get(1), Some(Token::Sign(b',', _)));
            if !between || !text.contains("TORCH_LIBRARY_IMPL") {
                return None;
            }
            Place::CppDispatchKey
        }
        "CUDA_VERSION" | "CUDART_VERSION" => Place::CppCudaVersion,
        _ => return None,
    })
}

/// `cudaMalloc`, `cublasSgemm`, `ncclAllReduce`.
fn of_runtime(word: &str) -> bool {
    ["cuda", "cublas", "cudnn", "nccl", "cufft", "curand", "cusparse", "cusolver"].iter().any(
        |prefix| {
            word.strip_prefix(prefix)
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
        },
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(name: &str, text: &str) -> Vec<(&'static str, String)> {
        let mut planner = Planner::new(text);
        plan(&mut planner, name);
        let plan = planner.finish();
        assert_eq!(plan.edits, [], "native sources are never rewritten");
        plan.sites
            .into_iter()
            .map(|site| (site.rule.name, site.detail.unwrap_or_default()))
            .collect()
    }

    #[test]
    fn kernels_are_listed() {
        let text = "// __global__ void no(int)\n\
            template <typename T>\n__global__ void __launch_bounds__(256) add(T* a) {}\n\
            __global__ static void mul(float* a);\n__global__ static void mul(float* a) {}\n\
            const char* s = \"__global__ void no()\";\n";
        assert_eq!(
            found("k.cu", text),
            [
                ("native-port", "2 × __global__".to_owned()),
                ("cuda-source", "add".to_owned()),
                ("cuda-source", "mul".to_owned()),
            ]
        );
    }

    #[test]
    fn the_interface_of_torch_is_found() {
        let text = "#include <ATen/cuda/CUDAContext.h>\n#include <c10/cuda/CUDAGuard.h>\n\
            #include <torch/extension.h>\n#if CUDA_VERSION >= 11000\n#endif\n\
            TORCH_CHECK(x.is_cuda(), \"must be CUDA, x\");\n\
            auto s = at::cuda::getCurrentCUDAStream();\n\
            TORCH_LIBRARY_IMPL(my, CUDA, m) {}\nauto k = at::kCUDA;\n\
            cudaMalloc(&p, 4); cudaMalloc(&q, 4);\n";
        let names: Vec<_> = found("a.cpp", text).into_iter().map(|(name, _)| name).collect();
        assert_eq!(
            names,
            [
                "cpp-cuda-context",
                "cpp-cuda-guard",
                "cpp-cuda-version",
                "cpp-is-cuda",
                "cpp-current-stream",
                "cpp-dispatch-key",
                "cpp-dispatch-key",
                "cpp-cuda-runtime",
            ]
        );
        let last = found("a.cpp", text).pop().unwrap();
        assert_eq!(last.1, "cudaMalloc × 2");
    }

    #[test]
    fn sources_for_npus_and_other_sources_are_left() {
        for text in [
            "#include <vector>\nint is_cuda = 1; // cudaMalloc\nbool CUDA = false;\n",
            "#include \"torch_npu/csrc/core/npu/NPUStream.h\"\nx.is_cuda();\n",
            "const char* s = \"cudaMalloc\"; auto r = R\"(cudaMalloc \" )\";\nchar c = '\"';\n",
        ] {
            assert_eq!(found("a.cpp", text), [], "{text}");
        }
    }

    #[test]
    fn cmake_that_asks_for_cuda() {
        for (text, count) in [
            ("project(x LANGUAGES CXX CUDA)\n", 1),
            ("project(CUDA LANGUAGES CXX)\n", 0),
            ("find_package(CUDAToolkit REQUIRED)\nenable_language( CUDA )\n", 2),
            (
                "# find_package(CUDA)\nmessage(\"find_package(CUDA)\")\n#[[ find_package(CUDA)\n]]\n",
                0,
            ),
            ("set(CMAKE_CUDA_ARCHITECTURES 80)\ncuda_add_library(a a.cu)\n", 2),
            ("target_link_libraries(a PRIVATE CUDA::cudart)\nfind_package(OpenCV)\n", 1),
        ] {
            assert_eq!(found("CMakeLists.txt", text).len(), count, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(
            name in proptest::sample::select(vec!["a.cu", "a.cpp", "CMakeLists.txt"]),
            text in "(__global__|void|\\(|\\)|\"|'|R|#|include|<|//|/\\*|\n|\\\\|;|CUDA|find_package|\\[\\[|é){0,24}",
        ) {
            found(name, &text);
        }
    }
}
