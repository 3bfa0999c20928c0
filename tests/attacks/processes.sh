#!/usr/bin/env bash
# Guard: child processes. A repository names programs in every way that git has, and has pipes.
. "$(dirname "$0")/lib.sh"
mark=$PWD/mark
printf '#!/bin/sh\necho fired >>%s\n' "$mark" >trap.sh
chmod +x trap.sh
trap=$PWD/trap.sh
new() {
    rm -rf repo
    mkdir repo
    printf 'import torch\nx = torch.cuda.is_available()\n' >repo/a.py
    (cd repo && git init -q && git add . &&
        git -c user.name=n -c user.email=e@x commit -qm m) || fail "git does not work"
}
new
(
    cd repo
    for setting in core.fsmonitor filter.evil.clean filter.evil.smudge filter.evil.process \
        diff.external diff.evil.textconv core.sshCommand core.editor core.pager core.askPass \
        gpg.program core.gitProxy core.alternateRefsCommand; do
        git config "$setting" "$trap"
    done
    git config credential.helper "!$trap"
    git config alias.status "!$trap"
    git config core.hooksPath "$PWD/hooks"
    git config core.repositoryFormatVersion 1
    git config extensions.partialClone evil
    git config remote.evil.promisor true
    git config remote.evil.url "ext::$trap"
    git config protocol.ext.allow always
    mkdir hooks
    cp "$trap" hooks/post-index-change
    printf '*.py filter=evil diff=evil\n' >.gitattributes
    git -c core.fsmonitor=false -c core.hooksPath=/dev/null update-index --force-remove a.py
    rm -f "$mark"
    find .git/objects -type f -delete
) 2>/dev/null
rm -f mark
run convert -r repo
[[ ! -e mark ]] || fail "a program of the repository ran"
# Pipes, where files of git or of the tree are expected.
for name in .git/HEAD .git/index .git/config .git/packed-refs .gitignore .ignore .git/info/exclude b.py; do
    new
    mkdir -p "repo/$(dirname $name)"
    rm -f repo/$name
    mkfifo repo/$name
    start=$SECONDS
    run convert -r repo
    ((SECONDS - start < 45)) || fail "a pipe as $name keeps convert waiting"
done
# A program of the tree is not git, and nothing is started by a relative path.
new
mkdir repo/bin
cp trap.sh repo/bin/git
(cd repo && PATH=bin:$PWD/bin:.:$PATH run convert -r .)
[[ ! -e mark ]] || fail "a program of the tree ran"
