/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugins/spank_acrf/step_end.h"

#include "config.h"

#include "src/common/slurm_xlator.h"

#include "src/common/macros.h"
#include "src/common/reverse_tree.h"
#include "src/slurmd/slurmstepd/slurmstepd.h"

#define WAIT_PER_LEVEL_S 3	/* stepd_wait_for_children_slurmstepd() */

/* slurmstepd's alone: sbatch, salloc and srun load this plugin, too */
extern step_complete_t step_complete __attribute__((weak));

extern void step_end_report_at_once(void)
{
	if (!&step_complete)
		return;
	slurm_mutex_lock(&step_complete.lock);
	step_complete.parent_rank = -1;
	/* The wait for those below is a minute and 3 s for each level there */
	step_complete.max_depth = step_complete.depth -
		REVERSE_TREE_CHILDREN_TIMEOUT / WAIT_PER_LEVEL_S;
	slurm_mutex_unlock(&step_complete.lock);
}
