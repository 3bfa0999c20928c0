//! A list of operators: one name in a line, as PyTorch, a profiler or a person writes it.

use super::{Format, Model, Op};

/// The operator that a line names: `aten::add.Tensor`, `torch.ops.aten.add.Tensor`,
/// `aten.add.Tensor`, `npu::npu_rms_norm`, each with a count before or behind it or without.
fn line(text: &str) -> Option<(Op, u64)> {
    let text = text.split('#').next()?.trim().trim_end_matches(',');
    let (mut name, mut count) = (None, 1);
    for word in text.split([' ', '\t', ',']).filter(|word| !word.is_empty()) {
        match word.parse::<u64>() {
            Ok(number) => count = number,
            Err(_) if name.is_none() => name = Some(word.trim_matches(['"', '\''])),
            Err(_) => return None,
        }
    }
    let name = name?;
    let name = name.strip_prefix("torch.ops.").unwrap_or(name);
    if name.contains("::") {
        // Without an overload, lists of profilers mean any.
        return Some((Op::parse(name, false)?, count));
    }
    let (space, rest) = name.split_once('.')?;
    if space == "torch" || space == "nn" || rest.is_empty() {
        return None;
    }
    Some((Op::parse(&format!("{space}::{rest}"), false)?, count))
}

/// What a list uses. Nothing if a line that says something names no operator.
pub(super) fn read(text: &str) -> Option<Model> {
    let mut model = Model::new(Format::List);
    for (number, each) in text.lines().enumerate() {
        if each.trim().is_empty() || each.trim_start().starts_with('#') {
            continue;
        }
        let (op, count) = line(each)?;
        model.uses(op, count, Some(&format!("line {}", number + 1)));
    }
    (!model.uses.is_empty()).then_some(model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_operators_in_any_spelling() {
        let text = "# ops\naten::add.Tensor\n  3 aten::mm\ntorch.ops.aten.gelu.default, 2\nnpu::npu_rms_norm\n\n";
        let model = read(text).unwrap();
        let all: Vec<String> =
            model.uses.iter().map(|(op, used)| format!("{op} {}", used.count)).collect();
        assert_eq!(
            all,
            ["aten::add.Tensor 1", "aten::gelu 2", "aten::mm 3", "npu::npu_rms_norm 1"]
        );
    }

    #[test]
    fn prose_is_no_list() {
        for text in ["", "Hello world\n", "aten::add\nthis is prose\n", "import torch\n", "1 2 3\n"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
