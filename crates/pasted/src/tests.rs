//! Tests with complete texts, all written for these tests.

mod context;
mod formats;
mod limits;
mod written;

use proptest::prelude::*;

use super::{MAX_LINE, Reason, read};

/// `name=value` of all facts, in their order.
fn facts(text: &str) -> Vec<String> {
    read(text).facts.iter().map(|fact| format!("{}={}", fact.name, fact.value)).collect()
}

#[track_caller]
fn states(text: &str, expected: &[&str]) {
    assert_eq!(facts(text), expected, "{text}");
}

/// A text and its facts.
struct Case(&'static str, &'static [&'static str]);

/// Reports all texts with different facts, not only the first.
#[track_caller]
fn check(cases: &[Case]) {
    let mut report = String::new();
    for Case(text, expected) in cases {
        let found = facts(text);
        if found != *expected {
            let missing: Vec<_> =
                expected.iter().filter(|one| !found.contains(&one.to_string())).collect();
            let extra: Vec<_> =
                found.iter().filter(|one| !expected.contains(&one.as_str())).collect();
            report.push_str(&format!("{text}\n  missing: {missing:?}\n  extra: {extra:?}\n\n"));
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

/// Texts that contain versions and chips but state no facts.
const SILENT: [&str; 40] = [
    "Does CANN 8.5 support torch 2.9? Will vllm-ascend 0.11.0 run on Atlas 800I A3?",
    "Which torch_npu version matches CANN 8.2.RC1? Should I use 2.7.1 or 2.6.0?",
    "# requirements.txt\ntorch==2.5.1\ntorch-npu==2.5.1\nnumpy>=1.24\ntransformers~=4.45",
    "dependencies = [\n    \"torch==2.7.1\",\n    \"torch-npu==2.7.1\",\n]",
    "> torch 2.1\n> CANN: 8.0.RC1\n> Fails with vllm 0.9.1 here\n\nSame here.",
    "| vLLM Ascend | Python | CANN |\n|---|---|---|\n| 0.11.0 | 3.11 | 8.3.RC1 |\n| 0.9.1 | 3.10 | 8.2.RC1 |",
    "[  12.345678] davinci: driver version 24.1 at 0000:c1:00.0\nserver 10.1.2.3:8000, commit a910b3f",
    "Seen with torch.npu and CANN 8.x, torch 2.x and transformers 4.*",
    "torch>=2.1,<2.6\ntorch_npu >= 2.1\npython_requires >=3.9",
    "Fixed in CANN 8.3.RC1. Support for torch 2.9 was introduced in vllm-ascend 0.13.0.",
    "Collecting torch==2.7.1\n  Downloading torch-2.7.1-cp310-cp310-manylinux_2_28_aarch64.whl (821 MB)",
    "ERROR: No matching distribution found for torch-npu==2.9.0\npip install torch-npu==2.9.0",
    "之前用 CANN 8.0.RC3 和 torch 2.1.0 没问题，现在不行了",
    "建议使用 CANN 8.2.RC1 及以上版本，torch_npu 需要 2.5.1",
    "If you use torch 2.5.1 you also want CANN 8.0.0, for example with `pip install torch==2.5.1`.",
    "You should try `pip install vllm==0.9.1 vllm-ascend==0.9.1`.",
    "__version__ = \"2.5.1\"\nif torch.__version__ >= \"2.1\":\n    TORCH = \"2.1\"",
    "step 100 loss 0.25\nepoch 1.5 lr 2.0\naccuracy 0.98",
    "Model: Qwen2.5-72B\nport: 8000\nvllm serve --tensor-parallel-size 8 --gpu-memory-utilization 0.9",
    "Tested on: torch 2.1/2.4/2.5, python 3.8-3.11",
    "Nvidia driver version: 535.104.05\nCUDA Driver Version: 12.4\ndriver: 535.129.03",
    "python: can't open file 'x.py'\nPython 2.7 is not supported",
    "# export ASCEND_RT_VISIBLE_DEVICES=4,5\nexport API_TOKEN=abcd\nexport HCCL_IF_IP=$(hostname -I)",
    "docker run -v /usr/local/dcmi:/usr/local/dcmi -p 8000:8000 ubuntu bash\ncurl http://127.0.0.1:8000/v1",
    "```\n# export IMAGE=quay.io/ascend/vllm-ascend:v0.9.1\n```",
    "supported soc: Ascend910A, Ascend910B",
    "My colleague has CANN 8.0.RC1. The official guide uses torch 2.1.0.",
    "Upgrade torch to 2.9.0, bump vllm to 0.12.0",
    "{\"device_id\":0, \"component\":hboot1a, \"version\":6.4.12.1.241}",
    "请问 310P3 能跑 vllm-ascend 0.9.1 吗？",
    "- **MindSpore version (e.g., 1.7.0.Bxxx)** :\n- **Python version (e.g., Python 3.7.5)** :\n- **OS platform and distribution (e.g., Linux Ubuntu 16.04)**:",
    "Only torch_npu-2.1.0-cp38-cp38-linux_aarch64.whl and torch_npu-2.1.0-cp39-cp39-linux_aarch64.whl exist.",
    "I want to move from torch 2.1 to torch 2.5.",
    "我试了 torch 2.1.0 和 torch 2.3.1 都不行",
    "\"transformers_version\": \"4.37.2\",\n\"torch_dtype\": \"bfloat16\",",
    "set the environment variable ASCEND_LAUNCH_BLOCKING=1.\nASCEND_LAUNCH_BLOCKING=1 to get more information",
    "paddle-custom-npu 3.1.0 要求 CANN 8.0.RC2 以上",
    "vllm-ascend requires torch==2.5.1\nvllm pulls in torch==2.6.0",
    "CANN: 8.0.RC1 or 8.0.RC2\ntorch: >=2.1",
    "<!-- torch: 2.1.0\nCANN: 8.0.RC1 -->",
];

#[test]
fn versions_that_nobody_stated_are_no_facts() {
    for text in SILENT {
        states(text, &[]);
    }
}

#[test]
fn collect_env_with_npu_smi_and_install_info() {
    let text = "PyTorch version: 2.5.1\nOS: Ubuntu 22.04.5 LTS (aarch64)\n\
        GCC version: (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0\nLibc version: glibc-2.35\n\
        Python version: 3.10.15 (main, Nov 27 2024) [GCC 11.3.0] (64-bit runtime)\n\
        Python platform: Linux-5.10.0-60.18.0.50.oe2203.aarch64-aarch64-with-glibc2.35\n\
        [pip3] sentence-transformers==3.1.0\n[pip3] torch==2.5.1+cpu\n[conda] Could not collect\n\
        vLLM Version: 0.7.3\nvLLM Ascend Version: 0.7.3rc2\n\n\
        | npu-smi 24.1.rc2                 Version: 24.1.rc2                |\n\
        | 0     910B3               | OK            | 95.1        38                0    / 0             |\n\
        | 0                         | 0000:C1:00.0  | 0           0    / 0          3366/ 65536          |\n\n\
        package_name=Ascend-cann-toolkit\nversion=8.0.0\ninnerversion=V100R001C20SPC001B251\narch=aarch64\n";
    states(
        text,
        &[
            "npu=910B3",
            "driver=24.1.rc2",
            "cann=8.0.0",
            "os=Ubuntu 22.04.5 LTS",
            "host_os=openEuler 22.03",
            "kernel=5.10.0-60.18.0.50.oe2203",
            "arch=aarch64",
            "glibc=2.35",
            "gcc=11.4.0",
            "python=3.10.15",
            "torch=2.5.1+cpu",
            "vllm=0.7.3",
            "vllm_ascend=0.7.3rc2",
            "package.sentence-transformers=3.1.0",
        ],
    );
    let pasted = read(text);
    let [chip] = pasted.chips.as_slice() else { panic!("{:?}", pasted.chips) };
    assert_eq!((chip.used_mb, chip.total_mb, chip.line), (Some(3366), Some(65536), 14));
}

#[test]
fn labels_in_both_languages() {
    states(
        "- 昇腾驱动：24.1.rc2\n- 固件版本：7.3.0.1.231\n- CANN 版本: 8.0.RC2\n-- Pytorch版本:2.3.1\n\
         【操作系统】：openEuler 22.03 LTS\n训练卡: 910B4\ntransformers:transformers 4.46.3\n",
        &[
            "npu=910B4",
            "driver=24.1.rc2",
            "firmware=7.3.0.1.231",
            "cann=8.0.RC2",
            "os=openEuler 22.03 LTS",
            "torch=2.3.1",
            "transformers=4.46.3",
        ],
    );
    states("HDK25.0.rc1，CANN8.1.RC1", &["driver=25.0.rc1", "cann=8.1.RC1"]);
    states(
        "torch & torch-npu==2.6.0\nswift==3.4.0\nvllm-ascend ==0.8.4rc1",
        &["torch=2.6.0", "torch_npu=2.6.0", "vllm_ascend=0.8.4rc1", "ms_swift=3.4.0"],
    );
    states("torch / torch_npu: 2.5.1 / 2.5.1.post1", &["torch=2.5.1", "torch_npu=2.5.1.post1"]);
    states("- **MindSpore version (2.3.1)**:", &["mindspore=2.3.1"]);
    states("CANN: 7.6.T12.0.B050:8.1.RC1", &["cann=8.1.RC1"]);
}

#[test]
fn cann_called_driver_is_cann() {
    states("驱动版本也确认过6.3.RC2", &["cann=6.3.RC2"]);
    states("driver: 8.0.RC2", &["cann=8.0.RC2"]);
    states("CANN: 24.1.rc2", &[]);
}

#[test]
fn present_version_replaces_earlier() {
    states("torch: 从 2.1.0 升级到 2.4.0", &["torch=2.4.0"]);
    states("I downgraded torch_npu from 2.4.0 to 2.1.0 yesterday.", &["torch_npu=2.1.0"]);
    states("已经将 CANN 从 8.0.RC3 升级到 8.1.RC1 了", &["cann=8.1.RC1"]);
    let other = read("CANN: 8.0.RC2 -> 8.1.RC1").other;
    assert!(other.iter().any(|one| one.reason == Reason::Earlier && one.stated.value == "8.0.RC2"));
}

#[test]
fn tables_with_one_value_for_each_label() {
    states(
        "| 组件 | 版本 |\n| --- | --- |\n| CANN | 8.1.RC1 |\n| torch | 2.5.1 |",
        &["cann=8.1.RC1", "torch=2.5.1"],
    );
    states(
        "|  | torch | torch_npu |\n|---|---|---|\n| env | 2.1.0 | 2.1.0.post6 |",
        &["torch=2.1.0", "torch_npu=2.1.0.post6"],
    );
    states("<tr><td>CANN</td><td>8.0.RC3</td></tr>", &["cann=8.0.RC3"]);
}

#[test]
fn installed_versions_win_over_commands() {
    states(
        "pip install torch==2.9.0\nSuccessfully installed torch-2.7.1+cpu torch-npu-2.7.1.post2",
        &["torch=2.7.1+cpu", "torch_npu=2.7.1.post2"],
    );
    states("pip install torch==2.9.0", &["torch=2.9.0"]);
    states(
        "vllm 0.11.0 requires torch==2.8.0, but you have torch 2.7.1 which is incompatible.",
        &["torch=2.7.1"],
    );
    states("cd vllm-ascend\ngit checkout v0.9.1rc1", &["vllm_ascend=0.9.1rc1"]);
}

#[test]
fn files_paths_and_images() {
    states(
        "Ascend-hdk-910b-npu-driver_24.1.rc2_linux-aarch64.run, Ascend-cann-kernels-910b_8.0.RC2_linux.run",
        &[
            "npu=910b",
            "driver=24.1.rc2",
            "cann=8.0.RC2",
            "kernels=Ascend-cann-kernels-910b_8.0.RC2",
            "arch=aarch64",
        ],
    );
    states(
        "File \"/opt/py/lib/python3.8/site-packages/torch_npu-2.1.0.post3-py3.8.egg/torch_npu/x.py\", line 3",
        &["python=3.8", "torch_npu=2.1.0.post3"],
    );
    states(
        "docker run -e VLLM_USE_V1=1 -v /a:/a quay.io/ascend/vllm-ascend:v0.9.1rc1-openeuler bash",
        &[
            "image=quay.io/ascend/vllm-ascend:v0.9.1rc1-openeuler",
            "vllm_ascend=0.9.1rc1",
            "env.VLLM_USE_V1=1",
        ],
    );
    states("CANN_HOME: /usr/local/Ascend/cann-9.0.0\nCANN: Not Available", &["cann=9.0.0"]);
}

#[test]
fn versions_of_equal_weight_cancel_each_other() {
    let pasted = read("CANN: 8.0.RC1\n\nCANN: 8.1.RC1");
    assert!(pasted.facts.is_empty());
    assert_eq!(pasted.conflicts[0].values.len(), 2);
}

#[test]
fn sections_of_diagnose_scripts() {
    states(
        "----------Python Info----------\nVersion      : 3.11.13\nCompiler     : GCC 11.4.0\n",
        &["python=3.11.13"],
    );
    states(
        "NPU 0,1,2,3: Ascend910B3\nAscend Driver Version: 25.0.rc1.1\nsgl_kernel: Module Not Found",
        &["npu=Ascend910B3", "npu_count=4", "driver=25.0.rc1.1"],
    );
}

#[test]
fn long_input_is_cut() {
    let text = format!("{}\nCANN: 8.0.RC1\n", "x ".repeat(MAX_LINE));
    assert_eq!(read(&text).facts[0].line, 2);
    let many = "torch==2.1.0\n\n".repeat(20_000);
    assert_eq!(read(&many).facts.len(), 1);
}

/// Lines that state a fact each, without bullets, headings and fences.
const LINES: [&str; 12] = [
    "torch: 2.5.1",
    "CANN 版本：8.0.RC3",
    "torch_npu==2.5.1.post1",
    "vllm                 0.7.3+empty",
    "NPU type: Ascend910B4",
    "export VLLM_USE_V1=1",
    "OS: openEuler 24.03 (LTS-SP2) (aarch64)",
    "Python 3.10.14 (main, May  6 2024, 19:42:50) [GCC 11.2.0] on linux",
    "| 0     910B4               | OK            | 88.3        34                0    / 0             |",
    "Successfully installed numpy-1.26.4",
    "pip install transformers==4.51.0",
    "8卡 Ascend 910B4",
];

proptest! {
    #[test]
    fn decoration_changes_no_fact(
        picked in proptest::sample::subsequence(&LINES[..], 1..=LINES.len()),
        bullet in proptest::sample::select(vec!["", "  ", "- ", "* ", "1. ", "    - "]),
        end in proptest::sample::select(vec!["\n", "  \n", "\r\n", "\t\r\n"]),
        wrap in 0..3_usize,
    ) {
        let plain = picked.join("\n\n");
        let mut text = String::new();
        for line in &picked {
            text.push_str(bullet);
            text.push_str(line);
            text.push_str(end);
            text.push_str(end);
        }
        let text = match wrap {
            0 => text,
            1 => format!("```text\n{text}```\n"),
            _ => format!("<details>\n<summary>env</summary>\n\n{text}\n</details>\n"),
        };
        prop_assert_eq!(facts(&plain), facts(&text));
    }

    #[test]
    fn any_text_is_read(text in "\\PC{0,300}") {
        read(&text);
    }

    #[test]
    fn mixed_fragments_are_read(
        parts in proptest::collection::vec(
            proptest::sample::select(vec![
                "torch", "==", "2.5.1", "CANN", "：", "\n", "```", "<!--", "-->", "|", "版本", "910B", " ", "(", ")",
                "v", "pip install ", "export A_B=", "File \"/lib/python3.10/", "> ", "+", "->", "昇腾", "é", "\u{2011}",
            ]),
            0..60,
        ),
    ) {
        let text = parts.concat();
        let pasted = read(&text);
        let lines = u32::try_from(text.lines().count()).unwrap();
        prop_assert!(pasted.facts.iter().all(|fact| fact.line >= 1 && fact.line <= lines));
    }
}
