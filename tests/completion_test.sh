#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What bash offers for an acrf command line, by the completion script that is installed.
set -u
top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
top_builddir=${top_builddir:-$top_srcdir/build}
failures=0
source "$top_builddir/completions/acrf" || exit 1

# offered WORD...: what can stand in the place of the last word.
offered() {
  COMP_WORDS=(acrf "$@")
  COMP_CWORD=$#
  COMPREPLY=()
  _acrf
  echo " ${COMPREPLY[*]-} "
}

# result NAME OFFERED [WANTED... [! UNWANTED...]]
result() {
  local name=$1 words=$2 wanted=1 problem= word
  shift 2
  for word in "$@"; do
    if [ "$word" = '!' ]; then
      wanted=0
    elif [[ $words == *" $word "* ]]; then
      [ $wanted = 1 ] || problem+=" $word is offered;"
    else
      [ $wanted = 0 ] || problem+=" $word is not offered;"
    fi
  done
  echo "[ RUN      ] Completion.$name"
  if [ -z "$problem" ]; then
    echo "[       OK ] Completion.$name (0 ms)"
  else
    echo "$problem offered are:$words"
    echo "[  FAILED  ] Completion.$name (0 ms)"
    failures=1
  fi
}

result OffersTheCommands "$(offered '')" status top node gpu drain return quarantine clear undo checkpoint ! list --json
result OffersWhatHasBegunSo "$(offered st)" status ! top node
result OffersACommandsOptions "$(offered status --)" --hub --critical --json --help ! --dry-run
result OffersWhatActsTake "$(offered drain n1 --)" --reason --dry-run --hub ! --critical
result OffersCommandsBelow "$(offered checkpoint '')" list newest seal publish fence ! status
result OffersOptionsOfThose "$(offered checkpoint publish --)" --as --fence ! --verify
result OffersTheGroupOfAnOption "$(offered inject --)" --node --xid --repair
result KnowsOptionsBeforeTheCommand "$(offered --config status node --)" --out ! --critical
result LeavesAValueToTheShell "$(offered status --token-file '')" ! status list
result LeavesAnArgumentToTheShell "$(offered classify '')" ! status

exit $failures
