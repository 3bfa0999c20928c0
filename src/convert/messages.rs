//! `--also messages`: rewrites the words in texts for people, except in file names and addresses.

use std::ops::Range;

use super::rules::{Place, Rules};
use super::site::{Certainty, Planner};

/// The words that change.
const WORDS: &[(&str, &str)] =
    &[("cuda", "npu"), ("CUDA", "NPU"), ("Cuda", "Npu"), ("nccl", "hccl"), ("NCCL", "HCCL")];

/// The parts of the text at `range` to rewrite, each with its new word.
pub(super) fn parts(text: &str, range: &Range<usize>) -> Vec<(Range<usize>, &'static str)> {
    let slice = &text[range.clone()];
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let path = |byte: Option<u8>| matches!(byte, Some(b'/' | b'.' | b'-' | b'$' | b'{'));
    let mut out = Vec::new();
    for (from, to) in WORDS {
        for (at, _) in slice.match_indices(from) {
            let end = at + from.len();
            let before = slice[..at].bytes().last();
            let after = slice.as_bytes().get(end).copied();
            let ends = after == Some(b'.')
                && !slice[end + 1..].starts_with(|next: char| next.is_alphanumeric());
            let word = !before.is_some_and(inside) && !after.is_some_and(inside);
            if word && !path(before) && (ends || !path(after)) {
                out.push((range.start + at..range.start + end, *to));
            }
        }
    }
    out
}

/// Rewrites the message at `range` of a text, if the user requested it.
pub(super) fn message(planner: &mut Planner<'_>, range: &Range<usize>) {
    if !planner.options.messages {
        return;
    }
    let rule = Rules::builtin().site(Place::MessageWords);
    for (part, to) in parts(planner.text, range) {
        if !planner.touched(&part) {
            planner.change(rule, part, to, Certainty::Likely);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_change_and_names_do_not() {
        let text = "CUDA is not there, see docs/cuda.md, $CUDA_HOME, cuda-12 or nccl.";
        let found: Vec<_> =
            parts(text, &(0..text.len())).into_iter().map(|(at, _)| at.start).collect();
        assert_eq!(found, [0, text.len() - 5]);
    }
}
