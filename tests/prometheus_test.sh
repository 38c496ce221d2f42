#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The alert rules and the Grafana board: Prometheus' own tool reads and tries them, and every metric
# that they ask for is one that ACRF exports.
set -u
top_srcdir=${top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# result NAME TEXT: passes when TEXT, the list of offences, is empty.
result() {
  echo "[ RUN      ] Prometheus.$1"
  if [ -z "$2" ]; then
    echo "[       OK ] Prometheus.$1 (0 ms)"
  else
    echo "$2"
    echo "[  FAILED  ] Prometheus.$1 (0 ms)"
    failures=1
  fi
}

# promtool's words when it fails.
promtool_says() {
  command -v promtool >/dev/null || { echo "promtool is missing; on Debian: apt-get install prometheus"; return; }
  promtool "$@" >"$work/out" 2>&1 || cat "$work/out"
}

rules=$top_srcdir/contrib/prometheus/acrf.rules.yml
board=$top_srcdir/contrib/grafana/acrf.json
result RulesAreRead "$(promtool_says check rules "$rules")"
result AlertsFireWhenTheyShould "$(promtool_says test rules "$top_srcdir/contrib/prometheus/acrf.rules.test.yml")"

# The board's queries as a file of rules.
python3 - "$board" >"$work/board.yml" <<'EOF'
import json, sys
board = json.load(open(sys.argv[1]))
rules = [{"record": f"board:{panel['id']}{target['refId']}", "expr": target["expr"]}
         for panel in board["panels"] for target in panel["targets"]]
print(json.dumps({"groups": [{"name": "board", "rules": rules}]}))
EOF
result BoardsQueriesAreRead "$(promtool_says check rules "$work/board.yml")"

result MetricsAreExported "$(
  grep -ohE '\bacrf_[a-z_]+' "$rules" "$board" | sed -E 's/_(bucket|sum|count)$//' | sort -u | while read -r metric; do
    grep -rqF "\"$metric\"" "$top_srcdir/hub" "$top_srcdir/exporter" ||
      echo "nothing exports $metric"
  done)"

exit $failures
