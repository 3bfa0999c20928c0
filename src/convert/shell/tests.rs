use proptest::prelude::*;

use super::*;
use crate::encoding::apply;
use crate::site::{Decision, FilePlan};

fn planned(text: &str) -> FilePlan {
    let mut planner = Planner::new(text);
    let _ = plan(&mut planner);
    planner.finish()
}

fn flags(text: &str) -> Vec<&'static str> {
    let sites = planned(text).sites;
    sites
        .iter()
        .filter(|site| site.decision == Decision::Flagged)
        .map(|site| site.rule.name)
        .collect()
}

/// The converted script; asserts that a second run plans no edit.
fn converted(text: &str) -> String {
    let after = apply(text, &planned(text).edits);
    assert_eq!(planned(&after).edits, [], "a second run edits\n{after}");
    after
}

#[test]
fn variables_of_the_environment_are_renamed_where_they_are_set_and_used() {
    for (before, after) in [
        ("export CUDA_VISIBLE_DEVICES=0,1\n", "export ASCEND_RT_VISIBLE_DEVICES=0,1\n"),
        (
            "CUDA_VISIBLE_DEVICES=\"0, 1\" python a.py # cuda\n",
            "ASCEND_RT_VISIBLE_DEVICES=\"0,1\" python a.py # cuda\n",
        ),
        (
            "export CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-0}\n",
            "export ASCEND_RT_VISIBLE_DEVICES=${ASCEND_RT_VISIBLE_DEVICES:-0}\n",
        ),
        (
            "echo \"CUDA_VISIBLE_DEVICES: $CUDA_VISIBLE_DEVICES\"\r\n",
            "echo \"CUDA_VISIBLE_DEVICES: $ASCEND_RT_VISIBLE_DEVICES\"\r\n",
        ),
        ("env NCCL_IB_TIMEOUT=18 ./run.sh", "env HCCL_RDMA_TIMEOUT=18 ./run.sh"),
        ("unset CUDA_LAUNCH_BLOCKING", "unset ASCEND_LAUNCH_BLOCKING"),
        (
            "mpirun -x NCCL_SOCKET_IFNAME=eth0 -x CUDA_VISIBLE_DEVICES python a.py",
            "mpirun -x HCCL_SOCKET_IFNAME=eth0 -x ASCEND_RT_VISIBLE_DEVICES python a.py",
        ),
        ("export NCCL_BUFFSIZE=8388608", "export HCCL_BUFFSIZE=8"),
        (
            "if [ -z \"$CUDA_VISIBLE_DEVICES\" ]; then x; fi",
            "if [ -z \"$ASCEND_RT_VISIBLE_DEVICES\" ]; then x; fi",
        ),
    ] {
        assert_eq!(converted(before), after);
    }
}

#[test]
fn values_of_options_follow_their_option() {
    for (before, after) in [
        ("python train.py --device cuda --name cuda", "python train.py --device npu --name cuda"),
        (
            "torchrun --nproc_per_node=8 t.py --device=cuda:0 \\\n  --dist-backend 'nccl'\n",
            "torchrun --nproc_per_node=8 t.py --device=npu:0 \\\n  --dist-backend 'hccl'\n",
        ),
        (
            "python main.py trainer.device=cuda +backend=nccl title=cuda",
            "python main.py trainer.device=npu +backend=hccl title=cuda",
        ),
        (
            "DEVICE=${1:-cuda}\nif [ \"$DEVICE\" = cuda ]; then :; fi\npython a.py --device $DEVICE",
            "DEVICE=${1:-npu}\nif [ \"$DEVICE\" = npu ]; then :; fi\npython a.py --device $DEVICE",
        ),
        (
            "ARGS=\"\n  --distributed-backend nccl \\\n  --device cuda\n\"\ntorchrun a.py $ARGS\n",
            "ARGS=\"\n  --distributed-backend hccl \\\n  --device npu\n\"\ntorchrun a.py $ARGS\n",
        ),
        ("A=(--device cuda)\npython a.py \"${A[@]}\"", "A=(--device npu)\npython a.py \"${A[@]}\""),
        (
            "O=\" \\\n  --x 1 --distributed-backend nccl \\\n\"\nrun=\"deepspeed a.py $O\"\neval $run\n",
            "O=\" \\\n  --x 1 --distributed-backend hccl \\\n\"\nrun=\"deepspeed a.py $O\"\neval $run\n",
        ),
        (
            "run=\"NCCL_SOCKET_IFNAME=eth0 deepspeed a.py --device cuda $O\"\n",
            "run=\"HCCL_SOCKET_IFNAME=eth0 deepspeed a.py --device npu $O\"\n",
        ),
        ("$PYTHON a.py --device ${D:-cuda}", "$PYTHON a.py --device ${D:-npu}"),
        ("srun python a.py --backend nccl", "srun python a.py --backend hccl"),
        (
            "D=cuda\n[[ $D == cuda* ]] && x\npython a.py --device $D\n",
            "D=npu\n[[ $D == npu* ]] && x\npython a.py --device $D\n",
        ),
        (
            "export CUDA_VISIBLE_DEVICES=0\nssh h \"CUDA_VISIBLE_DEVICES=1 python a.py --device cuda\"\n",
            "export ASCEND_RT_VISIBLE_DEVICES=0\nssh h \"ASCEND_RT_VISIBLE_DEVICES=1 python a.py --device npu\"\n",
        ),
        (
            "bash -c 'cd x && CUDA_VISIBLE_DEVICES=1 python a.py'\n",
            "bash -c 'cd x && ASCEND_RT_VISIBLE_DEVICES=1 python a.py'\n",
        ),
        (
            "r=\"NCCL_SOCKET_IFNAME=eth0 deepspeed a.py --x \"LE\" --device cuda $O\"\n",
            "r=\"HCCL_SOCKET_IFNAME=eth0 deepspeed a.py --x \"LE\" --device npu $O\"\n",
        ),
    ] {
        assert_eq!(converted(before), after);
    }
}

#[test]
fn what_only_looks_so_stays() {
    for text in [
        "# export CUDA_VISIBLE_DEVICES=0\n",
        "echo \"use --device cuda\"\n",
        "echo python a.py --device cuda\n",
        "cat <<EOF\nexport CUDA_VISIBLE_DEVICES=0\npython a.py --device cuda\nEOF\n",
        "ffmpeg -hwaccel cuda -i a.mp4\n",
        "wget https://example.com/cuda --device cuda\n",
        "cd /data/cuda && ls nccl\n",
        "DEVICE=cuda\n",
        "export JAX_PLATFORMS=cpu\n",
        "torchrun train.py --tf32 False --optim adamw_torch --use_8bit_adam False\n",
        "echo --tf32 True\n",
        "echo '$CUDA_VISIBLE_DEVICES'\n",
        "if npu-smi info; then export ASCEND_RT_VISIBLE_DEVICES=$N; else export CUDA_VISIBLE_DEVICES=$N; fi\n",
        "python a.py --device npu\n",
        "echo 'not closed\nexport CUDA_VISIBLE_DEVICES=0\n",
    ] {
        assert_eq!(converted(text), text);
    }
}

#[test]
fn what_a_person_has_to_do_is_flagged() {
    for (text, rules) in [
        ("nvidia-smi -L\n", vec!["shell-nvidia-smi"]),
        ("N=$(nvidia-smi -L | wc -l)\n", vec!["shell-nvidia-smi"]),
        ("docker run --gpus all image\n", vec!["docker-run-gpus"]),
        ("#SBATCH --gres=gpu:8\n#SBATCH --time=1\n", vec!["slurm-gres"]),
        ("srun --gpus-per-node=4 python a.py\n", vec!["slurm-gres"]),
        ("export NCCL_DEBUG=INFO\n", vec!["NCCL_DEBUG"]),
        ("export PATH=/usr/local/cuda/bin:$PATH\n", vec!["ld-library-path-cuda"]),
        ("export CUDA_VISIBLE_DEVICES=GPU-1\necho $CUDA_VISIBLE_DEVICES\n", vec!["env-device-ids"]),
        ("python -c \"import torch; torch.cuda.set_device($N)\"\n", vec!["shell-inline-python"]),
        (
            "python -c \"import torch; torch.amp.GradScaler('cuda', torch.cuda.x)\"\n",
            vec!["unknown-cuda-name"],
        ),
        ("python - <<EOF\nx.cuda($N)\nEOF\n", vec!["shell-inline-python"]),
        ("python -c 'if cuda'\n", vec!["shell-inline-python"]),
        ("torchrun train.py --tf32 True\n", vec!["tf32"]),
        ("accelerate launch a.py --use-8bit-adam --lr 1e-4\n", vec!["use_8bit_adam"]),
        ("python a.py --optim=adamw_bnb_8bit\n", vec!["optim"]),
        ("export JAX_PLATFORMS=cuda\n", vec!["JAX_PLATFORMS"]),
        ("demucs a.mp3 --device cuda\n", vec!["shell-device-option"]),
        ("bash install.sh cuda\n", vec!["shell-device-option"]),
        ("nvcc --version\n", vec!["shell-cuda-tool"]),
        ("x $(ds_ssh nvidia-smi -L)\n", vec!["shell-nvidia-smi"]),
        ("module load cuda/11.8\n", vec!["shell-cuda-tool"]),
        ("srun --container-image nvcr.io/nvidia/pytorch:20.12 ./a\n", vec!["ci-cuda-image"]),
        ("pip install -v --global-option=--cuda_ext .\n", vec!["apex"]),
        ("pip install \"jax[cuda12]\"\n", vec!["requirements-cuda-package"]),
        ("export NCCL_TREE_THRESHOLD=0\n", vec!["NCCL_*|TORCH_NCCL_*"]),
        (
            "export CUDA_VISIBLE_DEVICES=0\ncat <<E\n$CUDA_VISIBLE_DEVICES\nE\n",
            vec!["shell-document"],
        ),
    ] {
        assert_eq!(flags(text), rules, "{text}");
    }
}

#[test]
fn arguments_follow_what_they_are_used_for() {
    for (before, after) in [
        ("python a.py cuda --name cuda\n", "python a.py npu --name cuda\n"),
        ("python a.py ${1:-cuda}\n", "python a.py ${1:-npu}\n"),
        ("python -m pip install cuda\n", "python -m pip install cuda\n"),
        ("DEVICE=cuda\npython a.py $DEVICE\n", "DEVICE=npu\npython a.py $DEVICE\n"),
        ("export DEVICE=cuda\n./a.py\n", "export DEVICE=npu\n./a.py\n"),
        ("DEVICE=cuda python a.py\n", "DEVICE=npu python a.py\n"),
        (
            "run() {\n  python a.py --device $1 --dist-backend \"${2:-nccl}\"\n}\nrun cuda nccl\nother cuda\n",
            "run() {\n  python a.py --device $1 --dist-backend \"${2:-hccl}\"\n}\nrun npu hccl\nother cuda\n",
        ),
        (
            "function run {\n  local d=$1\n  python a.py --device $d\n}\nrun cuda\n",
            "function run {\n  local d=$1\n  python a.py --device $d\n}\nrun npu\n",
        ),
        (
            "D=$1\ncase \"$D\" in\n  cuda|cuda:0) echo cuda ;;\n  cpu) ;;\nesac\npython a.py --device $D\n",
            "D=$1\ncase \"$D\" in\n  npu|npu:0) echo cuda ;;\n  cpu) ;;\nesac\npython a.py --device $D\n",
        ),
    ] {
        assert_eq!(converted(before), after);
    }
}

#[test]
fn scripts_in_scripts_are_planned_as_what_they_are() {
    for (before, after) in [
        (
            "python -c 'import torch; print(torch.cuda.device_count())'\n",
            "python -c 'import torch; import torch_npu; print(torch.npu.device_count())'\n",
        ),
        (
            "python - <<'EOF'\nimport torch\nx = torch.zeros(1, device=\"cuda\")\nEOF\n",
            "python - <<'EOF'\nimport torch\nimport torch_npu\nx = torch.zeros(1, device=\"npu\")\nEOF\n",
        ),
        (
            "cat > run.sh <<'EOF'\nexport CUDA_VISIBLE_DEVICES=0\nEOF\n",
            "cat > run.sh <<'EOF'\nexport ASCEND_RT_VISIBLE_DEVICES=0\nEOF\n",
        ),
        (
            "ssh host <<EOF\npython a.py --device cuda\nEOF\n",
            "ssh host <<EOF\npython a.py --device npu\nEOF\n",
        ),
        (
            "cat > notes.md <<EOF\n--device cuda\nEOF\n",
            "cat > notes.md <<EOF\n--device cuda\nEOF\n",
        ),
    ] {
        assert_eq!(converted(before), after);
    }
}

#[test]
fn packages_that_are_installed_are_requirements() {
    assert_eq!(
        converted("pip install torch==2.1.0+cu118 --index-url https://x.org/whl/cu118\n"),
        "pip install torch==2.1.0 torch-npu==2.1.0.post17 --extra-index-url https://x.org/whl/cpu\n"
            .replace("2.1.0.post17", &crate::requirements::torch_npu_for_test("2.1.0"))
    );
    assert_eq!(
        converted("pip install torch -i https://x.org/whl/cu118 numpy\n"),
        "pip install torch torch-npu --extra-index-url https://x.org/whl/cpu numpy\n"
    );
    assert_eq!(
        converted("pip install torch --index-url=https://x.org/whl/cpu\n"),
        "pip install torch torch-npu --extra-index-url=https://x.org/whl/cpu\n"
    );
    assert_eq!(converted("pip3 install onnxruntime-gpu"), "pip3 install onnxruntime-cann");
    assert_eq!(flags("conda install cudatoolkit=11.8"), ["requirements-cuda-package"]);
}

#[test]
fn many_places_take_linear_time() {
    let text =
        "D=cuda\nexport CUDA_VISIBLE_DEVICES=$CUDA_VISIBLE_DEVICES\npython a.py --device $D\n";
    let plan = planned(&text.repeat(4_000));
    assert_eq!(plan.edits.len(), 12_000);
}

proptest! {
    #[test]
    fn any_text_is_planned_once(
        text in "(export |CUDA_VISIBLE_DEVICES|=|0, 1|\\$|\\{|\\}|\"|'|\n| |\\\\|python a.py|--device|cuda|:0|<<E|\\(|\\)|#|`|中){0,24}",
    ) {
        let plan = planned(&text);
        for edit in &plan.edits {
            prop_assert!(text.get(edit.range.clone()).is_some());
        }
        let after = apply(&text, &plan.edits);
        prop_assert_eq!(planned(&after).edits, vec![]);
    }
}

#[test]
fn vllm_has_no_option_for_the_device() {
    for (before, after) in [
        ("vllm serve m --device cuda --port 1\n", "vllm serve m --port 1\n"),
        ("vllm serve m --device=cuda:1\n", "vllm serve m\n"),
        ("vllm serve m \\\n  --device cuda \\\n  --port 1\n", "vllm serve m \\\n  --port 1\n"),
        (
            "python3 -m vllm.entrypoints.openai.api_server --device cuda --model m\n",
            "python3 -m vllm.entrypoints.openai.api_server --model m\n",
        ),
        ("vllm serve m --device cpu\n", "vllm serve m --device cpu\n"),
        ("vllm serve m --device\n", "vllm serve m --device\n"),
    ] {
        assert_eq!(converted(before), after);
        assert!(flags(before).is_empty(), "{before}");
    }
    assert_eq!(converted("python train.py --device cuda\n"), "python train.py --device npu\n");
}
