#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The plugins export what Slurm looks up, and nothing else.
set -u
top_builddir=${top_builddir:-$(cd "$(dirname "$0")/.." && pwd)/build}
failures=0

# exports TEST FILE REGEX: every exported name matches the regex, and there is at least one.
exports() {
  local names strangers
  echo "[ RUN      ] Exports.$1"
  names=$(nm -D --defined-only "$top_builddir/$2" | awk '{ print $3 }' | grep -vE '^__(asan|ubsan|odr_asan)|^(_init|_fini|__bss_start|_edata|_end)$')
  strangers=$(grep -vxE "$3" <<<"$names")
  if [ -n "$names" ] && [ -z "$strangers" ]; then
    echo "[       OK ] Exports.$1 (0 ms)"
  else
    echo "$2 exports besides: ${strangers:-nothing at all}"
    echo "[  FAILED  ] Exports.$1 (0 ms)"
    failures=1
  fi
}

plugin='plugin_(name|type|version)|init|fini'
exports JobSubmit .libs/job_submit_acrf.so "$plugin|job_submit|job_modify"
exports Spank .libs/spank_acrf.so "$plugin|spank_plugin_version|spank_options|slurm_spank_[a-z_]+"
for select in select_cons_tres select_acrf; do
  exports "$select" "plugins/select_acrf/.libs/$select.so" "$plugin|plugin_id|select_p_[a-z_]+"
done
exports FakeNvml .libs/libnvidia-ml.so.1 'nvml[A-Za-z0-9_]+'
exit $failures
