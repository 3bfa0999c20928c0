//! Words of CUDA in code that no rule explains: devices and backends as strings, and the modules
//! and methods of torch that are named after CUDA.
//!
//! A comment, a docstring or a message mentions CUDA without using it. A string that is a device
//! from end to end, `torch.cuda` or `.cuda(` is a use, and a use without a place in the plan was
//! not understood.

use std::ops::Range;

use ruff_python_ast::token::{Token, TokenKind};
use ruff_text_size::{Ranged as _, TextRange};

use crate::site::Site;

/// Modules whose member `cuda` or `cudnn` is the interface of CUDA.
const HOLDERS: &[&str] = &["torch", "backends", "amp", "th"];

/// The ranges of unexplained uses, in the order of the text. `off` are ranges that comments exempt.
pub(super) fn find(
    text: &str,
    tokens: &[Token],
    sites: &[Site],
    off: &[TextRange],
) -> Vec<Range<usize>> {
    let code: Vec<&Token> = tokens.iter().filter(|token| !token.kind().is_trivia()).collect();
    let mut found = Vec::new();
    for (at, token) in code.iter().enumerate() {
        let range = token.range();
        let is_use = match token.kind() {
            TokenKind::String => is_device(&text[range]),
            TokenKind::Name => is_interface(text, &code, at),
            _ => false,
        };
        let is_off = || off.iter().any(|off| off.contains_range(range));
        if !is_use || is_off() {
            continue;
        }
        let range = range.start().to_usize()..range.end().to_usize();
        let explained = |site: &Site| site.range.start < range.end && range.start < site.range.end;
        if !sites.iter().any(explained) {
            found.push(range);
        }
    }
    found
}

/// Whether a string literal is a CUDA device or NCCL from end to end.
fn is_device(literal: &str) -> bool {
    let inner = literal.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let inner = inner.trim_matches(['"', '\'']);
    let device = inner.strip_prefix("cuda").is_some_and(|rest| {
        rest.is_empty()
            || rest.strip_prefix(':').is_some_and(|index| index.bytes().all(|b| b.is_ascii_digit()))
    });
    device || inner == "nccl"
}

/// Whether a name is `torch.cuda`, `backends.cudnn` or a call of `.cuda(`.
fn is_interface(text: &str, code: &[&Token], at: usize) -> bool {
    let name = &text[code[at].range()];
    if !matches!(name, "cuda" | "cudnn") {
        return false;
    }
    let kind = |at: Option<usize>| at.and_then(|at| code.get(at)).map(|token| token.kind());
    if kind(at.checked_sub(1)) != Some(TokenKind::Dot) {
        return false;
    }
    let holder = at.checked_sub(2).and_then(|at| code.get(at)).map(|token| &text[token.range()]);
    let called = name == "cuda" && kind(Some(at + 1)) == Some(TokenKind::Lpar);
    called || holder.is_some_and(|holder| HOLDERS.contains(&holder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let parsed = pysyntax::parse(text, false);
        let ranges = find(text, parsed.tokens(), &[], &[]);
        ranges.into_iter().map(|range| text[range].to_owned()).collect()
    }

    #[test]
    fn uses_are_found_and_mentions_are_not() {
        assert_eq!(
            found(
                "torch.device(type=\"cuda\")\nf('cuda:1', backend='nccl')\nx.cuda()\ntorch.cuda.x\n"
            ),
            ["\"cuda\"", "'cuda:1'", "'nccl'", "cuda", "cuda"]
        );
        let mentions = "# torch.cuda\n'''cuda devices'''\nprint('needs cuda')\nargs.cuda\n\
                        use_cuda = args.cuda\nlog('cuda: 3')\n";
        assert_eq!(found(mentions), [""; 0]);
    }
}
