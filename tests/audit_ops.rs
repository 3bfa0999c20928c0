//! `audit-ops` from outside: models in, operators and exit statuses out.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "writes models")]

mod support;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::{Value, json};
use support::elf::ElfBuilder;

fn run(args: &[&str]) -> Output {
    let mut command = Command::cargo_bin("ascend-doctor").unwrap();
    command.env_clear().arg("audit-ops").args(args).output().unwrap()
}

fn text(args: &[&str]) -> (i32, String, String) {
    let output = run(args);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn json_of(args: &[&str]) -> (i32, Value) {
    let output = run(&[&["--format", "json"], args].concat());
    let report = serde_json::from_slice(&output.stdout).unwrap();
    // Every report that a test looks at keeps to both schemas.
    for schema in [
        include_str!("../docs/schema/report-1.schema.json"),
        include_str!("../docs/schema/audit-ops-1.schema.json"),
    ] {
        let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
        let errors: Vec<String> =
            schema.iter_errors(&report).map(|e| format!("{e} at {}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{args:?}: {errors:#?}");
    }
    (output.status.code().unwrap(), report)
}

fn zip(path: &Path, entries: &[(&str, &[u8])]) {
    let mut zip = zip::ZipWriter::new(std::fs::File::create(path).unwrap());
    for (name, content) in entries {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap();
}

/// An exported program with these targets.
fn export(dir: &Path, targets: &[&str]) -> PathBuf {
    let nodes: Vec<Value> = targets
        .iter()
        .map(|target| {
            json!({"target": target, "inputs": [], "outputs": [], "metadata":
            {"stack_trace": "File \"/net.py\", line 7, in forward\n    x"}})
        })
        .collect();
    let program = json!({"graph_module": {"graph": {"inputs": [], "outputs": [], "nodes": nodes,
        "tensor_values": {"x": {"dtype": 13}}}}, "torch_version": "2.9.0"});
    let path = dir.join("model.pt2");
    zip(
        &path,
        &[
            ("model/data/weights/weight_0", &[0; 100]),
            ("model/models/model.json", program.to_string().as_bytes()),
            ("model/archive_format", b"pt2"),
        ],
    );
    path
}

#[test]
fn a_fallback_is_a_warning_and_what_cannot_run_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let model = export(dir.path(), &["torch.ops.aten.add.Tensor", "torch.ops.aten.mode.default"]);
    let model = model.to_str().unwrap();
    let (status, shown, _) = text(&["--torch-npu", "2.9.0", model]);
    assert_eq!(status, 0, "{shown}");
    assert!(shown.contains("warning[OPS-FALLBACK] `aten::mode` falls back"), "{shown}");
    assert!(shown.contains("/net.py:7") && !shown.contains("aten::add"), "{shown}");
    assert_eq!(text(&["--torch-npu", "2.9.0", "--fail-on", "fallback", model]).0, 1);
    assert_eq!(text(&["--torch-npu", "2.9.0", "--fail-on", "unsupported", model]).0, 0);
    let (status, report) = json_of(&["--torch-npu", "2.9.0", "--all-versions", model]);
    assert_eq!((status, report["target"]["table"]["match"].as_str()), (0, Some("wheel")));
    let operators = report["inputs"][0]["operators"].as_array().unwrap();
    assert_eq!(operators[0]["op"], "aten::mode");
    assert_eq!(
        (&operators[0]["class"], &operators[1]["class"]),
        (&json!("fallback"), &json!("native"))
    );
    assert_eq!(report["releases"]["aten::mode"], json!([]));
}

/// The answer depends on the release: `isin` has a kernel since 6.0.rc3.
#[test]
fn the_answer_depends_on_the_release() {
    let dir = tempfile::tempdir().unwrap();
    let model = export(dir.path(), &["torch.ops.aten.isin.Tensor_Tensor"]);
    let model = model.to_str().unwrap();
    let class = |version: &str| {
        json_of(&["--torch-npu", version, model]).1["inputs"][0]["operators"][0]["class"].clone()
    };
    assert_eq!(class("2.1.0-6.0.rc1"), "fallback");
    assert_ne!(class("2.9.0"), "fallback");
    let (status, shown, _) = text(&["--torch-npu", "2.1.0-6.0.rc1", "--all-versions", model]);
    assert!(status == 0 && shown.contains("2.1.0: 6.0.rc3–"), "{shown}");
}

#[test]
fn bfloat16_is_an_error_on_chips_without_it() {
    let dir = tempfile::tempdir().unwrap();
    let model = export(dir.path(), &["torch.ops.aten.add.Tensor"]);
    let model = model.to_str().unwrap();
    let (status, shown, _) = text(&["--torch-npu", "2.9.0", "--soc", "Ascend310P3", model]);
    assert!(status == 1 && shown.contains("OPS-DTYPE"), "{shown}");
    assert_eq!(text(&["--torch-npu", "2.9.0", "--soc", "Ascend910B3", model]).0, 0);
    let (status, _, error) = text(&["--soc", "H100", model]);
    assert!(status == 2 && error.contains("Ascend910B3"), "{error}");
}

#[test]
fn every_format_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let model = export(dir.path(), &["torch.ops.aten.mode.default"]);
    for format in ["text", "json", "junit", "sarif", "markdown", "html"] {
        let (status, shown, error) =
            text(&["--format", format, "--torch-npu", "2.9.0", model.to_str().unwrap()]);
        assert_eq!(status, 0, "{format}: {error}");
        assert!(shown.contains("OPS-FALLBACK"), "{format}");
    }
    let (_, shown, _) = text(&["--lang", "zh", "--torch-npu", "2.9.0", model.to_str().unwrap()]);
    assert!(shown.contains("回退到 CPU"), "{shown}");
}

#[test]
fn what_is_no_model_is_told_and_nothing_is_unpickled() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let pickle = dir.path().join("pickle.pt");
    zip(&pickle, &[("m/data.pkl", b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00id\x85R.")]);
    let cases = [
        (pickle.to_str().unwrap().to_owned(), "never unpickled"),
        (file("old.pt", b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M"), "never unpickled"),
        (file("cut.pt2", b"PK\x03\x04\x00\x00"), "incomplete"),
        (file("empty", b""), "none of the known formats"),
        (file("noise", &[0xff, 0xfe, 0xfd, 0x01].repeat(50)), "none of the known formats"),
        (file("prose.txt", b"this is not a model\n"), "none of the known formats"),
        (file("cut.json", b"{\"traceEvents\": [{\"name\""), "no JSON"),
        ("/dev/null".to_owned(), "no regular file"),
        (dir.path().join("gone").to_str().unwrap().to_owned(), "No such file"),
    ];
    for (path, why) in &cases {
        let (status, shown, error) = text(&["--torch-npu", "2.9.0", path]);
        assert!(status == 2 && shown.is_empty() && error.contains(why), "{path}: {status} {error}");
        assert!(!error.contains('\u{1b}'));
    }
    // Beside one that can be read it is a finding, and the other is audited.
    let model = export(dir.path(), &["torch.ops.aten.add.Tensor"]);
    let (status, shown, _) = text(&["--torch-npu", "2.9.0", &cases[0].0, model.to_str().unwrap()]);
    assert!(status == 1 && shown.contains("OPS-READ") && shown.contains("100 %"), "{shown}");
}

#[test]
fn names_of_hostile_files_stay_text() {
    let dir = tempfile::tempdir().unwrap();
    let model =
        export(dir.path(), &["torch.ops.aten.evil\u{1b}[31m.default", "torch.ops.evil.op.default"]);
    let (status, shown, _) = text(&["--torch-npu", "2.9.0", model.to_str().unwrap()]);
    assert_eq!(status, 0, "{shown}");
    assert!(
        shown.contains("OPS-UNKNOWN") && shown.contains("evil::op") && !shown.contains('\u{1b}')
    );
}

/// Weights are stepped over: a sparse archive of ten gigabytes takes no longer than a small one.
#[test]
fn the_weights_are_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("large.onnx");
    // ModelProto.graph with one node and an initializer of 10 GB of raw data.
    let node = [&[0x0a, 6, 0x22, 4][..], b"Relu"].concat();
    let data: u64 = 10 << 30;
    let varint = |mut value: u64| {
        let mut bytes = Vec::new();
        while value >= 0x80 {
            bytes.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
            value >>= 7;
        }
        bytes.push(u8::try_from(value).unwrap());
        bytes
    };
    let raw = [vec![0x4a], varint(data)].concat();
    let tensor = [vec![0x2a], varint(raw.len() as u64 + data), raw].concat();
    let graph = node.len() as u64 + tensor.len() as u64 + data;
    let head = [vec![0x08, 0x09, 0x3a], varint(graph), node, tensor].concat();
    std::fs::write(&path, &head).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_len(head.len() as u64 + data).unwrap();
    let (status, report) = json_of(&["--torch-npu", "2.9.0", path.to_str().unwrap()]);
    assert_eq!((status, &report["inputs"][0]["operators"][0]["op"]), (0, &json!("onnx::Relu")));
}

const OWN: &str = "backend: NPU\nsupported:\n  - as_strided\n  - func: clone\n    op_api: True\n";
const CODE: &str = "supported:\n- func: mode(Tensor self) -> (Tensor, Tensor)\n  impl_ns: op_api\ncustom:\n- func: npu_own(Tensor self) -> Tensor\n  impl_ns: op_api\n";
const GENERIC: &str = "- func: mode(Tensor self) -> (Tensor, Tensor)\n  dispatch:\n    CPU, CUDA: mode\n- func: mul.Tensor(Tensor self, Tensor other) -> Tensor\n  dispatch:\n    CPU: mul\n- func: brand_new(Tensor self) -> Tensor\n  dispatch:\n    CPU: brand_new\n- func: no_cpu(Tensor self) -> Tensor\n  dispatch:\n    CUDA: no_cpu\n";

const NPU_FILES: [(&str, &str); 3] = [
    ("torch_npu/csrc/aten/npu_native_functions.yaml", OWN),
    ("torch_npu/csrc/aten/npu_native_functions_by_codegen.yaml", CODE),
    ("torch_npu-9.9.0.dist-info/METADATA", "Name: torch_npu\n"),
];

/// An environment whose torch_npu no table knows is judged by its own files, and by nothing else.
#[test]
fn an_installation_speaks_for_itself() {
    let dir = tempfile::tempdir().unwrap();
    let site = dir.path().join("lib/python3.11/site-packages");
    let generic = ("torchgen/packaged/ATen/native/native_functions.yaml", GENERIC);
    for (name, content) in NPU_FILES.iter().chain([&generic]) {
        let path = site.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let list = dir.path().join("ops.txt");
    std::fs::write(
        &list,
        "aten::mode\naten::mul.Tensor\naten::brand_new\naten::no_cpu\nnpu::npu_own\n",
    )
    .unwrap();
    let list = list.to_str().unwrap();
    let classes = |option: &str| {
        let (status, report) = json_of(&[option, list]);
        let operators = report["inputs"][0]["operators"].as_array().unwrap();
        let mut all: Vec<String> = operators
            .iter()
            .map(|op| format!("{} {}", op["op"].as_str().unwrap(), op["class"].as_str().unwrap()))
            .collect();
        all.sort();
        (status, all, report["target"].clone())
    };
    let own = [
        "aten::brand_new fallback",
        "aten::mode native",
        "aten::mul.Tensor fallback",
        "aten::no_cpu unsupported",
        "npu::npu_own native",
    ];
    // By its environment, and by its directory of packages.
    for place in [dir.path(), &site] {
        let (status, all, target) = classes(&format!("--installed={}", place.display()));
        assert_eq!((status, all), (1, own.map(str::to_owned).to_vec()));
        assert_eq!(
            (
                &target["torch_npu"],
                &target["installed"]["evidence"],
                &target["installed"]["kernels"]
            ),
            (&json!("9.9.0"), &json!("files"), &json!(3))
        );
        assert_eq!(target["installed"]["native_functions"], true);
    }
    // A wheel has no PyTorch: its operators are those of the tables.
    let wheel = dir.path().join("torch_npu-9.9.0-cp311-cp311-linux_aarch64.whl");
    zip(&wheel, &NPU_FILES.map(|(name, text)| (name, text.as_bytes())));
    let (status, all, target) = classes(&format!("--installed={}", wheel.display()));
    assert_eq!((status, all[1].as_str()), (0, "aten::mode native"));
    assert_eq!(target["installed"]["native_functions"], false);
    let (_, shown, _) = text(&[&format!("--installed={}", wheel.display()), list]);
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("by its own registration files: 3 kernels, 1 operators"), "{shown}");
}

#[test]
fn an_installation_that_is_none_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let list = dir.path().join("ops.txt");
    std::fs::write(&list, "aten::mode\n").unwrap();
    let list = list.to_str().unwrap();
    let broken = dir.path().join("site");
    std::fs::create_dir_all(broken.join("torch_npu/csrc/aten")).unwrap();
    let file = broken.join("torch_npu/csrc/aten/npu_native_functions.yaml");
    let place = broken.display().to_string();
    for (content, expected) in [
        (None, "there are no registration files of torch_npu"),
        (Some("supported: 7\n"), "npu_native_functions.yaml: "),
    ] {
        if let Some(content) = content {
            std::fs::write(&file, content).unwrap();
        }
        let (status, _, error) = text(&[&format!("--installed={place}"), list]);
        assert_eq!(status, 2);
        assert!(error.contains(expected) && error.contains(&place), "{error}");
    }
    for (place, expected) in [
        (dir.path().join("no").display().to_string(), "No such file"),
        (list.to_owned(), "it is no wheel"),
        (dir.path().display().to_string(), "there is no `torch_npu` in it"),
    ] {
        let (status, _, error) = text(&[&format!("--installed={place}"), list]);
        assert_eq!(status, 2);
        assert!(error.contains(expected), "{error}");
    }
    let (status, _, error) = text(&["--installed", list]);
    assert_eq!((status, error.contains("no torch_npu is installed")), (2, true), "{error}");
}

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

/// Everything below a directory is audited by its content; what is no model is counted.
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
        shown.contains("4 files were audited, 2 are of no known format, 1 are pickles"),
        "{shown}"
    );
    let empty = home.join("logs/empty");
    std::fs::create_dir(&empty).unwrap();
    let (status, _, error) = text(&[empty.to_str().unwrap()]);
    assert!(status == 2 && error.contains("nothing to audit"), "{error}");
}

/// A dictionary of tensors has data types; whatever else a pickle would load is named, not loaded.
#[test]
fn tensors_of_torch_save_have_data_types() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("weights.pt");
    let pickle = b"\x80\x02}q\x00X\x01\x00\x00\x00actorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nBFloat16Storage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x04tQK\x00K\x04\x85K\x01\x85\x89ccollections\nOrderedDict\n)RtRs.";
    zip(&path, &[("weights/data.pkl", pickle), ("weights/data/0", &[0; 8])]);
    let (status, report) = json_of(&["--soc", "Ascend910A", path.to_str().unwrap()]);
    assert_eq!((status, &report["inputs"][0]["format"]), (1, &json!("state_dict")));
    assert_eq!(report["inputs"][0]["dtypes"], json!({"bfloat16": 1}));
    // Tensors say nothing of operators: no finding is no verdict either.
    let (status, shown, _) = text(&["--soc", "Ascend910B1", path.to_str().unwrap()]);
    assert!(status == 3 && shown.contains("No input names an operator"), "{shown}");
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
    // float64, which the documents of aclnnRepeatInterleaveIntWithDim do not list.
    let model = typed(dir.path(), "torch.ops.aten.repeat_interleave.self_int", 8);
    let (op, ids) = findings(&[model.to_str().unwrap()]);
    assert_eq!(
        (op["class"].as_str(), ids.as_slice()),
        (Some("restricted"), &["OPS-LIMIT".to_owned()][..])
    );
    assert_eq!((&op["limit"]["kind"], &op["limit"]["dtype"]), (&json!("dtype"), &json!("fp64")));
    assert_eq!(op["types"], json!({"self": ["float64"]}));
    // Beside an input in which the same operator is fine, whichever comes first.
    let other = tempfile::tempdir().unwrap();
    let fine = typed(other.path(), "torch.ops.aten.repeat_interleave.self_int", 7);
    let (fine, wide) = (fine.to_str().unwrap(), model.to_str().unwrap());
    for inputs in [[fine, wide], [wide, fine]] {
        assert_eq!(findings(&inputs).1, ["OPS-LIMIT"]);
    }
    // What a fallback copies: two tensors of 256 * 2 float32.
    let model = typed(dir.path(), "torch.ops.aten.mode.default", 7);
    let (op, _) = findings(&[model.to_str().unwrap()]);
    assert_eq!((op["class"].as_str(), op["bytes"].as_u64()), (Some("fallback"), Some(4096)));
    let (_, shown, _) = text(&["--torch-npu", "2.9.0", model.to_str().unwrap()]);
    assert!(shown.contains("copies 4.00 KiB between host and device"), "{shown}");
    // AI CPU, and a CANN without the function.
    let list = dir.path().join("ops.txt");
    std::fs::write(&list, "torch.ops.aten.inverse.default\n").unwrap();
    let list = list.to_str().unwrap();
    assert_eq!(findings(&[list]).0["class"], "ai_cpu");
    std::fs::write(list, "torch.ops.aten.abs.default\n").unwrap();
    assert_eq!(findings(&["--dtype", "float16", list]).0["class"], "native");
    std::fs::write(list, "torch.ops.aten.exp.default\n").unwrap();
    let (op, ids) = findings(&["--dtype", "float64", list]);
    std::fs::write(list, "torch.ops.aten.abs.default\n").unwrap();
    assert_eq!(
        (op["class"].as_str(), ids.as_slice()),
        (Some("ai_cpu"), &["OPS-AICPU".to_owned()][..])
    );
    let (status, _, error) = text(&["--dtype", "float5", list]);
    assert!(status == 2 && error.contains("bfloat16"), "{error}");
    let cann = dir.path().join("cann/lib64");
    std::fs::create_dir_all(&cann).unwrap();
    let home = dir.path().join("cann");
    let home = home.to_str().unwrap();
    let (status, _, error) = text(&["--cann", home, list]);
    assert!(status == 2 && error.contains("no libopapi"), "{error}");
    std::fs::write(
        cann.join("libopapi.so"),
        ElfBuilder::aarch64().define(["aclnnAddGetWorkspaceSize"]).build(),
    )
    .unwrap();
    let (op, ids) = findings(&["--cann", home, list]);
    assert_eq!(
        (op["class"].as_str(), ids.as_slice()),
        (Some("needs_cann"), &["OPS-CANN".to_owned()][..])
    );
    std::fs::write(
        cann.join("libopapi_math.so"),
        ElfBuilder::aarch64().define(["aclnnAbsGetWorkspaceSize"]).build(),
    )
    .unwrap();
    assert_eq!(findings(&["--cann", home, list]).0["class"], "native");
    assert_eq!(findings(&["--cann", "8.1.RC1", list]).0["class"], "native");
    let (status, _, error) = text(&["--cann", "no/such", list]);
    assert!(status == 2 && error.contains("8.1.RC1"), "{error}");
}

const BLOCK: &str = "import torch\nfrom torch import nn\n\n\nclass Block(nn.Module):\n    def __init__(self):\n        \
    super().__init__()\n        self.norm = nn.LayerNorm(4)\n        \
    self.start = torch.linalg.qr(torch.randn(4, 4))[0]\n\n    def forward(self, x):\n        \
    return torch.mode(self.norm(x), dim=-1)[0].lgamma()\n";

/// Operators of sources come with file and line, in every format.
#[test]
fn sources_are_audited_line_by_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("net.py");
    std::fs::write(&path, BLOCK).unwrap();
    let (status, shown, error) = text(&["--torch-npu", "2.9.0", path.to_str().unwrap()]);
    assert_eq!(status, 0, "{shown}{error}");
    assert!(shown.contains("`aten::mode` falls back") && shown.contains("net.py:12"), "{shown}");
    // What runs while the model is built is no finding.
    assert!(!shown.contains("linalg_qr"), "{shown}");
    let (_, sarif, _) =
        text(&["--format", "sarif", "--torch-npu", "2.9.0", path.to_str().unwrap()]);
    let sarif: Value = serde_json::from_str(&sarif).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    let region = &result["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region["startLine"], 12, "{result}");
    assert_eq!(
        text(&["--torch-npu", "2.9.0", "--fail-on", "fallback", path.to_str().unwrap()]).0,
        1
    );
}

/// A directory is its sources without its tests; imports are followed where that is asked for.
#[test]
fn directories_and_imports_are_followed() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir_all(at("pkg/tests")).unwrap();
    std::fs::write(at("pkg/__init__.py"), "").unwrap();
    std::fs::write(at("pkg/ops.py"), "import torch\ndef f(x):\n    return torch.digamma(x)\ndef g(x):\n    return torch.mode(x)\n").unwrap();
    std::fs::write(
        at("pkg/net.py"),
        "import torch\nfrom .ops import f\ndef run(x):\n    return f(torch.abs(x))\n",
    )
    .unwrap();
    std::fs::write(at("pkg/tests/test_ops.py"), "import torch\ntorch.hypot(1, 2)\n").unwrap();
    let names = |args: &[&str]| {
        let (_, report) = json_of(&[&["--torch-npu", "2.9.0"], args].concat());
        let rows = report["inputs"][0]["operators"].as_array().unwrap().clone();
        let mut names: Vec<String> =
            rows.iter().map(|row| row["op"].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    let net = at("pkg/net.py");
    assert_eq!(names(&[net.to_str().unwrap()]), ["aten::abs"]);
    assert_eq!(names(&["--follow-imports", net.to_str().unwrap()]), ["aten::abs", "aten::digamma"]);
    assert_eq!(
        names(&[dir.path().to_str().unwrap()]),
        ["aten::abs", "aten::digamma", "aten::mode"]
    );
    std::fs::write(&net, "def (").unwrap();
    let (status, _, error) = text(&[net.to_str().unwrap()]);
    assert!(status == 2 && error.contains("line 1"), "{error}");
}

#[test]
fn data_types_and_libraries_of_sources_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("load.py");
    std::fs::write(&path, "import torch\nfrom transformers import BitsAndBytesConfig\n\
        config = BitsAndBytesConfig(load_in_8bit=True)\nmodel = torch.compile(build(torch.bfloat16))\n\
        x = torch.zeros(2, dtype=torch.float64)\n").unwrap();
    let path = path.to_str().unwrap();
    let (_, shown, _) = text(&["--torch-npu", "2.9.0", "--soc", "Ascend310P3", path]);
    for word in
        ["OPS-QUANT", "OPS-COMPILE", "bfloat16 is used in 1 places", "float64 is used in 1 places"]
    {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    let (_, shown, _) = text(&["--torch-npu", "2.9.0", "--soc", "Ascend910B3", path]);
    assert!(!shown.contains("bfloat16"), "{shown}");
}

/// Fused operators are suggested with the change, where release and chip have them.
#[test]
fn fused_operators_are_suggested() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mlp.py");
    std::fs::write(
        &path,
        "import torch\nimport torch.nn.functional as F\ndef f(gate, up, q, cos, sin):\n    \
        y = F.silu(gate) * up\n    return y, (q * cos) + (rotate_half(q) * sin)\n\
        optimizer = torch.optim.AdamW(parameters, lr=1e-4)\n",
    )
    .unwrap();
    let path = path.to_str().unwrap();
    let (status, report) = json_of(&["--torch-npu", "2.9.0", "--suggest", path]);
    let after: Vec<&str> = report["suggestions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["after"].as_str().unwrap())
        .collect();
    assert_eq!(status, 0);
    assert_eq!(
        after,
        [
            "torch.optim.AdamW(parameters, lr=1e-4, fused=True)",
            "torch_npu.npu_rotary_mul(q, cos, sin)",
            "torch_npu.npu_swiglu(torch.cat((gate, up), dim=-1), dim=-1)",
        ]
    );
    let (_, shown, _) = text(&["--torch-npu", "2.9.0", "--suggest", path]);
    assert!(shown.contains("OPS-FUSE") && shown.contains("mlp.py:4"), "{shown}");
    // Neither without being asked, nor of a chip that the document does not name.
    assert!(!text(&["--torch-npu", "2.9.0", path]).1.contains("OPS-FUSE"));
    let (_, shown, _) = text(&["--torch-npu", "2.9.0", "--soc", "Ascend310P3", "--suggest", path]);
    assert!(!shown.contains("npu_swiglu") && shown.contains("npu_rotary_mul"), "{shown}");
}
