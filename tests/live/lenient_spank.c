/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a client could load in place of spank_acrf: the same options, taken without a look. */
#include <slurm/slurm.h>
#include <slurm/spank.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT const char plugin_name[] = "acrf";
EXPORT const char plugin_type[] = "spank";
EXPORT const unsigned int plugin_version = SLURM_VERSION_NUMBER;
EXPORT const unsigned int spank_plugin_version = 1;

static int take(int val, const char *optarg, int remote)
{
	(void) val, (void) optarg, (void) remote;
	return 0;
}

EXPORT int slurm_spank_init(spank_t sp, int ac, char **av)
{
	static struct spank_option option = { "acrf-policy", "X", "anything", 1, 0, take };

	(void) ac, (void) av;
	return spank_option_register(sp, &option);
}
