/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: plugins of a Go program (target/plugins.h). Those that it has opened before are
 * probed with the rest. When it opens another one, the programs close the lease (bpf/plugins.bpf.h), and the
 * gap ends when the new plugin is probed, too.
 */
#ifndef GOTRACE_CAPTURE_PLUGINS_H
#define GOTRACE_CAPTURE_PLUGINS_H

#include "capture/state.h"

/* Looks for new plugins, before the programs are loaded. Their probes are attached with the executable's. */
void plugins_find(struct capture *capture);
/*
 * Looks for new plugins and attaches their probes. A plugin that cannot be probed is noted in the log and
 * reported. Returns 0, or -ESRCH if the process is gone.
 */
int plugins_update(struct capture *capture, struct error *err);
/* Logs what is due: function tables, and notes about plugins that are not probed. Returns 0 or a negative
 * errno. */
int plugins_log(struct capture *capture);
void plugins_close(struct capture *capture);

#endif
