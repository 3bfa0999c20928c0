//! Maps labels and package names to the names of facts.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::labels::{LABELS, PACKAGES, WHOLE, WORDS};

/// Names by the key of a label.
static BY_KEY: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let packages = PACKAGES.iter().map(|one| (one.replace('-', ""), format!("package.{one}")));
    let labels = LABELS.iter().flat_map(|(name, labels)| {
        labels.iter().map(|label| ((*label).to_owned(), (*name).to_owned()))
    });
    packages.chain(labels).collect()
});

/// The fact of a label: `PyTorch version (GPU?)`, `CANN 版本`, `**Python version**`.
pub(crate) fn of_label(label: &str) -> Option<String> {
    // Members of a JSON document, such as `"transformers_version"` of the configuration of a model.
    let written = label.trim();
    if label.len() > 100 || written.starts_with(['"', '\'']) || written == "transformers_version" {
        return None;
    }
    let key = key(label);
    if key.is_empty() {
        return None;
    }
    BY_KEY.get(key.as_str()).cloned()
}

/// The fact of a package, by its name in pip.
pub(crate) fn of_package(package: &str) -> String {
    let name = pep503(package);
    match name.as_str() {
        "torch" | "vllm" | "sglang" | "mindspore" | "triton" | "transformers" | "llamafactory"
        | "paddlepaddle" | "lmdeploy" | "verl" => name,
        "torch-npu" | "vllm-ascend" | "triton-ascend" | "ms-swift" | "paddle-custom-npu" => {
            name.replace('-', "_")
        }
        "llama-factory" => "llamafactory".to_owned(),
        "pytorch" => "torch".to_owned(),
        _ => format!("package.{name}"),
    }
}

/// Returns whether the fact is the version of a program or a package.
pub(crate) fn has_version(fact: &str) -> bool {
    !matches!(
        fact,
        "arch" | "npu" | "npu_count" | "os" | "host_os" | "kernel" | "image" | "pci_id" | "server"
    )
}

/// Returns whether a list that contains this package is a list of Python packages.
pub(crate) fn is_known_package(package: &str) -> bool {
    let name = pep503(package);
    !of_package(&name).starts_with("package.") || PACKAGES.contains(&name.as_str())
}

/// Lower case, with one hyphen for each run of hyphens, underscores and dots.
pub(crate) fn pep503(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        if matches!(c, '-' | '_' | '.') {
            if !out.ends_with('-') {
                out.push('-');
            }
        } else {
            out.push(c.to_ascii_lowercase());
        }
    }
    out
}

/// A label in the form of the tables above.
fn key(label: &str) -> String {
    let mut text = label.trim().to_lowercase();
    // The brackets of a label contain an example or a question: `(GPU?)`, `(source or binary)`.
    if let Some(at) = text.find('(')
        && at > 0
    {
        text.truncate(at);
    }
    let mut text: String = text
        .chars()
        .filter(|c| !matches!(c, ' ' | '-' | '_' | '[' | ']' | '"' | '\'' | '*'))
        .collect();
    for word in WORDS {
        // Some labels consist only of such a word: `环境信息`.
        if text.len() > word.len() && text.contains(word) && !WHOLE.contains(&text.as_str()) {
            text = text.replace(word, "");
        }
    }
    text.trim_end_matches(['是', '为', '.']).to_owned()
}
