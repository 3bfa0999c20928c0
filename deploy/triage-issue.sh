#!/bin/sh
# Answers an issue of any forge. Prints the reply, and posts nothing unless asked to.
#
# usage: triage-issue.sh ISSUE.md [--lang en|zh] [--post-command COMMAND]
#
# ISSUE.md holds title and text of the issue. COMMAND gets the file of the reply as its argument:
# it is a program of yours that posts with the interface of your forge.
# Exit status: that of `ascend-doctor triage` (0, 1 or 3), 2 if there is no reply, else that of
# COMMAND if it fails.
set -u

issue=
language=
post=
while [ $# -gt 0 ]; do
  case $1 in
    --lang) language=${2-}; shift ;;
    --post-command) post=${2-}; shift ;;
    -*) echo "triage-issue.sh: unknown option $1" >&2; exit 2 ;;
    *) issue=$1 ;;
  esac
  shift
done
if [ -z "$issue" ] || [ ! -f "$issue" ]; then
  echo "usage: triage-issue.sh ISSUE.md [--lang en|zh] [--post-command COMMAND]" >&2
  exit 2
fi
if [ -z "$language" ]; then
  language=en
  if LC_ALL=C.UTF-8 grep -qP '\p{Han}' "$issue" 2>/dev/null; then language=zh; fi
fi

reply=$(mktemp) || exit 2
trap 'rm -f "$reply"' EXIT
status=0
ascend-doctor triage "$issue" --anonymize --no-config --format markdown --lang "$language" \
  > "$reply" || status=$?
cat "$reply"
case $status in
  0 | 1 | 3) ;;
  *) exit 2 ;;
esac
if [ -n "$post" ]; then
  "$post" "$reply" || exit $?
fi
exit "$status"
