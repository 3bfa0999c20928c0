//! Writes initial inputs for the fuzz targets: files of machines that the tests build. Used by
//! `scripts/fuzz.sh`.
#![expect(clippy::disallowed_methods, reason = "a tool for developers")]

#[path = "../fuzz/kinds.rs"]
mod kinds;
#[path = "../tests/support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use support::elf::{ElfBuilder, HashStyle};
use support::machine::Spec;
use support::tree::Entry;
use verify::evidence::{Head, Recorded, Recorder, SCHEMA};
use verify::identity::MachineIdentity;
use verify::parent::{ChildEnd, ChildResult};
use verify::protocol::{EventReader, Stage, VendorOutput};
use verify::run::RunResult;

const NPU_SMI: &str = "\
| npu-smi 25.2.0                   Version: 25.2.0                                               |
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
| 0     910B4-1             | OK            | 93.0        39                0    / 0             |
| 0     0                   | 0000:C1:00.0  | 0           0    / 0          27547/ 65536         |
Compatibility                  : OK
dcmi module initialize failed. ret is -8005
";

/// Files of kinds that are rare in the examples of the rules.
const FILES: &[(&str, &str)] = &[
    (
        "a.ipynb",
        r#"{"cells": [{"cell_type": "code", "metadata": {}, "outputs": [{"text": ["cuda"]}],
 "source": ["import torch\n", "%env CUDA_VISIBLE_DEVICES=0\n", "!nvidia-smi\n", "x = torch.ones(1, device='cuda')"]}],
 "metadata": {}, "nbformat": 4, "nbformat_minor": 5}"#,
    ),
    (
        "a.sh",
        "#!/bin/bash\nexport CUDA_VISIBLE_DEVICES=0,1 # cuda\nNCCL_DEBUG=INFO python train.py \\\n  --device \"${1:-cuda}\" --backend=nccl <<'E'\ncuda\nE\n",
    ),
    (
        "a.yaml",
        "a: &x\n  device: cuda:0 # cuda\n  env: {CUDA_VISIBLE_DEVICES: '0, 1'}\n  s: |\n    cuda\nb: [cpu, \"cuda\"]\n",
    ),
    (
        "a.json",
        r#"{"device": "cuda:0", "backend": "nccl", "env": {"NCCL_IB_TIMEOUT": "22"}, "x": [1, {"device_type": "gpu"}]}"#,
    ),
    (
        "a.toml",
        "[train]\ndevice = 'cuda' # x\nbackend = \"nccl\"\n[env]\nCUDA_VISIBLE_DEVICES = \"0\"\n",
    ),
    (
        "requirements.txt",
        "--extra-index-url https://example.org/whl/cu121\ntorch==2.1.0+cu121 ; python_version > '3.8' # x\nonnxruntime-gpu>=1.16\ncupy-cuda12x\\\n  ==13.0\n",
    ),
    (
        "pyproject.toml",
        "[project]\ndependencies = [\"torch==2.7.1\", 'onnxruntime-gpu']\n[project.optional-dependencies]\ngpu = [\"xformers\"]\n",
    ),
    (
        "environment.yml",
        "channels: [pytorch, nvidia]\ndependencies:\n  - pytorch=2.1\n  - pytorch-cuda=12.1\n  - pip:\n    - onnxruntime-gpu\n",
    ),
    ("setup.cfg", "[options]\ninstall_requires =\n    torch==2.1.0\n    onnxruntime-gpu\n"),
    (
        "Dockerfile",
        "FROM nvidia/cuda:12.1.0-devel AS b\nENV CUDA_VISIBLE_DEVICES=0 \\\n    NCCL_DEBUG=INFO\nRUN pip install torch==2.1.0+cu121 && \\\n  export X='cuda'\nCMD [\"python\", \"t.py\", \"--device\", \"cuda\"]\n",
    ),
    (
        "docker-compose.yml",
        "services:\n  a:\n    image: nvidia/cuda\n    runtime: nvidia\n    environment:\n      - NVIDIA_VISIBLE_DEVICES=all\n",
    ),
    (
        "a.cu",
        "#include <cuda_runtime.h>\n__global__ void add(float* a) { a[threadIdx.x] += 1; }\nvoid f() { add<<<1, 2>>>(0); /* cuda */ }\n",
    ),
    (
        "CMakeLists.txt",
        "project(x LANGUAGES CXX CUDA)\nfind_package(CUDAToolkit REQUIRED) # x\ntarget_link_libraries(x PRIVATE CUDA::cudart)\n",
    ),
    (
        "a.rs",
        "use ort::{CUDAExecutionProvider, Session};\nfn f() { let _ = [CUDAExecutionProvider::default().build()]; let d = tch::Device::Cuda(0); }\n",
    ),
    (
        "Cargo.toml",
        "[dependencies]\nort = { version = \"2\", features = [\"cuda\"] }\ncandle-core = { version = \"0.6\", features = ['cuda'] }\n",
    ),
];

/// The events of a child of `verify`, line by line.
const EVENTS: &str = concat!(
    r#"{"event":"call","function":"aclInit"}"#,
    "\n",
    r#"{"event":"stage","rung":"memory","stage":"round trip","host_ms":1.5,"device_ms":0.5,"outcome":{"outcome":"passed"}}"#,
    "\n",
    r#"{"event":"done"}"#,
    "\n",
);

/// An earlier report, with the parts that `--baseline` reads.
const BASELINE: &str = r#"{"schema":"ascend-doctor/verify/2","devices":[{"device":0,"stages":[{"stage":"h2d","gb_per_s":24.5}],"told":[{"measure":"kernel","best_ms":0.25}]}]}"#;

/// The evidence of a small run.
fn evidence() -> anyhow::Result<Vec<u8>> {
    let mut reader = EventReader::default();
    reader.feed(EVENTS.as_bytes(), &mut |_| {});
    let child = |device: Option<i32>, events| ChildResult {
        name: device.map_or("count".to_owned(), |device| format!("device-{device}")),
        device,
        events,
        last_call: None,
        calls: 1,
        end: ChildEnd::Reported,
        chatter: VendorOutput::default(),
        took: Duration::from_millis(5),
    };
    let mut result = RunResult::of(child(None, Vec::new()));
    result.devices = vec![child(Some(0), reader.events)];
    let head = Head {
        schema: SCHEMA.to_owned(),
        program: String::new(),
        arguments: vec!["verify".to_owned()],
        environment: vec![("ASCEND_RT_VISIBLE_DEVICES".to_owned(), "5".to_owned())],
        system: None,
        npu_smi: None,
        files: Vec::new(),
    };
    let recorded =
        Recorded { result, stages: Stage::ALL.to_vec(), machine: MachineIdentity::default() };
    let lines = Recorder::default().lines(&head, &recorded)?;
    Ok(lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n").into())
}

fn main() -> anyhow::Result<()> {
    let dir = std::env::args().nth(1).unwrap_or_else(|| "fuzz/corpus".to_owned());
    let mut seeds: BTreeMap<&str, Vec<Vec<u8>>> = BTreeMap::new();
    let new = Spec {
        arch: "x86_64".to_owned(),
        cann: "9.0.0".to_owned(),
        driver: "26.0.rc1".to_owned(),
        torch_npu: "2.9.0.post2".to_owned(),
        ..Spec::default()
    };
    for tree in [Spec::default().build(), new.build()] {
        for (path, entry) in &tree.entries {
            let Entry::File(bytes) = entry else { continue };
            let target = match path.rsplit('/').next().unwrap_or_default() {
                "RECORD" => "record",
                "METADATA" | "WHEEL" | "entry_points.txt" => "metadata",
                name if name.ends_with(".info") => "versions",
                name if name.contains(".so") => "elf",
                _ => continue,
            };
            seeds.entry(target).or_default().push(bytes.to_vec());
        }
    }
    let odd = ElfBuilder::x86_64().hash(HashStyle::Sysv).no_sections().define(["a", "b"]);
    seeds.entry("elf").or_default().push(odd.undefined(["c"]).build());
    seeds.entry("npu_smi").or_default().push(NPU_SMI.into());
    let url = r#"{"dir_info": {"editable": true}, "url": "file:///src/a%20b"}"#;
    seeds.entry("metadata").or_default().push(url.into());
    let texts = ["https://user:secret@host/simple, x", "\u{1b}[31mred\u{202e}\0", "昇腾\r\n"];
    let issues =
        ["torch  2.7.1\ntorch-npu  2.7.1\n", "CANN 版本：8.2.RC1", "export HCCL_IF_IP=1.2.3.4"];
    seeds.insert("pasted", issues.iter().map(|text| text.as_bytes().to_vec()).collect());
    seeds.insert("text", texts.iter().map(|text| text.as_bytes().to_vec()).collect());
    // The examples of the rules, each as a file of its kind.
    let examples = convert::rules::Rules::builtin().rules.iter();
    for example in examples.filter_map(|rule| rule.text().example.as_ref()) {
        let file = example.file.unwrap_or("a.py");
        let prelude = if example.file.is_none() { "import torch, os\n" } else { "" };
        let body = format!("{prelude}{}", example.before);
        seeds.entry("convert").or_default().push([&[kinds::first(file)], body.as_bytes()].concat());
    }
    // Complete scripts, and samples of each kind of file.
    for entry in walkdir::WalkDir::new("tests/fixtures/convert") {
        let path = entry?.into_path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_file() {
            let body = std::fs::read(&path)?;
            if name.ends_with(".py") {
                // As a file, as the cells of a notebook, and with the backward pass.
                for first in [2, 1, 6] {
                    seeds.entry("sources").or_default().push([&[first], &body[..]].concat());
                }
            } else if name.ends_with(".ipynb") {
                seeds.entry("sources").or_default().push([&[0], &body[..]].concat());
            }
            seeds.entry("convert").or_default().push([&[kinds::first(&name)], &body[..]].concat());
        }
    }
    for (name, body) in FILES {
        let seed = [&[kinds::first(name)], body.as_bytes()].concat();
        seeds.entry("convert").or_default().push(seed);
    }
    seeds.extend(logs());
    seeds.insert("models", models());
    seeds.insert("verify", vec![[b"@".as_slice(), EVENTS.as_bytes()].concat()]);
    seeds.insert("evidence", vec![evidence()?, BASELINE.into()]);
    for (target, files) in seeds {
        let dir = Path::new(&dir).join(target);
        std::fs::create_dir_all(&dir)?;
        for bytes in files {
            let name = base::hash::Sha256::of(&bytes).hex();
            std::fs::write(dir.join(&name[..16]), bytes)?;
        }
    }
    Ok(())
}

/// Models and registration files: the first byte selects how the target reads the rest.
fn models() -> Vec<Vec<u8>> {
    let library =
        ElfBuilder::x86_64().define(["a"]).undefined(["_ZN5torch7Library5_implE"]).build();
    let seeds: [(u8, &[u8]); 16] = [
        (0, b"aten::add.Tensor\naten::mode 3\nnpu::npu_rms_norm\n"),
        (0, br#"{"traceEvents":[{"ph":"X","name":"aten::mm","ts":1,"dur":2.5,"tid":1},{"ph":"X","name":"aten::_to_cpu","ts":1,"dur":1,"tid":1}]}"#),
        (0, b"[W] Warning: CAUTION: The operator 'aten::isin.Tensor_Tensor_out' is not currently supported on the NPU backend and will fall back to run on the CPU.\n"),
        (0, br#"{"model_type":"llama","torch_dtype":"bfloat16","hidden_act":"silu","rms_norm_eps":1e-5,"text_config":{"num_experts":8}}"#),
        (0, b"\x2c\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_\":0}}\0\0"),
        (0, b"\x08\x09\x3a\x14\x0a\x08\x22\x04Relu\x1a\x00\x2a\x04\x10\x10\x4a\x00\x12\x00\x42\x04\x0a\x00\x10\x11"),
        (1, b"class Net(Module):\n  weight : Tensor\n  def forward(self: __torch__.Net,\n    x: Tensor) -> Tensor:\n    if torch.gt(torch.dim(x), 2):\n      y = torch.relu(x)\n    else:\n      y = torch.add(x, self.weight)\n    return ops.npu.npu_rms_norm(y, x)\n"),
        (2, br#"{"graph_module":{"graph":{"inputs":[],"outputs":[],"nodes":[{"target":"torch.ops.aten.add.Tensor","inputs":[{"name":"self","arg":{"as_tensor":{"name":"x"}}}],"outputs":[{"as_tensor":{"name":"y"}}],"metadata":{"stack_trace":"File \"/n.py\", line 7, in f"}}],"tensor_values":{"x":{"dtype":7,"sizes":[{"as_int":2}]}}}},"torch_version":"2.9.0","x":NaN}"#),
        (3, b"\x80\x02}q\x00X\x01\x00\x00\x00actorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x04tQK\x00K\x04\x85K\x01\x85\x89ccollections\nOrderedDict\n)RtRs."),
        (3, b"\x80\x04\x95\x10\0\0\0\0\0\0\0\x8c\x02os\x94\x8c\x06system\x94\x93\x94h\0."),
        (4, b"supported:\n  - as_strided\n  - func: clone\n    op_api: True\ncustom:\n  - func: npu_x(Tensor a) -> Tensor\nsymint:\n  - npu_x\n"),
        (12, b"supported:\n- func: add.out(Tensor self) -> Tensor\n  impl_ns: acl_op, op_api\n  sparse: op_api\nquant:\n- x\n"),
        (5, b"- func: lgamma(Tensor self) -> Tensor\n  structured_delegate: lgamma.out\n- func: a(Tensor x) -> Tensor\n  dispatch:\n    CPU, CUDA: a\n  autogen: a.out\n"),
        (6, &library),
        (0, b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
        (0, b"\x80\x02}."),
    ];
    seeds.iter().map(|(first, body)| [&[*first], *body].concat()).collect()
}

/// Logs of all kinds, codes as typed by users, and texts of registers.
fn logs() -> [(&'static str, Vec<Vec<u8>>); 3] {
    let signatures = errcodes::log::signatures();
    let plain = |body: &[u8]| [&[3], body].concat();
    let mut logs: Vec<Vec<u8>> =
        signatures.iter().map(|signature| plain(signature.example.as_bytes())).collect();
    let all: Vec<&str> = signatures.iter().map(|signature| signature.example.as_str()).collect();
    logs.extend(all.chunks(24).map(|some| plain(some.join("\n").as_bytes())));
    // One file for each rank.
    logs.extend(all.chunks(40).map(|some| plain(some.join("\n\x0c").as_bytes())));
    for first in [1, 2] {
        logs.push([&[first], all[..12].join("\n").as_bytes()].concat());
    }
    let mut archive = tar::Builder::new(Vec::new());
    for (name, text) in ["rank_0.log", "rank_1.log", "plog-7_1.log"].iter().zip(&all) {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_cksum();
        let _ = archive.append_data(&mut header, name, text.as_bytes());
    }
    let archive = archive.into_inner().unwrap_or_default();
    let mut packed = flate2::read::GzEncoder::new(&archive[..], flate2::Compression::fast());
    let mut bytes = vec![0];
    let _ = std::io::Read::read_to_end(&mut packed, &mut bytes);
    logs.extend([[&[0], &archive[..]].concat(), bytes]);

    let typed = [
        "507035",
        "0x7020016",
        "-8005",
        "EI0006",
        "ERR02200",
        "0x80E01801",
        "80E01801",
        "ACL_ERROR_RT_VECTOR_CORE_EXCEPTION",
        "errcode:(0x800000, 0x4000, 0)",
        "errNo[0x000000000500000b]",
        "2162169857",
        "2024-11-28-11:59:30.645.648",
        "Thu Nov 28 11:56:34 2024",
        "INFO 09-04 10:00:00 x",
    ];
    let typed: Vec<Vec<u8>> = typed.iter().map(|text| text.as_bytes().to_vec()).collect();
    let mut words = typed.clone();
    words.push([0x80_0000_u64, 0x4000, 0].iter().flat_map(|word| word.to_le_bytes()).collect());
    words.push(0x80E0_1801_u64.to_le_bytes().to_vec());
    words.push(507_035_u64.to_le_bytes().to_vec());
    [("logs", logs), ("numbers", typed), ("decoders", words)]
}
