#!/usr/bin/env bash
# Guard: settings. A file that another user controls does not open the gate.
. "$(dirname "$0")/lib.sh"
mkdir site
printf 'RuntimeError: HCCL error code 507035\n' >train.log
chmod 755 . site
printf 'fail-on = "never"\non-inconclusive = "allow"\n' >site/ascend-doctor.toml
cd site
gate() {
    "$program" translate-error ../train.log >../out 2>../err </dev/null
    local status=$?
    cd ..
    ! grep -aqE 'panicked|a defect of' err || fail "panic: $(cat err)"
    cd site
    return $status
}
"$program" translate-error ../train.log --no-config >../out 2>../err </dev/null
(($? == 1)) || fail "the log has no failure: $(cat ../out ../err)"
gate
open=$?
((open == 0)) || fail "own settings have no effect (status $open): $(cat ../err)"
refused() {
    gate && fail "$* opened the gate"
    grep -q "ascend-doctor.toml" ../err || fail "$*: no word of the ignored file"
}
chmod 664 ascend-doctor.toml; refused "a file that its group can write to"
chmod 646 ascend-doctor.toml; refused "a file that everybody can write to"
chmod 644 ascend-doctor.toml
chmod 775 .; refused "a directory that its group can write to"
chmod 757 .; refused "a directory that everybody can write to"
chmod 755 .
chmod 757 ..; refused "a directory above that everybody can write to"
chmod 755 ..
if [[ $(id -u) == 0 ]]; then
    # As with sudo: the program runs as root, in a directory of the user.
    chown 61234 ascend-doctor.toml; refused "a file of another user"
    chown 0 ascend-doctor.toml
    chown 61234 .; refused "a file of root in a directory of another user"
    chown 0 .
    SUDO_UID=61234 gate || fail "a file of root in a directory of root was refused"
fi
gate || fail "own settings have no effect in the end"
