#!/usr/bin/env bash
# Runs every fuzz target for a while, one after the other: scripts/fuzz.sh [SECONDS [TARGET…]].
# scripts/fuzz.sh --list names them.
# Needs a nightly toolchain and cargo-fuzz. Seeds come from the builders of the tests. Results that
# a run made known are in docs/fuzzing.md.
set -euo pipefail
cd "$(dirname "$0")/.."

# A target is a file; tests/repository/documented_components.rs holds that each is declared.
all=()
for file in fuzz/fuzz_targets/*.rs; do
    all+=("$(basename "$file" .rs)")
done
if [[ ${1:-} == --list ]]; then
    printf '%s\n' "${all[@]}"
    exit
fi
seconds=${1:-600}
shift || true
targets=("$@")
if [[ ${#targets[@]} -eq 0 ]]; then
    targets=("${all[@]}")
fi

# Tables are unpacked once and kept as long as the process runs: that is no leak.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
cargo run --quiet --example fuzz_seeds fuzz/corpus
for target in "${targets[@]}"; do
    printf '== %s, %s s\n' "$target" "$seconds"
    dictionary=()
    if [[ -f "fuzz/$target.dict" ]]; then
        dictionary=("-dict=fuzz/$target.dict")
    fi
    cargo +nightly fuzz run --release "$target" -- "${dictionary[@]}" \
        -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=10 \
        -max_len=65536 -print_final_stats=1
done
