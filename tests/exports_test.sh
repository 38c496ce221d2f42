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

# needs_no_data TEST FILE: the plugin loads where slurmctld's data is missing, in every program that
# links libslurm; functions are looked up only when they are called.
needs_no_data() {
  local data
  echo "[ RUN      ] Exports.$1"
  data=$(nm -D "$top_builddir/$2" | awk '$1 == "U" { print $2 }' |
    grep -xE 'job_list|part_list|node_record_(table_ptr|count)|[a-z]+_node_bitmap|last_[a-z]+_update')
  if [ -z "$data" ]; then
    echo "[       OK ] Exports.$1 (0 ms)"
  else
    echo "$2 does not load without: $data"
    echo "[  FAILED  ] Exports.$1 (0 ms)"
    failures=1
  fi
}

# finds_all TEST FILE: slurmctld has every function that the plugin calls. One that it lacks would end
# slurmctld at the first call: plugins are linked lazily. Not for sanitized plugins, which can't be
# preloaded.
finds_all() {
  local slurmctld said
  echo "[ RUN      ] Exports.$1"
  slurmctld=$(PATH=$PATH:/usr/sbin:/sbin command -v slurmctld-wlm || PATH=$PATH:/usr/sbin:/sbin command -v slurmctld)
  if [ -z "$slurmctld" ] || nm -D "$top_builddir/$2" | grep -qE ' U __(asan|ubsan|tsan)_'; then
    echo "slurmctld is not installed, or the plugin is sanitized"
    echo "[  SKIPPED ] Exports.$1 (0 ms)"
  elif said=$(LD_BIND_NOW=1 LD_PRELOAD="$top_builddir/$2" "$slurmctld" -V 2>&1); then
    echo "[       OK ] Exports.$1 (0 ms)"
  else
    echo "$said"
    echo "[  FAILED  ] Exports.$1 (0 ms)"
    failures=1
  fi
}

plugin='plugin_(name|type|version)|init|fini'
exports JobSubmit .libs/job_submit_acrf.so "$plugin|job_submit|job_modify"
finds_all JobSubmitFindsAll .libs/job_submit_acrf.so
exports Spank .libs/spank_acrf.so "$plugin|spank_plugin_version|spank_options|slurm_spank_[a-z_]+"
for select in select_cons_tres select_acrf; do
  exports "$select" "plugins/select_acrf/.libs/$select.so" "$plugin|plugin_id|select_p_[a-z_]+"
  needs_no_data "${select}NeedsNoData" "plugins/select_acrf/.libs/$select.so"
  finds_all "${select}FindsAll" "plugins/select_acrf/.libs/$select.so"
done
exports FakeNvml .libs/libnvidia-ml.so.1 'nvml[A-Za-z0-9_]+'
exports FakeDcgm .libs/libdcgm.so.4 'dcgm[A-Za-z0-9_]+'
exports FakeRocmSmi .libs/librocm_smi64.so.1 'rsmi_[a-z0-9_]+'
exports FakeLevelZero .libs/libze_loader.so.1 'zes?[A-Z][A-Za-z0-9]+'
exit $failures
