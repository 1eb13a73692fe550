/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Operations of a target that another, unprivileged process inspects. The functions of target.h call these
 * for such a target.
 */
#ifndef GOTRACE_TARGET_REMOTE_H
#define GOTRACE_TARGET_REMOTE_H

#include "target/target.h"

struct target_remote {
	void (*free)(struct target *target);
	int (*bind)(struct target *target, pid_t pid, struct error *err);
	bool (*may_have_plugins)(const struct target *target);
	int (*plugins)(struct target *target, struct error *err);
	int (*plugin)(struct target *target, unsigned i, const struct probe_plan *plan,
		      struct target_plugin *plugin, struct error *err);
	int (*plugin_functab)(struct target *target, unsigned i, struct log_record *record,
			      struct error *err);
	bool (*other_go)(const struct target *target, char *path, size_t size);
	int (*want_alloc)(struct target *target, enum alloc_level level, struct error *err);
	int (*plan)(const struct target *target, struct probe_plan *plan, struct error *err);
	void (*park_skips)(const struct target *target, uint8_t skips[PARK_SKIPS]);
	void (*wait_texts)(const struct target *target, struct wait_text texts[WAIT_TEXTS]);
	int (*log_info)(const struct target *target, unsigned extra_flags, log_sink sink, void *ctx,
			struct error *err);
	int (*functab)(struct target *target, struct log_record *record, struct error *err);
	void (*functab_drop)(struct target *target);
	int (*snapshot_begin)(const struct target *target, uint32_t most, bool labelled, log_sink sink,
			      void *ctx, struct error *err);
	int (*snapshot_read)(const struct target *target, struct error *err);
	int (*snapshot_put)(const struct target *target, const uint32_t markers[2]);
	void (*snapshot_free)(const struct target *target);
	int (*read_ms)(const struct target *target, struct log_m *ms, unsigned max, struct error *err);
	int (*heap_live)(const struct target *target, uint64_t *bytes);
};

#endif
