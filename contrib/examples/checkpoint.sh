#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How a program in shell keeps checkpoints that survive its node: write into a directory of its own,
# then publish. Run it in a job submitted with --acrf-policy=requeue --acrf-checkpoint-dir=DIR.
#
#   TRAIN_STEPS         steps to do in all (default 100)
#   TRAIN_STEP_SECONDS  seconds a step takes (default 0.2)
#   TRAIN_SAVE_EVERY    steps between checkpoints (default 5)
set -eu
steps=${TRAIN_STEPS:-100} pause=${TRAIN_STEP_SECONDS:-0.2} every=${TRAIN_SAVE_EVERY:-5}
: "${ACRF_CHECKPOINT_DIR:?submit with --acrf-checkpoint-dir=DIR}"

# The fence in the draft's name keeps a restarted job and the run it replaces out of each other's
# files. A hidden directory is never taken for a checkpoint.
save() {
  local draft=$ACRF_CHECKPOINT_DIR/.draft-$1.${ACRF_FENCE:-none}
  rm -rf "$draft"
  mkdir "$draft"
  echo "$1" >"$draft/step"
  if ! acrf checkpoint publish "$draft" --as "step-$1" >/dev/null; then
    rm -rf "$draft"
    echo "stopped at step $1: the checkpoint could not be published" >&2
    exit 1
  fi
}

step=0
[ -z "${ACRF_RESUME_FROM:-}" ] || step=$(cat "$ACRF_RESUME_FROM/step")
echo "begins at step $step"
while ((step < steps)); do
  sleep "$pause"
  step=$((step + 1))
  ((step % every)) || save "$step"
done
echo "finished at step $step"
