"""What PyTorch itself tests its functions and modules with."""

import functools
import itertools
import sys

import torch

from python_ops.recording import record

MOST_SAMPLES = 48
# Arguments by which one API calls different operators, with their place.
DECIDING = {
    "torch.nn.functional.interpolate": ("mode", 3), "torch.nn.functional.upsample": ("mode", 3),
    "torch.nn.functional.pad": ("mode", 2), "torch.nn.Upsample": ("mode", 2),
    "torch.nn.functional.embedding_bag": ("mode", 6), "torch.nn.EmbeddingBag": ("mode", 5),
}


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
