#!/usr/bin/env python3
"""Compares how fast `translate-error` reads logs with how fast ripgrep finds the same literals.

    cargo build --profile dist
    cargo bench --bench translate -- --literals > literals.txt
    python3 scripts/bench_logs.py --doctor target/dist/ascend-doctor --literals literals.txt --work DIR

Makes the logs itself (a generator with a fixed seed, so that they are the same everywhere): a healthy
one of training and serving with plog, process ids, addresses and hex dumps, and such with an error in
every hundredth and in every line. Runs the doctor and `rg -c -F -f literals.txt` by turns on each and
prints the best CPU time of each, for one core: reading from the page cache is part of it. Then a
directory of hard links of that many gigabytes, for the wall time over all cores and the peak of memory,
and single codes. Prints a table in Markdown.
"""

import argparse
import multiprocessing
import os
import random
import statistics
import subprocess
import sys
import time

SEED = 20260610
POOL = 40_000


def healthy_line(rng, n):
    """One line as a healthy run writes it; numbers that look like codes are none."""
    pid = rng.choice([107002, 107626, 145282, 207001, 500001, 507015, 507035, rng.randrange(10**5, 10**6)])
    clock = f"2026-06-10-{rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02}.{rng.randrange(1000):03}.{rng.randrange(1000):03}"
    address = f"0x12c{rng.randrange(1 << 36):09x}"
    kind = rng.randrange(12)
    if kind == 0:
        return f"[INFO] RUNTIME({pid},python3):{clock} [stream.cc:{rng.randrange(2000)}]{pid} Submit:stream_id={rng.randrange(2048)}, task_id={pid}, addr={address}, size={pid}, flag=0x0, retry=0"
    if kind == 1:
        return f"[EVENT] HCCL({pid},python3):{clock} [hccl_comm.cc:306] [{pid}]hcclComm init success, tag[HcomAllReduce_{n}], count[10485888], data_type[float32], rank[{n % 8}]"
    if kind == 2:
        return f"[DEBUG] DRV({pid},python3):{clock} [devmm_svm.c:{rng.randrange(900)}][ascend][curpid: {pid}, {pid}][drv][devmm][devmm_alloc 12]alloc va={address}, bytes={pid}, dev=0"
    if kind == 3:
        return f"[INFO] GE({pid},python3):{clock} [graph_manager.cc:{rng.randrange(2000)}]{pid} PreRun:graph {n} of session 0 took {rng.randrange(10**6)} us, {rng.randrange(900)} nodes"
    if kind == 4:
        return f"[TRACE] ASCENDCL({pid},python3):{clock} [memory.cpp:{rng.randrange(900)}]{pid} aclrtMalloc: size={pid}, policy=0, devPtr={address}"
    if kind in (5, 6):
        return f" iteration {n:8}/ 500000 | consumed samples: {n * 512} | elapsed time per iteration (ms): {rng.random() * 5000:.1f} | learning rate: 1.000E-05 | global batch size: 512 | lm loss: {rng.random() * 9:.6E} | loss scale: 1.0 | grad norm: {rng.random():.3f}"
    if kind == 7:
        return f"(Worker_TP{n % 8} pid={pid}) INFO 06-10 10:11:12 [metrics.py:{rng.randrange(900)}] Avg prompt throughput: {rng.random() * 900:.1f} tokens/s, Avg generation throughput: 12.3 tokens/s, Running: 17 reqs, GPU KV cache usage: {rng.random() * 100:.1f}%"
    if kind == 8:
        return f'INFO:     10.0.0.{rng.randrange(256)}:{rng.randrange(65536)} - "POST /v1/chat/completions HTTP/1.1" 200 OK'
    if kind == 9:
        return f"{{'loss': {rng.random():.4f}, 'grad_norm': {rng.random():.6f}, 'learning_rate': {rng.random():.3e}, 'epoch': {rng.random():.2f}}}"
    if kind == 10:
        return f"{n * 16:08x}: " + " ".join(f"{rng.randrange(65536):04x}" for _ in range(8))
    return f"2026-06-10 10:11:12,{rng.randrange(1000):03} - mmengine - INFO - Epoch(train) [1][{n}/50000] lr: 1.0e-03 time: {rng.random():.4f} memory: {pid} loss: {rng.random():.4f}"


def error_line(rng, n):
    """One line as a failure writes it."""
    pid = rng.randrange(10**5, 10**6)
    clock = f"2026-06-10-10:11:{rng.randrange(60):02}.{rng.randrange(1000):03}.031"
    return rng.choice(
        [
            f"[ERROR] HCCL({pid},python3):{clock} [transport_manager.cc:1402] [{pid}][SetMachinePara]call trace: hcclRet -> 9",
            f"[ERROR] RUNTIME({pid},python3):{clock} [task_info.cc:1776]{pid} PreCheckTaskErr:report error module_type=0, stream_id={n}, retCode=0x31",
            f"EI0006: [PID: {pid}] {clock} Getting socket times out. Reason: Remote Rank did not send the data in time. localPort:60000, deviceId:{n % 8}",
            f"[rank{n % 8}]: RuntimeError: synchronize:build/CMakeFiles/torch_npu.dir/compiler_depend.ts:361 NPU function error: AclrtSynchronizeStreamWithTimeout, error code is 507035",
            f"        The extend info: errcode:(0x{1 << rng.randrange(60):x}, 0, 0) errorStr: timeout or trap error. fixp_error0 info: 0x{n:x}",
            f"RuntimeError: NPU out of memory. Tried to allocate {n % 900}.00 MiB (NPU {n % 8}; 60.97 GiB total capacity; 58.92 GiB already allocated)",
        ]
    )


def make(path, size, every):
    """Writes a log in which every so many-th line is an error; none, if 0."""
    if os.path.exists(path) and os.path.getsize(path) >= size:
        return
    rng = random.Random(SEED + every)
    lines = [
        error_line(rng, n) if every and n % every == 0 else healthy_line(rng, n) for n in range(POOL)
    ]
    written = 0
    with open(path, "w", encoding="utf-8") as log:
        while written < size:
            start = rng.randrange(POOL)
            block = "\n".join(lines[start:] + lines[:start]) + "\n"
            written += log.write(block)


def run(command, env=None):
    """Wall and CPU seconds, peak memory in MB and exit status."""
    began = time.perf_counter()
    with open(os.devnull, "wb") as null:
        child = subprocess.Popen(command, stdout=null, stderr=null, env=env)
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - began
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, child.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--doctor", required=True)
    parser.add_argument("--literals", required=True, help="a file with one literal per line")
    parser.add_argument("--work", required=True, help="a directory for the logs")
    parser.add_argument("--rg", default="rg")
    parser.add_argument("--size", type=int, default=200, help="megabytes of each log")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--gigabytes", type=float, default=5.0, help="of the directory; 0 for none")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    size = args.size * 1_000_000

    with open(args.literals, encoding="utf-8") as file:
        count = sum(1 for _ in file)
    version = subprocess.run([args.rg, "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]
    print(f"{count} literals; {version}; {os.cpu_count()} cores; load {os.getloadavg()[0]:.1f}; best of {args.rounds}, by turns\n")
    print("| log | doctor MB/s per core | rg MB/s per core | ratio | doctor peak MB | status |")
    print("|---|---:|---:|---:|---:|---:|")
    paths = []
    for name, every in [("healthy", 0), ("an error in 100 lines", 100), ("an error in every line", 1)]:
        path = os.path.join(args.work, f"every{every}.log")
        # In a process of its own: what a child is said to need is at least what its parent has.
        maker = multiprocessing.Process(target=make, args=(path, size, every))
        maker.start()
        maker.join()
        paths.append(path)
        bytes_ = os.path.getsize(path)
        ours, theirs = [], []
        for _ in range(args.rounds + 1):
            ours.append(run([args.doctor, "translate-error", "--json", path]))
            theirs.append(run([args.rg, "-j1", "-c", "-F", "-f", args.literals, path]))
        # The first round warms the page cache.
        our, their = (min(cpu for _, cpu, _, _ in runs[1:]) for runs in (ours, theirs))
        rates = [bytes_ / 1e6 / seconds for seconds in (our, their)]
        peak = max(memory for _, _, memory, _ in ours)
        print(f"| {name} | {rates[0]:.0f} | {rates[1]:.0f} | {rates[0] / rates[1]:.2f} | {peak:.0f} | {ours[0][3]} |")
        sys.stdout.flush()

    if args.gigabytes:
        directory = os.path.join(args.work, "many")
        os.makedirs(directory, exist_ok=True)
        total, index = 0, 0
        while total < args.gigabytes * 1e9:
            # One in eight has errors.
            source = paths[1] if index % 8 == 0 else paths[0]
            link = os.path.join(directory, f"rank_{index}.log")
            if not os.path.exists(link):
                os.link(source, link)
            total += os.path.getsize(link)
            index += 1
        wall, cpu, memory, status = run([args.doctor, "translate-error", "--json", directory])
        print(f"\n{index} files, {total / 1e9:.1f} GB: {wall:.1f} s wall, {cpu:.1f} s CPU, "
              f"{total / 1e9 / wall:.2f} GB/s, peak {memory:.0f} MB, exit status {status}")

    runs = [run([args.doctor, "translate-error", "507035"]) for _ in range(21)]
    print(f"\nA single code: {statistics.median(wall for wall, *_ in runs) * 1e3:.1f} ms wall (median of 21), "
          f"{max(memory for *_, memory, _ in runs):.0f} MB")


if __name__ == "__main__":
    main()
