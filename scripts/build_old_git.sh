#!/usr/bin/env bash
# Builds an old git from the source package of a Debian release, for the traps in
# crates/treeedit/src/git/traps.rs: versions before 2.36 know fewer ways to switch programs off.
#
#   scripts/build_old_git.sh DIR [RELEASE]
#   ASCEND_DOCTOR_GITS=DIR/bin/git cargo test -p ascend-doctor-treeedit git::traps
#
# Needs apt-get, a C compiler, make, and the headers of zlib. RELEASE: bullseye (git 2.30) by default.
set -euo pipefail
target=$(mkdir -p "$1" && cd "$1" && pwd)
release=${2:-bullseye}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# The mirror that this machine uses already.
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | head -n 1)
printf 'deb-src %s %s main\n' "$mirror" "$release" >sources.list
mkdir -p lists/partial cache/archives/partial
options=(-o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache")
apt-get "${options[@]}" update -qq
apt-get "${options[@]}" source -qq --download-only git
tar -xf git_*.orig.tar.xz
cd git-*/
make -s -j"$(nproc)" prefix="$target" CFLAGS=-O0 NO_OPENSSL=1 NO_CURL=1 NO_EXPAT=1 NO_GETTEXT=1 \
    NO_TCLTK=1 NO_PERL=1 NO_PYTHON=1 all
make -s prefix="$target" CFLAGS=-O0 NO_OPENSSL=1 NO_CURL=1 NO_EXPAT=1 NO_GETTEXT=1 \
    NO_TCLTK=1 NO_PERL=1 NO_PYTHON=1 install
"$target/bin/git" --version
