"""Which operators a call calls, forward and backward, and the table of that."""

import os
import re
import sys

import torch
from torch.autograd.profiler import record_function
from torch.profiler import ProfilerActivity, profile

MARK = "##"
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
