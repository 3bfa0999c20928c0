//! The torch_npu of an audit: an installation, its directory, a wheel.

use serde_json::json;

use super::{json_of, text, zip};

const OWN: &str = "backend: NPU\nsupported:\n  - as_strided\n  - func: clone\n    op_api: True\n";
const CODE: &str = "supported:\n- func: mode(Tensor self) -> (Tensor, Tensor)\n  impl_ns: op_api\ncustom:\n- func: npu_own(Tensor self) -> Tensor\n  impl_ns: op_api\n";
const GENERIC: &str = "- func: mode(Tensor self) -> (Tensor, Tensor)\n  dispatch:\n    CPU, CUDA: mode\n- func: mul.Tensor(Tensor self, Tensor other) -> Tensor\n  dispatch:\n    CPU: mul\n- func: brand_new(Tensor self) -> Tensor\n  dispatch:\n    CPU: brand_new\n- func: no_cpu(Tensor self) -> Tensor\n  dispatch:\n    CUDA: no_cpu\n";

const NPU_FILES: [(&str, &str); 3] = [
    ("torch_npu/csrc/aten/npu_native_functions.yaml", OWN),
    ("torch_npu/csrc/aten/npu_native_functions_by_codegen.yaml", CODE),
    ("torch_npu-9.9.0.dist-info/METADATA", "Name: torch_npu\n"),
];

/// An environment with a torch_npu unknown to the tables is evaluated only by its own files.
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
    // Two of five operators are unknown: above the share that a pass allows.
    assert_eq!((status, all[1].as_str()), (3, "aten::mode native"));
    assert_eq!(target["installed"]["native_functions"], false);
    let (_, shown, _) = text(&[&format!("--installed={}", wheel.display()), list]);
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        shown.contains("based on its registration files: 3 kernels, 1 custom operator"),
        "{shown}"
    );
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
        (None, "no registration files of torch_npu"),
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
        (list.to_owned(), "not a wheel"),
        (dir.path().display().to_string(), "no `torch_npu` in the directory"),
    ] {
        let (status, _, error) = text(&[&format!("--installed={place}"), list]);
        assert_eq!(status, 2);
        assert!(error.contains(expected), "{error}");
    }
    let (status, _, error) = text(&["--installed", list]);
    assert_eq!((status, error.contains("no torch_npu in the search path")), (2, true), "{error}");
}
