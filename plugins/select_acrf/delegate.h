/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The select/cons_tres that the wrapper stands in front of. */
#ifndef ACRF_SELECT_DELEGATE_H
#define ACRF_SELECT_DELEGATE_H

#include "plugins/select_acrf/operations.h"

/* The wrapper's plugin_name, under whichever type it was built */
#define SELECT_ACRF_NAME "ACRF selection in front of cons_tres"

typedef struct {
#define POINTER(result, name, parameters, arguments) result (*name) parameters;
	SELECT_OPERATIONS(POINTER)
#undef POINTER
} delegate_t;

/* Valid between delegate_open() and delegate_close() */
extern delegate_t delegate;

/*
 * Find the real select_cons_tres.so in PluginDir, leaving out this file and
 * any other copy of the wrapper, and load it.
 * RET SLURM_SUCCESS, or SLURM_ERROR after saying why
 */
extern int delegate_open(void);

extern void delegate_close(void);

/*
 * Whether cons_tres searches the switches for a place for every job (false), or
 * only for those that ask for --switches (true), as TopologyParam=TopoOptional
 * has it. RET what it was, to be set again. No effect in 24.11, where topology
 * plugins search, and keep that setting to themselves
 */
extern bool delegate_set_topo_optional(bool optional);

#endif
