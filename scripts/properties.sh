#!/usr/bin/env bash
# Runs the property tests on cases that no run before has drawn: scripts/properties.sh [CASES [FILTER…]].
# The seed is printed: PROPTEST_RNG_SEED=SEED PROPTEST_CASES=CASES cargo test --lib repeats a failure.
set -euo pipefail
cd "$(dirname "$0")/.."

export PROPTEST_CASES=${1:-10000}
shift || true
PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
export PROPTEST_RNG_SEED
printf 'seed %s, %s cases each\n' "$PROPTEST_RNG_SEED" "$PROPTEST_CASES"
cargo test --lib -- "$@"
