/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loading the real select/cons_tres.
 *
 * As a drop-in the wrapper has cons_tres' own file name and stands in a
 * directory that comes first in PluginDir; the real one is then further along
 * the path. A wrapper is told from the real one by its plugin_name.
 */
#include "plugins/select_acrf/delegate.h"

#include <dlfcn.h>
#include <sys/stat.h>

#define DELEGATE_FILE "select_cons_tres.so"

slurm_select_ops_t delegate;

static void *delegate_handle;
static bool *topo_optional;	/* cons_tres' own; NULL: not known */

/* In the order of slurm_select_ops_t */
static const char *const delegate_symbols[] = {
	"plugin_id",
	"select_p_state_save",
	"select_p_state_restore",
	"select_p_job_init",
	"select_p_node_init",
	"select_p_job_test",
	"select_p_job_begin",
	"select_p_job_ready",
	"select_p_job_expand",
	"select_p_job_resized",
	"select_p_job_signal",
	"select_p_job_fini",
	"select_p_job_suspend",
	"select_p_job_resume",
	"select_p_step_pick_nodes",
	"select_p_step_start",
	"select_p_step_finish",
	"select_p_select_nodeinfo_pack",
	"select_p_select_nodeinfo_unpack",
	"select_p_select_nodeinfo_alloc",
	"select_p_select_nodeinfo_free",
	"select_p_select_nodeinfo_set_all",
	"select_p_select_nodeinfo_set",
	"select_p_select_nodeinfo_get",
	"select_p_select_jobinfo_alloc",
	"select_p_select_jobinfo_free",
	"select_p_select_jobinfo_set",
	"select_p_select_jobinfo_get",
	"select_p_select_jobinfo_copy",
	"select_p_select_jobinfo_pack",
	"select_p_select_jobinfo_unpack",
	"select_p_select_jobinfo_sprint",
	"select_p_select_jobinfo_xstrdup",
	"select_p_get_info_from_plugin",
	"select_p_update_node_config",
	"select_p_reconfigure",
	"select_p_resv_test",
};

#define DELEGATE_SYMBOL_CNT \
	(sizeof(delegate_symbols) / sizeof(delegate_symbols[0]))

_Static_assert(sizeof(slurm_select_ops_t) ==
	       DELEGATE_SYMBOL_CNT * sizeof(void *),
	       "delegate_symbols must match slurm_select_ops_t");

static bool _is_cons_tres(void *handle)
{
	const char *name = dlsym(handle, "plugin_name");
	const char *type = dlsym(handle, "plugin_type");
	const uint32_t *version = dlsym(handle, "plugin_version");

	return name && type && version && xstrcmp(name, SELECT_ACRF_NAME) &&
	       !xstrcmp(type, "select/cons_tres") &&
	       (*version == SLURM_VERSION_NUMBER);
}

static bool _link_symbols(void *handle)
{
	void **slots = (void **) &delegate;

	for (size_t i = 0; i < DELEGATE_SYMBOL_CNT; i++) {
		if (!(slots[i] = dlsym(handle, delegate_symbols[i]))) {
			error("select/acrf: select/cons_tres lacks %s",
			      delegate_symbols[i]);
			return false;
		}
	}
	return true;
}

static void *_open_in(const char *dir)
{
	struct stat st;
	void *handle = NULL;
	char *path = xstrdup_printf("%s/" DELEGATE_FILE, dir);

	if (!stat(path, &st) && S_ISREG(st.st_mode))
		handle = dlopen(path, RTLD_LAZY);
	if (handle && !_is_cons_tres(handle)) {
		dlclose(handle);
		handle = NULL;
	}
	if (handle)
		debug("select/acrf: delegating to %s", path);
	xfree(path);
	return handle;
}

extern int delegate_open(void)
{
	char *dirs = xstrdup(slurm_conf.plugindir), *save = NULL;
	int (*init)(void);

	for (char *dir = strtok_r(dirs, ":", &save); dir && !delegate_handle;
	     dir = strtok_r(NULL, ":", &save))
		delegate_handle = _open_in(dir);
	xfree(dirs);

	if (!delegate_handle) {
		error("select/acrf: no " DELEGATE_FILE " of Slurm "
		      SLURM_VERSION_STRING " in PluginDir=%s",
		      slurm_conf.plugindir);
		return SLURM_ERROR;
	}
	if (!_link_symbols(delegate_handle))
		goto fail;
	topo_optional = dlsym(delegate_handle, "topo_optional");
	if ((init = dlsym(delegate_handle, "init")) && init()) {
		error("select/acrf: init of select/cons_tres failed");
		goto fail;
	}
	return SLURM_SUCCESS;

fail:
	dlclose(delegate_handle);
	delegate_handle = NULL;
	return SLURM_ERROR;
}

extern void delegate_close(void)
{
	void (*fini)(void);

	if (!delegate_handle)
		return;
	if ((fini = dlsym(delegate_handle, "fini")))
		fini();
	dlclose(delegate_handle);
	delegate_handle = NULL;
	topo_optional = NULL;
}

extern bool delegate_set_topo_optional(bool optional)
{
	bool before;

	if (!topo_optional)
		return false;
	before = *topo_optional;
	*topo_optional = optional;
	return before;
}
