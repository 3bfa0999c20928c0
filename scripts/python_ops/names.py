"""Names of operators, and of methods that tensors share with other values."""

import re
import sys

import torch
import torch.nn as nn

ATEN = {name.split(".")[0].split("::")[1] for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")}


def own_name(api):
    """The operator that the reader takes without a row."""
    head, name = api.rsplit(".", 1)
    rest = {"torch": "", "Tensor": "", "torch.nn.functional": "", "torch.linalg": "linalg_", "torch.fft": "fft_",
            "torch.special": "special_"}
    return rest[head] + name if head in rest else None


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
