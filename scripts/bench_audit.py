#!/usr/bin/env python3
"""Measures what `audit-ops` needs for models of many gigabytes, whose weights are holes in the file.

    python3 scripts/bench_audit.py --doctor target/dist/ascend-doctor --work DIR [--gigabytes 10]

Makes archives of torch.export and TorchScript, ONNX models with weights inside and in a file beside it, and
safetensors, and audits each several times; prints wall time (median and least) and the peak of memory. The files take no room on the disk.
"""

import argparse
import json
import os
import statistics
import struct
import time
import zlib
from pathlib import Path


def export(path, size):
    """A graph beside its weights, as torch.export writes it."""
    graph = json.dumps({"graph_module": {"graph": {"inputs": [], "outputs": [], "nodes": [
        {"target": f"torch.ops.aten.{op}", "inputs": [], "outputs": [], "metadata": {}}
        for op in ["linear.default", "gelu.default", "mode.default", "add.Tensor"] * 250
    ], "tensor_values": {}}}, "torch_version": "2.9.0"}).encode()
    archive(path, size, "model/data/weights/weight_0", {"model/models/model.json": graph})


def script(path, size):
    """Code beside its weights, as torch.jit.save writes it."""
    code = b"class Net(Module):\n  def forward(self: __torch__.Net, x: Tensor) -> Tensor:\n"
    code += b"".join(b"    x = torch.%s(x)\n" % op for op in [b"relu", b"gelu", b"mode", b"softmax"] * 250)
    archive(path, size, "m/data/0", {
        "m/code/__torch__.py": code + b"    return x\n",
        "m/data.pkl": b"\x80\x02c__torch__\nNet\nq\x00)\x81.",
        "m/version": b"3\n",
    })


def archive(path, size, large, small):
    """A zip64 archive of stored entries, one of them with a hole as its content."""
    entries = [(large, None, size)] + [(name, data, len(data)) for name, data in small.items()]
    central = b""
    with path.open("wb") as file:
        for name, data, length in entries:
            at, name = file.tell(), name.encode()
            # Nobody asks for the checksum of what is not read.
            crc = zlib.crc32(data) if data is not None else 0
            sizes = struct.pack("<HHQQ", 1, 16, length, length)
            file.write(struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 45, 0, 0, 0, 33, crc, 0xFFFFFFFF, 0xFFFFFFFF,
                                   len(name), len(sizes)) + name + sizes)
            if data is None:
                file.seek(length, os.SEEK_CUR)
            else:
                file.write(data)
            extra = struct.pack("<HHQQQ", 1, 24, length, length, at)
            central += struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\1\2", 45, 45, 0, 0, 0, 33, crc, 0xFFFFFFFF,
                                   0xFFFFFFFF, len(name), len(extra), 0, 0, 0, 0, 0xFFFFFFFF) + name + extra
        start = file.tell()
        file.write(central)
        end = file.tell()
        count = len(entries)
        file.write(struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, count, count, len(central), start))
        file.write(struct.pack("<4sIQI", b"PK\6\7", 0, end, 1))
        file.write(struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0))


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, content, extra=0):
    """A field of bytes, of which `extra` follow later."""
    return varint(number << 3 | 2) + varint(len(content) + extra) + content


def onnx(path, size):
    """A model with one large initializer."""
    nodes = b"".join(field(1, field(4, op)) for op in [b"Gemm", b"Relu", b"Softmax", b"Add"] * 250)
    tensor = field(9, b"", size)
    graph = nodes + field(5, tensor, size)
    with path.open("wb") as file:
        file.write(b"\x08\x09" + field(7, graph, size))
        file.truncate(file.tell() + size)


def external(path, size):
    """A model whose thousand initializers lie in a file beside it."""
    nodes = b"".join(field(1, field(4, op)) for op in [b"Gemm", b"Relu", b"Softmax", b"Add"] * 250)
    each = size // 1000
    graph = nodes
    for at in range(1000):
        places = {b"location": b"weights.data", b"offset": str(at * each).encode(), b"length": str(each).encode()}
        data = b"".join(field(13, field(1, key) + field(2, value)) for key, value in places.items())
        # TensorProto: float32, external_data, data_location EXTERNAL.
        graph += field(5, b"\x10\x01" + field(8, b"w%d" % at) + data + b"\x70\x01")
    path.write_bytes(b"\x08\x09" + field(7, graph))
    with path.with_name("weights.data").open("wb") as file:
        file.truncate(size)


def safetensors(path, size):
    """A thousand tensors."""
    each = size // 1000
    header = json.dumps({f"w{at}": {"dtype": "BF16", "shape": [each // 2], "data_offsets": [at * each, (at + 1) * each]}
                         for at in range(1000)}).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(file.tell() + 1000 * each)


def run(doctor, path):
    started = time.perf_counter()
    pid = os.posix_spawn(doctor, [doctor, "audit-ops", "--torch-npu", "2.9.0", str(path)], os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
    ])
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - started
    code = os.waitstatus_to_exitcode(status)
    # Tensors alone give no verdict.
    assert code in (0, 1, 3), f"{path.name}: exit status {code}"
    return wall * 1e3, usage.ru_maxrss / 1024


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    arguments.add_argument("--doctor", required=True)
    arguments.add_argument("--work", type=Path, required=True)
    arguments.add_argument("--gigabytes", type=int, default=10)
    arguments.add_argument("--rounds", type=int, default=9)
    args = arguments.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    print("| model | wall ms | peak MB |\n|---|---:|---:|")
    for make, name in [(export, "model.pt2"), (script, "model.pt"), (onnx, "model.onnx"), (external, "external.onnx"),
                       (safetensors, "model.safetensors")]:
        path = args.work / name
        make(path, args.gigabytes << 30)
        runs = [run(args.doctor, path) for _ in range(args.rounds + 1)][1:]
        walls = [wall for wall, _ in runs]
        weights = args.work / "weights.data"
        size = (path.stat().st_size + (weights.stat().st_size if weights.exists() else 0)) / 1e9
        print(f"| {name}, {size:.1f} GB | {statistics.median(walls):.0f} ({min(walls):.0f}) | {max(m for _, m in runs):.0f} |")
        path.unlink()
        weights.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
