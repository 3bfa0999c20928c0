# What the scripts of this directory share: the program, and machines to examine.
# shellcheck shell=bash
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$(cd "$here/../.." && pwd)
doctor=${ASCEND_DOCTOR:-$project/target/debug/ascend-doctor}
fixture=${MAKE_FIXTURE:-$project/target/debug/examples/make_fixture}
[ -x "$doctor" ] || { echo "build first: cargo build (or say ASCEND_DOCTOR=…)" >&2; exit 2; }
[ -x "$fixture" ] || { echo "build first: cargo build --example make_fixture (or say MAKE_FIXTURE=…)" >&2; exit 2; }

work=$(mktemp -d /tmp/ascend-doctor-engine.XXXXXX)
pids=()
fails=0

# Processes are ended by the ids that they were started with, the last one first.
stop_all() {
    local number
    for ((number = ${#pids[@]} - 1; number >= 0; number--)); do
        kill "${pids[number]}" 2>/dev/null || continue
        # unshare does not end on this signal: whoever is still there after two seconds is killed.
        for _ in {1..20}; do
            kill -0 "${pids[number]}" 2>/dev/null || break
            sleep 0.1
        done
        kill -KILL "${pids[number]}" 2>/dev/null
        wait "${pids[number]}" 2>/dev/null
    done
    pids=()
    [ -n "${KEEP:-}" ] && echo "kept: $work" || rm -rf "$work"
}
trap stop_all EXIT

heading() { printf '\n### %s\n' "$1"; }
# Without the places of this run, so that two runs read alike.
plain() { sed "s|$doctor|ascend-doctor|g; s|$work|/W|g; s|$project/||g"; }
# Runs a command, shows it and what it said, and keeps its output.
show() {
    printf '$ %s\n' "$1" | plain
    said=$(bash -c "$1" 2>&1)
    status=$?
    [ -z "$said" ] || printf '%s\n' "$said" | plain
    [ "$status" -eq 0 ] || printf '(exit status %s)\n' "$status"
}
expect() {
    if grep -q -- "$1" <<<"$said"; then echo "ok: $2"; else echo "FAILED: $2 (no \`$1\`)"; fails=$((fails + 1)); fi
}
expect_status() {
    if [ "$status" -eq "$1" ]; then echo "ok: exit status $1"; else echo "FAILED: exit status $status, not $1"; fails=$((fails + 1)); fi
}
# Waits for a condition, at most so many seconds.
await() {
    local end=$((SECONDS + $1))
    shift
    until bash -c "$*" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || { echo "FAILED: waited in vain for: $*"; fails=$((fails + 1)); return 1; }
        sleep 0.5
    done
}
# A tree that stands for the machine of a host: recipe, host, number of its network.
machine() {
    "$fixture" "$1" "$work/machines/$2" >/dev/null
    printf '%s\n' "$2" >"$work/machines/$2/etc/hostname"
    [ ! -f "$work/machines/$2/etc/hccn.conf" ] || sed -i "s/192\.168\.10\./10.20.$3./; s/255\.255\.255\.0/255.255.0.0/" "$work/machines/$2/etc/hccn.conf"
}
finish() {
    echo
    if [ "$fails" -eq 0 ]; then echo "all as expected"; else echo "$fails not as expected"; exit 1; fi
}
