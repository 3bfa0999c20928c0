//! Directories of mixed files, logs, tensors, and the limits of kernels.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{json_of, text, zip};
use crate::support::elf::ElfBuilder;

fn classes(report: &Value) -> Vec<String> {
    let inputs = report["inputs"].as_array().unwrap();
    let mut all: Vec<String> = inputs
        .iter()
        .flat_map(|input| input["operators"].as_array().unwrap())
        .map(|op| format!("{} {}", op["op"].as_str().unwrap(), op["class"].as_str().unwrap()))
        .collect();
    all.sort();
    all
}

const WARNING: &str = "[W compiler_depend.ts:51] Warning: CAUTION: The operator 'aten::OP' is not currently supported on the NPU backend and will fall back to run on the CPU.\n";

/// Everything below a directory is audited by its content; files that are not models are counted.
#[test]
fn a_directory_is_audited_file_by_file() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path();
    let log =
        WARNING.replace("OP", "mode").repeat(2) + &WARNING.replace("OP", "isin.Tensor_Tensor_out");
    std::fs::create_dir_all(home.join("logs/.hidden")).unwrap();
    std::fs::write(home.join("logs/run.log"), &log).unwrap();
    std::fs::write(home.join("logs/.hidden/run.log"), &log).unwrap();
    std::fs::write(home.join("README.md"), "# a model\n").unwrap();
    std::fs::write(
        home.join("config.json"),
        json!({"model_type": "llama", "torch_dtype": "bfloat16", "hidden_act": "silu",
            "rms_norm_eps": 1e-5, "quantization_config": {"quant_method": "gptq"}})
        .to_string(),
    )
    .unwrap();
    std::fs::write(home.join("tokenizer.json"), "{\"version\": \"1.0\"}").unwrap();
    for part in ["a", "b"] {
        let header =
            json!({"w": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}).to_string();
        let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0, 0]].concat();
        std::fs::write(home.join(format!("model-{part}.safetensors")), bytes).unwrap();
    }
    zip(&home.join("whole.pt"), &[("m/data.pkl", b"\x80\x02cnet\nNet\n)\x81.")]);
    std::fs::write(home.join("cut.pt2"), b"PK\x03\x04").unwrap();
    let path = home.to_str().unwrap();
    let args = ["--torch-npu", "2.9.0", "--soc", "Ascend310P3", path];
    let (status, report) = json_of(&args);
    let all = classes(&report);
    assert!(all.contains(&"aten::mode fallback".to_owned()), "{all:?}");
    assert!(all.contains(&"aten::isin.Tensor_Tensor_out observed".to_owned()), "{all:?}");
    assert!(all.contains(&"aten::silu native".to_owned()), "{all:?}");
    let inputs = report["inputs"].as_array().unwrap();
    let formats: Vec<&str> = inputs.iter().map(|input| input["format"].as_str().unwrap()).collect();
    assert_eq!(formats, ["config", "log", "safetensors"]);
    assert_eq!(inputs[2]["dtypes"]["bfloat16"], 2);
    assert_eq!(inputs[0]["says"]["quantization"], "gptq");
    let ids: Vec<&str> =
        report["findings"].as_array().unwrap().iter().map(|f| f["id"].as_str().unwrap()).collect();
    for id in ["OPS-DTYPE", "OPS-READ", "OPS-OBSERVED", "OPS-FALLBACK", "OPS-QUANT"] {
        assert!(ids.contains(&id), "{id}: {ids:?}");
    }
    assert_eq!(status, 1);
    let (_, shown, _) = text(&args);
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        shown.contains("4 files were audited, 2 have an unknown format, 1 are pickles"),
        "{shown}"
    );
    let empty = home.join("logs/empty");
    std::fs::create_dir(&empty).unwrap();
    let (status, _, error) = text(&[empty.to_str().unwrap()]);
    assert!(status == 2 && error.contains("nothing to audit"), "{error}");
}

/// A dictionary of tensors has data types; other objects of a pickle are named, not loaded.
#[test]
fn tensors_of_torch_save_have_data_types() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("weights.pt");
    let pickle = b"\x80\x02}q\x00X\x01\x00\x00\x00actorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nBFloat16Storage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x04tQK\x00K\x04\x85K\x01\x85\x89ccollections\nOrderedDict\n)RtRs.";
    zip(&path, &[("weights/data.pkl", pickle), ("weights/data/0", &[0; 8])]);
    let (status, report) = json_of(&["--soc", "Ascend910A", path.to_str().unwrap()]);
    assert_eq!((status, &report["inputs"][0]["format"]), (1, &json!("state_dict")));
    assert_eq!(report["inputs"][0]["dtypes"], json!({"bfloat16": 1}));
    // Tensors contain no operators: without findings, the result is still inconclusive.
    let (status, shown, _) = text(&["--soc", "Ascend910B1", path.to_str().unwrap()]);
    assert!(status == 3 && shown.contains("No input contains an operator"), "{shown}");
    zip(&path, &[("weights/data.pkl", b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00id\x85R.")]);
    let (status, _, error) = text(&[path.to_str().unwrap()]);
    assert!(status == 2 && error.contains("of os.system"), "{error}");
}

/// Data types and sizes of an exported graph.
fn typed(dir: &Path, target: &str, dtype: u32) -> PathBuf {
    let tensor = json!({"dtype": dtype, "sizes": [{"as_int": 256}, {"as_expr": {"expr_str": "s0", "hint": {"as_int": 2}}}]});
    let program = json!({"graph_module": {"graph": {"inputs": [], "outputs": [],
        "nodes": [{"target": target, "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}}],
            "outputs": [{"as_tensor": {"name": "y"}}], "metadata": {}}],
        "tensor_values": {"x": tensor, "y": tensor}}}, "torch_version": "2.9.0"});
    let path = dir.join("typed.pt2");
    zip(&path, &[("model/models/model.json", program.to_string().as_bytes())]);
    path
}

#[test]
fn limits_of_kernels_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let findings = |args: &[&str]| -> (Value, Vec<String>) {
        let report = json_of(&[&["--torch-npu", "2.9.0"], args].concat()).1;
        let found = report["findings"].as_array().unwrap();
        let ids = found.iter().map(|f| f["id"].as_str().unwrap().to_owned()).collect();
        (report["inputs"][0]["operators"][0].clone(), ids)
    };
    // float64, which is not listed in the documents of aclnnRepeatInterleaveIntWithDim.
    let model = typed(dir.path(), "torch.ops.aten.repeat_interleave.self_int", 8);
    let (op, ids) = findings(&[model.to_str().unwrap()]);
    assert_eq!(
        (op["class"].as_str(), ids.as_slice()),
        (Some("restricted"), &["OPS-LIMIT".to_owned()][..])
    );
    assert_eq!((&op["limit"]["kind"], &op["limit"]["dtype"]), (&json!("dtype"), &json!("fp64")));
    assert_eq!(op["types"], json!({"self": ["float64"]}));
    // Next to an input in which the same operator is fine, in either order.
    let other = tempfile::tempdir().unwrap();
    let fine = typed(other.path(), "torch.ops.aten.repeat_interleave.self_int", 7);
    let (fine, wide) = (fine.to_str().unwrap(), model.to_str().unwrap());
    for inputs in [[fine, wide], [wide, fine]] {
        assert_eq!(findings(&inputs).1, ["OPS-LIMIT"]);
    }
    // The data that a fallback copies: two tensors of 256 * 2 float32.
    let model = typed(dir.path(), "torch.ops.aten.mode.default", 7);
    let (op, _) = findings(&[model.to_str().unwrap()]);
    assert_eq!((op["class"].as_str(), op["bytes"].as_u64()), (Some("fallback"), Some(4096)));
    let (_, shown, _) = text(&["--torch-npu", "2.9.0", model.to_str().unwrap()]);
    // The line breaks depend on the path before them.
    let words: Vec<&str> = shown.split_whitespace().collect();
    assert!(words.join(" ").contains("copies 4.00 KiB between host and device"), "{shown}");
    // AI CPU, and a CANN without the function.
    let list = dir.path().join("ops.txt");
    std::fs::write(&list, "torch.ops.aten.inverse.default\n").unwrap();
    let list = list.to_str().unwrap();
    assert_eq!(findings(&[list]).0["class"], "ai_cpu");
    std::fs::write(list, "torch.ops.aten.abs.default\n").unwrap();
    assert_eq!(findings(&["--assume-dtype", "float16", list]).0["class"], "native");
    std::fs::write(list, "torch.ops.aten.exp.default\n").unwrap();
    let (op, ids) = findings(&["--assume-dtype", "float64", list]);
    std::fs::write(list, "torch.ops.aten.abs.default\n").unwrap();
    assert_eq!(
        (op["class"].as_str(), ids.as_slice()),
        (Some("ai_cpu"), &["OPS-AICPU".to_owned()][..])
    );
    let (status, _, error) = text(&["--assume-dtype", "float5", list]);
    assert!(status == 2 && error.contains("bfloat16"), "{error}");
    let cann = dir.path().join("cann/lib64");
    std::fs::create_dir_all(&cann).unwrap();
    let home = dir.path().join("cann");
    let home = home.to_str().unwrap();
    let (status, _, error) = text(&["--cann-path", home, list]);
    assert!(status == 2 && error.contains("no libopapi"), "{error}");
    std::fs::write(
        cann.join("libopapi.so"),
        ElfBuilder::aarch64().define(["aclnnAddGetWorkspaceSize"]).build(),
    )
    .unwrap();
    let (op, ids) = findings(&["--cann-path", home, list]);
    assert_eq!(
        (op["class"].as_str(), ids.as_slice()),
        (Some("needs_cann"), &["OPS-CANN".to_owned()][..])
    );
    std::fs::write(
        cann.join("libopapi_math.so"),
        ElfBuilder::aarch64().define(["aclnnAbsGetWorkspaceSize"]).build(),
    )
    .unwrap();
    assert_eq!(findings(&["--cann-path", home, list]).0["class"], "native");
    assert_eq!(findings(&["--cann", "8.1.RC1", list]).0["class"], "native");
    let (status, _, error) = text(&["--cann-path", "no/such", list]);
    assert!(status == 2 && error.contains("--cann-path"), "{error}");
}
