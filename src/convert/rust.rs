//! Rust sources and Cargo.toml: the CUDA execution provider of the `ort` crate becomes the CANN
//! provider; other crates that drive CUDA are flagged.
//!
//! `syn` parses the imports. Uses are searched in the tokens, so that those inside macros
//! (`vec![CUDAExecutionProvider::default().build()]`) count too, and deeply nested source cannot
//! exhaust the stack of a parser.

mod manifest;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::{ItemUse, UseTree};

use super::rules::{Place, Rules};
use super::site::{Certainty, Planner};
use super::syntax::UnparsableText;

/// Deeper nesting of brackets is rejected.
const MAX_DEPTH: usize = 200;

/// Options that both providers of `ort` have; other options with this prefix are flagged.
const COMMON: &[&str] = &["with_device_id", "with_memory_limit", "with_arena_extend_strategy"];

/// Crates that only drive CUDA.
const CUDA_CRATES: &[&str] = &[
    "cudarc",
    "cust",
    "rustacuda",
    "cuda_std",
    "cuda_builder",
    "cuda_runtime_sys",
    "cuda_driver_sys",
    "burn_cuda",
    "burn_cuda_jit",
    "cubecl_cuda",
    "nvml_wrapper",
    "nvml_wrapper_sys",
    "cudnn",
    "cublas",
    "nccl",
    "bindgen_cuda",
    "candle_flash_attn",
    "candle_kernels",
    "tensorrt_rs",
    "async_cuda",
];

/// Plans a Rust source or a Cargo.toml.
pub fn plan(planner: &mut Planner<'_>, name: &str) -> Result<(), UnparsableText> {
    if name.eq_ignore_ascii_case("cargo.toml") {
        return manifest::plan(planner);
    }
    let lower = ["cuda", "CUDA", "Cuda", "nvml", "cust", "cudnn", "cublas"];
    if !lower.iter().any(|needle| planner.text.contains(needle)) {
        return Ok(());
    }
    source(planner)
}

/// The names that a file imports or defines.
#[derive(Default)]
struct Imports {
    /// Full path by local name.
    names: BTreeMap<String, String>,
    /// Paths whose names are all imported.
    globs: Vec<String>,
    /// Names that the file defines itself.
    own: BTreeSet<String>,
}

impl Imports {
    fn tree(&mut self, tree: &UseTree, prefix: &str) {
        let join = |name: &str| {
            if prefix.is_empty() { name.to_owned() } else { format!("{prefix}::{name}") }
        };
        match tree {
            UseTree::Path(path) => self.tree(&path.tree, &join(&path.ident.to_string())),
            UseTree::Name(name) => {
                let name = name.ident.to_string();
                if name == "self" {
                    let last = prefix.rsplit("::").next().unwrap_or_default().to_owned();
                    self.names.insert(last, prefix.to_owned());
                } else {
                    self.names.insert(name.clone(), join(&name));
                }
            }
            UseTree::Rename(rename) => {
                let path = match rename.ident.to_string().as_str() {
                    "self" => prefix.to_owned(),
                    name => join(name),
                };
                self.names.insert(rename.rename.to_string(), path);
            }
            UseTree::Glob(_) => self.globs.push(prefix.to_owned()),
            UseTree::Group(group) => {
                for item in &group.items {
                    self.tree(item, prefix);
                }
            }
        }
    }

    /// The full path of a path as written, and whether that is certain.
    fn resolve(&self, path: &[(String, Range<usize>)]) -> (String, Certainty) {
        let first = path.first().map_or("", |(name, _)| name.as_str());
        let tail = path.iter().skip(1).fold(String::new(), |tail, (name, _)| tail + "::" + name);
        if let Some(full) = self.names.get(first) {
            return (format!("{full}{tail}"), Certainty::Exact);
        }
        let glob = self.globs.iter().find(|glob| crate_of(glob) == "ort");
        if let Some(glob) = glob
            && !self.own.contains(first)
            && first == "CUDAExecutionProvider"
        {
            return (format!("{glob}::{first}{tail}"), Certainty::Likely);
        }
        (format!("{first}{tail}"), Certainty::Exact)
    }
}

fn crate_of(path: &str) -> &str {
    path.trim_start_matches("::").split("::").next().unwrap_or_default()
}

/// A path of names, or the names after a dot.
struct Path {
    names: Vec<(String, Range<usize>)>,
    method: bool,
}

fn source(planner: &mut Planner<'_>) -> Result<(), UnparsableText> {
    let text = planner.text;
    bounded(text)?;
    let stream = text.parse::<TokenStream>();
    let result = stream.map(|stream| read(&stream));
    // The crate keeps a map of every text that a thread ever parsed.
    let wrong = |error: &proc_macro2::LexError| error.span().byte_range().start;
    let result = result.map_err(|error| UnparsableText { at: wrong(&error) });
    proc_macro2::extra::invalidate_current_thread_spans();
    let (imports, imported, paths) = result?;
    let aware = imports.names.values().any(|path| is_cann(path))
        || paths.iter().any(|path| is_cann(&imports.resolve(&path.names).0));
    let mut uses_ort = false;
    for (path, range) in &imported {
        uses_ort |= judge(planner, path, range, Certainty::Exact, aware);
    }
    for path in paths.iter().filter(|path| !path.method) {
        let (full, certainty) = imports.resolve(&path.names);
        let Some(range) = provider_or_whole(&full, &path.names) else { continue };
        // An alias keeps its name.
        let name = &text[range.clone()];
        let aliased = is_provider(&full) && !matches!(name, "CUDAExecutionProvider" | "CUDA");
        if aliased {
            continue;
        }
        uses_ort |= judge(planner, &full, &range, certainty, aware);
    }
    if uses_ort && !aware {
        for path in paths.iter().filter(|path| path.method) {
            let Some((name, range)) = path.names.first() else { continue };
            let of_cuda = ["conv", "cuda", "tf32", "nhwc", "compute_stream", "attention_backend"];
            if name.starts_with("with_")
                && !COMMON.contains(&name.as_str())
                && of_cuda.iter().any(|word| name.contains(word))
            {
                let rule = Rules::builtin().site(Place::RustOrtOption);
                planner.flag(rule, range.clone(), Some(name.clone()));
            }
        }
    }
    Ok(())
}

/// Rejects brackets that nest too deep. Those in literals count as well, which does no harm.
fn bounded(text: &str) -> Result<(), UnparsableText> {
    let mut depth = 0usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(UnparsableText { at });
        }
    }
    Ok(())
}

/// The imports, the imported paths with the place of their last name, and all other paths.
type Read = (Imports, Vec<(String, Range<usize>)>, Vec<Path>);

fn read(stream: &TokenStream) -> Read {
    let mut imports = Imports::default();
    let mut imported = Vec::new();
    let mut paths = Vec::new();
    let mut waiting = vec![stream.clone()];
    while let Some(stream) = waiting.pop() {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => {
                    waiting.push(group.stream());
                    at += 1;
                }
                TokenTree::Ident(ident) if *ident == "use" => {
                    let len = tokens[at..].iter().position(
                        |token| matches!(token, TokenTree::Punct(p) if p.as_char() == ';'),
                    );
                    let item = len.and_then(|len| {
                        let item: TokenStream = tokens[at..=at + len].iter().cloned().collect();
                        syn::parse2::<ItemUse>(item).ok()
                    });
                    if let (Some(item), Some(len)) = (item, len) {
                        imports.tree(&item.tree, "");
                        places(&item.tree, "", &mut imported);
                        at += len + 1;
                    } else {
                        at += 1;
                    }
                }
                TokenTree::Ident(ident) => {
                    if matches!(ident.to_string().as_str(), "struct" | "enum" | "type" | "mod")
                        && let Some(TokenTree::Ident(name)) = tokens.get(at + 1)
                    {
                        imports.own.insert(name.to_string());
                    }
                    let method = at > 0
                        && matches!(&tokens[at - 1], TokenTree::Punct(p) if p.as_char() == '.');
                    let (path, len) = path(&tokens[at..], ident);
                    paths.push(Path { names: path, method });
                    at += len;
                }
                _ => at += 1,
            }
        }
    }
    (imports, imported, paths)
}

/// A path from its first name on, and the number of its tokens.
fn path(tokens: &[TokenTree], first: &Ident) -> (Vec<(String, Range<usize>)>, usize) {
    let place = |ident: &Ident| (ident.to_string(), ident.span().byte_range());
    let mut names = vec![place(first)];
    let mut at = 1;
    while let [TokenTree::Punct(one), TokenTree::Punct(two), TokenTree::Ident(name), ..] =
        &tokens[at..]
        && one.as_char() == ':'
        && two.as_char() == ':'
    {
        names.push(place(name));
        at += 3;
    }
    (names, at)
}

/// Every imported path with the place of its last name.
fn places(tree: &UseTree, prefix: &str, out: &mut Vec<(String, Range<usize>)>) {
    let join =
        |name: &str| if prefix.is_empty() { name.to_owned() } else { format!("{prefix}::{name}") };
    match tree {
        UseTree::Path(path) => {
            let name = path.ident.to_string();
            // A group or a glob of a CUDA crate is reported once, at the crate.
            if prefix.is_empty() && CUDA_CRATES.contains(&name.as_str()) {
                out.push((name, path.ident.span().byte_range()));
                return;
            }
            places(&path.tree, &join(&name), out);
        }
        UseTree::Name(name) => {
            out.push((join(&name.ident.to_string()), name.ident.span().byte_range()));
        }
        UseTree::Rename(rename) => {
            out.push((join(&rename.ident.to_string()), rename.ident.span().byte_range()));
        }
        UseTree::Glob(_) => {}
        UseTree::Group(group) => {
            for item in &group.items {
                places(item, prefix, out);
            }
        }
    }
}

/// The CUDA provider of `ort`: `ort::execution_providers::CUDAExecutionProvider`,
/// `ort::ep::CUDA`.
fn is_provider(path: &str) -> bool {
    let parts: Vec<&str> = path.trim_start_matches("::").split("::").collect();
    match parts.as_slice() {
        ["ort", .., "CUDAExecutionProvider"] => true,
        ["ort", between @ .., "CUDA"] => between.contains(&"ep"),
        _ => false,
    }
}

fn is_cann(path: &str) -> bool {
    crate_of(path) == "ort"
        && path.split("::").any(|part| matches!(part, "CANNExecutionProvider" | "CANN" | "cann"))
}

/// The range of the provider's name in a path that continues after it, or of the whole path.
fn provider_or_whole(full: &str, names: &[(String, Range<usize>)]) -> Option<Range<usize>> {
    let parts: Vec<&str> = full.trim_start_matches("::").split("::").collect();
    for (behind, (_, range)) in names.iter().rev().enumerate() {
        let Some(head) = parts.len().checked_sub(behind) else { break };
        if is_provider(&parts[..head].join("::")) {
            return Some(range.clone());
        }
    }
    let (first, last) = (names.first()?, names.last()?);
    Some(first.1.start..last.1.end)
}

/// Reports or rewrites one path; returns whether it is the provider of `ort`.
fn judge(
    planner: &mut Planner<'_>,
    path: &str,
    range: &Range<usize>,
    certainty: Certainty,
    aware: bool,
) -> bool {
    let rules = Rules::builtin();
    let parts: Vec<&str> = path.trim_start_matches("::").split("::").collect();
    let provider = (1..=parts.len()).any(|len| is_provider(&parts[..len].join("::")));
    if provider {
        if !aware {
            let new = match &planner.text[range.clone()] {
                "CUDAExecutionProvider" => "CANNExecutionProvider",
                "CUDA" => "CANN",
                _ => return true,
            };
            planner.change(rules.site(Place::RustOrtProvider), range.clone(), new, certainty);
        }
        return true;
    }
    let last = parts.last().copied().unwrap_or_default();
    let device = match parts.first().copied().unwrap_or_default() {
        name if CUDA_CRATES.contains(&name) => true,
        "ort" => parts.iter().any(|part| {
            matches!(*part, "TensorRTExecutionProvider" | "cuda" | "TensorRT" | "tensorrt")
        }),
        "tch" => {
            parts.contains(&"Cuda") || matches!(last, "cuda_if_available" | "cuda_is_available")
        }
        "candle" | "candle_core" => parts.iter().any(|part| {
            matches!(
                *part,
                "Cuda"
                    | "new_cuda"
                    | "cuda_if_available"
                    | "cuda_is_available"
                    | "CudaDevice"
                    | "CudaStorage"
                    | "cuda"
                    | "cuda_backend"
                    | "new_cuda_with_stream"
            )
        }),
        "burn" => parts.iter().any(|part| matches!(*part, "Cuda" | "CudaDevice" | "cuda")),
        _ => false,
    };
    if device {
        planner.flag(rules.site(Place::RustCuda), range.clone(), Some(path.to_owned()));
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::encoding::apply;
    use crate::site::{Decision, FilePlan};

    fn planned(name: &str, text: &str) -> FilePlan {
        let mut planner = Planner::new(text);
        let _ = plan(&mut planner, name);
        planner.finish()
    }

    fn converted(name: &str, text: &str) -> String {
        let after = apply(text, &planned(name, text).edits);
        assert_eq!(planned(name, &after).edits, [], "a second run edits\n{after}");
        after
    }

    fn flags(name: &str, text: &str) -> Vec<String> {
        let sites = planned(name, text).sites;
        let flagged = sites.into_iter().filter(|site| site.decision == Decision::Flagged);
        flagged.map(|site| site.detail.unwrap_or_default()).collect()
    }

    #[test]
    fn the_provider_of_ort_is_rewritten() {
        for (before, after) in [
            (
                "use ort::{execution_providers::{CUDAExecutionProvider, ExecutionProvider}};\n\
                 fn f() { let x = vec![CUDAExecutionProvider::default().with_device_id(0).build()]; }\n",
                "use ort::{execution_providers::{CANNExecutionProvider, ExecutionProvider}};\n\
                 fn f() { let x = vec![CANNExecutionProvider::default().with_device_id(0).build()]; }\n",
            ),
            (
                "// CUDAExecutionProvider\nuse ort::ep;\nfn f() { g(ep::CUDA::default(), \"CUDA\"); }\n",
                "// CUDAExecutionProvider\nuse ort::ep;\nfn f() { g(ep::CANN::default(), \"CUDA\"); }\n",
            ),
            ("fn f() -> ort::ep::CUDA { todo!() }", "fn f() -> ort::ep::CANN { todo!() }"),
            (
                "use ort::execution_providers::CUDAExecutionProvider as Gpu;\nfn f() { Gpu::default(); }",
                "use ort::execution_providers::CANNExecutionProvider as Gpu;\nfn f() { Gpu::default(); }",
            ),
            (
                "use ort::execution_providers::*;\nfn f() { CUDAExecutionProvider::default(); }",
                "use ort::execution_providers::*;\nfn f() { CANNExecutionProvider::default(); }",
            ),
        ] {
            assert_eq!(converted("a.rs", before), after);
        }
    }

    #[test]
    fn what_stays() {
        for text in [
            "struct CUDAExecutionProvider; fn f() { CUDAExecutionProvider; }",
            "use other::CUDAExecutionProvider; fn f() { CUDAExecutionProvider::new(); }",
            "use ort::ep; fn f() { g([ep::CANN::default(), ep::CUDA::default()]); }",
            "fn f() { let s = \"ort::ep::CUDA\"; } // ort::ep::CUDA",
            "fn broken( { ort::ep::CUDA",
        ] {
            assert_eq!(converted("a.rs", text), text);
        }
    }

    #[test]
    fn other_crates_are_flagged() {
        let text = "use tch::Device;\nuse candle_core as candle;\nuse cudarc::driver::{A, B};\n\
            fn f() { Device::Cuda(0); Device::cuda_if_available(); Device::Cpu;\n\
            candle::Device::new_cuda(0); }\nfn g(Cuda: i32) {}\n";
        assert_eq!(
            flags("a.rs", text),
            [
                "cudarc",
                "tch::Device::Cuda",
                "tch::Device::cuda_if_available",
                "candle_core::Device::new_cuda"
            ]
        );
        let text = "use ort::ep::CUDA;\nfn f() { CUDA::default().with_conv_max_workspace(true).with_device_id(1); }";
        assert_eq!(flags("a.rs", text), ["with_conv_max_workspace"]);
    }

    #[test]
    fn manifests() {
        assert_eq!(
            converted(
                "Cargo.toml",
                "[features]\ngpu = [\"ort/cuda\"] # cuda\n[dependencies]\nort = { version = \"2\", features = [\"cuda\", \"half\"] }\n"
            ),
            "[features]\ngpu = [\"ort/cann\"] # cuda\n[dependencies]\nort = { version = \"2\", features = [\"cann\", \"half\"] }\n"
        );
        let text = "[dependencies]\ncudarc = \"0.1\"\ntch = { version = \"1\", features = [\"cuda\"] }\nserde = { version = \"1\", features = [\"cuda\"] }\n[target.'cfg(unix)'.dependencies.candle-core]\nfeatures = [\"cudnn\"]\n";
        let mut found = flags("Cargo.toml", text);
        found.sort();
        assert_eq!(found, ["candle-core/cudnn", "cudarc", "tch/cuda"]);
    }

    #[test]
    fn deep_nesting_is_refused() {
        let text = format!("fn f() {{ cuda{}", "(".repeat(100_000));
        assert!(plan(&mut Planner::new(&text), "a.rs").is_err());
        let long = format!("fn f() {{ let cuda = {}x; }}", "!".repeat(100_000));
        assert!(plan(&mut Planner::new(&long), "a.rs").is_ok());
    }

    proptest! {
        #[test]
        fn any_text_is_planned_once(
            name in proptest::sample::select(vec!["a.rs", "Cargo.toml"]),
            text in "(use |ort::ep|::|CUDA|CUDAExecutionProvider|;|\\{|\\}|\\*| as x|\"|'|//|\n|\\.with_tf32\\(|\\)|中|features = \\[|\\]|\\[dependencies\\]|ort = \\{){0,20}",
        ) {
            let plan = planned(name, &text);
            for edit in &plan.edits {
                prop_assert!(text.get(edit.range.clone()).is_some());
            }
            let after = apply(&text, &plan.edits);
            prop_assert_eq!(planned(name, &after).edits, vec![]);
        }
    }
}
