#!/usr/bin/env python3
"""Makes the reports of a cluster with faults that are known, and measures `fleet merge` over them.

    python3 scripts/gen_fleet_reports.py DIR --like REPORT.json [--hosts 128]
    python3 scripts/gen_fleet_reports.py DIR --like REPORT.json --measure target/dist/ascend-doctor

REPORT.json is a real report (`ascend-doctor check --json`, for example of a machine made by
`cargo run --example make_fixture ok-host-910b`): every generated one has its shape and its size, with the
host, its addresses and what is planted put in. DIR/planted.json says what was planted, DIR/hosts.txt is for
`--expect`.

Planted, whatever the number of hosts: another driver on one host, another CANN on two, other files of
torch_npu on one, two hosts with the same device address, one device outside of the network of the others,
another netmask, a clock that is ten minutes ahead, a host whose report breaks off, a host without a report,
a host that reports twice, and an error of the check on three.

With --measure, reports of 100, 1,000 and 10,000 hosts are made and merged from files and from a pipe, with
and without facts; one row of a table in Markdown is printed for each: seconds, peak of memory, what was found.
"""

import argparse
import copy
import json
import pathlib
import resource
import shutil
import subprocess
import sys
import time

ERROR = {
    "id": "DEV-ACCESS",
    "message": "denied",
    "severity": "error",
    "title": {"en": "ma (uid 1001) cannot open /dev/davinci0", "zh": "ma（uid 1001）无权打开 /dev/davinci0"},
    "cause": {"en": "The user cannot open the device", "zh": "用户无权打开设备"},
    "evidence": [{"kind": "file", "source": "/dev/davinci0", "value": "mode 0660"}],
    "fix": [{"text": {"en": "Add the user to the group", "zh": "将用户加入用户组"}, "run": "usermod -aG HwHiAiUser ma"}],
    "refs": [],
    "root_cause_of": [],
}
EXPECTED = {
    "FLEET-READ", "FLEET-HOSTS", "FLEET-CLOCK", "FLEET-VERSION", "FLEET-BINARY", "FLEET-ADDRESS",
    "FLEET-SUBNET", "DEV-ACCESS",
}


def name(number, width):
    return f"node{number:0{width}}"


def report(base, number, width, now):
    """The report of a healthy host."""
    one = copy.deepcopy(base)
    host = name(number, width)
    one["subject"] = host
    one["host"]["name"] = host
    one["host"]["machine"] = f"{number:016x}"
    one["host"]["boot"] = f"{number:015x}b"
    one["taken"] = now
    facts = one.get("facts")
    if facts:
        facts["host"]["name"] = host
    net = one.setdefault("facts", {}).setdefault("net", {})
    high, low = divmod(number * 8, 200)
    net["hccn"] = {
        "path": "/etc/hccn.conf",
        "addresses": {str(d): f"10.20.{high}.{low + d + 1}" for d in range(8)},
        "netmasks": {str(d): "255.255.0.0" for d in range(8)},
        "gateways": {},
        "lines": {},
        "bad_lines": [],
    }
    net.setdefault("hccn_tool", None)
    net["ranktable"] = None
    return one


class Healthy:
    """The text of a healthy report, made from the text of one: ten thousand are written in seconds."""

    def __init__(self, base, width, now):
        self.width = width
        self.text = json.dumps(report(base, 0, width, now), ensure_ascii=False, indent=2)

    def of(self, number):
        high, low = divmod(number * 8, 200)
        text = self.text.replace(f'"{name(0, self.width)}"', f'"{name(number, self.width)}"')
        text = text.replace(f'"{0:016x}"', f'"{number:016x}"').replace(f'"{0:015x}b"', f'"{number:015x}b"')
        for d in range(8):
            text = text.replace(f'"10.20.0.{d + 1}"', f'"10.20.{high}.@{low + d + 1}"')
        return text.replace(".@", ".")


def spread(hosts):
    """Which host gets which fault."""
    step = max(1, hosts // 16)
    return [1 + step * place for place in range(16)]


def plant(at, one, number):
    """Changes the report of a host with a fault; the text to write, or None."""
    (driver, cann1, cann2, files, twin, outside, mask, clock, broken, silent, _twice, e1, e2, e3, *_) = at
    hccn = one["facts"]["net"]["hccn"]
    if number == driver:
        one["fingerprint"]["driver"] = "24.1.rc2"
    if number in (cann1, cann2):
        one["fingerprint"]["cann"] = "8.1.RC1"
    if number == files:
        one["fingerprint"]["elf_hash"] = "f" * 64
    if number == twin:
        hccn["addresses"]["3"] = report.first
    if number == outside:
        hccn["addresses"]["0"] = "10.99.0.1"
    if number == mask:
        hccn["netmasks"] = {key: "255.255.255.0" for key in hccn["netmasks"]}
    if number == clock:
        one["taken"] += 600
    if number in (e1, e2, e3):
        one["findings"] = [ERROR] + one["findings"]
        one["gate"]["exit_status"], one["verdict"] = 1, "fail"
    text = json.dumps(one, ensure_ascii=False, indent=2)
    if number == broken:
        text = text[: len(text) // 2]
    return None if number == silent else text


def generate(directory, base, hosts):
    """Writes the reports; what is planted."""
    shutil.rmtree(directory, ignore_errors=True)
    reports = directory / "reports"
    reports.mkdir(parents=True)
    width = len(str(hosts))
    at = spread(hosts)
    now = int(time.time()) - 1
    high, low = divmod(2 * 8, 200)
    report.first = f"10.20.{high}.{low + 1}"
    healthy = Healthy(base, width, now)
    for number in range(1, hosts + 1):
        if number not in at:
            (reports / f"{name(number, width)}.json").write_text(healthy.of(number) + "\n")
            continue
        one = report(base, number, width, now)
        text = plant(at, one, number)
        if text is None:
            continue
        # What breaks off has no end of line.
        (reports / f"{name(number, width)}.json").write_text(text + "\n" * (number != at[8]))
        if number == at[10]:
            one["taken"] -= 30
            one["fingerprint"]["driver"] = "23.0.0"
            (reports / f"{name(number, width)}-old.json").write_text(json.dumps(one, ensure_ascii=False))
    (directory / "hosts.txt").write_text(f"{name(1, width)[:-width]}[{1:0{width}}-{hosts}]\n")
    keys = ["driver", "cann", "cann", "files", "twin", "outside", "mask", "clock", "broken", "silent", "twice"]
    planted = {}
    for key, number in zip(keys, at):
        planted.setdefault(key, []).append(name(number, width))
    planted["errors"] = [name(number, width) for number in at[11:14]]
    (directory / "planted.json").write_text(json.dumps(planted, indent=2))
    return planted


def run(command, feed=None):
    """Seconds, peak of memory in MB and output of a command."""
    begin = time.monotonic()
    # The peak of one child among many: a small one of its own asks for it.
    wrapper = (
        "import resource,subprocess,sys;"
        "p=subprocess.run(sys.argv[2:],stdin=sys.stdin);"
        "open(sys.argv[1],'w').write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss));"
        "sys.exit(p.returncode)"
    )
    note = pathlib.Path("/tmp") / f"peak-{id(command)}"
    done = subprocess.run(
        [sys.executable, "-c", wrapper, str(note), *command], stdin=feed, capture_output=True, text=True
    )
    seconds = time.monotonic() - begin
    peak = int(note.read_text()) / 1024
    note.unlink()
    return seconds, peak, done


def check(output):
    """Whether all that was planted was found, and nothing else of the fleet."""
    found = {finding["id"] for finding in json.loads(output)["findings"]}
    lacking = EXPECTED - found
    extra = {one for one in found if one.startswith("FLEET-")} - EXPECTED
    return "all planted" if not lacking and not extra else f"lacks {sorted(lacking)}, too many {sorted(extra)}"


def measure(directory, base, program):
    print("| Hosts | MB of JSON | from | seconds | peak MB | found |\n| --- | --- | --- | --- | --- | --- |")
    for hosts in (100, 1000, 10000):
        generate(directory, base, hosts)
        files = sorted((directory / "reports").iterdir())
        size = sum(file.stat().st_size for file in files) / 1e6
        merge = [program, "fleet", "merge", "--json", "--expect", str(directory / "hosts.txt")]
        seconds, peak, done = run([*merge, str(directory / "reports")])
        print(f"| {hosts} | {size:.0f} | files | {seconds:.2f} | {peak:.0f} | {check(done.stdout)} |", flush=True)
        feed = subprocess.Popen(["cat", *map(str, files)], stdout=subprocess.PIPE, cwd=directory)
        seconds, peak, done = run([*merge, "-"], feed.stdout)
        feed.stdout.close()
        feed.wait()
        print(f"| {hosts} | {size:.0f} | a pipe | {seconds:.2f} | {peak:.0f} | {check(done.stdout)} |", flush=True)
    shutil.rmtree(directory / "reports")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--like", type=pathlib.Path, required=True)
    parser.add_argument("--hosts", type=int, default=128)
    parser.add_argument("--slim", action="store_true", help="without the facts of the report")
    parser.add_argument("--measure", metavar="PROGRAM")
    arguments = parser.parse_args()
    arguments.directory = arguments.directory.resolve()
    base = json.loads(arguments.like.read_text())
    if arguments.slim:
        base.pop("facts", None)
        base["facts"] = {"host": {}, "net": {}}
    base.setdefault("facts", {}).setdefault("host", {})
    if arguments.measure:
        measure(arguments.directory, base, arguments.measure)
    else:
        if arguments.hosts < 16:
            parser.error("at least 16 hosts are needed for all that is planted")
        print(json.dumps(generate(arguments.directory, base, arguments.hosts), indent=2))


if __name__ == "__main__":
    main()
