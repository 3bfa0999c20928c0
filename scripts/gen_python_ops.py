#!/usr/bin/env python3
"""Derive which operators each API of PyTorch calls, by calling it: data/ops/python.tsv.

Needs torch (CPU), torchvision, timm, transformers and expecttest. Every API is called with samples: those that PyTorch
tests itself with (OpInfo, ModuleInfo of torch.testing._internal), and the ones below for what has
none. The profiler records the operators that are called from outside of any operator; what these
are made of depends on the device, and is followed where they are judged. APIs that call the
operator of their own name and nothing else are left out: the reader knows that rule.

    python3 scripts/gen_python_ops.py [-o data/ops/python.tsv] [--only NAME]
"""
import argparse
import functools
import inspect
import itertools
import os
import re
import sys
import warnings

warnings.filterwarnings("ignore")
os.environ.setdefault("PYTORCH_TESTING_DEVICE_ONLY_FOR", "cpu")
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd.profiler import record_function
from torch.profiler import ProfilerActivity, profile

MOST_SAMPLES = 48
MARK = "##"
# Arguments by which one API calls different operators, with their place.
DECIDING = {
    "torch.nn.functional.interpolate": ("mode", 3), "torch.nn.functional.upsample": ("mode", 3),
    "torch.nn.functional.pad": ("mode", 2), "torch.nn.Upsample": ("mode", 2),
    "torch.nn.functional.embedding_bag": ("mode", 6), "torch.nn.EmbeddingBag": ("mode", 5),
}
# Operators of the bookkeeping around a call: no kernel is chosen for them on a device.
PLUMBING = {"detach", "detach_", "requires_grad_", "is_floating_point", "is_complex", "lift_fresh", "set_data",
            "_version", "_has_compatible_shallow_copy_type", "is_leaf", "output_nr", "retain_grad",
            "retains_grad", "resolve_conj", "resolve_neg", "is_neg", "is_conj", "is_signed", "size", "stride",
            "sym_size", "sym_stride", "sym_numel", "sym_storage_offset", "__torch_function__", "is_same_size"}


def events(prof):
    """The marked calls, with the operators called forward and backward from outside of any other."""
    out = []
    roots = prof.profiler.kineto_results.experimental_event_tree()

    def outer(event, forward, backward, in_backward):
        name = event.name
        if name.startswith("autograd::engine"):
            in_backward = True
        if "::" in name and not name.startswith(("autograd::", "torch::", "profiler::", "c10d::")):
            space, base = name.split("::", 1)
            base = base.split(".")[0].split("(")[0]
            if re.fullmatch(r"\w+", base) and re.fullmatch(r"\w+", space):
                (backward if in_backward else forward).add(base if space == "aten" else f"{space}::{base}")
                return
        for child in event.children:
            outer(child, forward, backward, in_backward)

    def walk(event):
        if event.name.startswith(MARK):
            forward, backward = set(), set()
            for child in event.children:
                outer(child, forward, backward, False)
            out.append((event.name[len(MARK):], forward, backward))
            return
        for child in event.children:
            walk(child)

    for root in roots:
        walk(root)
    device = lambda names: {name for name in names if "_for_cpu" not in name} - PLUMBING
    return [(mark, device(forward), device(backward)) for mark, forward, backward in out]


def tensors(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from tensors(one)
    elif isinstance(value, dict):
        yield from tensors(list(value.values()))


def differentiate(result):
    for one in tensors(result):
        if one.requires_grad and one.is_floating_point():
            one.sum().backward(retain_graph=True)
            return


# What the sum and its gradient above call themselves.
OWN = {"sum", "ones_like", "expand"}


def record(calls):
    """Each call's operators: forward, backward. A call that fails is left out."""
    out = []
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        for number, (call, backward) in enumerate(calls):
            try:
                with record_function(f"{MARK}{number} f"):
                    result = call()
            except Exception as error:  # noqa: BLE001 - an API that does not take these samples
                if os.environ.get("SHOW"):
                    print("   ", type(error).__name__, str(error)[:150], file=sys.stderr)
                continue
            out.append(number)
            if backward:
                try:
                    with record_function(f"{MARK}{number} b"):
                        differentiate(result)
                except Exception:  # noqa: BLE001
                    pass
    good = set(out)
    found = {}
    for mark, forward, backward in events(prof):
        number, kind = mark.split()
        if int(number) not in good:
            continue
        entry = found.setdefault(int(number), [set(), None])
        if kind == "f":
            entry[0] |= forward | backward
        elif backward:
            entry[1] = backward - OWN
    return found


class Table:
    def __init__(self):
        self.rows = {}

    def add(self, name, forward, backward):
        row = self.rows.setdefault(name, [[], []])
        row[0].append(frozenset(forward))
        if backward is not None:
            row[1].append(frozenset(backward))

    def cells(self, name):
        out = []
        for sets in self.rows[name]:
            always = frozenset.intersection(*sets) if sets else frozenset()
            some = (frozenset.union(*sets) if sets else frozenset()) - always
            out += [always, some]
        return out


def deciding(name, function, args, kwargs):
    """The key of the row for the argument that decides."""
    if name not in DECIDING:
        return None
    parameter, place = DECIDING[name]
    value = kwargs.get(parameter, args[place] if len(args) > place else "")
    return f"{name} {parameter}@{place}={value}" if isinstance(value, str) else None


def opinfos(table, only):
    from torch.testing._internal.common_methods_invocations import op_db
    for info in op_db:
        if "ops.aten" in info.name or info.name.startswith(("_refs", "ops.nvprims")):
            continue
        name = info.name if not info.name.startswith("torch.") else info.name[6:]
        if name.startswith("__") or "." in name and name.split(".")[0] not in (
                "nn", "linalg", "fft", "special", "masked", "signal", "sparse"):
            continue
        api = f"torch.{name}"
        if not resolves(api):
            api = f"Tensor.{name}"
            if not hasattr(torch.Tensor, name):
                continue
        if only and only not in api:
            continue
        grad = info.supports_autograd and torch.float32 in info.dtypes
        if not info.dtypes:
            continue
        dtype = torch.float32 if torch.float32 in info.dtypes else sorted(info.dtypes, key=str)[0]
        try:
            samples = list(itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=grad), MOST_SAMPLES))
        except Exception as error:  # noqa: BLE001
            print(api, "no samples", error, file=sys.stderr)
            continue
        calls = [(functools.partial(info.op, s.input, *s.args, **s.kwargs), grad) for s in samples]
        for number, (forward, backward) in record(calls).items():
            sample = samples[number]
            table.add(api, forward, backward)
            key = deciding(api, info.op, (sample.input, *sample.args), sample.kwargs)
            if key:
                table.add(key, forward, backward)


def without_gradients(call):
    def called(*args, **kwargs):
        with torch.no_grad():
            return call(*args, **kwargs)
    return called


def resolves(path):
    value = torch
    for part in path.split(".")[1:]:
        value = getattr(value, part, None)
        if value is None:
            return False
    return True


def modules(table, only):
    from torch.testing._internal.common_modules import module_db
    for info in module_db:
        api = f"torch.{info.name}"
        if only and only not in api:
            continue
        # Without gradients some modules take another way.
        for training, grad in ((False, False), (False, True), (True, True)):
            try:
                inputs = info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=grad,
                                                 training=training)
            except Exception as error:  # noqa: BLE001
                print(api, "no samples", error, file=sys.stderr)
                continue
            calls, given = [], []
            for sample in inputs[:MOST_SAMPLES]:
                args, kwargs = sample.constructor_input.args, sample.constructor_input.kwargs
                try:
                    module = info.module_cls(*args, **kwargs)
                except Exception:  # noqa: BLE001
                    continue
                module.train(training)
                call = sample.forward_input
                if call is None:
                    continue
                calls.append((functools.partial(module if grad else without_gradients(module), *call.args, **call.kwargs), grad))
                given.append((args, kwargs))
            for number, (forward, backward) in record(calls).items():
                table.add(api, forward, backward)
                key = deciding(api, info.module_cls, *given[number])
                if key:
                    table.add(key, forward, backward)


def x(*shape):
    return torch.randn(*shape or (4, 4), requires_grad=True)


def plain(*shape):
    return torch.randn(*shape or (4, 4))


def written(api, calls, table, backward=True, only=None):
    if only and only not in api:
        return
    found = record([(call, backward) for call in calls])
    if not found:
        print("no call of", api, "works", file=sys.stderr)
    # What the samples themselves are made with.
    made = {"randn", "arange"} if not api.startswith(("torch.rand", "torch.arange")) else set()
    for forward, back in found.values():
        table.add(api, forward - made, back)


def operators(table, only):
    a, b, i = x(), x(), torch.tensor([0, 2])
    mask = torch.tensor([True, False, True, False])
    ints = torch.arange(4)
    import operator as o
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "eq", "ne", "lt", "le", "gt", "ge"):
        f = getattr(o, name)
        calls = [lambda f=f: f(a, b)]
        if name != "matmul":
            calls += [lambda f=f: f(a, 2.0)]
        written(f"operator.{name}", calls, table, only=only)
        if name not in ("matmul", "eq", "ne", "lt", "le", "gt", "ge"):
            written(f"operator.r{name}", [lambda f=f: f(2.0, a)], table, only=only)
    for name in ("and_", "or_", "xor", "lshift", "rshift"):
        f = getattr(o, name)
        written(f"operator.{name}", [lambda f=f: f(ints, ints)], table, only=only)
    for name in ("neg", "invert", "abs", "pos"):
        f = getattr(o, name)
        written(f"operator.{name}", [lambda f=f: f(ints)], table, only=only)
    for name in ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow"):
        f = getattr(o, name)
        written(f"operator.{name}", [lambda f=f: f(plain(), 2.0)], table, only=only)
    for name in ("iand", "ior", "ixor", "ilshift", "irshift"):
        f = getattr(o, name)
        written(f"operator.{name}", [lambda f=f: f(torch.arange(4), 1)], table, only=only)
    written("operator.getitem int", [lambda: a[0], lambda: a[-1]], table, only=only)
    written("operator.getitem slice", [lambda: a[1:3], lambda: a[:, 1:]], table, only=only)
    written("operator.getitem none", [lambda: a[None], lambda: a[..., None]], table, only=only)
    written("operator.getitem ellipsis", [lambda: a[..., 0]], table, only=only)
    written("operator.getitem tensor", [lambda: a[i], lambda: a[mask], lambda: a[i, i]], table, only=only)
    written("operator.setitem value", [lambda: o.setitem(plain(), 0, 1.0), lambda: o.setitem(plain(), slice(1, 3), 0.0)], table, only=only)
    written("operator.setitem tensor", [lambda: o.setitem(plain(), i, 1.0), lambda: o.setitem(plain(), mask, 0.0)], table, only=only)
    written("operator.setitem slice", [lambda: o.setitem(plain(), 0, plain(4)), lambda: o.setitem(plain(), slice(1, 3), plain(2, 4))], table, only=only)
    written("operator.iter", [lambda: list(a)], table, only=only)
    written("operator.bool", [lambda: bool(plain(1)[0] > 0)], table, only=only)
    written("operator.float", [lambda: float(plain(1))], table, only=only)


def optimizers(table, only):
    for name, kind in sorted(vars(torch.optim).items()):
        if not (inspect.isclass(kind) and issubclass(kind, torch.optim.Optimizer)) or kind is torch.optim.Optimizer:
            continue

        def step(kind, **options):
            parameters = [nn.Parameter(plain()) for _ in range(3)]
            sparse = kind is torch.optim.SparseAdam
            for one in parameters:
                one.grad = torch.eye(4).to_sparse() if sparse else plain()
            optimizer = kind(parameters, lr=0.1, **options)
            closure = (lambda: sum((one ** 2).sum() for one in parameters)) if kind is torch.optim.LBFGS else None
            return lambda: (optimizer.step(closure), optimizer.step(closure)) and None

        takes = inspect.signature(kind).parameters
        rows = [("", {"foreach": True} if "foreach" in takes else {})]
        if "foreach" in takes:
            rows.append((" foreach=False", {"foreach": False}))
        if "fused" in takes:
            rows.append((" fused=True", {"fused": True}))
        if only and only not in name:
            continue
        for suffix, options in rows:
            extra = [{}]
            for option, value in (("momentum", 0.9), ("weight_decay", 0.1), ("amsgrad", True), ("nesterov", True)):
                if option in takes:
                    more = {option: value}
                    if option == "nesterov":
                        more["momentum"] = 0.9
                    extra.append(more)
            calls = []
            for more in extra:
                try:
                    calls.append(step(kind, **options, **more))
                except Exception:  # noqa: BLE001
                    continue
            written(f"torch.optim.{name}{suffix}", calls, table, backward=False)


def others(table, only):
    """What has no samples of its own."""
    img, seq, mask = x(2, 4, 8, 8), x(2, 5, 8), torch.ones(4, 4, dtype=torch.bool)
    t = x()

    def made(make, *inputs, train=(False, True)):
        def call(training):
            module = make()
            module.train(training)
            return functools.partial(module, *inputs)
        return [call(training) for training in train]

    rows = {
        "torch.nn.Identity": made(nn.Identity, img), "torch.nn.Flatten": made(nn.Flatten, img),
        "torch.nn.Unflatten": made(lambda: nn.Unflatten(1, (2, 2)), img),
        "torch.nn.Dropout": made(nn.Dropout, img), "torch.nn.Dropout1d": made(nn.Dropout1d, seq),
        "torch.nn.Dropout2d": made(nn.Dropout2d, img), "torch.nn.Dropout3d": made(nn.Dropout3d, x(1, 2, 3, 3, 3)),
        "torch.nn.AlphaDropout": made(nn.AlphaDropout, img),
        "torch.nn.FeatureAlphaDropout": made(nn.FeatureAlphaDropout, img),
        "torch.nn.Upsample": made(lambda: nn.Upsample(scale_factor=2), img),
        "torch.nn.UpsamplingNearest2d": made(lambda: nn.UpsamplingNearest2d(scale_factor=2), img),
        "torch.nn.UpsamplingBilinear2d": made(lambda: nn.UpsamplingBilinear2d(scale_factor=2), img),
        "torch.nn.PixelShuffle": made(lambda: nn.PixelShuffle(2), img),
        "torch.nn.PixelUnshuffle": made(lambda: nn.PixelUnshuffle(2), img),
        "torch.nn.ChannelShuffle": made(lambda: nn.ChannelShuffle(2), img),
        "torch.nn.Fold": made(lambda: nn.Fold((4, 4), (2, 2)), x(1, 4 * 4, 9)),
        "torch.nn.Unfold": made(lambda: nn.Unfold((2, 2)), img),
        "torch.nn.ZeroPad1d": made(lambda: nn.ZeroPad1d(1), seq), "torch.nn.ZeroPad2d": made(lambda: nn.ZeroPad2d(1), img),
        "torch.nn.ConstantPad2d": made(lambda: nn.ConstantPad2d(1, 0.5), img),
        "torch.nn.ReflectionPad2d": made(lambda: nn.ReflectionPad2d(1), img),
        "torch.nn.ReplicationPad2d": made(lambda: nn.ReplicationPad2d(1), img),
        "torch.nn.CircularPad2d": made(lambda: nn.CircularPad2d(1), img),
        "torch.nn.AvgPool2d": made(lambda: nn.AvgPool2d(2), img), "torch.nn.MaxUnpool2d": [],
        "torch.nn.LPPool2d": made(lambda: nn.LPPool2d(2, 2), img), "torch.nn.LPPool1d": made(lambda: nn.LPPool1d(2, 2), seq),
        "torch.nn.AdaptiveAvgPool2d": made(lambda: nn.AdaptiveAvgPool2d(1), img),
        "torch.nn.AdaptiveAvgPool1d": made(lambda: nn.AdaptiveAvgPool1d(1), seq),
        "torch.nn.AdaptiveMaxPool1d": made(lambda: nn.AdaptiveMaxPool1d(1), seq),
        "torch.nn.AdaptiveMaxPool2d": made(lambda: nn.AdaptiveMaxPool2d(1), img),
        "torch.nn.FractionalMaxPool2d": made(lambda: nn.FractionalMaxPool2d(2, output_size=4), img),
        "torch.nn.CosineSimilarity": made(nn.CosineSimilarity, t, x()),
        "torch.nn.PairwiseDistance": made(nn.PairwiseDistance, t, x()),
        "torch.nn.Softmax2d": made(nn.Softmax2d, img), "torch.nn.LogSoftmax": made(lambda: nn.LogSoftmax(1), t),
        "torch.nn.LocalResponseNorm": made(lambda: nn.LocalResponseNorm(2), img),
        "torch.nn.CrossMapLRN2d": made(lambda: nn.CrossMapLRN2d(2), img),
        "torch.nn.RMSNorm": made(lambda: nn.RMSNorm(8), seq),
        "torch.nn.GLU": made(nn.GLU, t), "torch.nn.RReLU": made(nn.RReLU, t),
        "torch.nn.SyncBatchNorm": made(lambda: nn.BatchNorm2d(4), img),
        "torch.nn.LazyLinear": made(lambda: nn.Linear(8, 4), seq),
        "torch.nn.LazyConv2d": made(lambda: nn.Conv2d(4, 4, 3), img),
        "torch.nn.LazyBatchNorm2d": made(lambda: nn.BatchNorm2d(4), img),
        "torch.nn.Transformer": made(lambda: nn.Transformer(8, 2, 1, 1, 16, batch_first=True), seq, seq),
        "torch.nn.TransformerEncoder": made(lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 1), seq),
        "torch.nn.TransformerDecoder": made(lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), 1), seq, seq),
        "torch.nn.AdaptiveLogSoftmaxWithLoss": [lambda: nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10])(x(6, 8), torch.arange(6)).loss],
        "torch.nn.functional.softmax": [lambda: F.softmax(t, -1)], "torch.nn.functional.log_softmax": [lambda: F.log_softmax(t, -1)],
        "torch.nn.functional.softmin": [lambda: F.softmin(t, -1)],
        "torch.nn.functional.gumbel_softmax": [lambda: F.gumbel_softmax(t), lambda: F.gumbel_softmax(t, hard=True)],
        "torch.nn.functional.fold": [lambda: F.fold(x(1, 16, 9), (4, 4), (2, 2))],
        "torch.nn.functional.affine_grid": [lambda: F.affine_grid(x(1, 2, 3), (1, 1, 4, 4))],
        "torch.nn.functional.lp_pool2d": [lambda: F.lp_pool2d(img, 2, 2)],
        "torch.nn.functional.dropout1d": [lambda: F.dropout1d(seq)],
        "torch.nn.functional.sigmoid": [lambda: F.sigmoid(t)], "torch.nn.functional.tanh": [lambda: F.tanh(t)],
        "torch.nn.functional.upsample": [lambda: F.upsample(img, scale_factor=2)],
        "torch.nn.functional.max_pool2d_with_indices": [lambda: F.max_pool2d_with_indices(img, 2)],
        "torch.nn.functional.adaptive_max_pool2d_with_indices": [lambda: F.adaptive_max_pool2d_with_indices(img, 2)],
        "torch.nn.utils.clip_grad_norm_": [lambda: clipped()], "torch.nn.utils.clip_grad_value_": [lambda: clipped(True)],
        "torch.nn.utils.get_total_norm": [lambda: nn.utils.get_total_norm([plain(), plain()])],
        "torch.nn.utils.parameters_to_vector": [lambda: nn.utils.parameters_to_vector([t, t])],
        "torch.nn.utils.weight_norm": made(lambda: nn.utils.weight_norm(nn.Linear(8, 4)), seq),
        "torch.nn.utils.parametrizations.weight_norm": made(lambda: nn.utils.parametrizations.weight_norm(nn.Linear(8, 4)), seq),
        "torch.nn.utils.spectral_norm": made(lambda: nn.utils.spectral_norm(nn.Linear(8, 4)), seq),
        "torch.nn.utils.parametrizations.spectral_norm": made(lambda: nn.utils.parametrizations.spectral_norm(nn.Linear(8, 4)), seq),
        "torch.nn.utils.parametrizations.orthogonal": made(lambda: nn.utils.parametrizations.orthogonal(nn.Linear(8, 8)), seq),
        "torch.nn.utils.rnn.pack_padded_sequence": [lambda: nn.utils.rnn.pack_padded_sequence(seq, torch.tensor([5, 3]), batch_first=True).data],
        "torch.nn.utils.rnn.pad_packed_sequence": [lambda p=nn.utils.rnn.pack_padded_sequence(seq, torch.tensor([5, 3]), batch_first=True): nn.utils.rnn.pad_packed_sequence(p)[0]],
        "torch.nn.utils.rnn.pad_sequence": [lambda: nn.utils.rnn.pad_sequence([x(3), x(2)])],
        "torch.tensor": [lambda: torch.tensor([1.0, 2.0]), lambda: torch.tensor(1)],
        "torch.as_tensor": [lambda: torch.as_tensor([1.0])], "torch.from_numpy": [],
        "torch.Tensor": [lambda: torch.Tensor([1.0])], "torch.FloatTensor": [lambda: torch.FloatTensor([1.0])],
        "torch.LongTensor": [lambda: torch.LongTensor([1])],
        "torch.stft": [lambda: torch.stft(plain(64), 16, window=torch.ones(16), return_complex=True)],
        "torch.norm": [lambda: torch.norm(t), lambda: torch.norm(t, dim=1), lambda: torch.norm(t, p=1, dim=1)],
        "torch.atleast_2d": [lambda: torch.atleast_2d(x(4))], "torch.lobpcg": [lambda: torch.lobpcg(torch.eye(12) * 2)[0]],
        "torch.rand": [lambda: torch.rand(3)], "torch.randperm": [lambda: torch.randperm(3)],
        "torch.hamming_window": [lambda: torch.hamming_window(8)], "torch.range": [lambda: torch.range(1, 3)],
        "Tensor.norm": [lambda: t.norm(), lambda: t.norm(dim=1)],
        "Tensor.split": [lambda: t.split(2), lambda: t.split([1, 3])],
        "Tensor.item": [lambda: plain(1).item()], "Tensor.tolist": [lambda: plain(2).tolist()],
        "Tensor.backward": [lambda: x().sum().backward()], "Tensor.numpy": [lambda: plain(2).numpy()],
        "Tensor.T": [lambda: t.T], "Tensor.mT": [lambda: t.mT], "Tensor.H": [lambda: t.H], "Tensor.mH": [lambda: t.mH],
        "Tensor.real": [lambda: torch.randn(2, dtype=torch.complex64).real], "Tensor.imag": [lambda: torch.randn(2, dtype=torch.complex64).imag],
        "Tensor.data": [lambda: t.data], "Tensor.type_as": [lambda: t.type_as(ints())],
        "Tensor.unflatten": [lambda: t.unflatten(0, (2, 2))], "Tensor.stft": [lambda: plain(64).stft(16, window=torch.ones(16), return_complex=True)],
        "Tensor.unique": [lambda: ints().unique(), lambda: ints().unique(return_counts=True)],
        "Tensor.new_tensor": [lambda: t.new_tensor([1.0])], "Tensor.repeat": [lambda: t.repeat(2, 1)],
    }
    for name in ("float", "double", "half", "bfloat16", "int", "long", "short", "bool", "byte", "char", "cfloat", "cdouble", "cpu"):
        rows[f"Tensor.{name}"] = [lambda name=name: getattr(ints(), name)()]
    rows["Tensor.cuda"] = rows["Tensor.npu"] = rows["Tensor.to"] = [lambda: t.to(torch.float16)]
    rows["Tensor.type"] = [lambda: t.type(torch.float16)]
    for name, function in sorted(vars(nn.init).items()):
        if name.endswith("_") and not name.startswith("_") and callable(function):
            extra = {"constant_": (1.0,), "sparse_": (0.1,)}.get(name, ())
            shape = (3, 3, 3) if name == "dirac_" else (4, 4)
            rows[f"torch.nn.init.{name}"] = [lambda f=function, extra=extra, shape=shape: f(plain(*shape), *extra)]
    for api, calls in rows.items():
        if not (only and only not in api):
            written(api, calls, table)
    for mode, shape in (("nearest", img), ("nearest-exact", img), ("bilinear", img), ("bicubic", img), ("area", img),
                        ("linear", seq), ("trilinear", x(1, 2, 3, 3, 3))):
        for api in ("torch.nn.Upsample mode@2=", "torch.nn.functional.upsample mode@3="):
            make = nn.Upsample if "nn.Upsample" in api else functools.partial(functools.partial, F.upsample)
            if "functional" in api:
                calls = [functools.partial(F.upsample, shape, scale_factor=2, mode=mode)]
            else:
                calls = [functools.partial(make(scale_factor=2, mode=mode), shape)]
            written(api + mode, calls, table, only=only)
    for mode in ("constant", "reflect", "replicate", "circular"):
        written(f"torch.nn.functional.pad mode@2={mode}", [functools.partial(F.pad, img, (1, 1, 1, 1), mode)], table, only=only)
    distributions(table, only)
    vision(table, only)


INTS = torch.tensor([1, 2, 2])


def ints():
    return INTS


def clipped(by_value=False):
    parameters = [nn.Parameter(plain()), nn.Parameter(plain())]
    for one in parameters:
        one.grad = plain()
    if by_value:
        nn.utils.clip_grad_value_(parameters, 1.0, foreach=True)
    else:
        nn.utils.clip_grad_norm_(parameters, 1.0, foreach=True)


def distributions(table, only):
    d = torch.distributions
    one = torch.tensor([0.5, 0.4])
    rows = {"Normal": lambda: d.Normal(one, one), "Categorical": lambda: d.Categorical(one), "Bernoulli": lambda: d.Bernoulli(one),
            "Uniform": lambda: d.Uniform(one * 0, one + 1), "Beta": lambda: d.Beta(one, one), "Gamma": lambda: d.Gamma(one, one),
            "Dirichlet": lambda: d.Dirichlet(one), "Exponential": lambda: d.Exponential(one), "Poisson": lambda: d.Poisson(one),
            "Laplace": lambda: d.Laplace(one, one), "MultivariateNormal": lambda: d.MultivariateNormal(torch.zeros(2), torch.eye(2)),
            "LogNormal": lambda: d.LogNormal(one, one), "Gumbel": lambda: d.Gumbel(one, one), "StudentT": lambda: d.StudentT(one)}
    for name, make in rows.items():
        # Who builds one need not draw from it, nor ask for a density.
        value = make().sample()
        calls = [make, lambda make=make: make().sample(), lambda make=make, value=value: make().log_prob(value)]
        if name == "MultivariateNormal":
            calls.append(lambda: d.MultivariateNormal(torch.zeros(2), scale_tril=torch.eye(2)))
        written(f"torch.distributions.{name}", calls, table, backward=False, only=only)


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
    # The operators exist on the CPU; these are the only ones that torchvision brings.


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


def methods(table, only):
    """Methods and functions of no sample whose name is no operator: called with what they take."""
    t = x()
    tries = [(), (0,), (t,), (1, 0), ((2, 8),), (2, 8), (t, 0), ([t, t],)]
    places = [("Tensor", torch.Tensor, True), ("torch", torch, False), ("torch.nn.functional", F, False)]
    refused = re.compile(r"^_|cuda|ipu|xpu|mtia|hpu|share_memory|storage|save|load|seed|rng|manual|set_|get_|is_|use_|"
                         r"compile|vmap|jit|fork|profiler|deterministic|pin_memory|hook|names|align|refine|"
                         r"cond|while_loop|data_ptr|untyped|sparse|dense|quant|q_|int_repr|dequant|"
                         r"mkldnn|resize|promote|can_cast|result_type|typename|export|from_file|frombuffer|"
                         r"handle_torch|has_torch|boolean_dispatch|assert|dim_order|module_load|parse|import|read_")
    for prefix, holder, method in places:
        for name in sorted(dir(holder)):
            api = f"{prefix}.{name}"
            if refused.search(name) or name in ATEN or api in table.rows or f"torch.{name}" in table.rows:
                continue
            if only and only not in api:
                continue
            function = getattr(holder, name, None)
            if not callable(function) or inspect.isclass(function) or inspect.ismodule(function):
                continue
            for args in tries:
                found = record([(functools.partial(function, t, *args) if (method or args == ()) else functools.partial(function, *args), True)])
                if found:
                    for forward, backward in found.values():
                        if forward:
                            table.add(api, forward, backward)
                    break


def rest(table, only):
    """Modules of no sample: built and called with what they take."""
    modules_of("torch.nn", vars(nn), table, only)


def modules_of(package, members, table, only):
    shapes = [(4, 4), (2, 4, 8), (2, 4, 8, 8), (2, 4, 8, 8, 8)]
    for name, kind in sorted(members.items()):
        api = f"{package}.{name}"
        if not (inspect.isclass(kind) and issubclass(kind, nn.Module)) or api in table.rows or (only and only not in api):
            continue
        if name in ("Module", "Container", "DataParallel") or name.startswith(("Module", "Parameter", "Sequential", "Lazy")):
            continue
        for args, shape in itertools.product(((), (2,), (4,), (8,), (4, 4), (4, 4, 1), (1.0,)), shapes):
            try:
                module = kind(*args)
                module(plain(*shape))
            except Exception:  # noqa: BLE001 - it takes something else
                continue
            for training in (False, True):
                module.train(training)
                found = record([(functools.partial(module, x(*shape)), True)])
                for forward, backward in found.values():
                    table.add(api, forward, backward)
            break
        else:
            print("no sample for", api, file=sys.stderr)


def method_names():
    """Methods of tensors: which other values of a program have one of the same name."""
    import argparse
    import collections
    import datetime
    import io
    import logging
    import pathlib
    import random
    import threading
    builtins = [str, bytes, list, dict, set, tuple, int, float, object, io.TextIOWrapper, pathlib.Path, re.Pattern, re.Match,
                logging.Logger, argparse.ArgumentParser, collections.deque, collections.Counter, random.Random,
                threading.Thread, datetime.datetime, nn.Module, torch.optim.Optimizer, torch.utils.data.DataLoader,
                torch.device, torch.Size, slice, range]
    import numpy
    arrays = [numpy.ndarray]
    for module, names in (("pandas", ("DataFrame", "Series")), ("PIL.Image", ("Image",))):
        try:
            __import__(module)
        except ImportError:
            print("no", module, file=sys.stderr)
            continue
        arrays += [getattr(sys.modules[module], name) for name in names]
    kinds = {"tensor": [], "array": [], "builtin": []}
    for name in sorted(dir(torch.Tensor)):
        if name.startswith("__") or not callable(getattr(torch.Tensor, name)):
            continue
        has = lambda types: any(hasattr(one, name) for one in types)
        kinds["builtin" if has(builtins) else "array" if has(arrays) else "tensor"].append(name)
    return kinds


ATEN = {name.split(".")[0].split("::")[1] for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")}


def own_name(api):
    """The operator that the reader takes without a row."""
    head, name = api.rsplit(".", 1)
    rest = {"torch": "", "Tensor": "", "torch.nn.functional": "", "torch.linalg": "linalg_", "torch.fft": "fft_",
            "torch.special": "special_"}
    return rest[head] + name if head in rest else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", default="data/ops/python.tsv")
    parser.add_argument("--only")
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    table = Table()
    for step in (operators, optimizers, others, activations, transformers_blocks, timm_blocks, modules, rest, opinfos, methods):
        step(table, args.only)
        print(step.__name__, len(table.rows), file=sys.stderr)
    for api, (parameter, place) in DECIDING.items():
        default = inspect.signature(functools.reduce(getattr, api.split(".")[1:], torch)).parameters[parameter].default
        if f"{api} {parameter}@{place}={default}" in table.rows:
            table.rows[f"{api} {parameter}@{place}="] = table.rows[f"{api} {parameter}@{place}={default}"]
    lines = []
    for api in sorted(table.rows):
        always, some, back, back_some = table.cells(api)
        # Nothing is recorded of what has nothing to do with these samples (`contiguous`).
        if not always and not some and own_name(api) in ATEN:
            always = {own_name(api)}
        if not (always or some or back or back_some):
            continue
        if always == {own_name(api)} and not some and not (back or back_some):
            continue
        cell = lambda names: " ".join(sorted(names)) or "-"
        lines.append("\t".join([api, cell(always), cell(some), cell(back), cell(back_some)]))
    head = [
        f"# Operators that APIs of PyTorch {torch.__version__.split('+')[0]} call from outside of any other operator, found by calling them",
        "# with the samples of PyTorch's own tests and those of scripts/gen_python_ops.py, which wrote this.",
        "# Names without `::` are of aten. An API of the name of its operator has no row where it calls nothing",
        "# else. `API argument@place=value` holds where this argument has this value (none: is not given).",
        "# Columns: API, operators of every call, of some, of every backward pass, of some.",
    ]
    out = sys.stdout if args.output == "-" else open(args.output, "w", encoding="utf-8")
    print("\n".join(head + lines), file=out)
    print(f"{len(lines)} rows, {sum(map(len, lines))} bytes", file=sys.stderr)
    if args.output != "-" and not args.only:
        with open(os.path.join(os.path.dirname(args.output), "methods.tsv"), "w", encoding="utf-8") as file:
            print("# Methods of torch.Tensor: those of tensors alone, those that arrays, images or tables have too, and", file=file)
            print("# those that other values have (texts, lists, files, modules). Generated by scripts/gen_python_ops.py.", file=file)
            print("# Columns: what has them, names.", file=file)
            for kind, names in sorted(method_names().items()):
                print(kind, " ".join(names), sep="\t", file=file)


if __name__ == "__main__":
    main()
