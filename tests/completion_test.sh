#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What bash and zsh offer for an acrf command line, by the completion scripts that are installed.
set -u
top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
top_builddir=${top_builddir:-$top_srcdir/build}
failures=0
source "$top_builddir/completions/acrf" || exit 1

# offered_by_SHELL WORD...: what can stand in the place of the last word.
offered_by_bash() {
  COMP_WORDS=(acrf "$@")
  COMP_CWORD=$#
  COMPREPLY=()
  _acrf
  echo "${COMPREPLY[*]-}"
}

# zsh's completion system finds the script; outside of its editor there are no compadd and _files.
offered_by_zsh() {
  zsh -f -c '
    fpath=("$1" $fpath)
    autoload -Uz compinit && compinit -u -D
    compadd() { [[ $1 == -- ]] && shift; print -r -- ${(M)@:#${words[CURRENT]}*}; }
    _files() { print -r -- FILES; }
    shift
    words=(acrf "$@")
    CURRENT=${#words}
    "${_comps[acrf]:?is not among the completions}"
  ' zsh "$top_builddir/completions" "$@" 2>&1
}

# result NAME [PROBLEM]
result() {
  echo "[ RUN      ] Completion.$1"
  if [ -z "${2-}" ]; then
    echo "[       OK ] Completion.$1 (0 ms)"
  else
    echo "$2"
    echo "[  FAILED  ] Completion.$1 (0 ms)"
    failures=1
  fi
}

# offers NAME WORD... : WANTED... [! UNWANTED...]
offers() {
  local name=$1 line=() words wanted=1 problem= word
  shift
  while [ "$1" != : ]; do line+=("$1") && shift; done
  shift
  words=" $("offered_by_$shell" "${line[@]}") "
  for word in "$@"; do
    if [ "$word" = '!' ]; then
      wanted=0
    elif [[ $words == *" $word "* ]]; then
      [ $wanted = 1 ] || problem+=" $word is offered;"
    else
      [ $wanted = 0 ] || problem+=" $word is not offered;"
    fi
  done
  result "$name/$shell" "${problem:+$problem offered are:$words}"
}

# files NAME WORD...: the shell completes the last word as a file.
files() {
  local name=$1 words
  shift
  words=$("offered_by_$shell" "$@")
  [ "$shell" = zsh ] || words=${words:-FILES} # bash does so by itself where nothing is offered
  [ "$words" != FILES ] || words=
  result "$name/$shell" "${words:+offered are: $words}"
}

all() {
  shell=$1
  offers Commands '' : status top node gpu drain return quarantine clear undo checkpoint ! list --json
  offers WhatHasBegunSo st : status ! top node
  offers ACommandsOptions status -- : --hub --critical --json --help ! --dry-run
  offers WhatActsTake drain n1 -- : --reason --dry-run --hub ! --critical
  offers CommandsBelow checkpoint '' : list newest seal publish fence ! status
  offers OptionsOfThose checkpoint publish -- : --as --fence ! --verify
  offers TheGroupOfAnOption inject -- : --node --xid --repair
  offers OptionsAfterThoseBeforeTheCommand --config status node -- : --out ! --critical
  files AnOptionsValue status --token-file ''
  files AnArgument classify ''
}

all bash
if command -v zsh >/dev/null; then
  all zsh
  # Where it is installed, zsh looks.
  installed=$(find "$top_builddir/stage" -name _acrf 2>/dev/null | head -n 1)
  directory=$(dirname "${installed#"$top_builddir/stage"}")
  [ -z "$installed" ] || result IsInstalledWhereItIsSought/zsh \
    "$(zsh -f -c 'print -rl -- $fpath' | grep -qxF "$directory" || echo "zsh does not look in $directory")"
else
  echo "[ RUN      ] Completion.zsh"
  echo "zsh is not installed; on Debian: apt-get install zsh"
  echo "[  SKIPPED ] Completion.zsh (0 ms)"
fi

exit $failures
