#!/bin/bash
# Holds the manifests of deploy/kubernetes against the published schemas of Kubernetes (kubernetes-validate
# of the Python registry carries them), and runs what they run: the check over a root that is mounted
# read-only, in a mount namespace of its own, and the plugin of node-problem-detector.
#
#   cargo build && cargo build --example make_fixture
#   tests/engines/kubernetes.sh
set -uo pipefail
. "$(dirname "$0")/lib.sh"
python=${PYTHON:-python3}
if ! $python -c 'import kubernetes_validate' 2>/dev/null; then
    { $python -m venv "$work/venv" && "$work/venv/bin/pip" install -q kubernetes-validate; } >"$work/pip" 2>&1 ||
        { echo "skipped: kubernetes-validate cannot be installed: $(tail -n 1 "$work/pip")"; exit 0; }
    python=$work/venv/bin/python3
fi
cd "$project" || exit 2
mkdir -p "$work/machines"

heading "The manifests fit the API, also of older versions"
for version in "" "-k 1.29.0"; do
    show "$(dirname "$($python -c 'import sys; print(sys.executable)')")/kubernetes-validate --strict $version deploy/kubernetes/{daemonset,init-container,job}.yaml 2>&1 | sed 's/^INFO //'"
    expect 'daemonset/ascend-doctor against' "the DaemonSet"
    expect 'job/ascend-doctor-verify against' "the Job"
    expect 'pod/serving against' "the init container"
    expect_status 0
done

heading "What the DaemonSet runs: a host root that is mounted read-only"
machine dev-count gpu-a 1
machine ok-host-910b gpu-b 2
for host in gpu-a gpu-b; do
    mkdir -p "$work/metrics"
    show "unshare --mount sh -c 'mkdir -p $work/host && mount --bind $work/machines/$host $work/host && mount -o remount,ro,bind $work/host && ! touch $work/host/x 2>/dev/null && exec $doctor check --sysroot $work/host --profile node --no-hash --timeout 60 --json --metrics-file $work/metrics/ascend_doctor.prom' >$work/$host.json"
    [ $host = gpu-a ] && expect_status 1 || expect_status 0
done
show "$doctor fleet merge $work/gpu-a.json $work/gpu-b.json | head -n 12"
expect 'DEV-COUNT. gpu-a (1 of 2)' "the finding, and on which node"
show "grep -E '^ascend_doctor_(findings|exit|info|last)' $work/metrics/ascend_doctor.prom; ls -l $work/metrics | tail -n 1 | cut -c 1-10"
expect 'ascend_doctor_info' "the numbers"
expect '^-rw-r--r--' "readable for node-exporter"

heading "The plugin of node-problem-detector: one line, and 0, 1 or 2"
show "python3 -c 'import json; rule = json.load(open(\"deploy/kubernetes/npd-custom-plugin.json\"))[\"rules\"][0]; print(rule[\"type\"], rule[\"path\"])'"
expect '^permanent ' "its configuration"
for case in "gpu-b 0" "gpu-a 1" "none 2"; do
    set -- $case
    show "ASCEND_DOCTOR=$doctor HOST_ROOT=$work/machines/$1 deploy/kubernetes/ascend-doctor-npd.sh"
    expect_status "$2"
    [ "$(wc -l <<<"$said")" -eq 1 ] || { echo "FAILED: more than a line"; fails=$((fails + 1)); }
done
finish
