//! Logs: the operators that torch_npu reports as computed on the CPU.
//!
//! torch_npu prints the warning once per operator and process (`has_op_name_warned` in
//! `VariableFallbackKernel.cpp`), so a count is one of processes, not of calls. The warning can be
//! switched off (`TORCH_NPU_WARNING_DISABLE`), so a log without it proves nothing.

use std::io::{BufRead as _, BufReader, Read};
use std::sync::LazyLock;

use regex::bytes::Regex;

use errcodes::log::fallback_operator;

use super::model::{Format, Model, Note, Op};

/// The maximum length of a line that is searched, in bytes.
const LINE: u64 = 64 << 10;

/// Kernels that compute on the host or on AI CPU print another message: `Warning: kernel [ArgSort]
/// can not support dtype int32 or int64 on AiCore, Now this kernel is running on AiCpu.`
static KERNEL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?-u)(?:kernel \[(?P<a>\w{1,80})\]|\b(?P<b>\w{1,80})) (?:is not supported by NPU currently|can ?not support dtype [\w ,]{1,80} on AiCore)[.,] ?Now this kernel is running on (?P<where>CPU|AiCpu)",
    )
    .expect("the expression is proved by a test")
});

/// Reads the operators of a log; `None` if no line names one.
pub(super) fn read(source: &mut dyn Read) -> std::io::Result<Option<Model>> {
    let mut model = Model::new(Format::Log);
    let mut reader = BufReader::with_capacity(1 << 20, source);
    let mut line = Vec::new();
    let mut number = 0_u64;
    loop {
        line.clear();
        let count = (&mut reader).take(LINE).read_until(b'\n', &mut line)?;
        if count == 0 {
            break;
        }
        number += 1;
        if line.last() != Some(&b'\n') && count as u64 == LINE {
            reader.skip_until(b'\n')?;
        }
        let Some(op) = operator(&line) else { continue };
        model.uses(op.clone(), 1, Some(&format!("line {number}")));
        if let Some(used) = model.uses.get_mut(&op) {
            used.fell_back += 1;
        }
    }
    model.note(Note::OncePerProcess);
    Ok((!model.uses.is_empty()).then_some(model))
}

/// Returns the operator that a line reports as computed outside of the device cores.
fn operator(line: &[u8]) -> Option<Op> {
    // All messages contain this text.
    memchr::memmem::find(line, b"upport")?;
    if let Some(name) = fallback_operator(line) {
        return Op::parse(&name, name.contains('.'));
    }
    let found = KERNEL.captures(line)?;
    let name = found.name("a").or_else(|| found.name("b"))?;
    let name = std::str::from_utf8(name.as_bytes()).ok()?;
    // The name belongs to a CANN kernel, not to a PyTorch operator.
    Some(Op { namespace: "kernel".to_owned(), name: name.to_owned(), overload: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Place;

    #[test]
    fn warnings_of_each_process_are_counted() {
        let log = "[rank0]:[W VariableFallbackKernel.cpp:51] Warning: CAUTION: The operator 'aten::isin.Tensor_Tensor_out' is not currently supported on the NPU backend and will fall back to run on the CPU. This may have performance implications. (function npu_cpu_fallback)\nstep 1 loss 2.5\n[rank1]:[W compiler_depend.ts:51] Warning: CAUTION: The operator 'aten::isin.Tensor_Tensor_out' is not currently supported on the NPU backend and will fall back to run on the CPU.\n[W] Warning: kernel [ArgSort] can not support dtype int32 or int64 on AiCore, Now this kernel is running on AiCpu. If you are more concerned\n";
        let model = read(&mut log.as_bytes()).unwrap().unwrap();
        let all: Vec<String> = model
            .uses
            .iter()
            .map(|(op, used)| {
                let places: Vec<String> = used.places.iter().map(Place::to_string).collect();
                format!("{op} {} {places:?}", used.count)
            })
            .collect();
        assert_eq!(
            all,
            [
                "aten::isin.Tensor_Tensor_out 2 [\"line 1\", \"line 3\"]",
                "kernel::ArgSort 1 [\"line 4\"]"
            ]
        );
    }

    #[test]
    fn an_ordinary_log_names_none() {
        let log = "loss 1.0\nthis is not supported\nkernel [x] is fine\n".repeat(1000);
        assert_eq!(read(&mut log.as_bytes()).unwrap(), None);
        let long = [vec![b'x'; 300_000], b"\n".to_vec()].concat();
        assert_eq!(read(&mut long.as_slice()).unwrap(), None);
    }
}
