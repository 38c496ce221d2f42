#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How a trainer in Python keeps checkpoints that survive its node.

It writes into a directory of its own and then publishes. When the job has been restarted
elsewhere in the meantime, the publication is refused and the trainer stops. Run it in a job
submitted with --acrf-workload=training --acrf-checkpoint-dir=DIR. Its ranks hold the same state, of
which rank 0 keeps the checkpoints; where each holds a shard, every rank writes its own into the
draft, and rank 0 publishes after a barrier.

TRAIN_STEPS, TRAIN_STEP_SECONDS and TRAIN_SAVE_EVERY are as in checkpoint.sh.
"""
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path


class NotPublished(Exception):
    """The checkpoint is not to be used; the message says why."""


def save(root: Path, step: int, state: dict) -> None:
    # The fence in the draft's name keeps a restarted job and the run it replaces out of each
    # other's files. A hidden directory is never taken for a checkpoint.
    draft = root / f".draft-{step}.{os.environ.get('ACRF_FENCE', 'none')}"
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    (draft / "state.json").write_text(json.dumps(state))
    done = subprocess.run(
        ["acrf", "checkpoint", "publish", str(draft), "--as", f"step-{step}"],
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        shutil.rmtree(draft, ignore_errors=True)
        raise NotPublished(done.stderr.strip())


def load() -> dict:
    path = os.environ.get("ACRF_RESUME_FROM")
    return json.loads((Path(path) / "state.json").read_text()) if path else {"step": 0}


def train() -> int:
    root = Path(os.environ["ACRF_CHECKPOINT_DIR"])
    steps = int(os.environ.get("TRAIN_STEPS", "100"))
    pause = float(os.environ.get("TRAIN_STEP_SECONDS", "0.2"))
    every = int(os.environ.get("TRAIN_SAVE_EVERY", "5"))
    rank = int(os.environ.get("SLURM_PROCID", "0"))
    state = load()
    print(f"rank {rank} begins at step {state['step']}", flush=True)
    while state["step"] < steps:
        time.sleep(pause)
        state["step"] += 1
        if rank == 0 and state["step"] % every == 0:
            try:
                save(root, state["step"], state)
            except NotPublished as refusal:
                print(f"stopped at step {state['step']}: {refusal}", file=sys.stderr)
                return 1
    print(f"finished at step {state['step']}")
    return 0


if __name__ == "__main__":
    sys.exit(train())
