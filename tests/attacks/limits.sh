#!/usr/bin/env bash
# Guard: limits. No thread, few descriptors, little memory: slower, or a clear error, and no panic.
. "$(dirname "$0")/lib.sh"
mkdir -p root/d/e
for file in root/a.py root/d/b.py root/d/e/c.py; do
    printf 'import torch\nx = torch.cuda.is_available()\n' >$file
done
printf 'EI9999: Inner Error\nRuntimeError: HCCL error code 507035\n' >train.log
commands=("check --sysroot root" "check --sysroot root --timeout 20" "convert -r root --check"
    "convert -r root --diff" "convert root -o copy --force" "audit-ops root" "translate-error train.log"
    "explain CANN-HOME" "compat" "bundle --sysroot root -o bundle.tar.gz" "verify --timeout 20" "data status")
# A program with debug assertions reads its tables from the source tree, and panics without a
# descriptor for them. The release build is attacked as well (.ci/run).
no_panic() {
    ! grep -aE 'panicked|a defect of' err | grep -aqv 'panicked at data/src/packed.rs' || fail "$1"
}

# Without threads. The limit binds nobody who is root, so root becomes somebody else, who keeps the
# right to read everything.
chmod 777 . root
if [[ $(id -u) == 0 ]]; then
    limited=(setpriv --reuid 61234 --regid 61234 --clear-groups --inh-caps +dac_override
        --ambient-caps +dac_override prlimit --nproc=1:1)
else
    limited=(prlimit --nproc=1:1)
fi
# The limit has to be in force, or this would show nothing.
python=$(python3 -c 'import sys; print(sys.executable)')
"${limited[@]}" "$python" -c '
import sys, threading
try:
    threading.Thread(target=lambda: None).start()
except RuntimeError:
    sys.exit(0)
sys.exit(1)' || fail "the limit of threads is not in force"
for command in "${commands[@]}"; do
    timeout 120 "${limited[@]}" "$program" $command >out 2>err </dev/null
    status=$?
    ((status <= 3)) || fail "without threads: status $status of: $command: $(head -c 500 err)"
    no_panic "without threads: $command: $(cat err)"
done
# Few descriptors.
for files in 4 6 8 10 14 20 32; do
    for command in "${commands[@]}"; do
        timeout 120 prlimit --nofile=$files:$files "$program" $command >out 2>err </dev/null
        status=$?
        ((status <= 3)) || ((status == 127)) ||
            fail "$files descriptors: status $status of: $command: $(head -c 500 err)"
        no_panic "$files descriptors: $command: $(cat err)"
    done
done
# Little memory: the status is that of a failed run, with a reason.
for mib in ${MEMORY:-96 160 256}; do
    for command in "${commands[@]}"; do
        timeout 120 prlimit --as=$((mib << 20)) "$program" $command >out 2>err </dev/null
        status=$?
        # 127: the program itself does not fit.
        ((status <= 3)) || ((status == 127)) ||
            fail "$mib MiB: status $status of: $command: $(head -c 500 err)"
        no_panic "$mib MiB: $command: $(cat err)"
    done
done
