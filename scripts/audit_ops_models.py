#!/usr/bin/env python3
"""Compare what `audit-ops` reads out of the sources of models with what the models really call.

Needs torch (CPU), torchvision, timm and transformers; models are built small and with random
weights, nothing is fetched. Each model runs forward, and with --backward also backward. Two
recordings are made of it: the operators that the program calls, from outside of any other
operator (profiler), and those that reach the device (TorchDispatchMode). The first are compared by
name. One that reaches the device counts as found if it is predicted, or if a predicted operator
called it.

    python3 scripts/audit_ops_models.py --binary target/dist/ascend-doctor [--follow] [--held-out]
"""
import argparse
import collections
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")
import torch
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils._python_dispatch import TorchDispatchMode

PLUMBING = {"detach", "detach_", "requires_grad_", "is_floating_point", "is_complex", "lift_fresh", "set_data", "_version",
            "_has_compatible_shallow_copy_type", "is_leaf", "resolve_conj", "resolve_neg", "is_neg", "is_conj", "size", "stride",
            "sym_size", "sym_stride", "sym_numel", "is_same_size", "is_signed", "output_nr", "retain_grad"}
# What only the CPU of this machine does in place of the operator itself.
CPU_ONLY = re.compile(r"mkldnn|_for_cpu|^_native_batch_norm_legit|^_cslt|onednn")

VISION = {  # seen while this was built, held out
    False: ["resnet18", "mobilenet_v3_small", "densenet121", "swin_t", "vit_b_16", "convnext_tiny", "efficientnet_b0", "googlenet",
            "deeplabv3_resnet50", "raft_small"],
    True: ["shufflenet_v2_x0_5", "squeezenet1_1", "mnasnet0_5", "regnet_y_400mf", "maxvit_t", "inception_v3", "alexnet", "vgg11_bn",
           "fcn_resnet50", "lraspp_mobilenet_v3_large", "r3d_18", "mvit_v2_s", "swin3d_t", "s3d"],
}
TIMM = {
    False: ["vit_tiny_patch16_224", "resnetv2_50", "mixer_s32_224", "swin_tiny_patch4_window7_224", "efficientnet_lite0", "coatnet_nano_rw_224"],
    True: ["beit_base_patch16_224", "cait_xxs24_224", "convmixer_768_32", "crossvit_tiny_240", "deit_tiny_patch16_224", "dpn48b",
           "edgenext_xx_small", "eva02_tiny_patch14_224", "focalnet_tiny_srf", "ghostnet_050", "hardcorenas_a", "levit_128s",
           "mobilevit_xxs", "nest_tiny", "pit_ti_224", "poolformer_s12", "pvt_v2_b0", "res2net50_26w_4s", "repvgg_a0", "sequencer2d_s",
           "twins_svt_small", "visformer_tiny", "volo_d1_224", "xcit_nano_12_p16_224", "hrnet_w18_small"],
}
TEXT = {
    False: ["llama", "bert", "gpt2", "t5", "qwen2", "mamba", "deberta-v2", "wav2vec2"],
    True: ["mistral", "mixtral", "gemma", "phi", "opt", "bloom", "gpt_neox", "falcon", "roberta", "electra", "albert", "distilbert",
           "bart", "xlnet", "longformer", "funnel", "mpnet", "squeezebert", "gpt_neo", "codegen", "gptj", "olmo", "stablelm", "qwen3",
           "cohere", "granite", "starcoder2", "biogpt", "nystromformer", "convbert", "roformer", "fnet", "canine", "rwkv"],
}
SMALL = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=64, vocab_size=128,
             max_position_embeddings=64, d_model=32, n_embd=32, n_layer=2, n_head=4, num_layers=2, d_ff=64, d_kv=8, num_heads=4,
             encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64,
             decoder_ffn_dim=64, dim=32, n_heads=4, n_layers=2, hidden_dim=64, ffn_dim=64, word_embed_proj_dim=32, rotary_dim=4,
             attention_types=[[["global", "local"], 1]], embedding_size=32, attention_window=8, d_inner=64, d_head=8, head_dim=8,
             num_local_experts=2, state_size=4, time_step_rank=4, n_positions=64, ffn_hidden_size=64, num_landmarks=4,
             segment_means_seq_len=16, block_sizes=[1, 1], pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=0,
             conv_dim=(16, 16), conv_kernel=(10, 3), conv_stride=(5, 2), num_feat_extract_layers=2, num_conv_pos_embeddings=8,
             num_conv_pos_embedding_groups=4, attention_hidden_size=32, context_length=64, q_groups=1, k_groups=1, v_groups=1,
             post_attention_groups=1, intermediate_groups=1, output_groups=1, downsampling_rate=2, num_hash_buckets=64,
             local_attention_range=8, upsampling_kernel_size=4, multi_query=False, new_decoder_architecture=False)


def vision(name):
    import torchvision
    if name.startswith("raft"):
        return torchvision.models.optical_flow.raft_small(weights=None), (torch.randn(1, 3, 128, 128), torch.randn(1, 3, 128, 128)), {"num_flow_updates": 2}
    video = name in ("r3d_18", "mvit_v2_s", "swin3d_t", "s3d")
    options = {"weights_backbone": None} if name.split("_")[0] in ("deeplabv3", "fcn", "lraspp") else {}
    if name in ("googlenet", "inception_v3"):
        options["init_weights"] = False
    model = torchvision.models.get_model(name, weights=None, **options)
    shape = (2, 3, 16, 224, 224) if video else (2, 3, 299, 299) if name == "inception_v3" else (2, 3, 224, 224)
    return model, (torch.randn(*shape),), {}


def image(name):
    import timm
    model = timm.create_model(name, pretrained=False)
    return model, (torch.randn(2, *model.default_cfg["input_size"]),), {}


def text(name):
    import transformers
    config = transformers.AutoConfig.for_model(name)
    for key, value in SMALL.items():
        if hasattr(config, key):
            try:
                setattr(config, key, value)
            except Exception:  # noqa: BLE001 - a field that is computed
                pass
    # Fields that follow from others are made anew.
    fields = {key: value for key, value in config.to_dict().items() if key in SMALL or key in ("is_encoder_decoder",)}
    config = transformers.AutoConfig.for_model(name, **{key: value for key, value in fields.items()})
    model = None
    kinds = [transformers.AutoModelForCTC] if name == "wav2vec2" else [
        transformers.AutoModelForCausalLM, transformers.AutoModelForSeq2SeqLM, transformers.AutoModelForMaskedLM, transformers.AutoModel]
    if name in ("t5", "bart"):
        kinds = [transformers.AutoModelForSeq2SeqLM]
    if name in ("bert", "roberta", "electra", "roformer", "convbert"):
        kinds = [transformers.AutoModelForMaskedLM]
    for kind in kinds:
        try:
            model = kind.from_config(config)
            break
        except (ValueError, KeyError):
            continue
    if name == "wav2vec2":
        return model, (torch.randn(2, 1600),), {"labels": torch.randint(1, 30, (2, 8))}
    ids = torch.randint(3, 100, (2, 16))
    arguments = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if name in ("rwkv",):
        arguments.pop("attention_mask")
    return model, (), arguments


def tensors(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from tensors(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from tensors(one)


class Reached(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        space, name = func._schema.name.split("::")
        self.names.add(name if space == "aten" else f"{space}::{name}")
        return func(*args, **(kwargs or {}))


def run(model, args, kwargs, backward):
    model.train(backward)
    with torch.set_grad_enabled(backward):
        result = model(*args, **kwargs)
        if backward:
            total = sum(one.float().sum() for one in tensors(result if not hasattr(result, "to_tuple") else result.to_tuple()) if one.requires_grad)
            total.backward()


def recorded_once(call):
    """The operators that a program calls from outside of any, with all below each."""
    called = collections.defaultdict(set)
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        call()

    def name_of(event):
        if "::" not in event.name or event.name.startswith(("autograd::", "torch::", "profiler::", "c10d::")):
            return None
        space, base = event.name.split("::", 1)
        base = base.split(".")[0]
        return (base if space == "aten" else f"{space}::{base}") if re.fullmatch(r"\w+", base) else None

    def below(event, into):
        for child in event.children:
            name = name_of(child)
            if name:
                into.add(name)
            below(child, into)

    def walk(event):
        name = name_of(event)
        if name:
            below(event, called[name])
            return
        for child in event.children:
            walk(child)

    for root in prof.profiler.kineto_results.experimental_event_tree():
        walk(root)
    return {name: parts for name, parts in called.items() if not dropped(name)}


def dropped(name):
    """What is no choice of a kernel, or of the CPU of this machine alone."""
    return name in PLUMBING or CPU_ONLY.search(name)


def recorded(model, args, kwargs, backward):
    """The operators called from outside of any, with all below each; and those that reach a device."""
    run(model, args, kwargs, backward)
    called = recorded_once(lambda: run(model, args, kwargs, backward))
    with Reached() as mode:
        run(model, args, kwargs, backward)
    return called, {name for name in mode.names if not dropped(name)}


def audit(binary, options, *inputs):
    done = subprocess.run([binary, "audit-ops", "--format", "json", *options, *inputs], capture_output=True, text=True)
    if done.returncode == 2:
        raise RuntimeError(done.stderr)
    report = json.loads(done.stdout)
    return [row for one in report["inputs"] for row in one["operators"]]


def base(op):
    space, name = op.split("::", 1)
    name = name.split(".")[0]
    return name if space == "aten" else f"{space}::{name}"


BAD = ("fallback", "unsupported")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default="target/dist/ascend-doctor")
    parser.add_argument("--torch-npu", default="2.7.1")
    parser.add_argument("--follow", action="store_true", help="with --follow-imports")
    parser.add_argument("--backward", action="store_true")
    parser.add_argument("--held-out", action="store_true", help="models that were not looked at while this was built")
    parser.add_argument("--only")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--cache", default=os.path.join(tempfile.gettempdir(), "audit_ops_models"))
    args = parser.parse_args()
    os.makedirs(args.cache, exist_ok=True)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    jobs = [(kind, name, make) for kind, table, make in (("torchvision", VISION, vision), ("timm", TIMM, image), ("transformers", TEXT, text))
            for name in table[args.held_out]]
    if args.only:
        jobs = [(kind, name, make) for kind, table, make in (("torchvision", VISION, vision), ("timm", TIMM, image), ("transformers", TEXT, text))
                for held in (False, True) for name in table[held] if args.only in f"{kind}.{name}"]
    rows = []
    for kind, name, make in jobs:
        try:
            called, reached, source = truth(args, kind, name, make)
        except Exception as error:  # noqa: BLE001
            print(f"{kind}.{name}: not run: {type(error).__name__} {str(error)[:150]}", file=sys.stderr)
            continue
        options = ["--torch-npu", args.torch_npu] + ["--follow-imports"] * args.follow + ["--backward"] * args.backward
        predicted = audit(args.binary, options, *source)
        names = {base(row["op"]) for row in predicted}
        alarms = {base(row["op"]) for row in predicted if row["class"] in BAD}
        with tempfile.NamedTemporaryFile("w", suffix=".txt", dir=args.cache) as listing:
            listing.write("\n".join(one if "::" in one else f"aten::{one}" for one in called) + "\n")
            listing.flush()
            judged = audit(args.binary, ["--torch-npu", args.torch_npu], listing.name)
        real = {base(row["op"]) for row in judged if row["class"] in BAD}
        covered = {one for one in reached if one in names or any(one in below for outer, below in called.items() if outer in names)}
        rows.append((name, len(called), len(set(called) & names), len(names), len(reached), len(covered), alarms, real))
        missed = sorted(set(called) - names)
        print(f"{kind}.{name}: called {len(called)}, found {len(set(called) & names)}, predicted {len(names)}; reach the device {len(reached)}, "
              f"found {len(covered)}; fallbacks said {sorted(alarms)} real {sorted(real)}")
        if missed or reached - covered:
            print("   missed:", " ".join(missed), "|", " ".join(sorted(reached - covered)))
    if rows:
        mean = lambda part, whole: sum(row[part] / max(row[whole], 1) for row in rows) / len(rows)
        total = lambda part: sum(row[part] for row in rows)
        said = sum(len(row[6]) for row in rows)
        right = sum(len(row[6] & row[7]) for row in rows)
        real = sum(len(row[7]) for row in rows)
        print(f"{len(rows)} models: called operators: recall {mean(2, 1):.3f} (mean), {total(2) / total(1):.3f} (pooled), precision {total(2) / total(3):.3f}; "
              f"operators that reach the device: recall {mean(5, 4):.3f} (mean), {total(5) / total(4):.3f} (pooled); "
              f"fallbacks: said {said}, of these real {right}; real {real}")


def truth(args, kind, name, make):
    path = os.path.join(args.cache, f"{kind}.{name}.{'b' if args.backward else 'f'}.json")
    if os.path.exists(path):
        with open(path) as file:
            called, reached, source = json.load(file)
        return {key: set(value) for key, value in called.items()}, set(reached), source
    model, inputs, options = make(name)
    # The files of all classes that the model is built of, without those of torch itself.
    source = sorted({inspect.getsourcefile(type(one)) for one in model.modules() if not type(one).__module__.startswith("torch.")})
    called, reached = recorded(model, inputs, options, args.backward)
    with open(path, "w") as file:
        json.dump([{key: sorted(value) for key, value in called.items()}, sorted(reached), source], file)
    return called, reached, source


if __name__ == "__main__":
    main()
