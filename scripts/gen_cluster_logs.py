#!/usr/bin/env python3
"""Makes the logs of a job of many ranks that failed, with a first cause that is known.

    python3 scripts/gen_cluster_logs.py DIR --ranks 64 --kind kernel [--culprit 37] [--lines 400]
    python3 scripts/gen_cluster_logs.py DIR --measure target/dist/ascend-doctor

Lays out what a site collects: DIR/worker-N/ascend/log/debug/plog/plog-PID_TIME.log for each of the eight
processes of a machine, and DIR/worker-N/stdout/RANK.txt, what the process printed. Process ids repeat
between machines. The lines have the shapes that CANN, HCCL and torch_npu write (hicann/hccl
src/framework/…/task_exception_handler.cc, hicann/runtime src/runtime/…/device_error_core_proc.cc,
Ascend/pytorch torch_npu/csrc/core/npu/NPUException.cpp); names and numbers are made up, from a fixed
seed. DIR/planted.json says what was planted.

Kinds: kernel (a rank dies of an error of its AI Core; the others wait until HCCL gives up), link (the
network port of a rank goes down; its neighbours get completion errors, the others wait), memory (a rank
has no device memory left), slow (a rank comes late), script (the script of a rank raises an exception),
absent (a rank never joins).

With --measure every kind is made for 8, 64 and 1,000 ranks, diagnosed by the program that is named, and
one row of a table in Markdown is printed for each: what was found, seconds, peak of memory.
"""

import argparse
import datetime
import json
import os
import pathlib
import random
import shutil
import sys
import tempfile
import time

SEED = 20251024
START = datetime.datetime(2025, 10, 24, 11, 16)
# HCCL_EXEC_TIMEOUT, in seconds, as it is unless set.
PATIENCE = 1836
PER_HOST = 8
TAG = "AllReduce_10.20.0.10%eth0_60000_0_1729769760000000"
GROUP = "10.20.0.10%eth0_60000_0_1729769760000000"

# By kind: the causes that are right, and a culprit to take unless one is named.
KINDS = {
    "kernel": (["aicore.illegal_gm_access", "aicore.kernel_exception"], 0.58),
    "link": (["hccl.nic_down", "hccl.error_cqe"], 0.37),
    "memory": (["memory.device_oom"], 0.81),
    "slow": (["hccl.slow_rank"], 0.45),
    "script": (["framework.user_script_error"], 0.66),
    "absent": (["hccl.cluster_negotiation_timeout"], 0.92),
}


class Rank:
    """One process of the job, and what it writes."""

    def __init__(self, number, size, rng):
        self.number, self.size, self.rng = number, size, rng
        self.host, self.device = divmod(number, PER_HOST)
        # The same numbers on every machine: containers begin to count at the same one.
        self.pid = 3001 + 97 * self.device
        self.plog, self.stdout = [], []

    def clock(self, second):
        # Clocks of machines are apart by a little.
        moment = START + datetime.timedelta(seconds=second + self.host % 7 * 0.13)
        return moment.strftime("%Y-%m-%d-%H:%M:%S.") + f"{moment.microsecond // 1000:03}.{self.rng.randrange(1000):03}"

    def write(self, level, module, second, place, text):
        tid = self.pid + self.rng.randrange(1, 90)
        if module == "HCCL":
            text = f"[{tid}]{text}"
        else:
            text = f"{tid} {text}"
        self.plog.append(f"[{level}] {module}({self.pid},python):{self.clock(second)} [{place}] {text}"
                         if module == "HCCL" else
                         f"[{level}] {module}({self.pid},python):{self.clock(second)} [{place}]{text}")

    def say(self, text):
        self.stdout.extend(f"[rank{self.number}]:{line}" for line in text.split("\n"))

    def begin(self):
        self.write("INFO", "HCCL", 0, "op_base.cc:771",
                   f"Entry-HcclCommInitRootInfoInner:ranks[{self.size}], rank[{self.number}], rootinfo: host ip[10.20.0.10] "
                   f"port[60000] nicDeploy[1] identifier[{GROUP}], deviceLogicId[{self.device}]")
        self.write("EVENT", "RUNTIME", 1, "runtime.cc:5471", f"GetVisibleDevices:ASCEND_RT_VISIBLE_DEVICES is not set, device num={PER_HOST}")

    def healthy(self, lines):
        for n in range(lines):
            at = 5 + n * 0.1
            kind = n % 5
            address = f"0x12c{self.rng.randrange(1 << 36):09x}"
            if kind == 0:
                self.write("INFO", "RUNTIME", at, "stream.cc:693", f"Submit:stream_id={n % 48}, task_id={n}, addr={address}, size=4096, retry=0")
            elif kind == 1:
                self.write("INFO", "ASCENDCL", at, "memory.cpp:120", f"aclrtMallocAlign32:start to execute, size = {self.rng.randrange(1 << 24)}")
            elif kind == 2:
                self.write("INFO", "HCCL", at, "hccl_comm.cc:306", f"HcclAllReduce: tag[{TAG}], count[10485888], dataType[float32], op[sum], streamId[{n % 48}]")
            elif kind == 3:
                self.write("EVENT", "GE", at, "graph_manager.cc:1203", f"PreRun:graph {n} took {self.rng.randrange(10**5)} us")
            elif self.number % PER_HOST == 0:
                self.say(f" iteration {n:8}/ 500000 | elapsed time per iteration (ms): 1203.1 | lm loss: {self.rng.random() * 9:.6E} | grad norm: {self.rng.random():.3f}")

    def waits(self, second, began=54.0, remote=None):
        """The time-out of an operation that a peer does not join, as plog and as the traceback."""
        moment = START + datetime.timedelta(seconds=began)
        stamp = moment.strftime("%Y-%m-%d-%H:%M:%S.493.816")
        head = "[TaskExecStage][Timeout][Host]Task run failed, "
        self.write("ERROR", "RUNTIME", second, "task_info.cc:1170",
                   f"PrintErrorInfoForNotifyWaitTask:Notify wait execute failed, device_id={self.device}, stream_id=50, task_id=21, flip_num=0, notify_id=7")
        self.write("ERROR", "HCCL", second, "task_exception_handler.cc:947",
                   f"{head}base information is streamID:[50], taskID[21], tag[{TAG}], AlgType(level 0-1-2):[fullmesh-ring-NHR].")
        self.write("ERROR", "HCCL", second, "task_exception_handler.cc:810",
                   f"{head}groupRank information is group:[{GROUP}], user define information[Unspecified], rankSize[{self.size}], rankId[{self.number}].")
        self.write("ERROR", "HCCL", second, "task_exception_handler.cc:737",
                   f"{head}opData information is timeStamp:[{stamp}], deviceId[{self.device}], index[21], count[10485888], reduceType[sum], "
                   f"src[0x12c0c1800000], dst[0x12c0c1800000], dataType[float32].")
        if remote is not None:
            self.write("ERROR", "HCCL", second, "task_exception_handler.cc:640",
                       f"{head}para information is type:NOTIFY WAIT, localRank:{self.number}, remoteRank:{remote}, notify id:0x7, timeout:{PATIENCE}s.")
        clock = self.clock(second).replace(".", ":", 0)[:19]
        self.say("\n".join([
            "Traceback (most recent call last):",
            '  File "/data/train/pretrain_gpt.py", line 226, in <module>',
            "    main()",
            '  File "/data/train/training.py", line 512, in train_step',
            "    torch.npu.synchronize()",
            "RuntimeError: npuSynchronizeDevice:build/CMakeFiles/torch_npu.dir/compiler_depend.ts:510 NPU function error: "
            "AclrtSynchronizeDeviceWithTimeout, error code is 507048",
            f"[ERROR] {clock} (PID:{self.pid}, Device:{self.device}, RankID:{self.number}) ERR00100 PTA call acl api failed.",
            "[Error]: The FFTS+ task execution times out.",
            f"EI0002: [PID: {self.pid}] {self.clock(second)} The wait execution of the Notify register times out. Reason: The Notify register "
            f"has not received the Notify record from remote rank.",
        ]))

    def dies_of_kernel(self, second):
        for place, text in [
            ("device_error_core_proc.cc:333",
             f"ProcessStarsCoreErrorInfo:The error from device(chipId:{self.device}, dieId:0), serial number is 1, there is an exception of aivec "
             "error, core id is 9, error code = 0, dump info: pc start: 0x124000000, current: 0x124000898, vec error info: 0x711f37ab64, mte error "
             "info: 0xbd2a0bfbd5, ifu error info: 0x3fe2230884780, ccu error info: 0xc389b1397500001d, cube error info: 0, biu error info: 0, "
             "aic error mask: 0x6500020bd00028c, para base: 0x12c100546800."),
            ("device_error_core_proc.cc:353",
             "ProcessStarsCoreErrorInfo:The extend info: errcode:(0x4000000000000000, 0, 0) errorStr: The DDR address of the MTE instruction is out "
             "of range. fixp_error0 info: 0xa0bfbd5, fixp_error1 info: 0xbd, fsmId:0, tslot:6, thread:0, ctxid:0, blk:0, sublk:0, subErrType:4."),
            ("davinci_kernel_task.cc:1539", "PreCheckTaskErr:Kernel task happen error, retCode=0x31, [vector core exception]."),
            ("davinci_kernel_task.cc:1450",
             f"PrintErrorInfoForDavinciTask:[INIT][DEFAULT]Aicore kernel execute failed, device_id={self.device}, stream_id=2, report_stream_id=2, "
             "task_id=1729, flip_num=0, fault kernel_name=GatherV2_3f1b, fault kernel info ext=none, program id=7, hash=129."),
        ]:
            self.write("ERROR", "RUNTIME", second, place, text)
        self.say("\n".join([
            "RuntimeError: npuSynchronizeDevice:build/CMakeFiles/torch_npu.dir/compiler_depend.ts:510 NPU function error: "
            "AclrtSynchronizeDeviceWithTimeout, error code is 507035",
            f"[ERROR] {self.clock(second)[:19]} (PID:{self.pid}, Device:{self.device}, RankID:{self.number}) ERR00100 PTA call acl api failed.",
            "[Error]: The vector core execution is abnormal.",
        ]))

    def has_no_memory(self, second):
        self.write("ERROR", "RUNTIME", second, "npu_driver.cc:1174",
                   f"DevMemAllocHugePageManaged:[drv api] halMemAlloc failed:size=34359738368(bytes), type=2, moduleId=3, drvFlag=216172782113787904, "
                   f"drvRetCode=6, device_id={self.device}, ErrCode=207001, desc=[driver error:out of memory], InnerCode=0x7020016")
        self.say("\n".join([
            "Traceback (most recent call last):",
            '  File "/data/train/training.py", line 498, in train_step',
            f"RuntimeError: NPU out of memory. Tried to allocate 32.00 GiB (NPU {self.device}; 60.96 GiB total capacity; 41.10 GiB already "
            "allocated; 41.10 GiB current active; 18.02 GiB free; 42.00 GiB reserved in total by PyTorch)",
        ]))

    def loses_link(self, second):
        self.write("ERROR", "HCCP", second, "rs_rdma.c:311", f"tid:{self.pid},rs_qp_query_status(311) : the network port of device[{self.device}] is down, link status: DOWN")

    def error_cqe(self, second, remote):
        self.write("ERROR", "HCCL", second, "heartbeat.cc:1188",
                   f"[TaskExecStage][Timeout][Host]error cqe status[12], local rank[{self.number}], remote rank[{remote}], qpn[72], time[{self.clock(second)}]")

    def raises(self, second):
        self.say("\n".join([
            "Traceback (most recent call last):",
            '  File "/data/train/pretrain_gpt.py", line 226, in <module>',
            "    main()",
            '  File "/data/train/dataset.py", line 88, in __getitem__',
            "    return self.index[item]",
            "KeyError: 'document_000017'",
        ]))

    def negotiates(self, second, missing):
        for text in [
            "topo exchange server get socket timeout! timeout[120 s]",
            f"total connected num is [{self.size - 1}],line num is [{(self.size + 7) // 8}]",
            f"need connect rankNum is [{self.size}]",
        ]:
            self.write("ERROR", "HCCL", second, "topoinfo_exchange_server.cc:314", f"[InitGroupStage][RanktableDetect]{text}")
        here = [rank for rank in range(self.size) if rank != missing]
        for line in range(0, len(here), 16):
            ranks = ",".join(f"[{rank:016}]" for rank in here[line:line + 16])
            self.write("ERROR", "HCCL", second, "topoinfo_exchange_server.cc:330", f"[InitGroupStage][RanktableDetect]connected rankinfo[LINE {line // 16}]: {ranks};")


def job(size, kind, culprit, lines):
    """The ranks of a job that fails."""
    rng = random.Random(f"{SEED}{kind}{size}{culprit}")
    ranks = [Rank(number, size, rng) for number in range(size)]
    failed, end = 62.0, 54.5 + PATIENCE
    for rank in ranks:
        guilty = rank.number == culprit
        if kind == "absent":
            if guilty:
                continue
            rank.begin()
            rank.healthy(20)
            if rank.number == 0:
                rank.negotiates(125, culprit)
            else:
                rank.write("ERROR", "HCCL", 126, "topoinfo_exchange_agent.cc:377",
                           "[InitGroupStage][RanktableDetect]topo exchange agent get socket timeout! timeout[120 s]")
            continue
        rank.begin()
        rank.healthy(lines)
        if kind == "slow":
            rank.waits(end + (2400 if guilty else rng.random()), began=54.0 + (2400 if guilty else 0))
        elif guilty:
            {"kernel": rank.dies_of_kernel, "memory": rank.has_no_memory, "link": rank.loses_link, "script": rank.raises}[kind](failed)
            if kind == "link":
                rank.waits(end)
        else:
            if kind == "link" and abs(rank.number - culprit) in (PER_HOST, 2 * PER_HOST):
                rank.error_cqe(failed + 9, culprit)
            rank.waits(end + rng.random(), remote=(rank.number + 1) % size)
    return ranks


def write(folder, ranks, planted):
    for rank in ranks:
        host = folder / f"worker-{rank.host}"
        for path, lines in [
            (host / "ascend/log/debug/plog" / f"plog-{rank.pid}_20251024111600{rank.device:03}.log", rank.plog),
            (host / "stdout" / f"{rank.number}.txt", rank.stdout),
        ]:
            if lines:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("\n".join(lines) + "\n")
    (folder / "planted.json").write_text(json.dumps(planted) + "\n")


def make(folder, size, kind, culprit, lines):
    causes, place = KINDS[kind]
    if culprit is None:
        culprit = max(1, int(size * place))
    planted = {"kind": kind, "ranks": size, "culprit": culprit, "causes": causes}
    write(folder, job(size, kind, culprit, lines), planted)
    return planted


def measure(doctor, folder, lines):
    print("| ranks | planted | MB | first cause | rank | right | wall s | peak MB |")
    print("|---:|---|---:|---|---|---|---:|---:|")
    right = True
    for size in (8, 64, 1000):
        for kind in KINDS:
            target = folder / f"{kind}-{size}"
            shutil.rmtree(target, ignore_errors=True)
            planted = make(target, size, kind, None, lines)
            megabytes = sum(path.stat().st_size for path in target.rglob("*") if path.is_file()) / 1e6
            with tempfile.TemporaryFile() as out:
                began = time.monotonic()
                child = os.posix_spawn(doctor, [doctor, "translate-error", "--json", str(target)], os.environ,
                                       file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1)])
                _, _, usage = os.wait4(child, 0)
                wall = time.monotonic() - began
                out.seek(0)
                first = json.load(out)["diagnosis"]["causes"][0]
            ranks = first["culprit"].get("ranks", [])
            ok = first["cause"] in planted["causes"] and ranks == [planted["culprit"]]
            right &= ok
            print(f"| {size} | {kind}, rank {planted['culprit']} | {megabytes:.1f} | {first['cause']} | {ranks} | {'yes' if ok else 'no'} | {wall:.2f} | {usage.ru_maxrss / 1024:.0f} |", flush=True)
            shutil.rmtree(target)
    return right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--kind", choices=KINDS, default="kernel")
    parser.add_argument("--culprit", type=int)
    parser.add_argument("--lines", type=int, default=400, help="healthy lines of each rank")
    parser.add_argument("--measure", metavar="PROGRAM")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.measure:
        sys.exit(not measure(options.measure, options.folder, options.lines))
    make(options.folder, options.ranks, options.kind, options.culprit, options.lines)


if __name__ == "__main__":
    main()
