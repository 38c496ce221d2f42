/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How slurmstepds report the end of a step.
 *
 * On more than a few nodes they do so along a tree: each waits a minute for
 * those below it and tries for as long to reach the slurmd above it, before it
 * turns to slurmctld. A node that is dead or hangs thus keeps the healthy nodes
 * of its job COMPLETING for a minute, and the job from starting again.
 */
#ifndef ACRF_STEP_END_H
#define ACRF_STEP_END_H

/*
 * In slurmstepd, when a step's tasks have ended badly: report to slurmctld
 * itself, at once, with what has come in from below. Those below that come
 * later turn to slurmctld, too, as they do when they are too late for the tree.
 * One message a node: as many as slurmctld gets at a job's end anyway.
 */
extern void step_end_report_at_once(void);

#endif
