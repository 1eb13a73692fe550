/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/names/go.h"

#include <stdlib.h>

#include "code/symbol/functab_record.h"
#include "target/target.h"

struct native_go {
	struct target *target; /* owns the table's bytes */
	struct functab *tab;
	struct strtab *strings;
	struct symbol *symbol;
	uint64_t from, to; /* range of Go's code */
};

static bool go_open_table(struct native_go *go, pid_t pid)
{
	struct log_record record;

	if (target_open(pid, NULL, &go->target, NULL) || target_functab(go->target, &record, NULL))
		return false;
	go->tab = functab_of_record(&record);
	go->strings = strtab_new();
	if (!go->tab || !go->strings)
		return false;
	functab_range(go->tab, &go->from, &go->to);
	go->symbol = symbol_new(go->tab, go->strings);
	return go->symbol;
}

struct native_go *native_go_new(pid_t pid)
{
	struct native_go *go = calloc(1, sizeof(*go));

	if (!go || go_open_table(go, pid))
		return go;
	native_go_free(go);
	return NULL;
}

void native_go_free(struct native_go *go)
{
	if (!go)
		return;
	if (go->symbol)
		symbol_free(go->symbol);
	if (go->tab)
		functab_free(go->tab);
	strtab_free(go->strings);
	if (go->target)
		target_free(go->target);
	free(go);
}

bool native_go_frames(struct native_go *go, uint64_t ret_pc, struct symbol_draft *draft)
{
	struct frame frames[MAX_FRAMES];
	int n;

	if (ret_pc - 1 < go->from || ret_pc - 1 >= go->to)
		return false;
	n = symbol_frames(go->symbol, &ret_pc, 1, 0, SYMBOL_RUNTIME_FRAMES | SYMBOL_ENTRY, frames);
	/* If there are more than fit, keep the functions that were actually called. */
	for (int i = n > SYMBOL_DEPTH ? n - SYMBOL_DEPTH : 0; i < n; i++) {
		const char *function = strtab_get(go->strings, frames[i].func, NULL);

		if (function[0])
			draft_add(draft, function, strtab_get(go->strings, frames[i].file, NULL),
				  frames[i].line);
	}
	return draft->head.nframes > 0;
}
