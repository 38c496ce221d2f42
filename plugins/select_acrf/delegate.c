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

delegate_t delegate;

static void *delegate_handle;
static bool *topo_optional;	/* cons_tres' own; NULL: not known */

static bool _is_cons_tres(void *handle)
{
	const char *name = dlsym(handle, "plugin_name");
	const char *type = dlsym(handle, "plugin_type");
	const uint32_t *version = dlsym(handle, "plugin_version");

	return name && type && version && xstrcmp(name, SELECT_ACRF_NAME) &&
	       !xstrcmp(type, "select/cons_tres") &&
	       (*version == SLURM_VERSION_NUMBER);
}

static void *_find_symbol(void *handle, const char *name)
{
	void *symbol = dlsym(handle, name);

	if (!symbol)
		error("select/acrf: select/cons_tres lacks %s", name);
	return symbol;
}

static bool _link_symbols(void *handle)
{
#define LINK(result, name, parameters, arguments) \
	if (!(delegate.name = _find_symbol(handle, "select_p_" #name))) \
		return false;
	SELECT_OPERATIONS(LINK)
#undef LINK
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
