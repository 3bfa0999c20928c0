"""Operators of the language, and optimizers."""

import inspect

import torch
import torch.nn as nn

from python_ops.recording import plain, written, x


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
