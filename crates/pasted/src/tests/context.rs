//! Images, variables, sentences and tables. All texts are invented.

use super::{Case, check};

#[test]
fn images_and_their_tags() {
    check(&[
        Case(
            "docker pull quay.io/ascend/vllm-ascend:v0.9.1-310p-openeuler",
            &["image=quay.io/ascend/vllm-ascend:v0.9.1-310p-openeuler", "vllm_ascend=0.9.1"],
        ),
        Case(
            "镜像：swr.cn-south-1.myhuaweicloud.com/ascendhub/mindie:2.1.RC2-800I-A2-py311-openeuler24.03-lts",
            &[
                "os=openEuler 24.03",
                "image=swr.cn-south-1.myhuaweicloud.com/ascendhub/mindie:2.1.RC2-800I-A2-py311-openeuler24.03-lts",
                "python=3.11",
                "mindie=2.1.RC2",
            ],
        ),
        Case(
            "FROM quay.io/ascend/cann:8.2.rc1-910b-ubuntu22.04-py3.11",
            &[
                "cann=8.2.rc1",
                "os=Ubuntu 22.04",
                "image=quay.io/ascend/cann:8.2.rc1-910b-ubuntu22.04-py3.11",
                "python=3.11",
            ],
        ),
        Case(
            "FROM example.org/device/paddle-npu:cann80RC2-ubuntu20-aarch64-gcc84-py39",
            &[
                "cann=8.0.RC2",
                "arch=aarch64",
                "gcc=8.4",
                "image=example.org/device/paddle-npu:cann80RC2-ubuntu20-aarch64-gcc84-py39",
                "python=3.9",
            ],
        ),
        Case(
            "services:\n  vllm:\n    image: quay.io/ascend/vllm-ascend:v0.10.1rc1-a3\n    environment:\n      - HCCL_BUFFSIZE=1024\n      - ASCEND_RT_VISIBLE_DEVICES=0,1\n      VLLM_USE_V1: \"1\"",
            &[
                "image=quay.io/ascend/vllm-ascend:v0.10.1rc1-a3",
                "vllm_ascend=0.10.1rc1",
                "env.HCCL_BUFFSIZE=1024",
                "env.ASCEND_RT_VISIBLE_DEVICES=0,1",
                "env.VLLM_USE_V1=1",
            ],
        ),
        Case(
            "export IMAGE=quay.io/ascend/vllm-ascend:v0.11.0rc0\ndocker run --rm --name vllm -it $IMAGE bash",
            &[
                "image=quay.io/ascend/vllm-ascend:v0.11.0rc0",
                "vllm_ascend=0.11.0rc0",
                "env.IMAGE=quay.io/ascend/vllm-ascend:v0.11.0rc0",
            ],
        ),
        // The machine of a tag is the one that the image was built for.
        Case(
            "image: lmsysorg/sglang:main-cann8.2.rc1-a3\nnpu: 910B3",
            &["npu=910B3", "cann=8.2.rc1", "image=lmsysorg/sglang:main-cann8.2.rc1-a3"],
        ),
        Case(
            "CONTAINER ID   IMAGE                                         COMMAND   STATUS\nabcdef012345   quay.io/ascend/vllm-ascend:v0.8.5rc1-openeuler   \"bash\"    Up 3 days",
            &["image=quay.io/ascend/vllm-ascend:v0.8.5rc1-openeuler", "vllm_ascend=0.8.5rc1"],
        ),
        Case(
            "REPOSITORY                     TAG            IMAGE ID       CREATED      SIZE\nquay.io/ascend/vllm-ascend     v0.9.0rc2      abcdef012345   2 days ago   16.1GB",
            &["image=quay.io/ascend/vllm-ascend:v0.9.0rc2", "vllm_ascend=0.9.0rc2"],
        ),
    ]);
}

#[test]
fn environment_variables() {
    check(&[
        Case(
            "$ env | grep ASCEND\nASCEND_TOOLKIT_HOME=/usr/local/Ascend/ascend-toolkit/latest\nASCEND_HOME_PATH=/usr/local/Ascend/ascend-toolkit/latest",
            &[
                "env.ASCEND_TOOLKIT_HOME=/usr/local/Ascend/ascend-toolkit/latest",
                "env.ASCEND_HOME_PATH=/usr/local/Ascend/ascend-toolkit/latest",
            ],
        ),
        Case(
            "export HCCL_IF_IP=10.0.0.1 && export HCCL_BUFFSIZE=\"512\"; python run.py",
            &["env.HCCL_IF_IP=10.0.0.1", "env.HCCL_BUFFSIZE=512"],
        ),
        Case(
            "docker run -e ASCEND_VISIBLE_DEVICES=0-7 --env=HCCL_WHITELIST_DISABLE=1 ubuntu:22.04 bash",
            &["env.ASCEND_VISIBLE_DEVICES=0-7", "env.HCCL_WHITELIST_DISABLE=1"],
        ),
        Case(
            "    env:\n    - name: HCCL_OP_EXPANSION_MODE\n      value: \"AIV\"\n    - name: VLLM_TOKEN\n      value: abc\n    - name: TASK_QUEUE_ENABLE\n      value: '2'",
            &["env.HCCL_OP_EXPANSION_MODE=AIV", "env.TASK_QUEUE_ENABLE=2"],
        ),
        Case(
            "os.environ[\"ASCEND_LAUNCH_BLOCKING\"] = \"1\"\nos.environ.setdefault('HCCL_CONNECT_TIMEOUT', '3600')",
            &["env.ASCEND_LAUNCH_BLOCKING=1", "env.HCCL_CONNECT_TIMEOUT=3600"],
        ),
        Case(
            "env_vars:\n  VLLM_USE_V1: \"1\"\n  HCCL_EXEC_TIMEOUT: 3600\n  TORCHDYNAMO_DISABLE: \"1\"",
            &["env.VLLM_USE_V1=1", "env.HCCL_EXEC_TIMEOUT=3600", "env.TORCHDYNAMO_DISABLE=1"],
        ),
        Case(
            "runtime_env = {\"env_vars\": {\"HCCL_CONNECT_TIMEOUT\": \"1800\", \"TASK_QUEUE_ENABLE\": \"1\"}}",
            &["env.HCCL_CONNECT_TIMEOUT=1800", "env.TASK_QUEUE_ENABLE=1"],
        ),
        Case(
            "I set HCCL_IF_IP=10.1.1.1 and ASCEND_LAUNCH_BLOCKING=1, nothing changed.",
            &["env.HCCL_IF_IP=10.1.1.1", "env.ASCEND_LAUNCH_BLOCKING=1"],
        ),
        Case("设置了HCCL_CONNECT_TIMEOUT=7200，仍然超时", &["env.HCCL_CONNECT_TIMEOUT=7200"]),
        Case(
            "$ echo $ASCEND_RT_VISIBLE_DEVICES\n0,1,2,3",
            &["env.ASCEND_RT_VISIBLE_DEVICES=0,1,2,3"],
        ),
        Case(
            "ENV LD_PRELOAD=/usr/lib/libjemalloc.so.2\nEnvironment=\"HCCL_SOCKET_IFNAME=eth0\"",
            &["env.LD_PRELOAD=/usr/lib/libjemalloc.so.2", "env.HCCL_SOCKET_IFNAME=eth0"],
        ),
        Case(
            "EE1001: [PID: 7] The argument is invalid.Reason: set ASCEND_RT_VISIBLE_DEVICES:6 error, input data rang[0-4)",
            &["npu_count=4", "env.ASCEND_RT_VISIBLE_DEVICES=6"],
        ),
    ]);
}

#[test]
fn sentences_in_both_languages() {
    check(&[
        Case(
            "CANN 8.2.RC1, torch_npu 2.5.1.post1, Python 3.10",
            &["cann=8.2.RC1", "python=3.10", "torch_npu=2.5.1.post1"],
        ),
        Case("驱动版本：25.2.0", &["driver=25.2.0"]),
        Case(
            "驱动版本为25.0.rc1.1，固件版本为7.7.0.1.231，CANN版本为8.1.RC1",
            &["driver=25.0.rc1.1", "firmware=7.7.0.1.231", "cann=8.1.RC1"],
        ),
        Case(
            "My environment is: Atlas 800I A2 server, CANN 8.0.0, driver 24.1.0, openEuler 22.03, aarch64.",
            &[
                "server=Atlas 800I A2",
                "driver=24.1.0",
                "cann=8.0.0",
                "os=openEuler 22.03",
                "arch=aarch64",
            ],
        ),
        Case(
            "I am running vllm-ascend v0.9.1 with torch-npu 2.5.1.post1 on an Ascend 910B3 (64GB).",
            &["npu=Ascend 910B3", "hbm_gb=64", "torch_npu=2.5.1.post1", "vllm_ascend=0.9.1"],
        ),
        Case(
            "在昇腾910B4单机8卡上，使用 vllm-ascend 0.10.2rc1 部署模型失败",
            &["npu=910B4", "npu_count=8", "vllm_ascend=0.10.2rc1"],
        ),
        Case(
            "环境：910B3*8，cann8.1.rc1，torch2.5.1，torch_npu2.5.1，python3.10",
            &[
                "npu=910B3",
                "npu_count=8",
                "cann=8.1.rc1",
                "python=3.10",
                "torch=2.5.1",
                "torch_npu=2.5.1",
            ],
        ),
        Case("环境：CANN7.0.RC1，python=3.9，gcc82", &["cann=7.0.RC1", "gcc=8.2", "python=3.9"]),
        Case("I upgraded CANN from 8.0.RC3 to 8.1.RC1 and the error persists.", &["cann=8.1.RC1"]),
        Case("After upgrading torch_npu from 2.4.0 to 2.5.1 it crashes.", &["torch_npu=2.5.1"]),
        Case("torch_npu 从 2.4.0 升级到 2.5.1 之后报错", &["torch_npu=2.5.1"]),
        Case(
            "It works with vllm-ascend 0.8.5 but fails with vllm-ascend 0.9.1.",
            &["vllm_ascend=0.9.1"],
        ),
        Case("vllm-ascend 0.9.1 fails while vllm-ascend 0.8.5 works fine.", &["vllm_ascend=0.9.1"]),
        Case("CANN 8.0.0 没问题，CANN 8.1.RC1 报错", &["cann=8.1.RC1"]),
        Case("CANN 8.1.RC1下运行报错，请问如何解决？", &["cann=8.1.RC1"]),
        Case(
            "使用的是CANN 8.1.RC1，torch_npu版本2.5.1，启动时卡住，这是为什么？",
            &["cann=8.1.RC1", "torch_npu=2.5.1"],
        ),
        Case("I'm using CANN 8.2.RC1 and it hangs, how to fix it?", &["cann=8.2.RC1"]),
        Case("请问昇腾910B2上训练时，报了这个错", &["npu=910B2"]),
        Case("Environment: a VM with 2 NPUs (910B3)", &["npu=910B3", "npu_count=2"]),
        Case("[Bug]: A3单机部署报错", &["server=A3"]),
        Case("Hangs on Ascend NPU A3", &["server=A3"]),
        Case(
            "服务器：Atlas 800T A2，单机16卡910 B2C",
            &["server=Atlas 800T A2", "npu=910 B2C", "npu_count=16"],
        ),
        Case("两台 Atlas 900 A2 PODc", &["server=Atlas 900 A2 PODc"]),
        Case("OS：CTyunOS 23.01（基于openEuler）", &["os=CTyunOS 23.01"]),
        Case("Host 环境：Ubuntu 20.04", &["os=Ubuntu 20.04", "host_os=Ubuntu 20.04"]),
        Case("Host OS: Ubuntu 20.04\n容器内 torch 2.1.0", &["host_os=Ubuntu 20.04", "torch=2.1.0"]),
        Case("verl branch 0.6.0, cann8.2.rc1", &["cann=8.2.rc1", "verl=0.6.0"]),
        Case(
            "- CANN: 8.1.RC1 (previously 8.0.0)\n- torch: v2.5.1",
            &["cann=8.1.RC1", "torch=2.5.1"],
        ),
        Case(
            "HDK: 25.2.0\nCANN: 8.2.RC1.alpha003\ntorch & torch_npu: 2.6.0",
            &["driver=25.2.0", "cann=8.2.RC1.alpha003", "torch=2.6.0", "torch_npu=2.6.0"],
        ),
        Case(
            "python版本3.10.6 pytorch版本2.1.0 cann版本8.0.RC1",
            &["cann=8.0.RC1", "python=3.10.6", "torch=2.1.0"],
        ),
        Case(
            "torch==2.5.1 torch_npu==2.5.1 transformers==4.51.3",
            &["torch=2.5.1", "torch_npu=2.5.1", "transformers=4.51.3"],
        ),
        Case(
            "Versions: torch 2.5.1 / torch_npu 2.5.1.post1 / CANN 8.1.RC1 / Python 3.10",
            &["cann=8.1.RC1", "python=3.10", "torch=2.5.1", "torch_npu=2.5.1.post1"],
        ),
        Case(
            "CANN=8.1.RC1; torch_npu=2.5.1; NPU=910B3 x 8",
            &["npu=910B3", "npu_count=8", "cann=8.1.RC1", "torch_npu=2.5.1"],
        ),
    ]);
}

#[test]
fn versions_that_replaced_others() {
    check(&[
        Case("本来是CANN 8.0.RC2，后来换成了CANN 8.1.RC1，问题依旧", &["cann=8.1.RC1"]),
        Case("之前是torch 2.1.0，现在是torch 2.4.0", &["torch=2.4.0"]),
        Case("驱动25.0.rc1.1（之前是24.1.rc2）", &["driver=25.0.rc1.1"]),
        Case("CANN 8.1.RC1 (previously CANN 8.0.0)", &["cann=8.1.RC1"]),
        Case("We plan to upgrade to CANN 8.2.RC1; now CANN 8.0.0 is installed.", &["cann=8.0.0"]),
        Case("当前CANN 8.0.RC3，准备升级到8.1.RC1", &["cann=8.0.RC3"]),
        Case("Compared with torch 2.1.0, torch 2.5.1 is slower on my NPU.", &["torch=2.5.1"]),
        Case(
            "The code works on A100 with torch 2.6.0, but fails on 910B with torch_npu 2.5.1",
            &["npu=910B", "torch_npu=2.5.1"],
        ),
        Case(
            "torch_npu was compiled with CANN 8.1.RC1 but the installed CANN is 8.0.0",
            &["cann=8.0.0", "built_for=8.1.RC1"],
        ),
        Case(
            "[W x.ts:1] Warning: The current version of CANN is 8.0.RC2, which is lower than 8.1.RC1",
            &["cann=8.0.RC2"],
        ),
    ]);
}

#[test]
fn lists_written_by_hand() {
    check(&[
        Case(
            "System: openEuler 22.03 SP4; NPU: 910B4 (32G) x8; Driver: 24.1.rc3; CANN:8.0.RC3; MindIE: 1.0.RC3",
            &[
                "npu=910B4",
                "npu_count=8",
                "hbm_gb=32",
                "driver=24.1.rc3",
                "cann=8.0.RC3",
                "os=openEuler 22.03 SP4",
                "mindie=1.0.RC3",
            ],
        ),
        Case(
            "- Hardware: Ascend 910B (Atlas 800T A2), 8 NPUs, 64 GB HBM\n- Software: CANN 8.1.RC1, PyTorch 2.5.1",
            &[
                "server=Atlas 800T A2",
                "npu=Ascend 910B",
                "npu_count=8",
                "hbm_gb=64",
                "cann=8.1.RC1",
                "torch=2.5.1",
            ],
        ),
        Case(
            "Hardware Environment: Ascend310P3\nSoftware Environment: MindSpore 2.5.0 , python 3.9.10, Ubuntu 22.04",
            &["npu=Ascend310P3", "os=Ubuntu 22.04", "python=3.9.10", "mindspore=2.5.0"],
        ),
        Case(
            "conda env: python=3.10.14, torch=2.1.0, torch_npu=2.1.0.post8, 昇腾910B3",
            &["npu=910B3", "python=3.10.14", "torch=2.1.0", "torch_npu=2.1.0.post8"],
        ),
        Case(
            "两台Atlas 800T A2服务器，每台8卡，CANN 8.2.RC1",
            &["server=Atlas 800T A2", "npu_count=8", "cann=8.2.RC1"],
        ),
        Case("机型：Atlas 800I A2\n驱动固件：24.1.0", &["server=Atlas 800I A2", "driver=24.1.0"]),
        Case(
            "Linux kernel: 5.10.0-182.0.0.95.oe2203sp3.aarch64",
            &["host_os=openEuler 22.03 SP3", "kernel=5.10.0-182.0.0.95.oe2203sp3", "arch=aarch64"],
        ),
        Case(
            "Fails on a Atlas 300I Duo (310P3) card with the vllm-ascend v0.10.0rc1-310p image.",
            &["npu=310P3", "vllm_ascend=0.10.0rc1"],
        ),
        Case(
            "1. 操作系统及版本：openEuler 22.03 LTS SP3\n2. CANN及驱动版本：CANN 8.0.0，驱动 24.1.0\n3. NPU型号及数量：910B3 × 8",
            &[
                "npu=910B3",
                "npu_count=8",
                "driver=24.1.0",
                "cann=8.0.0",
                "os=openEuler 22.03 LTS SP3",
            ],
        ),
        Case(
            "宿主机：openEuler 22.03，容器：Ubuntu 22.04",
            &["os=Ubuntu 22.04", "host_os=openEuler 22.03"],
        ),
        Case("910B4 32GB*4卡", &["npu=910B4", "npu_count=4", "hbm_gb=32"]),
        Case(
            "driver_version = 25.0.rc1\ntorch.__version__: 2.5.1",
            &["driver=25.0.rc1", "torch=2.5.1"],
        ),
        Case("香橙派 AIpro (20T), Ascend 310B1, CANN 8.0.0", &["npu=Ascend 310B1", "cann=8.0.0"]),
        Case(
            "### Requirements\n- CANN 8.1.RC1\n- torch 2.5.1\n\n### Environment\n- CANN 8.0.0",
            &["cann=8.0.0"],
        ),
        Case(
            "Dependencies:\nCANN 8.1.RC1\ntorch 2.5.1\n\nI have driver 25.0.rc1",
            &["driver=25.0.rc1"],
        ),
    ]);
}

#[test]
fn tables_of_an_environment() {
    check(&[
        Case(
            "| Item | Value |\n|:-----|------:|\n| Hardware | Atlas 800I A2 (8*64G) |\n| Driver version | 24.1.rc3 |\n| CANN | `8.1.RC1` |\n| **PyTorch** | 2.5.1 |\n| torch-npu | 2.5.1.post1 |\n| OS | openEuler 22.03 LTS-SP4 |\n| Python | 3.10 |",
            &[
                "server=Atlas 800I A2",
                "npu_count=8",
                "hbm_gb=64",
                "driver=24.1.rc3",
                "cann=8.1.RC1",
                "os=openEuler 22.03 LTS-SP4",
                "python=3.10",
                "torch=2.5.1",
                "torch_npu=2.5.1.post1",
            ],
        ),
        Case(
            "组件 | 版本\n--- | ---\nCANN | 8.2.RC1\ntorch_npu | 2.6.0",
            &["cann=8.2.RC1", "torch_npu=2.6.0"],
        ),
        Case(
            "| CANN | torch | torch_npu | Python |\n|---|---|---|---|\n| 8.0.0 | 2.4.0 | 2.4.0.post2 | 3.10 |",
            &["cann=8.0.0", "python=3.10", "torch=2.4.0", "torch_npu=2.4.0.post2"],
        ),
        Case(
            "<table><tr><td>CANN版本</td><td>8.0.RC3</td></tr>\n<tr><td>驱动版本</td><td>24.1.rc3</td></tr></table>",
            &["driver=24.1.rc3", "cann=8.0.RC3"],
        ),
    ]);
}

#[test]
fn values_that_a_text_negates_or_asks_for() {
    let cases = [
        "Should I use CANN 8.2.RC1 or 8.1.RC1?",
        "Is torch_npu 2.6.0 compatible with CANN 8.1.RC1?",
        "- CANN >= 8.2.RC1\n- torch >= 2.5.1\n- Python 3.9+",
        "Requirements:\ntorch==2.5.1\ntorch-npu==2.5.1",
        "## Changelog\n- 0.9.1: supports CANN 8.2.RC1\n- 0.8.5: supports torch 2.5.1",
        "v0.9.2rc1\n- Upgrade CANN to 8.1.RC1\n- Upgrade torch_npu to 2.5.1.post1",
        "Please upgrade to CANN 8.2.RC1 and torch_npu 2.6.0.",
        "The docs say CANN 8.1.RC1 needs driver 25.0.rc1.",
        "I would like to know when torch 2.9.0 will be supported.",
        "CANN 8.3.RC1 is not released yet",
        "Without CANN 8.1.RC1 the operator does not exist.",
        "Not using torch 2.5.1 here.",
        "vllm 0.9.1 depends on torch==2.7.0",
        "我没有使用 CANN 8.1.RC1",
        "不是 torch 2.5.1",
        "什么时候支持 torch 2.9.0",
        "> On Monday, somebody wrote:\n> CANN: 8.1.RC1",
        "@someone wrote about the environment:\n> CANN: 8.1.RC1",
        "The README says for the environment:\n\n> torch==2.5.1",
        "matrix:\n  python: [3.9, 3.10]\n  torch: ['2.5.1', '2.6.0']",
        "A3 paper, 300 dpi; rank A2/A3 servers",
        "支持 A2/A3 服务器",
        "| Version | CANN | torch |\n|---|---|---|\n| v1 | 8.0.0 | 2.4.0 |\n| v2 | 8.1.RC1 | 2.5.1 |",
        "http://127.0.0.1:8000/v1 took 2.5.1 s",
        "torch.Size([2, 5]) at 0x19e5d802f",
        "If I set ASCEND_LAUNCH_BLOCKING=1 it works",
        "torch.__version__ = \"2.5.1\"",
        "```diff\n-torch==2.5.1\n+torch==2.6.0\n```",
        "Release notes of v0.9.1: CANN 8.2.RC1, torch 2.5.1, torch_npu 2.5.1.post1",
        "### Compatibility\nvllm-ascend v0.9.1 | Python >= 3.9 | CANN >= 8.1.RC1 | PyTorch 2.5.1 / torch_npu 2.5.1",
        "根据配套表，torch 2.5.1 对应 CANN 8.1.RC1",
        "install_requires=[\n    'torch==2.1.0',\n    'numpy==1.26.4',\n],",
        "torch-npu (2.6.0)\nAvailable versions: 2.6.0, 2.5.1.post1, 2.5.1",
        "Reproduced by another user on CANN 8.2.RC1",
        "We tested on both CANN 8.0.0 and CANN 8.1.RC1.",
        "ImportError: /lib64/libm.so.6: version `GLIBC_2.27' not found (required by libtorch_npu.so)",
        "[Usage]: How to deploy a model on 310P with vllm-ascend v0.9.2rc1?",
        "pip install 'torch>=2.5,<2.6' \"torch_npu~=2.5.1\"",
    ]
    .map(|text| Case(text, &[]));
    check(&cases);
}
