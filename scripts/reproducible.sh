#!/usr/bin/env bash
# Builds the program twice, in two directories with two target directories, and compares the bytes:
# scripts/reproducible.sh [--fast] [TARGET]. Without --fast each build takes what a release takes.
# The commit is built, not what lies uncommitted in the tree.
set -euo pipefail
cd "$(dirname "$0")/.."

fast=()
if [[ ${1:-} == --fast ]]; then
    fast=(--fast)
    shift
fi
target=${1:-$(uname -m)-gnu}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# One and the same, whatever is committed meanwhile.
commit=$(git rev-parse HEAD)

for name in a a-longer-name; do
    git clone --quiet . "$scratch/$name/source"
    git -C "$scratch/$name/source" checkout --quiet --detach "$commit"
    (
        cd "$scratch/$name/source"
        env -u CARGO_TARGET_DIR python3 scripts/package.py "${fast[@]}" --no-test "$target"
    ) >"$scratch/$name/log" 2>&1 || {
        tail -n 40 "$scratch/$name/log"
        exit 1
    }
    # Only what is packed is compared: a copy of it, so that the next build has the room.
    cp "$scratch/$name/source/target/packages/SHA256SUMS" "$scratch/$name.sums"
    rm -rf "$scratch/$name/source/target"
done

if diff "$scratch/a.sums" "$scratch/a-longer-name.sums"; then
    cat "$scratch/a.sums"
    echo "equal: two builds of $target in different directories, commit $commit"
else
    echo "different: two builds of $target in different directories"
    exit 1
fi
