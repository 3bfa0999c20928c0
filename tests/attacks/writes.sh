#!/usr/bin/env bash
# Guard: writes. Directories are replaced by links that lead outside while every subcommand writes.
. "$(dirname "$0")/lib.sh"
rounds=${ROUNDS:-8}
mkdir root outside source
for dir in root/d outside source; do
    mkdir -p $dir
    printf 'import torch\nx = torch.cuda.is_available()\n' >$dir/a.py
done
before=$(cat outside/a.py)
ln -s "$PWD/outside" root/link
python3 - root/d root/link stop <<'PYTHON' &
import ctypes, os, sys
directory, link, stop = (name.encode() for name in sys.argv[1:])
libc, exchange, here = ctypes.CDLL(None), 2, -100
count = 0
while not os.path.exists(stop):
    count += libc.renameat2(here, directory, here, link, exchange) == 0
with open("swaps", "w") as file:
    file.write(str(count))
PYTHON
swapper=$!
trap 'touch stop; wait $swapper' EXIT
for ((round = 0; round < rounds; round++)); do
    run convert -r root
    run convert --undo root
    run convert -r source -o root/d/copy --force
    run convert -r source -o root/d/copy --force
    run explain CANN-HOME -o root/d/explain.txt
    run explain CANN-HOME --format json -o root/d/explain.json
    run man -o root/d/man
    run check --sysroot source --record root/d/recording
    run bundle --sysroot source -o root/d/bundle.tar.gz
    rm -rf root/d/copy root/link/copy root/d/recording root/link/recording 2>/dev/null
    # Two links that were there before the start are the wish of the user: only the content of what
    # was outside counts, and nothing of a tree may be there.
    [[ $(cat outside/a.py) == "$before" ]] || fail "outside/a.py was changed"
    [[ ! -e outside/.ascend-doctor ]] || fail "a journal is outside"
done
touch stop
wait $swapper
trap - EXIT
(($(cat swaps) > rounds)) || fail "the directory was exchanged $(cat swaps) times"
