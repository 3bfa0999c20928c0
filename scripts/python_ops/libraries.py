"""What torchvision, transformers and timm bring."""

import functools
import inspect
import itertools
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

from python_ops.guesses import modules_of
from python_ops.recording import plain, written, x


def vision(table, only):
    try:
        import torchvision.ops as ops
    except ImportError:
        print("no torchvision", file=sys.stderr)
        return
    boxes = torch.tensor([[0.0, 0.0, 4.0, 4.0], [1.0, 1.0, 3.0, 3.0]])
    rois = torch.cat([torch.zeros(2, 1), boxes], 1)
    img = x(1, 4, 8, 8)
    rows = {
        "nms": [lambda: ops.nms(boxes, torch.rand(2), 0.5)],
        "batched_nms": [lambda: ops.batched_nms(boxes, torch.rand(2), torch.tensor([0, 1]), 0.5)],
        "roi_align": [lambda: ops.roi_align(img, rois, 2)], "roi_pool": [lambda: ops.roi_pool(img, rois, 2)],
        "ps_roi_align": [lambda: ops.ps_roi_align(img, rois, 2)], "ps_roi_pool": [lambda: ops.ps_roi_pool(img, rois, 2)],
        "RoIAlign": [lambda: ops.RoIAlign(2, 1.0, 2)(img, rois)], "RoIPool": [lambda: ops.RoIPool(2, 1.0)(img, rois)],
        "PSRoIAlign": [lambda: ops.PSRoIAlign(2, 1.0, 2)(img, rois)],
        "deform_conv2d": [lambda: ops.deform_conv2d(img, torch.zeros(1, 18, 6, 6), x(4, 4, 3, 3))],
        "DeformConv2d": [lambda m=ops.DeformConv2d(4, 4, 3): m(img, torch.zeros(1, 18, 6, 6))],
        "box_iou": [lambda: ops.box_iou(boxes, boxes)], "box_area": [lambda: ops.box_area(boxes)],
        "generalized_box_iou": [lambda: ops.generalized_box_iou(boxes, boxes)],
        "box_convert": [lambda: ops.box_convert(boxes, "xyxy", "cxcywh"), lambda: ops.box_convert(boxes, "cxcywh", "xyxy")],
        "clip_boxes_to_image": [lambda: ops.clip_boxes_to_image(boxes, (4, 4))],
        "remove_small_boxes": [lambda: ops.remove_small_boxes(boxes, 1.0)],
        "masks_to_boxes": [lambda: ops.masks_to_boxes(torch.ones(1, 4, 4))],
        "sigmoid_focal_loss": [lambda: ops.sigmoid_focal_loss(x(2), torch.ones(2), reduction="mean")],
        "stochastic_depth": [lambda: ops.stochastic_depth(img, 0.5, "row")],
        "StochasticDepth": [lambda m=ops.StochasticDepth(0.5, "row"): m(img)],
        "drop_block2d": [lambda: ops.drop_block2d(img, 0.5, 3)],
        "SqueezeExcitation": [lambda m=ops.SqueezeExcitation(4, 2): m(img)],
        "Conv2dNormActivation": [lambda m=ops.Conv2dNormActivation(4, 4): m(img)],
        "FrozenBatchNorm2d": [lambda m=ops.FrozenBatchNorm2d(4): m(img)],
        "MLP": [lambda m=ops.MLP(8, [4, 4]): m(x(2, 8))], "Permute": [lambda m=ops.Permute([0, 2, 1]): m(x(2, 3, 4))],
        "FeaturePyramidNetwork": [lambda m=ops.FeaturePyramidNetwork([4, 4], 4): list(m({"a": img, "b": x(1, 4, 4, 4)}).values())],
        "MultiScaleRoIAlign": [lambda m=ops.MultiScaleRoIAlign(["a", "b"], 2, 2): m({"a": img, "b": x(1, 4, 4, 4)}, [boxes], [(8, 8)])],
    }
    for name, calls in rows.items():
        written(f"torchvision.ops.{name}", calls, table, only=only)


def activations(table, only):
    try:
        from transformers.activations import ACT2FN
    except ImportError:
        print("no transformers", file=sys.stderr)
        return
    every = []
    for name in sorted(ACT2FN):
        call = functools.partial(ACT2FN[name], x())
        written(f"transformers.activations.ACT2FN {name}", [call], table, only=only)
        every.append(call)
    written("transformers.activations.ACT2FN", every, table, only=only)


def transformers_blocks(table, only):
    """What the files of models call of transformers itself: masks, attention, experts, caches."""
    try:
        import transformers
        from transformers import cache_utils, masking_utils
        from transformers.integrations import moe
        from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
    except ImportError:
        print("no transformers", file=sys.stderr)
        return
    config = transformers.LlamaConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1, intermediate_size=16,
                                      vocab_size=16, sliding_window=2, attention_chunk_size=2)
    embeds = plain(2, 4, 16)
    whole, padded = torch.ones(2, 4, dtype=torch.long), torch.tensor([[0, 1, 1, 1], [1, 1, 1, 1]])
    for name in ("create_causal_mask", "create_bidirectional_mask", "create_sliding_window_causal_mask", "create_chunked_causal_mask",
                 "create_bidirectional_sliding_window_mask", "create_masks_for_generate"):
        function, calls = getattr(masking_utils, name, None), []
        takes = inspect.signature(function).parameters if function else {}
        for attention, mask in itertools.product(("sdpa", "eager"), (None, whole, padded)):
            given = {"config": config, "inputs_embeds": embeds, "attention_mask": mask, "past_key_values": None}

            def call(function=function, given={k: v for k, v in given.items() if k in takes}, attention=attention):
                config._attn_implementation = attention
                return function(**given)
            calls.append(call)
        if function:
            written(f"transformers.masking_utils.{name}", calls, table, backward=False, only=only)
    module = nn.Module()
    module.num_key_value_groups, module.is_causal, module.training = 2, True, False
    q, kv = plain(2, 2, 4, 8), plain(2, 1, 4, 8)
    mask = torch.ones(2, 1, 4, 4, dtype=torch.bool)
    calls = [lambda mask=mask: ALL_ATTENTION_FUNCTIONS["sdpa"](module, q, kv, kv, mask)[0] for mask in (None, mask)]
    # Which of them runs is for the configuration to say: all of it may be.
    for name in ("ALL_ATTENTION_FUNCTIONS", "ALL_ATTENTION_FUNCTIONS.get_interface"):
        written(f"transformers.modeling_utils.{name}", [*calls, lambda: None], table, backward=False, only=only)

    class Experts(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.num_experts, self.act_fn = 2, F.silu
            self.gate_up_proj, self.down_proj = nn.Parameter(plain(2, 32, 16)), nn.Parameter(plain(2, 16, 16))

        def forward(self, hidden_states, top_k_index, top_k_weights):
            return hidden_states

    calls = [lambda: None]
    for kind in ("grouped_mm", "batched_mm"):
        if hasattr(moe, "use_experts_implementation"):
            config._experts_implementation = kind
            experts = moe.use_experts_implementation(Experts)(transformers.LlamaConfig(**config.to_dict()))
            experts.config._experts_implementation = kind
            calls.append(functools.partial(experts, plain(8, 16), torch.randint(0, 2, (8, 1)), torch.ones(8, 1)))
    written("transformers.integrations.use_experts_implementation", calls, table, backward=False, only=only)

    def cached(kind, **options):
        cache = kind(config=config, **options) if options or kind is cache_utils.DynamicCache else kind()
        return lambda: [cache.update(kv, kv, 0)[0] for _ in range(2)]
    written("transformers.cache_utils.DynamicCache", [cached(cache_utils.DynamicCache), lambda: None], table, backward=False, only=only)
    written("transformers.cache_utils.StaticCache", [cached(cache_utils.StaticCache, max_cache_len=8), lambda: None], table, backward=False, only=only)


def timm_blocks(table, only):
    """The modules of which timm builds its models: built and called with what they take."""
    try:
        import timm.layers
    except ImportError:
        print("no timm", file=sys.stderr)
        return
    modules_of("timm.layers", vars(timm.layers), table, only)
    img = x(2, 4, 8, 8)
    for name, make in (("create_conv2d", lambda: timm.layers.create_conv2d(4, 4, 3)), ("create_pool2d", lambda: timm.layers.create_pool2d("avg", 2)),
                       ("create_pool2d", lambda: timm.layers.create_pool2d("max", 2)), ("create_classifier", lambda: nn.Sequential(*timm.layers.create_classifier(4, 4))),
                       ("get_norm_act_layer", lambda: timm.layers.get_norm_act_layer("batchnorm2d")(4))):
        written(f"timm.layers.{name}", [functools.partial(make(), img)], table, only=only)
