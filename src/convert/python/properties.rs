//! Properties of all Python programs: the output parses, only planned ranges change, a second run
//! changes nothing, and the edits can be undone.

use proptest::prelude::*;

use super::*;
use crate::edit_reversal::reversed;
use crate::encoding::{Edit, apply, differs_only_in};
use crate::site::Decision;

const IMPORTS: &[&str] = &[
    "import torch",
    "import torch as th",
    "import torch, os",
    "from torch import cuda",
    "from torch import cuda as C, nn",
    "import torch.cuda.amp as amp",
    "import torch.cuda",
    "from torch.cuda import amp, nvtx, Event",
    "from torch.cuda.amp import (autocast,\n    GradScaler)",
    "from torch.profiler import profile, record_function, ProfilerActivity",
    "import torch.distributed as dist",
    "from torch.distributed import is_nccl_available",
    "from __future__ import annotations",
    "try: import torch\nexcept ImportError: torch = None",
    "if True:\n    import torch; import os",
    "import torch_npu",
    "import tensorrt as trt",
    "from .compat import cuda, torch",
];

const EXPRESSIONS: &[&str] = &[
    "torch.cuda.is_available()",
    "th.cuda.device_count()",
    "torch.cuda.CUDAGraph()",
    "cuda.synchronize()",
    "C.nvtx.range_push('cuda')",
    "'cuda'",
    "\"cuda:0\"",
    "f'cuda:{rank}'",
    "'cuda:%d' % rank",
    "'cuda:' + str(rank)",
    "'nccl'",
    "'cpu:gloo,cuda:nccl'",
    "device",
    "x.device.type == 'cuda'",
    "'cuda' in str(device)",
    "x.cuda(non_blocking=True)",
    "x.to('cuda')",
    "x.is_cuda",
    "torch.device('cuda', 1)",
    "os.environ['CUDA_VISIBLE_DEVICES']",
    "os.environ.get('NCCL_BUFFSIZE', '8388608')",
    "torch.amp.GradScaler()",
    "torch.amp.GradScaler(init_scale=2.0)",
    "torch.is_autocast_enabled()",
    "torch.random.fork_rng()",
    "torch.cuda.amp.GradScaler(1., 2., .5, 200, False)",
    "torch.profiler.ProfilerActivity.CUDA",
    "{'cuda': 1, 'cpu': 2}",
    "{'device': 'cuda', 'backend': 'nccl'}",
    "['cpu', 'cuda']",
    "('cuda' if y else 'cpu')",
    "torch.load('x', map_location={'cuda:0': 'cuda:1'})",
    "getattr(torch, 'cuda')",
    "f'{torch.cuda.memory_allocated():.1f} of cuda'",
    "is_npu_available()",
    "'torch.cuda.FloatTensor'",
    "'CUDA out of memory' in str(e)",
    "lambda s: s.cuda()",
    "[t.cuda() for t in ts]",
    "subprocess.run('nvidia-smi -L')",
];

const STATEMENTS: &[&str] = &[
    "@",
    "device = @",
    "name = @",
    "self.device = @",
    "backend, device = @, @",
    "print(@)",
    "f(@, device=@)",
    "f(@)",
    "torch.device(name)",
    "os.environ['CUDA_VISIBLE_DEVICES'] = '0, 1'",
    "for key in ('CUDA_VISIBLE_DEVICES', 'NCCL_DEBUG'): os.environ.pop(key, None)",
    "if @:\n    y = @\nelif @:\n    pass\nelse:\n    z = @",
    "def f(a, device='cuda', b=@):\n    \"\"\"cuda\"\"\"\n    return @",
    "class A(B):\n    device = @\n    def cuda(self):\n        return super().cuda()",
    "with @ as g:\n    pass",
    "for d in @:\n    x.to(d)",
    "raise ValueError(@)",
    "assert @, 'needs cuda'",
    "while @: break",
    "p.add_argument('--device', default=@, help='cuda')",
    "if d == 'cuda':\n    torch.cuda.empty_cache()\nelif d == 'npu':\n    torch.npu.empty_cache()",
    "# cuda  # noqa: convert",
    "x = (@,\n     @)  # cuda",
    "match d:\n    case 'cuda': pass\n    case _: y = @",
    "del device",
    "global device",
    "device += @",
    "async def g(device: 'torch.device' = @): await x.cuda()",
];

pub(crate) fn program() -> impl Strategy<Value = String> {
    let expression = prop::sample::select(EXPRESSIONS);
    let statement = (prop::sample::select(STATEMENTS), prop::collection::vec(expression, 4))
        .prop_map(|(statement, expressions)| {
            let mut out = String::new();
            let mut next = expressions.into_iter().cycle();
            for part in statement.split_inclusive('@') {
                match part.strip_suffix('@') {
                    Some(before) => {
                        out.push_str(before);
                        out.push_str(next.next().unwrap_or("0"));
                    }
                    None => out.push_str(part),
                }
            }
            out
        });
    (
        prop::collection::vec(prop::sample::select(IMPORTS), 0..4),
        prop::collection::vec(statement, 1..7),
        // Mostly one kind of line end; a file may have all three.
        prop::collection::vec(prop::sample::select(&["\n", "\r\n", "\r"][..]), 1..3),
        any::<bool>(),
    )
        .prop_map(|(imports, statements, newlines, ends)| {
            let mut all: Vec<String> = imports.iter().map(|&line| line.to_owned()).collect();
            all.extend(statements);
            let mut text = all.join("\n");
            if ends {
                text.push('\n');
            }
            let mut newlines = newlines.iter().cycle();
            let mut out = String::with_capacity(text.len());
            for piece in text.split_inclusive('\n') {
                out.push_str(piece.trim_end_matches('\n'));
                if piece.ends_with('\n') {
                    out.push_str(newlines.next().unwrap_or(&"\n"));
                }
            }
            out
        })
}

/// Whether an edit belongs to a reported place: it is in the lines of a changed place, or marks a
/// place that needs manual work.
fn is_planned(text: &str, edit: &Edit, plan: &FilePlan) -> bool {
    let lines = |range: &std::ops::Range<usize>| {
        let start = text[..range.start].rfind(['\n', '\r']).map_or(0, |at| at + 1);
        start..text[range.end..].find(['\n', '\r']).map_or(text.len(), |at| range.end + at)
    };
    let here = lines(&edit.range);
    if edit.range.is_empty() && edit.text.trim_start().starts_with("# ascend-doctor: ") {
        return plan.sites.iter().any(|site| site.decision == Decision::Flagged);
    }
    let mut changed = plan.sites.iter().filter(|site| site.decision == Decision::Changed);
    changed.any(|site| {
        let there = lines(&site.range);
        here.start <= there.end && there.start <= here.end
    })
}

fn hold(text: &str, options: &Options) -> Result<(), TestCaseError> {
    let context = Context { launch: text.len().is_multiple_of(3), ..Context::alone(options) };
    let Ok(first) = plan(text, &context) else { return Ok(()) };
    for pair in first.edits.windows(2) {
        prop_assert!(pair[0].range.end <= pair[1].range.start, "overlap in\n{text}");
    }
    let out = apply(text, &first.edits);
    prop_assert!(differs_only_in(text, &out, &first.edits), "{text}\n=>\n{out}");
    for edit in &first.edits {
        prop_assert!(is_planned(text, edit, &first), "{:?} is no place in\n{text}", edit);
    }
    match plan(&out, &context) {
        Ok(second) => prop_assert_eq!(&second.edits, &[], "changes again:\n{}\n=>\n{}", text, out),
        Err(error) => prop_assert!(false, "{error:?}\n{text}\n=>\n{out}"),
    }
    prop_assert_eq!(apply(&out, &reversed(text, &first.edits)), text);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn of_programs(text in program()) {
        hold(&text, &Options::default())?;
    }

    #[test]
    fn of_programs_with_marks_and_messages(text in program()) {
        hold(&text, &Options { mark: true, messages: true, ..Options::default() })?;
    }

    #[test]
    fn of_any_text(text in "[ \\t\\r\\n'\"a-z(){}\\[\\].:=#,%cudanl_]{0,200}") {
        hold(&text, &Options::default())?;
    }
}
