"""Modules and methods without any samples: called with what they take."""

import functools
import inspect
import itertools
import re
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

from python_ops.names import ATEN
from python_ops.recording import plain, record, x


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
