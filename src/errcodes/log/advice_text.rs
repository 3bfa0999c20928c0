//! Finds where a message changes from facts to advice.
//!
//! CANN prints lists of possible causes behind an error. They name everything that ever leads to
//! the error, so their words are no evidence.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

const MARKERS: [&str; 20] = [
    "Solution:",
    "Solution :",
    "Possible Cause",
    "ossible cause",
    "Possible Reason",
    "ossible reason",
    "Suggestion:",
    "or example",
    "Reason: 1.",
    "1. If ",
    "Check the ",
    "check the ",
    "Continue to analyze",
    "hint: ",
    // Optional parts that frameworks look for at every start.
    "Could not load dynamic library '",
    "Failed to load image Python extension",
    "'NoneType' object has no attribute 'cadam32bit_grad_fp32'",
    "import error: No module named 'triton'",
    "ailed to import from vllm._",
    "ailed to import from custom_ar",
];

static FINDER: LazyLock<AhoCorasick> =
    LazyLock::new(|| AhoCorasick::new(MARKERS).expect("the markers are few"));

/// The length of the factual part of `line`.
pub(super) fn find_start(line: &[u8]) -> usize {
    if is_item(line) {
        return 0;
    }
    FINDER.find(line).map_or(line.len(), |found| found.start())
}

/// `        2. Check …`: a later line of such a list. Log lines never begin with a number and a
/// dot.
fn is_item(line: &[u8]) -> bool {
    let text = line.trim_ascii_start();
    let indented = text.len() < line.len();
    indented
        && text.len() > 3
        && text[0].is_ascii_digit()
        && text[1] == b'.'
        && !text[2].is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_begins_where_it_is_announced() {
        let line = b"Getting socket times out. Reason: 1. The TLS configurations are inconsistent";
        assert_eq!(&line[..find_start(line)], b"Getting socket times out. ");
        assert_eq!(find_start(b"        2. The TLS configurations are inconsistent"), 0);
        let stated = b"Value 1000 for environment variable HCCL_RDMA_SL is invalid.";
        assert_eq!(find_start(stated), stated.len());
        assert_eq!(find_start(b" 1.5 GiB out of memory"), 22);
    }
}
