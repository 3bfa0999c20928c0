//! Common notations in lists, scripts and titles. All texts are invented.

use super::{Case, check};

#[test]
fn versions_and_their_owners() {
    check(&[
        Case("vllm-ascend: v0.12.0rc1", &["vllm_ascend=0.12.0rc1"]),
        // The version after the name of another component belongs to that component.
        Case("vllm-ascend: vLLM 0.14.1 + vllm-ascend", &["vllm=0.14.1"]),
        Case("CANN toolkit & kernels 8.3.RC1", &["cann=8.3.RC1"]),
        Case("'CANN:8.3.RC1'", &["cann=8.3.RC1"]),
        Case("\"torch==2.6.0\"", &[]),
        Case("'torch: 2.6.0',", &[]),
        Case("vLLM Ascend image: v0.13.0rc2", &["vllm_ascend=0.13.0rc2"]),
        Case("torch版本2.4 python版本3.10 运行脚本时出错", &["python=3.10", "torch=2.4"]),
        Case("标题\n讨论过torch版本2.4的接口变化", &[]),
        Case("在python 3.9.18中运行import torch_npu报错", &["python=3.9.18"]),
        Case("标题\n在 torch 2.6 中这个接口改了名字", &[]),
        Case("我按照教程安装了dlinfer 0.2.1", &["package.dlinfer=0.2.1"]),
        Case("标题\n教程安装了dlinfer 0.2.1", &[]),
        Case("标题\nWhen installing torch 2.6 you need CANN 8.2", &[]),
        Case("标题\nWhen installing torch 2.6 on Ascend you also need CANN 8.2", &[]),
        Case(
            "When installing mmcv-full-1.6.2 on Ascend910A, the build fails",
            &["npu=Ascend910A", "package.mmcv-full=1.6.2"],
        ),
    ]);
}

#[test]
fn lines_with_numbers() {
    check(&[
        Case(
            "```\n     1\tVersion=25.1.rc1\n     2\tascendhal_version=7.35.23\n     3\ttsfw_version=1.0\n```",
            &["driver=25.1.rc1"],
        ),
        Case(
            "     1  # version: 1.0\n     2  runtime_running_version=[7.7.0.1.231:8.2.RC1]\n     3  toolkit_running_version=[7.7.0.1.231:8.2.RC1]",
            &["cann=8.2.RC1"],
        ),
        // Two rows, or numbers that do not begin with 1, have another meaning.
        Case("4  Version=25.1.rc1\n5  ascendhal_version=7.35.23\n6  tsfw_version=1.0", &[]),
    ]);
}

#[test]
fn scripts_that_set_variables() {
    check(&[
        Case(
            "nic=\"enp1s0\"\nexport HCCL_SOCKET_IFNAME=$nic\nexport GLOO_SOCKET_IFNAME=${nic}",
            &["env.HCCL_SOCKET_IFNAME=enp1s0", "env.GLOO_SOCKET_IFNAME=enp1s0"],
        ),
        // Set later, to several values, or to an example.
        Case("export HCCL_SOCKET_IFNAME=$nic\nnic=eth1", &[]),
        Case("nic=eth1\nnic=eth2\nexport HCCL_SOCKET_IFNAME=$nic", &[]),
        Case("ip=xx.xx.xx.xx\nexport HCCL_IF_IP=$ip", &[]),
        Case(
            "```\nexport HCCL_BUFFSIZE=512\n# more\nexport VLLM_USE_V1=1\n\nexport HCCL_BUFFSIZE=800\n```",
            &["env.HCCL_BUFFSIZE=800", "env.VLLM_USE_V1=1"],
        ),
        // The first program ran with the first value.
        Case("export HCCL_BUFFSIZE=512\nbash run.sh\nexport HCCL_BUFFSIZE=800", &[]),
        Case("```\nexport HCCL_BUFFSIZE=512\n```\n\n```\nexport HCCL_BUFFSIZE=800\n```", &[]),
        Case(
            "-- CANN: updated CANN_INSTALL_DIR from ASCEND_TOOLKIT_HOME=/opt/Ascend/ascend-toolkit/latest",
            &["env.ASCEND_TOOLKIT_HOME=/opt/Ascend/ascend-toolkit/latest"],
        ),
    ]);
}

#[test]
fn machines_in_few_words() {
    check(&[
        Case("单机Ascend910B3*8p", &["npu=Ascend910B3", "npu_count=8"]),
        Case("硬件环境：910B 四卡", &["npu=910B", "npu_count=4"]),
        Case("十六张 910B3", &["npu=910B3", "npu_count=16"]),
        Case("4张卡（每张64G显存）", &["npu_count=4", "hbm_gb=64"]),
        Case("4张卡（每张80G显存）", &[]),
        Case("环境：linux-arm64，镜像", &["arch=aarch64"]),
        Case("Euler 2.0   python3.9", &["os=EulerOS 2.0", "python=3.9"]),
        Case("Euler 22.03", &[]),
        Case(
            "OS: Linux-4.19.90-25.uel20.aarch64-aarch64-with-glibc2.28",
            &["host_os=UOS Server 20", "kernel=4.19.90-25.uel20", "arch=aarch64", "glibc=2.28"],
        ),
        Case(
            "/x/_ext.cpython-310-x86_64-linux-gnu.so: undefined symbol: f",
            &["arch=x86_64", "python=3.10"],
        ),
        // Words in the names of directories are not words of the sentence.
        Case("# 910B4启动失败: aclInit at file /work/fine/runtime.cc line 7", &["npu=910B4"]),
    ]);
}

#[test]
fn images_in_few_words() {
    check(&[
        Case(
            "image tag vllm-ascend:v0.12.0rc1\ndocker run -it quay.io/ascend/vllm-ascend:v0.12.0rc1-openeuler bash",
            &["image=quay.io/ascend/vllm-ascend:v0.12.0rc1-openeuler", "vllm_ascend=0.12.0rc1"],
        ),
        Case(
            "Using \"main-cann8.3.rc1-a3\", it fails, but the old image \"v0.5.1-cann8.2.rc1-a3\" works",
            &["cann=8.3.rc1"],
        ),
        Case("mindspore/core/utils/context.cc:327", &[]),
    ]);
}
