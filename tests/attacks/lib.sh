# Sourced by the attacks. Each gets the program as $1 and an empty directory as $2.
set -u
program=$1
cd "$2" || exit 1
export HOME=$2 LC_ALL=C TZ=UTC

fail() {
    printf 'the guard did not hold: %s\n' "$*" >&2
    exit 1
}

# Runs the program, which may refuse, but neither crashes nor hangs.
run() {
    timeout 60 "$program" "$@" >out 2>err </dev/null
    local status=$?
    ((status <= 3)) || fail "status $status of: $*: $(head -c 500 err)"
    ! grep -aqE 'panicked|a defect of ascend-doctor' err || fail "panic of: $*: $(cat err)"
    return $status
}
