//! Output of tools. All texts are invented; versions and numbers do not come from a real machine.

use super::{Case, check};

#[test]
fn collect_env_of_torch_and_its_plug_in() {
    check(&[
        Case(
            "Collecting environment information...\nPyTorch version: 2.6.0+cpu\nTorch-npu version: 2.6.0.post1\n\
             Is debug build: False\nCUDA used to build PyTorch: None\nROCM used to build PyTorch: N/A\n\n\
             OS: openEuler 22.03 (LTS-SP4) (aarch64)\nGCC version: (GCC) 10.3.1\nClang version: Could not collect\n\
             CMake version: version 3.31.1\nLibc version: glibc-2.34\n\n\
             Python version: 3.11.9 (main, Apr  6 2025) [GCC 10.3.1] (64-bit runtime)\n\
             Python platform: Linux-5.10.0-216.0.0.115.oe2203sp4.aarch64-aarch64-with-glibc2.34\n\
             Is CUDA available: False\nCUDA runtime version: No CUDA\nIs XNNPACK available: True\n\n\
             CPU:\nArchitecture:                    aarch64\nCPU op-mode(s):                  64-bit\nCPU(s):                          192\n\
             Model name:                      Kunpeng-920\n\n\
             CANN:\n8.2.RC1\n\nVersions of relevant libraries:\n[pip3] numpy==1.26.4\n[pip3] torch==2.6.0+cpu\n[pip3] torch_npu==2.6.0.post1\n[conda] Could not collect",
            &[
                "cann=8.2.RC1",
                "os=openEuler 22.03 (LTS-SP4)",
                "host_os=openEuler 22.03 SP4",
                "kernel=5.10.0-216.0.0.115.oe2203sp4",
                "arch=aarch64",
                "glibc=2.34",
                "gcc=10.3.1",
                "python=3.11.9",
                "torch=2.6.0+cpu",
                "torch_npu=2.6.0.post1",
                "package.numpy=1.26.4",
            ],
        ),
        Case(
            "==============================\n        System Info\n==============================\n\
             OS                           : Ubuntu 22.04.5 LTS (x86_64)\nGCC version                  : (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0\n\
             Clang version                : Could not collect\nCMake version                : version 3.22.1\nLibc version                 : glibc-2.35\n\n\
             ==============================\n       PyTorch Info\n==============================\n\
             PyTorch version              : 2.8.0+cpu\nIs debug build               : False\nCUDA used to build PyTorch   : None\n\n\
             ==============================\n      Python Environment\n==============================\n\
             Python version               : 3.10.18 (main, Jun  4 2025) [GCC 13.3.0] (64-bit runtime)\n\
             Python platform              : Linux-6.6.0-72.0.0.76.oe2403sp1.x86_64-x86_64-with-glibc2.35\n\n\
             ==============================\n         CPU Info\n==============================\nArchitecture:                         x86_64\n\n\
             ==============================\n         vLLM Info\n==============================\nROCM Version                 : Could not collect\n\
             vLLM Version                 : 0.10.2\nvLLM Build Flags:\n  CUDA Archs: Not Set; ROCm: Disabled\n\n\
             ==============================\n     Environment Variables\n==============================\nASCEND_TOOLKIT_HOME=/usr/local/Ascend/ascend-toolkit/latest\nVLLM_USE_V1=1",
            &[
                "os=Ubuntu 22.04.5 LTS",
                "host_os=openEuler 24.03 SP1",
                "kernel=6.6.0-72.0.0.76.oe2403sp1",
                "arch=x86_64",
                "glibc=2.35",
                "gcc=11.4.0",
                "python=3.10.18",
                "torch=2.8.0+cpu",
                "vllm=0.10.2",
                "env.ASCEND_TOOLKIT_HOME=/usr/local/Ascend/ascend-toolkit/latest",
                "env.VLLM_USE_V1=1",
            ],
        ),
        Case(
            "OS: Kylin Linux Advanced Server V10 (Sword) (aarch64)\nCPU:\n架构：                           aarch64\nCPU 运行模式：                   64-bit\n字节序：                         Little Endian\nCPU:                             256\n厂商 ID：                        HiSilicon",
            &["os=Kylin Linux Advanced Server V10 (Sword)", "arch=aarch64"],
        ),
        Case(
            "INFO 07-01 10:00:00 [__init__.py:44] Available plugins for group vllm.platform_plugins:\nPyTorch version: 2.7.1+cpu\nvLLM Version: 0.12.0rc2.dev3+gabcdef012 (git sha: abcdef012)\nvLLM Ascend Version: 0.12.0rc1\n",
            &["torch=2.7.1+cpu", "vllm=0.12.0rc2.dev3+gabcdef012", "vllm_ascend=0.12.0rc1"],
        ),
    ]);
}

#[test]
fn environment_commands_of_frameworks() {
    check(&[
        Case(
            "Python: 3.11.13 (main, Jul 1 2025, 09:00:00) [GCC 11.4.0]\nNPU available: True\nNPU 0,1,2,3,4,5,6,7: Ascend910B4\nCANN_HOME: /usr/local/Ascend/ascend-toolkit/latest\n\
             CANN: 8.2.RC1:8.2.0.1.201:V100R001C22SPC001B231\nBiSheng: Not Available\nAscend Driver Version: 25.2.0\nPyTorch: 2.6.0+cpu\nsglang: 0.5.3rc0\nsgl_kernel: Module Not Found\n\
             triton: Module Not Found\ntransformers: 4.56.1\nnumpy: 2.3.3\ntorch_npu: 2.6.0.post3\nsgl-kernel-npu: 2025.9.10\ndeep_ep: 1.0.0+abc1234\nAscend Topology:\n\tNPU0\tNPU1\tCPU Affinity\nNPU0\tX\tHCCS\t144-167\n\nulimit soft: 1048576",
            &[
                "npu=Ascend910B4",
                "npu_count=8",
                "driver=25.2.0",
                "cann=8.2.RC1",
                "python=3.11.13",
                "torch=2.6.0+cpu",
                "torch_npu=2.6.0.post3",
                "sglang=0.5.3rc0",
                "transformers=4.56.1",
                "package.numpy=2.3.3",
                "package.sgl-kernel-npu=2025.9.10",
                "package.deep-ep=1.0.0+abc1234",
            ],
        ),
        Case(
            "[2025-05-05 10:00:00,000] [INFO] [real_accelerator.py:203:get_accelerator] Setting ds_accelerator to npu (auto detect)\n\n- `llamafactory` version: 0.9.3.dev0\n\
             - Platform: Linux-4.19.90-2107.6.0.0192.8.oe1.bclinux.aarch64-aarch64-with-glibc2.28\n- Python version: 3.10.16\n- PyTorch version: 2.4.0 (NPU)\n- Transformers version: 4.51.3\n\
             - Datasets version: 3.5.0\n- Accelerate version: 1.6.0\n- PEFT version: 0.15.1\n- TRL version: 0.9.6\n- NPU type: Ascend910B3\n- CANN version: 8.0.RC3\n- DeepSpeed version: 0.16.4\n- Bitsandbytes version: not found\n- vLLM version: 0.8.5\n- Git commit: 0123456789abcdef0123456789abcdef01234567",
            &[
                "npu=Ascend910B3",
                "cann=8.0.RC3",
                "kernel=4.19.90-2107.6.0.0192.8.oe1.bclinux",
                "arch=aarch64",
                "glibc=2.28",
                "python=3.10.16",
                "torch=2.4.0",
                "vllm=0.8.5",
                "transformers=4.51.3",
                "llamafactory=0.9.3.dev0",
                "package.datasets=3.5.0",
                "package.accelerate=1.6.0",
                "package.peft=0.15.1",
                "package.trl=0.9.6",
                "package.deepspeed=0.16.4",
            ],
        ),
        Case(
            "- `transformers` version: 4.57.1\n- Platform: Linux-5.15.0-60-generic-x86_64-with-glibc2.35\n- Python version: 3.10.12\n- Huggingface_hub version: 0.35.3\n- Safetensors version: 0.6.2\n\
             - Accelerate version: 1.10.1\n- Accelerate config:    not found\n- DeepSpeed version: not installed\n- PyTorch version (accelerator?): 2.7.1+cpu (NPU)\n- Tensorflow version (GPU?): not installed (NA)\n- Flax version (CPU?/GPU?/TPU?): not installed (NA)\n\
             - Using distributed or parallel set-up in script?: <fill in>\n- Using NPU in script?: <fill in>\n- NPU type: Ascend910_9362\n- CANN version: 8.3.RC1",
            &[
                "npu=Ascend910_9362",
                "cann=8.3.RC1",
                "kernel=5.15.0-60-generic",
                "arch=x86_64",
                "glibc=2.35",
                "python=3.10.12",
                "torch=2.7.1+cpu",
                "transformers=4.57.1",
                "package.huggingface-hub=0.35.3",
                "package.safetensors=0.6.2",
                "package.accelerate=1.10.1",
            ],
        ),
        Case(
            "- `Accelerate` version: 1.8.1\n- Platform: Linux-5.10.0-182.0.0.95.r1941_123.hce2.aarch64-aarch64-with-glibc2.34\n- `accelerate` bash location: /opt/conda/bin/accelerate\n- Python version: 3.10.17\n- Numpy version: 1.26.4\n- PyTorch version: 2.6.0\n- PyTorch accelerator: NPU\n- System RAM: 1511.50 GB\n- CANN version: 8.1.RC1\n- `Accelerate` default config:\n\tNot found",
            &[
                "cann=8.1.RC1",
                "host_os=Huawei Cloud EulerOS 2.0",
                "kernel=5.10.0-182.0.0.95.r1941_123.hce2",
                "arch=aarch64",
                "glibc=2.34",
                "python=3.10.17",
                "torch=2.6.0",
                "package.accelerate=1.8.1",
                "package.numpy=1.26.4",
            ],
        ),
        Case(
            "sys.platform: linux\nPython: 3.10.16 (main, Dec 11 2024, 16:18:56) [GCC 11.2.0]\nCUDA available: False\nMUSA available: False\nnumpy_random_seed: 2147483648\nGCC: gcc (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0\nPyTorch: 2.3.1\nPyTorch compiling details: PyTorch built with:\n  - GCC 10.2\n  - C++ Version: 201703\n  - OpenMP 201511 (a.k.a. OpenMP 4.5)\n\nTorchVision: 0.18.1\nLMDeploy: 0.7.3+abc1234\ntransformers: 4.51.3\ntriton: Not Found",
            &[
                "gcc=11.4.0",
                "python=3.10.16",
                "torch=2.3.1",
                "transformers=4.51.3",
                "lmdeploy=0.7.3+abc1234",
                "package.torchvision=0.18.1",
            ],
        ),
        Case(
            "----------Python Info----------\nVersion      : 3.11.12\nCompiler     : GCC 10.3.1\nBuild        : ('main', 'Jun  1 2025 00:00:00')\nArch         : ('64bit', 'ELF')\n------------Pip Info-----------\nVersion      : 25.1.1\nDirectory    : /usr/lib/python3.11/site-packages/pip\nvllm         : 0.11.0\nsglang       : not found.\nray          : 2.49.2\ntorch        : 2.7.1+cpu\n----------verl Info-----------\nVersion      : 0.6.1\nDirectory    : /verl/verl\n----------Platform Info----------\nPlatform     : Linux-5.10.0-216.0.0.115.oe2203sp4.aarch64-aarch64-with-glibc2.34\nsystem       : Linux\nnode         : host\nrelease      : 5.10.0-216.0.0.115.oe2203sp4.aarch64\nmachine      : aarch64",
            &[
                "host_os=openEuler 22.03 SP4",
                "kernel=5.10.0-216.0.0.115.oe2203sp4",
                "arch=aarch64",
                "glibc=2.34",
                "python=3.11.12",
                "torch=2.7.1+cpu",
                "vllm=0.11.0",
                "verl=0.6.1",
                "package.ray=2.49.2",
            ],
        ),
    ]);
}

#[test]
fn templates_of_issues() {
    check(&[
        Case(
            "## Environment\n### Hardware Environment(`Ascend`/`GPU`/`CPU`) / 硬件环境:\n> Please delete the backend not involved / 请删除不涉及的后端:\n/device ascend\n\n\
             - **Software Environment / 软件环境 (Mandatory / 必填)**:\n-- MindSpore version (e.g., 1.7.0.Bxxx) : 2.6.0\n-- Python version (e.g., Python 3.7.5) : 3.10.9\n-- OS platform and distribution (e.g., Linux Ubuntu 16.04): Ubuntu 20.04\n-- GCC/Compiler version (if compiled from source): 9.4.0\n",
            &["os=Ubuntu 20.04", "gcc=9.4.0", "python=3.10.9", "mindspore=2.6.0"],
        ),
        Case(
            "二、软件版本:\n-- CANN 版本 (e.g., CANN 3.0.x，5.x.x): 8.0.RC3\n-- Tensorflow/Pytorch/MindSpore 版本: Pytorch 2.4.0\n-- Python 版本 (e.g., Python 3.7.5): 3.9.19\n-- MindStudio版本 (e.g., MindStudio 2.0.0 (beta3)):\n-- 操作系统版本 (e.g., Ubuntu 18.04): openEuler 22.03 LTS\n",
            &["cann=8.0.RC3", "os=openEuler 22.03 LTS", "python=3.9.19", "torch=2.4.0"],
        ),
        Case(
            "【Environment / 环境信息 (Mandatory / 必填)】\n- Hardware Environment / 硬件环境(例如：`Ascend`): Ascend 910B2\n- MindSpore 版本(例如：2.3.0)：2.5.0\n- Python 版本 (例如：3.9)：3.10\n- 操作系统(例如：Ubuntu 18.04)：",
            &["npu=Ascend 910B2", "python=3.10", "mindspore=2.5.0"],
        ),
        Case(
            "### Hardware\n\nAtlas 800T A2\n\n### CANN version\n\n8.1.RC1\n\n### PyTorch version / PyTorch 版本\n\n2.5.1\n\n### Python version\n\n_No response_\n\n### Driver version\n\n25.0.rc1.1",
            &["server=Atlas 800T A2", "driver=25.0.rc1.1", "cann=8.1.RC1", "torch=2.5.1"],
        ),
        Case(
            "【系统平台】: Linux(openEuler 22.03)，【硬件】： Atlas 300I Duo，【Cann-Toolkit】: 8.0.0，【Python】：3.10",
            &["npu=Atlas 300I Duo", "cann=8.0.0", "os=openEuler 22.03", "python=3.10"],
        ),
    ]);
}

#[test]
fn lists_of_packages() {
    check(&[
        Case(
            "Package                           Version                   Editable project location\n--------------------------------- ------------------------- -------------------------\nabsl-py                           2.3.0\nnumpy                             1.26.4\ntorch                             2.5.1\ntorch-npu                         2.5.1.post2\nvllm_ascend                       0.9.2rc1                  /vllm-workspace/vllm-ascend",
            &[
                "torch=2.5.1",
                "torch_npu=2.5.1.post2",
                "vllm_ascend=0.9.2rc1",
                "package.absl-py=2.3.0",
                "package.numpy=1.26.4",
            ],
        ),
        Case(
            "$ pip list | grep torch\ntorch 2.6.0\ntorch-npu 2.6.0\ntorchaudio 2.6.0",
            &["torch=2.6.0", "torch_npu=2.6.0", "package.torchaudio=2.6.0"],
        ),
        Case("pip freeze | grep -i npu\ntorch-npu==2.4.0.post2", &["torch_npu=2.4.0.post2"]),
        Case(
            "# packages in environment at /opt/conda/envs/npu:\n#\n# Name                    Version                   Build  Channel\n_libgcc_mutex             0.1                        main\nca-certificates           2024.7.2             h06a4308_0\nnumpy                     1.26.4                   pypi_0    pypi\npython                    3.10.14         h955ad1f_1    defaults\ntorch                     2.3.1                    pypi_0    pypi\ntorch-npu                 2.3.1.post4              pypi_0    pypi",
            &[
                "python=3.10.14",
                "torch=2.3.1",
                "torch_npu=2.3.1.post4",
                "package.ca-certificates=2024.7.2",
                "package.numpy=1.26.4",
            ],
        ),
        Case(
            "$ pip show torch_npu\nName: torch_npu\nVersion: 2.5.1.post1\nSummary: NPU bridge for PyTorch\nRequires: torch\n---\nName: torch\nVersion: 2.5.1+cpu\nSummary: Tensors",
            &["torch=2.5.1+cpu", "torch_npu=2.5.1.post1"],
        ),
        Case(
            "(npu) [root@node ~]# uv pip list | grep vllm\nvllm                              0.9.2+empty\nvllm-ascend                       0.9.2rc1",
            &["vllm=0.9.2+empty", "vllm_ascend=0.9.2rc1"],
        ),
        Case(
            "mindspore                     2.6.0\nmindformers                   1.5.0\n",
            &["mindspore=2.6.0", "package.mindformers=1.5.0"],
        ),
        Case(
            "torch @ file:///opt/torch-2.5.1-cp310-cp310-linux_aarch64.whl#sha256=00ff\ntorch-npu==2.5.1\nnumpy==1.26.4",
            &[
                "arch=aarch64",
                "python=3.10",
                "torch=2.5.1",
                "torch_npu=2.5.1",
                "package.numpy=1.26.4",
            ],
        ),
        Case(
            "pip list:\n\n> torch        2.1.0\n> ...\n> torch-npu    2.1.0.post12",
            &["torch=2.1.0", "torch_npu=2.1.0.post12"],
        ),
        Case(
            "Requirement already satisfied: numpy<2 in /usr/lib/python3/dist-packages (from torch) (1.26.4)\nSuccessfully uninstalled torch-2.1.0\nInstalling collected packages: torch, torch_npu\nSuccessfully installed torch-2.4.0 torch_npu-2.4.0.post4",
            &["torch=2.4.0", "torch_npu=2.4.0.post4", "package.numpy=1.26.4"],
        ),
    ]);
}

#[test]
fn pages_of_npu_smi() {
    check(&[
        Case(
            "+------------------------------------------------------------------------------------------------+\n| npu-smi 25.2.0                   Version: 25.2.0                                               |\n+---------------------------+---------------+----------------------------------------------------+\n| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|\n| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |\n+===========================+===============+====================================================+\n| 0     Ascend910           | OK            | 175.0       37                0    / 0             |\n| 0     0                   | 0000:9D:00.0  | 0           0    / 0          3150 / 65536         |\n+------------------------------------------------------------------------------------------------+\n| 0     Ascend910           | OK            | -           38                0    / 0             |\n| 1     1                   | 0000:9F:00.0  | 0           0    / 0          2888 / 65536         |",
            &["npu=Ascend910", "driver=25.2.0"],
        ),
        Case(
            "| 2       310P3                 | OK              | NA           45                0     / 0             |\n| 0       4                     | 0000:82:00.0    | 0            1700 / 44280                            |\n| 2       310P3                 | OK              | NA           44                0     / 0             |\n| 1       5                     | 0000:82:00.0    | 0            1500 / 43693                            |",
            &["npu=310P3"],
        ),
        Case(
            "        NPU ID                         : 0\n        Product Name                   : IT21HMDB01\n        Model                          : NA\n        Manufacturer                   : Huawei\n        Serial Number                  : 000\n        Software Version               : 24.1.0\n        Firmware Version               : 7.5.0.3.220\n        Compatibility                  : OK\n        Board ID                       : 0x33\n        PCB Version                    : A\n        Chip Count                     : 1\n        PCIe Bus Info                  : 0000:C1:00.0",
            &["driver=24.1.0", "firmware=7.5.0.3.220"],
        ),
        Case(
            "        Chip Type                      : Ascend\n        Chip Name                      : 910B4\n        Chip Version                   : V1\n        Board ID                       : 0x31\n        PCIe Bus Info                  : 0000:01:00.0",
            &["npu=910B4"],
        ),
        Case(
            "$ npu-smi info -l\n\tTotal Count                    : 16\n\n\tNPU ID                         : 0\n\tChip Count                     : 1",
            &["npu_count=16"],
        ),
        Case(
            "$ npu-smi info -m\n\tNPU ID                         Chip ID                        Chip Logic ID                  Chip Name                      \n\t0                              0                              0                              Ascend 910B2\n\t0                              1                              -                              Mcu                           \n\t1                              0                              1                              Ascend 910B2",
            &["npu=Ascend 910B2"],
        ),
        Case("$ npu-smi -v\nnpu-smi version: 24.1.rc3", &["driver=24.1.rc3"]),
        Case(
            "$ npu-smi info -t board -i 0 -c 0 | grep Software\n\tSoftware Version  : 23.0.6",
            &["driver=23.0.6"],
        ),
        Case(
            "Firmware Version               : 7.1.0.11.220\nSoftware Version : 23.0.7",
            &["driver=23.0.7", "firmware=7.1.0.11.220"],
        ),
    ]);
}

#[test]
fn files_of_installed_packages() {
    check(&[
        Case(
            "$ cat /usr/local/Ascend/driver/version.info\nVersion=24.1.rc3\nascendhal_version=7.35.23\naicpu_version=1.0\ntdt_version=1.0\nlog_version=1.0\nprof_version=2.0\ndvppkernels_version=1.1\ntsfw_version=1.0\nInnerversion=V100R001C19SPC003B220\ncompatible_version=[V100R001C30],[V100R001C13]\ncompatible_version_fw=[7.0.0,7.2.99]\npackage_version=24.1.rc3",
            &["driver=24.1.rc3"],
        ),
        Case(
            "$ cat /usr/local/Ascend/firmware/version.info\nVersion=7.5.0.3.220\nfirmware_version=1.0\npackage_version=24.1.0\ncompatible_version_drv=[23.0.rc3,23.0.rc3.],[24.0.rc1]",
            &["firmware=7.5.0.3.220"],
        ),
        Case(
            "cat /usr/local/Ascend/driver/version.info\nVersion=25.0.rc1.1",
            &["driver=25.0.rc1.1"],
        ),
        Case(
            "cat /usr/local/Ascend/ascend-toolkit/latest/aarch64-linux/ascend_toolkit_install.info\npackage_name=Ascend-cann-toolkit\nversion=8.2.RC1\ninnerversion=V100R001C22SPC001B231\narch=aarch64\nos=linux\npath=/usr/local/Ascend/ascend-toolkit/8.2.RC1/aarch64-linux\n\npackage_name=Ascend-cann-nnal\nversion=8.2.RC1.B010\n",
            &["cann=8.2.RC1", "nnal=8.2.RC1.B010", "arch=aarch64"],
        ),
        Case(
            "# version: 1.0\nruntime_running_version=[7.7.0.1.238:8.2.RC1]\ntoolkit_running_version=[7.7.0.1.238:8.2.RC1]\nruntime_upgrade_version=[7.6.0.1.220:8.1.RC1]\nruntime_installed_version=[7.6.0.1.220:8.1.RC1]",
            &["cann=8.2.RC1"],
        ),
        Case(
            "cat /usr/local/Ascend/ascend-toolkit/latest/compiler/version.info\nVersion=7.7.0.1.238\nversion_dir=8.2.RC1\ntimestamp=20250701_000000000\nrequired_driver_ascend310p_version=\"21.0.0\"",
            &["cann=8.2.RC1"],
        ),
        Case("ls /usr/local/Ascend/ascend-toolkit/\n8.0.0  latest  set_env.sh", &["cann=8.0.0"]),
        Case(
            "$ ls -l /usr/local/Ascend/ascend-toolkit\ntotal 8\ndrwxr-xr-x 1 root root 5 Jan  1 00:00 8.0.0\nlrwxrwxrwx 1 root root 5 Jan  1 00:00 latest -> ./8.1.RC1",
            &["cann=8.1.RC1"],
        ),
        Case("ls /usr/local/Ascend/ascend-toolkit\n8.0.0  8.1.RC1  set_env.sh", &[]),
    ]);
}

#[test]
fn tools_of_the_system() {
    check(&[
        Case(
            "# cat /etc/os-release\nNAME=\"openEuler\"\nVERSION=\"22.03 (LTS-SP4)\"\nID=\"openEuler\"\nVERSION_ID=\"22.03\"\nPRETTY_NAME=\"openEuler 22.03 (LTS-SP4)\"\nANSI_COLOR=\"0;31\"",
            &["os=openEuler 22.03 (LTS-SP4)"],
        ),
        Case(
            "NAME=\"Ubuntu\"\nVERSION=\"22.04.4 LTS (Jammy Jellyfish)\"\nID=ubuntu",
            &["os=Ubuntu 22.04.4 LTS"],
        ),
        Case(
            "Distributor ID: Ubuntu\nDescription:    Ubuntu 20.04.6 LTS\nRelease:        20.04\nCodename:       focal",
            &["os=Ubuntu 20.04.6 LTS"],
        ),
        Case(
            " Operating System: openEuler 24.03 (LTS-SP1)\n           Kernel: Linux 6.6.0-72.0.0.76.oe2403sp1.aarch64\n     Architecture: arm64",
            &[
                "os=openEuler 24.03 (LTS-SP1)",
                "host_os=openEuler 24.03 SP1",
                "kernel=6.6.0-72.0.0.76.oe2403sp1",
                "arch=aarch64",
            ],
        ),
        Case(
            "$ cat /etc/openEuler-release\nopenEuler release 22.03 (LTS-SP3)",
            &["os=openEuler 22.03 (LTS-SP3)"],
        ),
        Case(
            "[root@host ~]# uname -a\nLinux host 5.10.0-136.12.0.86.oe2203sp1.aarch64 #1 SMP Tue Dec 27 17:50:15 CST 2022 aarch64 aarch64 aarch64 GNU/Linux",
            &["host_os=openEuler 22.03 SP1", "kernel=5.10.0-136.12.0.86.oe2203sp1", "arch=aarch64"],
        ),
        Case(
            "$ uname -m\naarch64\n$ uname -r\n5.15.0-107-generic",
            &["kernel=5.15.0-107-generic", "arch=aarch64"],
        ),
        Case(
            "$ uname -mr\n5.15.0-107-generic x86_64",
            &["kernel=5.15.0-107-generic", "arch=x86_64"],
        ),
        Case(
            "Architecture:            x86_64\n  CPU op-mode(s):        32-bit, 64-bit\nModel name:              Intel(R) Xeon(R) Platinum 8378A CPU @ 3.00GHz",
            &["arch=x86_64"],
        ),
        Case("$ python --version\nPython 3.9.18", &["python=3.9.18"]),
        Case("$ python3 -V\nPython 3.11.6", &["python=3.11.6"]),
        Case(
            "$ gcc --version\ngcc (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0\nCopyright (C) 2021",
            &["gcc=11.4.0"],
        ),
        Case("gcc version 7.3.0 (GCC)", &["gcc=7.3.0"]),
        Case("$ ldd --version\nldd (Ubuntu GLIBC 2.35-0ubuntu3.8) 2.35", &["glibc=2.35"]),
        Case("ldd (GNU libc) 2.28", &["glibc=2.28"]),
        Case(
            "build: 5000 (abcdef01) with cc (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0 for aarch64-linux-gnu",
            &["arch=aarch64", "gcc=11.4.0"],
        ),
        Case(
            ">>> import torch, torch_npu\n>>> torch.__version__\n'2.5.1'\n>>> torch_npu.__version__\n'2.5.1.post1'",
            &["torch=2.5.1", "torch_npu=2.5.1.post1"],
        ),
        Case(
            "$ python -c \"import torch; print(torch.__version__)\"\n2.6.0+cpu",
            &["torch=2.6.0+cpu"],
        ),
        Case(
            ">>> print(torch.__version__, torch_npu.__version__)\n2.4.0 2.4.0.post2",
            &["torch=2.4.0", "torch_npu=2.4.0.post2"],
        ),
        Case(
            "$ python3 -c \"import vllm; print(vllm.__version__)\"\nINFO 06-12 11:00:00 importing.py:53] No triton.\n0.9.1",
            &["vllm=0.9.1"],
        ),
        Case(
            ">>> torch_npu.npu.get_device_name(0)\n'Ascend910B3'\n>>> torch.npu.device_count()\n8",
            &["npu=Ascend910B3", "npu_count=8"],
        ),
        Case("$ vllm --version\n0.9.2", &["vllm=0.9.2"]),
    ]);
}
