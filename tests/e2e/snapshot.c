/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * `snapshot PID` prints what the target module sees of a live process. First the release and the Ps and Ms,
 * then a line per goroutine: its id, status and wait reason, and the functions of its stack, leaf first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/private.h"
#include "target/reasons.h"
#include "util/map64.h"

#define MAX_STACKS 4096u

struct printer {
	const struct target *target;
	struct raw_stack *stacks[MAX_STACKS]; /* copies */
	uint32_t n;
	struct map64 places; /* a stack's hash -> its index */
};

static int keep_stack(struct printer *printer, const struct log_record *record)
{
	const struct raw_stack *stack = record->data;
	struct raw_stack *copy = printer->n < MAX_STACKS ? malloc(record->size) : NULL;

	if (!copy)
		return -1;
	memcpy(copy, stack, record->size);
	printer->stacks[printer->n] = copy;
	return map64_set(&printer->places, stack->hash, printer->n++);
}

static void print_function(const struct functab *functab, uint64_t pc)
{
	const char *name = "?";
	uint64_t entry, end;
	size_t index;

	/* A return address is after the call, which may be the last instruction of its function. */
	if (functab_lookup(functab, pc - 1, &index) == 0)
		functab_entry(functab, index, &entry, &end, &name);
	printf(" %s", name);
}

static void print_g(const struct printer *printer, const struct log_g *g)
{
	const struct reasons *waits = release_reasons(printer->target->image->release, REASON_WAIT);
	const char *reason = g->waitreason < waits->n ? waits->texts[g->waitreason] : NULL;
	const uint32_t *place = g->stack ? map64_get(&printer->places, g->stack) : NULL;
	const struct raw_stack *stack = place ? printer->stacks[*place] : NULL;

	printf("g %llu %u %s |", (unsigned long long)g->goid, g->status, reason ? reason : "-");
	for (uint32_t i = 0; stack && i < stack->n; i++)
		print_function(printer->target->functab, stack->pcs[i]);
	printf("\n");
}

static void print_ps(const struct log_p *ps, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("p %u %u\n", ps[i].id, ps[i].status);
}

static void print_ms(const struct log_m *ms, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("m %u\n", ms[i].tid);
}

static int on_record(void *ctx, const struct log_record *record)
{
	struct printer *printer = ctx;
	const struct log_g *gs = record->data;

	switch (record->type) {
	case LOG_STACK:
		return keep_stack(printer, record);
	case LOG_SNAPSHOT:
		printf("gomaxprocs %u\n", ((const struct log_snapshot *)record->data)->gomaxprocs);
		break;
	case LOG_GS:
		for (size_t i = 0; i < record->size / sizeof(*gs); i++)
			print_g(printer, &gs[i]);
		break;
	case LOG_PS:
		print_ps(record->data, record->size / sizeof(struct log_p));
		break;
	case LOG_MS:
		print_ms(record->data, record->size / sizeof(struct log_m));
		break;
	default:
		break;
	}
	return 0;
}

static int print_snapshot(struct printer *printer, struct error *err)
{
	const uint32_t markers[2] = {0, 0};
	struct target_snapshot *snapshot;
	int rc = target_snapshot_begin(printer->target, false, on_record, printer, &snapshot, err);

	if (rc)
		return rc;
	do {
		rc = target_snapshot_read(snapshot, err);
	} while (rc > 0);
	if (rc == 0)
		rc = target_snapshot_put(snapshot, markers);
	target_snapshot_free(snapshot);
	return rc;
}

int main(int argc, char **argv)
{
	static struct printer printer;
	struct error err = {.text = ""};
	struct target *target;
	int rc = argc == 2 ? target_open(atoi(argv[1]), NULL, &target, &err) : -1;

	if (rc) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	printf("%s cgo=%d pie=%d stripped=%d\n", target->go_version, target->cgo, target->pie,
	       target->stripped);
	printer.target = target;
	rc = print_snapshot(&printer, &err);
	if (rc)
		fprintf(stderr, "%s\n", err.text);
	for (uint32_t i = 0; i < printer.n; i++)
		free(printer.stacks[i]);
	map64_free(&printer.places);
	target_free(target);
	return rc != 0;
}
