use proptest::prelude::*;

use super::*;
use crate::encoding::apply;
use crate::options::Options;
use crate::python::{self, Context};
use crate::site::Decision;

fn planned(text: &str) -> FilePlan {
    let options = Options::default();
    let context = Context { cell: true, ..Context::alone(&options) };
    let mut planner = Planner::new(text);
    let _ = plan(&mut planner, &|text| python::plan(text, &context).ok());
    planner.finish()
}

fn converted(text: &str) -> String {
    let after = apply(text, &planned(text).edits);
    assert_eq!(planned(&after).edits, [], "a second run edits\n{after}");
    after
}

/// A notebook of one code cell for each of these JSON values.
fn notebook(cells: &[&str]) -> String {
    let cells: Vec<String> = cells
        .iter()
        .map(|source| {
            format!(
                "  {{\n   \"cell_type\": \"code\",\n   \"outputs\": [{{\"text\": [\"cuda:0\"]}}],\n   \"source\": {source}\n  }}"
            )
        })
        .collect();
    format!(
        "{{\n \"cells\": [\n  {{\"cell_type\": \"markdown\", \"source\": [\"x.cuda()\"]}},\n{}\n ],\n \"metadata\": {{\"kernelspec\": {{\"language\": \"python\"}}}},\n \"nbformat\": 4\n}}\n",
        cells.join(",\n")
    )
}

#[test]
fn cells_know_the_imports_of_those_before() {
    let before = notebook(&[
        "[\n    \"import torch\\n\",\n    \"import os\"\n   ]",
        "[\"x = torch.zeros(1).cuda()  # cuda\\n\", \"torch.cuda.synchronize()\"]",
    ]);
    let after = converted(&before);
    assert!(after.contains("x = torch.zeros(1).npu()  # cuda\\n"), "{after}");
    assert!(after.contains("torch.npu.synchronize()"), "{after}");
    let lines = "\"import torch\\n\",\n    \"import torch_npu\\n\",\n    \"import os\"";
    assert!(after.contains(lines), "a string for each line: {after}");
    assert!(after.contains("\"text\": [\"cuda:0\"]") && after.contains("[\"x.cuda()\"]"));
    assert!(serde_json::from_str::<serde_json::Value>(&after).is_ok());
}

#[test]
fn escapes_are_mapped_back() {
    let before = notebook(&[
        "\"import torch\\nd = torch.device(\\\"cuda:0\\\")  # \\u4f60\\ud83d\\ude00 cuda\\ne = 'é', torch.device('cuda')\"",
    ]);
    let after = converted(&before);
    assert!(after.contains("torch.device(\\\"npu:0\\\")  # \\u4f60\\ud83d\\ude00 cuda"), "{after}");
    assert!(after.contains("torch.device('npu')"), "{after}");
}

#[test]
fn the_shell_in_a_notebook() {
    let before = notebook(&[
        "[\"!nvidia-smi\\n\", \"%env CUDA_VISIBLE_DEVICES=0, 1\\n\", \"!python a.py --device cuda\"]",
        "[\"%%bash\\n\", \"export CUDA_VISIBLE_DEVICES=0\\n\", \"it's not closed\"]",
        "[\"%%bash\\n\", \"export CUDA_VISIBLE_DEVICES=0\"]",
        "[\"%pip install onnxruntime-gpu\\n\", \"out = !CUDA_LAUNCH_BLOCKING=1 python b.py\"]",
        "[\"%%html\\n\", \"<a>torch.cuda</a>\"]",
    ]);
    let after = converted(&before);
    for part in [
        "%env ASCEND_RT_VISIBLE_DEVICES=0,1\\n",
        "!python a.py --device npu",
        "export CUDA_VISIBLE_DEVICES=0\\n\", \"it's",
        "export ASCEND_RT_VISIBLE_DEVICES=0\"]",
        "%pip install onnxruntime-cann\\n",
        "out = !ASCEND_LAUNCH_BLOCKING=1 python b.py",
        "<a>torch.cuda</a>",
    ] {
        assert!(after.contains(part), "{part}\n{after}");
    }
    let sites = planned(&before).sites;
    let flagged = sites.iter().find(|site| site.decision == Decision::Flagged).unwrap();
    assert_eq!((flagged.rule.name, flagged.line), ("shell-nvidia-smi", 7));
}

#[test]
fn what_stays() {
    for text in [
        notebook(&["[\"x = 1\\n\"]"]),
        notebook(&["[\"torch.cuda.synchronize()\"]"]).replace("python", "julia"),
        notebook(&["[\"import torch\\n\", \"torch.cuda.synchronize()\"]"])
            .replace("\"nbformat\"", "nbformat"),
        "{\"cells\": [{\"cell_type\": \"code\", \"source\": \"a\\ud800b\"}]}".to_owned(),
        "[".repeat(100_000),
        String::new(),
    ] {
        assert_eq!(converted(&text), text);
    }
}

#[test]
fn a_cell_that_does_not_parse_is_left_out() {
    let before = notebook(&[
        "[\"import torch\\n\"]",
        "[\"print 'cuda'\"]",
        "[\"torch.cuda.synchronize()\"]",
    ]);
    let after = converted(&before);
    assert!(after.contains("print 'cuda'") && after.contains("torch.npu.synchronize()"), "{after}");
    let sites = planned(&before).sites;
    assert!(sites.iter().any(|site| site.rule.name == "notebook-cell"));
}

#[test]
fn the_old_format() {
    let before = "{\"worksheets\": [{\"cells\": [{\"cell_type\": \"code\", \"input\": [\"import torch\\n\", \"torch.cuda.synchronize()\"], \"language\": \"python\"}]}], \"nbformat\": 3}";
    assert!(converted(before).contains("torch.npu.synchronize()"));
}

proptest! {
    #[test]
    fn any_text_is_planned_once(
        cells in proptest::collection::vec(
            "(import torch|x\\.cuda\\(\\)|torch\\.device\\('cuda'\\)|\\\\n|\\\\u00e9|\\\\\"|\", \"|!python a\\.py --device cuda|%env CUDA_VISIBLE_DEVICES=0, 1|%%bash| |#|中|\\\\ud83d\\\\ude00){0,10}",
            1..4,
        ),
    ) {
        let cells: Vec<String> = cells.iter().map(|cell| format!("[\"{cell}\"]")).collect();
        let text = notebook(&cells.iter().map(String::as_str).collect::<Vec<_>>());
        let plan = planned(&text);
        for edit in &plan.edits {
            prop_assert!(text.get(edit.range.clone()).is_some());
        }
        let after = apply(&text, &plan.edits);
        prop_assert!(serde_json::from_str::<serde_json::Value>(&after).is_ok());
        prop_assert_eq!(planned(&after).edits, vec![]);
    }

    #[test]
    fn no_text_panics(text in "(\\{|\\}|\\[|\\]|\"cells\"|:|,|\"cell_type\": \"code\"|\"source\"|\\\\|\"a\"|1){0,20}") {
        let _ = planned(&text);
    }
}

#[test]
fn magics_that_run_python_are_python() {
    let before = notebook(&[
        "[\"import torch\\n\", \"%time x = x.cuda()\\n\", \"%timeit -n 10 torch.cuda.synchronize()\"]",
    ]);
    let after = converted(&before);
    assert!(after.contains("%time x = x.npu()\\n"), "{after}");
    assert!(after.contains("%timeit -n 10 torch.npu.synchronize()"), "{after}");
}
