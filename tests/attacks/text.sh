#!/usr/bin/env bash
# Guard: text. Characters that act on terminals, hide or turn the reading order, in names, in
# contents and in arguments, in every format and in errors.
. "$(dirname "$0")/lib.sh"
# ESC, CSI as one character, an Arabic letter mark, an override, an isolate, a tag, private use,
# an unassigned character, a joiner without emoji, a soft hyphen, a filler.
bad=$'\x1b[31m\u009b31m\u061c\u202e\u2066\U000e0041\ue000\u0378x\u200dy\u00ad\u3164'
clean() {
    local file
    for file in out err; do
        python3 - $file <<'PYTHON' || fail "raw characters in $file of: $*"
import sys, unicodedata
text = open(sys.argv[1], "rb").read().decode("utf-8")
bad = [c for c in text if c not in "\n\t" and (unicodedata.category(c) in ("Cc", "Cf", "Co", "Zl", "Zp") or c in "\u0378\u3164")]
if bad:
    print(ascii(bad), file=sys.stderr)
    sys.exit(1)
PYTHON
    done
}
mkdir root
printf 'import torch\nx = torch.cuda.none%s()\n' "$bad" >"root/a$bad.py"
printf 'RuntimeError: %s HCCL error code 507035\n' "$bad" >"log$bad.txt"
for format in text json jsonl sarif junit markdown html github concise openmetrics; do
    for arguments in "convert -r root" "check --sysroot root" "translate-error log$bad.txt"; do
        run $arguments --format $format
        clean "$arguments --format $format"
    done
done
for lang in en zh; do
    for command in "compat --torch $bad" "explain $bad" "translate-error $bad" "check --only $bad" \
        "$bad" "check --$bad" "check --format $bad" "convert -r $bad" "audit-ops $bad" "man $bad" \
        "report $bad" "fleet merge $bad" "compat --python $bad" "check --sysroot $bad" \
        "bundle --add $bad" "convert --target $bad root" "check --config $bad" "completions $bad"; do
        run $command --lang $lang
        clean "$command --lang $lang"
    done
done
