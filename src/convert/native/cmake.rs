//! CMake files: the commands that require CUDA.

use super::super::rules::{Place, Rules};
use super::super::site::Planner;
use super::is_word;

/// Reports the commands that require CUDA.
pub(super) fn plan(planner: &mut Planner<'_>) {
    let text = planner.text;
    let bytes = text.as_bytes();
    let rule = Rules::builtin().site(Place::CmakeCuda);
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'#' => at += comment(&text[at..]),
            b'"' => at = quoted(bytes, at),
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                let start = at;
                while at < bytes.len() && is_word(bytes[at]) {
                    at += 1;
                }
                let name = text[start..at].to_ascii_lowercase();
                let open = at + text[at..].len() - text[at..].trim_start_matches([' ', '\t']).len();
                if bytes.get(open) != Some(&b'(') {
                    continue;
                }
                let (end, arguments) = arguments(text, open + 1);
                at = end;
                if asks_for_cuda(&name, &arguments) {
                    let shown: String =
                        text[start..end].split_ascii_whitespace().collect::<Vec<_>>().join(" ");
                    let shown: String = shown.chars().take(80).collect();
                    planner.flag(rule, start..end, Some(shown));
                }
            }
            _ => at += 1,
        }
    }
}

/// Length of a line comment or bracket comment.
fn comment(text: &str) -> usize {
    if let Some(body) = text.strip_prefix("#[[") {
        return body.find("]]").map_or(text.len(), |at| at + 5);
    }
    text.find('\n').unwrap_or(text.len())
}

fn quoted(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The words up to the closing parenthesis, and the offset after it.
fn arguments(text: &str, start: usize) -> (usize, Vec<String>) {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut depth = 1usize;
    let mut at = start;
    let mut word = start..start;
    loop {
        let byte = bytes.get(at).copied();
        let ends = matches!(
            byte,
            None | Some(b' ' | b'\t' | b'\n' | b'\r' | b'(' | b')' | b'#' | b'"' | b';')
        );
        if ends {
            if let Some(text) = text.get(word.clone()).filter(|text| !text.is_empty()) {
                out.push(text.to_owned());
            }
            match byte {
                None => return (bytes.len(), out),
                Some(b'(') => depth += 1,
                Some(b')') => {
                    depth -= 1;
                    if depth == 0 {
                        return (at + 1, out);
                    }
                }
                Some(b'#') => at += comment(&text[at..]) - 1,
                Some(b'"') => {
                    let end = quoted(bytes, at);
                    let inner = text.get(at + 1..end.saturating_sub(1)).unwrap_or_default();
                    out.push(inner.to_owned());
                    at = end - 1;
                }
                _ => {}
            }
            word = at + 1..at + 1;
        } else {
            word.end = at + 1;
        }
        at += 1;
        if at > bytes.len() {
            return (bytes.len(), out);
        }
    }
}

fn asks_for_cuda(command: &str, arguments: &[String]) -> bool {
    let first = arguments.first().map_or("", String::as_str);
    match command {
        "find_package" => {
            ["CUDA", "CUDAToolkit", "CUDNN", "cuDNN", "NCCL", "nccl", "TensorRT", "NVTX"]
                .contains(&first)
        }
        "enable_language" => arguments.iter().any(|word| word == "CUDA"),
        // The first word is the name of the project.
        "project" => arguments.iter().skip(1).any(|word| word == "CUDA"),
        "check_language" => first == "CUDA",
        "set" | "set_target_properties" | "set_property" | "list" => arguments.iter().any(|word| {
            word.starts_with("CMAKE_CUDA_")
                || matches!(
                    word.as_str(),
                    "CUDA_ARCHITECTURES" | "CUDA_NVCC_FLAGS" | "TORCH_CUDA_ARCH_LIST"
                )
        }),
        "target_link_libraries" => arguments.iter().any(|word| {
            word.starts_with("CUDA::")
                || matches!(word.as_str(), "cudart" | "cublas" | "cudnn" | "nccl")
        }),
        _ => command.starts_with("cuda_") || command == "torch_cuda_get_nvcc_gencode_flag",
    }
}
