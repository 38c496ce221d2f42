#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The dependency rule: core includes the standard library and itself; common includes core; nobody
# includes a layer above. And core's objects call no file, socket, clock, environment, thread or log.
set -u
top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
top_builddir=${top_builddir:-$top_srcdir/build}
failures=0

# result NAME TEXT: passes when TEXT, the list of offences, is empty.
result() {
  echo "[ RUN      ] Dependency.$1"
  if [ -z "$2" ]; then
    echo "[       OK ] Dependency.$1 (0 ms)"
  else
    echo "$2"
    echo "[  FAILED  ] Dependency.$1 (0 ms)"
    failures=1
  fi
}

# includes DIR ALLOWED-REGEX: include lines below DIR that match none of what is allowed.
includes() {
  grep -rnE '^ *# *include' "$top_srcdir/$1" --include='*.h' --include='*.cpp' --include='*.c' |
    grep -vE "include ($2)"
}

standard='<[a-z_0-9]+>'
result CoreIncludesOnlyItselfAndTheStandardLibrary "$(includes src/core "\"core/|$standard")"
result CoreIncludesNoInputOrOutput "$(grep -rnE \
  'include <(iostream|fstream|cstdio|filesystem|thread|mutex|chrono|ctime|random|atomic|csignal)>' "$top_srcdir/src/core")"
result CommonIncludesNothingAbove "$(includes src/common '"(core|common)/|"acrf_config.h"|<')"
result HubIncludesNothingBeside "$(includes hub '"(core|common|fakegpu|hub)/|"acrf_config.h"|<')"
result NobodyIncludesTheHub "$(grep -rnE 'include "hub/' "$top_srcdir"/{src,healthd,courier,exporter,tools,plugins})"
result FakeGpuIncludesNothingAbove "$(includes src/fakegpu '"(core|common|fakegpu)/|<')"
result MiniclusterIncludesNothingAbove "$(includes src/minicluster '"(core|common|fakegpu|minicluster)/|"build_paths.h"|<')"
result OnlyShimsKnowSlurmsInsides "$(grep -rnlE 'slurm_compat.h|src/slurmctld/' \
  "$top_srcdir/src" "$top_srcdir/healthd" "$top_srcdir/tools" "$top_srcdir/plugins/bridge")"

forbidden='open|fopen|read|write|socket|connect|clock_gettime|gettimeofday|time|getenv|pthread_create|printf|puts|rand|random|getrandom'
result CoreCallsNoSystem "$(for object in "$top_builddir"/src/core/.libs/*.o; do
  nm -u "$object" | awk '{ print $2 }' | grep -xE "($forbidden)" | sed "s|^|${object##*/} calls |"
done)"

exit $failures
