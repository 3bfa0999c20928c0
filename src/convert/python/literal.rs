//! Strings: the parts that name a device or a backend, with their ranges in the source.

use std::ops::Range;

use ruff_python_ast::{
    Expr, ExprFString, ExprStringLiteral, FStringPart, InterpolatedStringElement, Operator,
    StringFlags as _, StringLiteral,
};
use ruff_text_size::TextRange;

use super::names::{cuda_device, nccl_backend};

/// Byte range of a node.
pub(super) fn span(range: TextRange) -> Range<usize> {
    range.start().to_usize()..range.end().to_usize()
}

/// A replacement within a string.
pub(super) type Part = (Range<usize>, &'static str);

/// The string at the left end of `'cuda:' + x`, `'cuda:%d' % x` and `'cuda:{}'.format(x)`;
/// `expr` itself if it is a string.
pub(super) fn leading(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::StringLiteral(_) | Expr::FString(_) => Some(expr),
        Expr::BinOp(op) if matches!(op.op, Operator::Add | Operator::Mod) => leading(&op.left),
        Expr::Call(call) => {
            let method = call.func.as_attribute_expr()?;
            (method.attr.as_str() == "format" && method.value.is_string_literal_expr())
                .then_some(&*method.value)
        }
        _ => None,
    }
}

/// The value of a plain string.
pub(super) fn plain(expr: &Expr) -> Option<&str> {
    expr.as_string_literal_expr().map(|literal| literal.value.to_str())
}

/// The range of the text of a part of a string, without prefix and quotes.
pub(super) fn content(part: &StringLiteral) -> Range<usize> {
    let whole = span(part.range);
    let start = whole.start + part.flags.opener_len().to_usize();
    let end = whole.end.saturating_sub(part.flags.closer_len().to_usize());
    start..end.max(start)
}

/// Replaces every occurrence of the word `from` in `range` by `to`.
pub(super) fn words(text: &str, range: Range<usize>, from: &str, to: &'static str) -> Vec<Part> {
    let slice = &text[range.clone()];
    slice
        .match_indices(from)
        .filter(|(at, _)| {
            let before = slice[..*at].bytes().last();
            let after = slice.as_bytes().get(at + from.len());
            let part_of_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            !before.is_some_and(part_of_word) && !after.copied().is_some_and(part_of_word)
        })
        .map(|(at, _)| {
            let start = range.start + at;
            (start..start + from.len(), to)
        })
        .collect()
}

fn of_literal(
    text: &str,
    literal: &ExprStringLiteral,
    pairs: &[(&str, &'static str)],
) -> Vec<Part> {
    literal
        .value
        .as_slice()
        .iter()
        .flat_map(|part| {
            pairs.iter().flat_map(move |(from, to)| words(text, content(part), from, to))
        })
        .collect()
}

/// The first text of an f-string, if the f-string begins with text.
fn first_text(fstring: &ExprFString) -> Option<(Range<usize>, &str, bool)> {
    let alone = fstring.value.as_slice().len() == 1;
    match fstring.value.as_slice().first()? {
        FStringPart::Literal(part) => Some((content(part), &part.value, false)),
        FStringPart::FString(part) => match part.elements.first()? {
            InterpolatedStringElement::Literal(one) => {
                Some((span(one.range), &one.value, alone && part.elements.len() == 1))
            }
            InterpolatedStringElement::Interpolation(_) => None,
        },
    }
}

/// The expression at the start of an f-string.
pub(super) fn first_interpolation(expr: &Expr) -> Option<&Expr> {
    let fstring = expr.as_f_string_expr()?;
    match fstring.value.as_slice().first()? {
        FStringPart::FString(part) => match part.elements.first()? {
            InterpolatedStringElement::Interpolation(one) => Some(&one.expression),
            InterpolatedStringElement::Literal(_) => None,
        },
        FStringPart::Literal(_) => None,
    }
}

/// The replacements in a string that is used as a device; empty if it is not a CUDA device.
pub(super) fn device(text: &str, expr: &Expr) -> Vec<Part> {
    match leading(expr) {
        Some(Expr::StringLiteral(literal)) if cuda_device(literal.value.to_str()) => {
            of_literal(text, literal, &[("cuda", "npu")])
        }
        Some(Expr::FString(fstring)) => match first_text(fstring) {
            Some((range, value, whole))
                if value == "cuda:" || (value == "cuda" && whole) || cuda_device(value) =>
            {
                words(text, range, "cuda", "npu")
            }
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// The replacements in a string that is used as a backend.
pub(super) fn backend(text: &str, expr: &Expr) -> Vec<Part> {
    const PAIRS: &[(&str, &str)] = &[("nccl", "hccl"), ("NCCL", "HCCL"), ("cuda", "npu")];
    match leading(expr) {
        Some(Expr::StringLiteral(literal)) if nccl_backend(literal.value.to_str()) => {
            of_literal(text, literal, PAIRS)
        }
        _ => Vec::new(),
    }
}

/// Whether a string can only be a device, because it contains an index.
pub(super) fn device_with_index(expr: &Expr) -> bool {
    match leading(expr) {
        Some(Expr::StringLiteral(literal)) => super::names::cuda_with_index(literal.value.to_str()),
        Some(Expr::FString(fstring)) => {
            fstring.value.as_slice().len() == 1
                && first_text(fstring).is_some_and(|(_, value, _)| value == "cuda:")
                && fstring.value.elements().count() == 2
        }
        _ => false,
    }
}

/// Whether `has` accepts any text of the strings that the expression itself consists of.
pub(super) fn holds(expr: &Expr, has: impl Fn(&str) -> bool) -> bool {
    match expr {
        Expr::StringLiteral(literal) => has(literal.value.to_str()),
        Expr::FString(fstring) => fstring.value.as_slice().iter().any(|part| match part {
            FStringPart::Literal(part) => has(&part.value),
            FStringPart::FString(part) => part.elements.iter().any(|element| match element {
                InterpolatedStringElement::Literal(one) => has(&one.value),
                InterpolatedStringElement::Interpolation(_) => false,
            }),
        }),
        _ => false,
    }
}

/// The ranges of the texts of a string or f-string, without quotes and interpolations.
pub(super) fn texts(expr: &Expr) -> Vec<Range<usize>> {
    match expr {
        Expr::StringLiteral(literal) => literal.value.as_slice().iter().map(content).collect(),
        Expr::FString(fstring) => fstring
            .value
            .as_slice()
            .iter()
            .flat_map(|part| match part {
                FStringPart::Literal(part) => vec![content(part)],
                FStringPart::FString(part) => part
                    .elements
                    .iter()
                    .filter_map(|element| match element {
                        InterpolatedStringElement::Literal(one) => Some(span(one.range)),
                        InterpolatedStringElement::Interpolation(_) => None,
                    })
                    .collect(),
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// Whether the expression is a string of any form.
pub(super) fn is_text(expr: &Expr) -> bool {
    matches!(expr, Expr::StringLiteral(_) | Expr::FString(_))
}

#[cfg(test)]
mod tests {
    use ruff_python_parser::parse_expression;

    use super::*;

    fn devices(source: &str) -> Vec<&str> {
        let parsed = parse_expression(source).unwrap();
        device(source, parsed.expr()).into_iter().map(|(range, _)| &source[range]).collect()
    }

    #[test]
    fn devices_in_all_forms() {
        for source in [
            "'cuda'",
            "\"cuda:0\"",
            "f'cuda:{i}'",
            "'cuda:' + str(i)",
            "'cuda:%d' % i",
            "'cuda:{}'.format(i)",
            "r'cuda'",
            "'''cuda'''",
        ] {
            assert_eq!(devices(source), ["cuda"], "{source}");
        }
        for source in ["'cuda out of memory'", "f'CUDA:{d} ({x})'", "'x' + 'cuda'", "f'{x}cuda'"] {
            assert!(devices(source).is_empty(), "{source}");
        }
    }

    #[test]
    fn only_an_index_makes_a_device_certain() {
        let sure = |source: &str| device_with_index(parse_expression(source).unwrap().expr());
        assert!(sure("'cuda:0'") && sure("f'cuda:{i}'") && sure("'cuda:%d' % i"));
        assert!(!sure("'cuda'") && !sure("f'cuda:{i} is busy'"));
    }
}
