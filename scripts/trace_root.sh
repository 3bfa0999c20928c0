#!/usr/bin/env bash
# Shows by a system-call trace that `check --root` opens nothing outside of the root:
#
#     scripts/trace_root.sh target/release/ascend-doctor
#
# Builds a hostile tree (absolute, relative, looping and escaping links; paths in the environment,
# pyvenv.cfg, .pth files and RECORD that lead outside, where there are files to be found), runs
# the program on it under strace, and judges every call that takes or gives a path. What counts is
# the path that the kernel says was opened, so that no link can hide it. Needs strace and python3.
# Exit status: 0 nothing outside, 1 something outside, 2 it could not be tried.
set -euo pipefail

program=$(realpath "${1:?usage: trace_root.sh PROGRAM}")
for tool in strace python3; do
    command -v "$tool" > /dev/null || { echo "$tool is not installed" >&2; exit 2; }
done
work=$(realpath "$(mktemp -d)")
trap 'rm -rf "$work"' EXIT
root=$work/root
outside=$work/outside

# A venv, CANN, driver and libraries that would be found if a link led there.
site=lib/python3.11/site-packages
mkdir -p "$outside"/{bin,lib64,cann/lib64,venv/bin,"venv/$site"/torch_npu-2.9.0.dist-info,pkg}
for file in secret os-release version.info lib64/libascend_hal.so cann/lib64/libascendcl.so \
    bin/python3.11 venv/bin/python3.11 pkg/__init__.py pip.conf; do
    printf '\177ELF secret=1\nVersion=25.2.0\n' > "$outside/$file"
done
printf 'Name: torch_npu\nVersion: 2.9.0\n' > "$outside/venv/$site/torch_npu-2.9.0.dist-info/METADATA"

mkdir -p "$root"/{dev,etc,proc,sys,usr/local/Ascend/driver,usr/lib,opt/venv/bin,home/user}
up=../../../../../../../../../../..
venv=$root/opt/venv
mkdir -p "$venv/$site/torch_npu/lib" "$venv/$site/torch_npu-2.9.0.dist-info"
# Escapes by absolute and by relative targets, of files and of directories.
ln -s "$outside/os-release" "$root/etc/os-release"
ln -s "$up$outside/secret" "$root/etc/ascend_install.info"
ln -s "$up$outside/secret" "$root/etc/hccn.conf"
ln -s "$outside/pip.conf" "$root/etc/pip.conf"
ln -s "$up/etc" "$root/etc/ld.so.conf.d"
printf '%s\n' "include $outside/*" "include $up$outside/*" "$outside/lib64" > "$root/etc/ld.so.conf"
ln -s "$outside/version.info" "$root/usr/local/Ascend/driver/version.info"
ln -s "$up$outside/lib64" "$root/usr/local/Ascend/driver/lib64"
ln -s "$outside/cann" "$root/usr/local/Ascend/ascend-toolkit"
ln -s "$up$outside" "$root/usr/local/Ascend/nnal"
ln -s / "$root/usr/local/Ascend/firmware"
ln -s "$up" "$root/usr/local/lib"
ln -s /proc/self/root "$root/usr/local/dcmi"
ln -s /dev/null "$root/dev/davinci0"
ln -s /proc/self/fd "$root/dev/fd"
# Loops.
ln -s b "$root/usr/lib/a"
ln -s a "$root/usr/lib/b"
ln -s ../lib "$root/usr/lib/lib"
ln -s loop "$root/usr/local/sbin"
ln -s sbin "$root/usr/local/loop"
ln -s .. "$venv/$site/torch_npu/lib/again"
# Python.
ln -s "$outside/bin/python3.11" "$venv/bin/python3.11"
ln -s "$up$outside/bin/python3.11" "$venv/bin/python3"
printf 'home = %s/bin\nversion = 3.11.0\n' "$outside" > "$venv/pyvenv.cfg"
printf '%s\n' "$outside/pkg" "$up$outside/pkg" 'import os' > "$venv/$site/escape.pth"
ln -s "$outside/venv/$site/torch_npu-2.9.0.dist-info" "$venv/$site/vllm-0.11.0.dist-info"
ln -s "$up$outside/venv/$site" "$venv/$site/torch"
ln -s "$outside/lib64/libascend_hal.so" "$venv/$site/torch_npu/lib/libtorch_npu.so"
ln -s "$up$outside/secret" "$venv/$site/torch_npu/_C.cpython-311-x86_64-linux-gnu.so"
ln -s "$outside/secret" "$venv/$site/torch_npu/version.py"
echo 'value = 1' > "$venv/$site/torch_npu/__init__.py"
info=$venv/$site/torch_npu-2.9.0.dist-info
printf 'Metadata-Version: 2.1\nName: torch_npu\nVersion: 2.9.0\n' > "$info/METADATA"
ln -s "$outside/secret" "$info/entry_points.txt"
empty=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU
for row in torch_npu/__init__.py torch_npu/version.py torch_npu/lib/libtorch_npu.so \
    torch_npu/_C.cpython-311-x86_64-linux-gnu.so "$outside/secret" "$up$outside/secret" \
    "torch_npu/../../../../../../..$outside/secret" torch_npu/lib/again/lib/again/__init__.py; do
    echo "$row,sha256=$empty,"
done > "$info/RECORD"
printf '{"ASCEND_HOME_PATH": "%s/cann", "LD_LIBRARY_PATH": "%s/lib64:../..%s/lib64", "PYTHONPATH": "%s/pkg", "HOME": "%s", "VIRTUAL_ENV": "/opt/venv"}' \
    "$outside" "$outside" "$outside" "$outside" "$outside" > "$root/.env.json"
printf '{"python": "/opt/venv/bin/python3.11", "arch": "x86_64", "uid": 0, "cwd": "%s"}' "$outside" > "$root/.process.json"
echo '{"/dev/davinci1": {"type": "char", "mode": "0660"}}' > "$root/.rootmeta.json"

cat > "$work/judge.py" <<'PYTHON'
import os, re, sys

trace, root, *more = sys.argv[1:]
# What starting a program, counting processors and threads, and printing read of this machine.
ALLOWED = re.compile(
    r"/etc/ld\.so\.(cache|preload)$|(/usr)?/lib(64)?/([^/]+-linux-gnu/)?lib[\w+-]+\.so[.\d]*$"
    r"|/proc/(self|\d+)/(maps|cgroup|mountinfo|status|auxv)$|/sys/fs/cgroup(/|$)"
    r"|/sys/kernel/mm/transparent_hugepage/|/sys/devices/system/cpu/"
    r"|/dev/(null|tty|pts/)|/(usr/(lib|share)/)?locale/|/(etc|usr/share)/(localtime|terminfo)"
)
CALL = re.compile(r"^(?:\d+ +)?(\w+)\((.*)$")
AT = re.compile(r'^(AT_FDCWD|\d+)(?:<((?:[^>\\]|\\.)*)>)?, "((?:[^"\\]|\\.)*)"')
PLAIN = re.compile(r'^"((?:[^"\\]|\\.)*)"')
GIVEN = re.compile(r" = \d+<((?:[^>\\]|\\.)*)>")


def below(path, top):
    return path == top or path.startswith(top.rstrip("/") + "/")


def fine(path):
    inside = any(below(path, top) for top in [root, *more])
    # The way to the root itself.
    return inside or below(root, path) or any(below(top, path) for top in more) or ALLOWED.search(path)


bad, inside, last = [], 0, {}
for line in open(trace, errors="replace"):
    call = CALL.match(line)
    if not call or "resumed>" in line:
        given = GIVEN.search(line)
        if given and not fine(given[1]):
            bad.append(line)
        continue
    name, rest = call.groups()
    if name.startswith("symlink"):
        # What a link says is text; where it is made counts.
        rest = rest.split('", ', 1)[-1]
    paths = []
    at, plain, given = AT.match(rest), PLAIN.match(rest), GIVEN.search(rest)
    if at:
        base = at[2] or ""
        if at[3].startswith("/"):
            paths.append(os.path.normpath(at[3]))
        elif at[1] != "AT_FDCWD" and at[3]:
            # By directory and name: one component, which therefore cannot lead further.
            if "/" in at[3] or at[3] == "..":
                bad.append(line)
            paths.append(base)
        elif base:
            paths.append(base)
    elif plain and name not in ("execve", "chdir"):
        paths.append(os.path.normpath(plain[1]) if plain[1].startswith("/") else os.getcwd())
    elif name == "execve" and inside:
        bad.append(line)
    if given and name.startswith("open"):
        paths.append(given[1])
        inside += below(given[1], root)
    if not all(fine(path) for path in paths):
        bad.append(line)
for line in bad[:20]:
    print("outside:", line.rstrip())
print(f"{inside} opened below the root, {len(bad)} calls outside")
sys.exit(1 if bad or inside < 10 else 0)
PYTHON

status=0
# The judge must see what it is there to see.
for command in "cat $outside/secret" "cat $root/etc/os-release" "ls -L $root/usr/local/Ascend/nnal"; do
    strace -f -y -e trace=%file -o "$work/trace" $command > /dev/null 2>&1 || true
    if python3 "$work/judge.py" "$work/trace" "$root" > "$work/verdict" || ! grep -q '^outside: .*outside' "$work/verdict"; then
        echo "the judge lets pass: $command" >&2
        exit 2
    fi
done
run() {
    local allowed=$1
    shift
    strace -f -y -e trace=%file -o "$work/trace" "$program" "$@" > "$work/out" 2> "$work/err" || true
    # An error of its own would show an empty trace.
    if grep -q '^error:' "$work/err"; then
        cat "$work/err" >&2
        exit 2
    fi
    printf '%s: ' "$*" | sed "s|$work|DIR|g"
    python3 "$work/judge.py" "$work/trace" "$root" $allowed || status=1
    if grep -q 'secret=1' "$work/out"; then
        echo "the report shows what lies outside" >&2
        status=1
    fi
}
run "" check --root "$root"
run "" check --no-hash --format json --root "$root"
run "" check --facts-only --root "$root"
run "$work/record" check --record "$work/record" --root "$root"
exit $status
