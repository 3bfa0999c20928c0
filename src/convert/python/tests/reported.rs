//! Places that are reported, marked, or omitted by options.

use super::*;

#[test]
fn comments_switch_it_off() {
    stays("x.cuda()  # noqa: convert\n");
    becomes(
        "# convert: off\nx.cuda()\n# convert: on\nx.cuda()\n",
        "# convert: off\nx.cuda()\n# convert: on\nx.npu()\n",
    );
}

#[test]
fn messages_only_when_asked() {
    let options = Options { messages: true, ..Options::default() };
    let source = "print('no CUDA device, see docs/cuda.md')\n";
    assert_eq!(converted(source), source);
    assert_eq!(converted_with(source, &options), "print('no NPU device, see docs/cuda.md')\n");
}

#[test]
fn libraries_are_reported() {
    assert_eq!(flags("import tensorrt as trt\n"), [("tensorrt".to_owned(), 1)]);
    assert_eq!(flags("from flash_attn import flash_attn_func\n"), [("flash_attn".to_owned(), 1)]);
    assert_eq!(
        flags("import subprocess\nsubprocess.run('nvidia-smi -L')\n"),
        [("nvidia-smi-command".to_owned(), 2)]
    );
}

#[test]
fn marks_stand_above_the_statement_once() {
    let options = Options { mark: true, ..Options::default() };
    let source = "import torch\ndef f():\n    m = torch.nn.DataParallel(\n        m)\n";
    let out = converted_with(source, &options);
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[2].starts_with("    # ascend-doctor: CV0379 "), "{out}");
    assert_eq!(lines[3], "    m = torch.nn.DataParallel(");
}

/// A lone carriage return ends a line of Python: the mark is inserted between the two lines, and a
/// second run detects it.
#[test]
fn marks_stand_between_lines_of_any_end() {
    let options = Options { mark: true, ..Options::default() };
    for end in ["\n", "\r\n", "\r"] {
        for last in ["\n", "\r\n", "\r"] {
            let source = format!(
                "import torch{last}x = 1{end}y = torch.cuda.streude{end}z = 2  # noqa: convert{end}"
            );
            let out = converted_with(&source, &options);
            let lines: Vec<&str> = out.split(['\n', '\r']).filter(|l| !l.is_empty()).collect();
            assert!(lines[2].starts_with("# ascend-doctor: CV0601 "), "{out:?}");
            assert_eq!(lines[3], "y = torch.cuda.streude", "{out:?}");
            assert_eq!(converted_with(&out, &options), out);
        }
    }
}

#[test]
fn cuda_extensions_are_reported_where_used() {
    let mut project = Project::of(["alt_corr.setup".to_owned()]);
    project.add_extensions(["alt_corr".to_owned()]);
    let options = Options::default();
    let context = Context { project: Some(&project), ..Context::alone(&options) };
    for (text, name) in [
        ("import alt_corr\n", "custom-cuda-ops"),
        ("p = get_plugin('p', sources=s, extra_cuda_cflags=['-O3'])\n", "extension-load-cu"),
    ] {
        let sites = plan(text, &context).unwrap().sites;
        assert!(matches!(sites.as_slice(), [one] if one.rule.name == name), "{text}{sites:?}");
    }
}

#[test]
fn extensions_are_reported_where_they_are_imported() {
    let rule = |line| ("custom-cuda-ops".to_owned(), line);
    assert_eq!(flags("import fused_adam_cuda\n"), [rule(1)]);
    assert_eq!(
        flags("import importlib\nx = importlib.import_module('layer_norm_cuda')\n"),
        [rule(2)]
    );
    assert_eq!(flags("import torch\nx = torch.classes.a.B\n"), [rule(2)]);
    assert!(flags("from training import run_cuda\n").is_empty());
}

#[test]
fn transfer_reports_places_out_of_reach() {
    let options = Options { transfer: true, ..Options::default() };
    let source = "import torch\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\nx.cuda()\n\
                  ok = backend == 'nccl'\nm = torch.jit.script(m)\nok = x.device.type == 'cuda'\n";
    let context = Context { launch: true, ..Context::alone(&options) };
    let plan = plan(source, &context).unwrap();
    let flagged: Vec<u32> = plan
        .sites
        .iter()
        .filter(|site| site.decision == crate::site::Decision::Flagged)
        .map(|site| site.line)
        .collect();
    assert_eq!(flagged, [2, 4, 5, 6]);
    let out = apply(source, &plan.edits);
    let head = "import torch\nimport torch_npu\nfrom torch_npu.contrib import transfer_to_npu\n";
    assert_eq!(out.strip_prefix(head), source.strip_prefix("import torch\n"), "{out}");
}
