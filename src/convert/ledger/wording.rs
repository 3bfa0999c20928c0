//! Classification of the words of a text: sentences, addresses, paths, identifiers.

use std::ops::Range;

/// Words that begin commands: a text that contains one is executed, not read.
const COMMANDS: &[&str] = &[
    "python",
    "nvidia-smi",
    "nvcc",
    "docker",
    "srun",
    "torchrun",
    "bash ",
    "pip ",
    "conda ",
    "./",
];

/// Whether a text is written for readers: several words, and neither code nor a command.
pub(crate) fn is_sentence(text: &str) -> bool {
    let words = text.split_ascii_whitespace();
    let spoken = words.clone().filter(|word| {
        let word = word.trim_matches(|c: char| c.is_ascii_punctuation());
        word.chars().count() > 1 && word.chars().all(|c| c.is_alphabetic() || c == '\'' || c == '-')
    });
    let code =
        ["--", "torch.", " == ", "${", "$(", "&&", "import ", "os.", "=\"", "='", ".cuda", "def "];
    let lower = text.to_ascii_lowercase();
    // Data for a program.
    let begin = text.trim_start();
    let ideographs = text.chars().filter(|c| ('\u{3040}'..='\u{9fff}').contains(c)).count();
    let data = (begin.starts_with(['{', '[']) && text.contains(['"', '\'']) && text.contains(':'))
        || begin.starts_with('<');
    !data
        && (words.count() >= 2 && spoken.count() >= 2 || ideographs >= 4)
        && !code.iter().any(|sign| lower.contains(sign))
        && !COMMANDS.iter().any(|word| lower.contains(word))
}

/// Whether a text can be neither a device, a name nor code: text that a test compares.
pub(crate) fn is_inert(text: &str) -> bool {
    let code = ["torch.", ".cuda", "import ", "--", "export "];
    text.trim().contains(char::is_whitespace)
        && !code.iter().any(|sign| text.contains(sign))
        && !COMMANDS.iter().any(|word| text.contains(word))
}

/// Whether a line without a key is a long text of words, which may name programs.
pub(crate) fn is_long_text(text: &str) -> bool {
    let words = text.split_ascii_whitespace();
    let spoken = words.filter(|word| {
        let word = word.trim_matches(|c: char| c.is_ascii_punctuation());
        word.chars().count() > 1 && word.chars().all(char::is_alphabetic)
    });
    spoken.count() >= 8 && !text.contains("--")
}

/// Whether the word at `range` belongs to an address: a URL or a repository of a model hub.
pub(crate) fn is_address(text: &str, range: &Range<usize>) -> bool {
    let ends = |c: char| c.is_whitespace() || "\"'<>()[],|`".contains(c);
    let start = text[..range.start]
        .rfind(ends)
        .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    let end = text[range.end..].find(ends).map_or(text.len(), |at| range.end + at);
    let word = &text[start..end];
    let cached = word.split('/').any(|part| part.starts_with("models--"));
    word.contains("://") || word.starts_with("git@") || is_hub_name(word) || cached
}

/// `nvidia/segformer-b0`: the owner is the company, the rest a repository.
fn is_hub_name(word: &str) -> bool {
    let Some((owner, name)) = word.split_once('/') else { return false };
    owner.eq_ignore_ascii_case("nvidia")
        && !name.is_empty()
        && !name.starts_with("cuda")
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// The identifier around a range.
pub(crate) fn identifier<'t>(text: &'t str, range: &Range<usize>) -> &'t str {
    &text[widened(text, range, |byte| byte.is_ascii_alphanumeric() || byte == b'_')]
}

/// The path around a range, if it has a directory or an extension.
pub(crate) fn path<'t>(text: &'t str, range: &Range<usize>) -> Option<&'t str> {
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./+".contains(&byte);
    let word = &text[widened(text, range, inside)];
    let word = word.trim_end_matches(['.', '/']);
    (word.contains('/') || word.contains('.')).then_some(word)
}

/// The option of a command line around a range, as the name that programs give its value.
pub(crate) fn option(text: &str, range: &Range<usize>) -> Option<String> {
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    let word = &text[widened(text, range, inside)];
    // Accepts `-gpuid`, but not `-g`.
    let name =
        word.strip_prefix("--").or_else(|| word.strip_prefix('-').filter(|name| name.len() > 2))?;
    Some(name.replace('-', "_"))
}

fn widened(text: &str, range: &Range<usize>, inside: impl Fn(u8) -> bool) -> Range<usize> {
    let bytes = text.as_bytes();
    let before = bytes[..range.start].iter().rev().take_while(|&&byte| inside(byte)).count();
    let after = bytes[range.end..].iter().take_while(|&&byte| inside(byte)).count();
    range.start - before..range.end + after
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, word: &str) -> Range<usize> {
        let start = text.find(word).unwrap();
        start..start + word.len()
    }

    #[test]
    fn sentences_are_read_and_commands_are_run() {
        assert!(is_sentence("No GPU found, training on CPU"));
        assert!(is_sentence("number of gpus per node"));
        for code in [
            "cuda",
            "cuda:0",
            "gpu 0",
            "python train.py on cuda now",
            "x = torch.cuda.x is on",
            "nvidia-smi shows all of it",
            "train it --device cuda please now",
        ] {
            assert!(!is_sentence(code), "{code}");
        }
    }

    #[test]
    fn addresses_and_names() {
        let url = "see https://github.com/NVIDIA/nccl for it";
        assert!(is_address(url, &at(url, "NVIDIA")) && is_address(url, &at(url, "nccl")));
        assert!(is_address("'nvidia/segformer-b0'", &(1..7)));
        assert!(!is_address("nvidia/cuda:11", &(0..6)), "an image");
        assert!(!is_address("cuda 中文https", &(0..4)));
        assert_eq!(identifier("a.use_gpu2(", &at("a.use_gpu2(", "gpu")), "use_gpu2");
        assert_eq!(path("'csrc/cuda/nms.cu'", &(6..10)), Some("csrc/cuda/nms.cu"));
        assert_eq!(path("use_cuda", &(4..8)), None);
        assert_eq!(option("x --gpu-ids 0", &(4..7)).as_deref(), Some("gpu_ids"));
    }
}
