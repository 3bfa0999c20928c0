//! A list of operators: one name in a line, as PyTorch, a profiler or a person writes it.

use super::model::{Format, Model, Op};
use super::unreadable::Unreadable;

/// Namespaces that are told by a dot alone: `aten.mm`.
const SPACES: &[&str] = &["aten", "npu", "prims", "torchvision", "torchaudio", "quantized"];
/// Characters of a line that is no operator that a message shows.
const SHOWN: usize = 80;

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
    let qualified = name.strip_prefix("torch.ops.");
    let name = qualified.unwrap_or(name);
    if name.contains("::") {
        // Without an overload, lists of profilers mean any.
        return Some((Op::parse(name, false)?, count));
    }
    let (space, rest) = name.split_once('.')?;
    // `example.com` and `package.module` are no operators.
    if rest.is_empty() || (qualified.is_none() && !SPACES.contains(&space)) {
        return None;
    }
    Some((Op::parse(&format!("{space}::{rest}"), false)?, count))
}

/// What a list uses. Nothing if it is none: most of its lines name no operator.
///
/// # Errors
///
/// Where most lines name an operator and one does not; says which.
pub(super) fn read(text: &str) -> Result<Option<Model>, Unreadable> {
    let mut model = Model::new(Format::List);
    let (mut good, mut bad) = (0_usize, 0_usize);
    let mut first_bad = None;
    for (number, each) in text.lines().enumerate() {
        if each.trim().is_empty() || each.trim_start().starts_with('#') {
            continue;
        }
        if let Some((op, count)) = line(each) {
            good += 1;
            model.uses(op, count, Some(&format!("line {}", number + 1)));
        } else {
            bad += 1;
            first_bad.get_or_insert((number + 1, each));
        }
    }
    match first_bad {
        None => Ok((good > 0).then_some(model)),
        Some((line, text)) if good > bad => {
            Err(Unreadable::List { line, text: text.trim().chars().take(SHOWN).collect() })
        }
        Some(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_operators_in_any_spelling() {
        let text = "# ops\naten::add.Tensor\n  3 aten::mm\ntorch.ops.aten.gelu.default, 2\nnpu::npu_rms_norm\n\n";
        let model = read(text).unwrap().unwrap();
        let all: Vec<String> =
            model.uses.iter().map(|(op, used)| format!("{op} {}", used.count)).collect();
        assert_eq!(
            all,
            ["aten::add.Tensor 1", "aten::gelu 2", "aten::mm 3", "npu::npu_rms_norm 1"]
        );
    }

    #[test]
    fn prose_is_no_list() {
        for text in [
            "",
            "Hello world\n",
            "aten::add\nthis is prose\n",
            "import torch\n",
            "1 2 3\n",
            "example.com\nexample.org\n",
        ] {
            assert_eq!(read(text).unwrap(), None, "{text}");
        }
    }
    /// A slip in a list is told with its line; it is no reason to take it for prose.
    #[test]
    fn one_bad_line_is_named() {
        let text = "aten::add\n# why\naten::mul.Tensor 3\nrelu?\naten::mm\n";
        let said = read(text).unwrap_err().to_string();
        assert!(said.contains("line 4") && said.contains("`relu?`"), "{said}");
    }
}
