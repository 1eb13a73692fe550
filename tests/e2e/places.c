/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Prints what gotrace finds in executables without running them, so that programs for another architecture
 * are no special case: the places that it would probe (name, number of the site), and the runtime's variables
 * with their addresses. `places [-alloc] FILE`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "target/private.h"

static int print_places(const char *path, enum alloc_level look, struct error *err)
{
	static struct probe_plan plan;
	struct target *target;
	int rc = target_open_file(path, NULL, &target, err);

	if (rc)
		return rc;
	rc = target_want_alloc(target, look, err);
	if (rc == 0)
		rc = target_plan(target, &plan, err);
	for (unsigned i = 0; rc == 0 && i < plan.n; i++)
		printf("probe %s %u\n", plan.probes[i].name, plan.probes[i].site);
	if (rc == 0 && plan.left_out[0])
		printf("left out: %s\n", plan.left_out);
	if (rc == 0) {
		printf("variable runtime.allgs 0x%" PRIx64 "\nvariable runtime.allp 0x%" PRIx64
		       "\nvariable runtime.allm 0x%" PRIx64 "\nvariable runtime.gomaxprocs 0x%" PRIx64
		       "\nvariable runtime.sched 0x%" PRIx64 "\nvariable runtime.gcphase 0x%" PRIx64
		       "\nvariable runtime.gcController 0x%" PRIx64 "\n",
		       target->allgs, target->allp, target->allm, target->gomaxprocs, target->sched,
		       target->gcphase, target->places.gc_controller);
		if (target->heap)
			printf("variable runtime.mheap_ 0x%" PRIx64 "\n", target->heap);
		printf("trace_calls %d %d %d\n", !!target->places.injectglist_trace_call, !!target->places.sweep_trace_call,
		       !!target->places.assist_trace_call);
	}
	target_free(target);
	return rc;
}

int main(int argc, char **argv)
{
	bool alloc = argc > 1 && strcmp(argv[1], "-alloc") == 0;
	struct error err;

	for (int i = 1 + alloc; i < argc; i++) {
		if (print_places(argv[i], alloc ? ALLOC_SPANS : ALLOC_NOTHING, &err)) {
			fprintf(stderr, "%s\n", err.text);
			return 1;
		}
	}
	return argc < 2 + alloc;
}
