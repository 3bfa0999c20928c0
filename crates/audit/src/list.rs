//! A list of operators: one name per line, as written by PyTorch, a profiler or a user.

use super::model::{Format, Model, Op};
use super::unreadable::Unreadable;

/// Namespaces that are recognized before a dot: `aten.mm`.
const SPACES: &[&str] = &["aten", "npu", "prims", "torchvision", "torchaudio", "quantized"];
/// The maximum number of characters of an invalid line that a message shows.
const SHOWN: usize = 80;

/// Parses the operator of a line: `aten::add.Tensor`, `torch.ops.aten.add.Tensor`,
/// `aten.add.Tensor`, `npu::npu_rms_norm`, with an optional count before or after it.
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
        // In profiler lists, a name without an overload means any overload.
        return Some((Op::parse(name, false)?, count));
    }
    let (space, rest) = name.split_once('.')?;
    // `example.com` and `package.module` are not operators.
    if rest.is_empty() || (qualified.is_none() && !SPACES.contains(&space)) {
        return None;
    }
    Some((Op::parse(&format!("{space}::{rest}"), false)?, count))
}

/// Reads a list of operators; `None` if most lines name no operator.
///
/// # Errors
///
/// Returns an error for the first invalid line if most lines name an operator.
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
    /// One wrong line is reported with its number, and the text still counts as a list.
    #[test]
    fn one_bad_line_is_named() {
        let text = "aten::add\n# why\naten::mul.Tensor 3\nrelu?\naten::mm\n";
        let said = read(text).unwrap_err().to_string();
        assert!(said.contains("line 4") && said.contains("`relu?`"), "{said}");
    }
}
