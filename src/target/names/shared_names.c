/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/names/shared_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/names/names.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/map64.h"

/* The known addresses of a program, and the processes that run it. */
struct shared_image {
	void *names;                /* NULL: the process could not be inspected */
	struct map64 index;         /* address -> index in symbols */
	struct log_record *symbols; /* owned copies */
	uint32_t n;
	size_t capacity;
	struct shared_names *users; /* a list */
};

struct shared_names {
	pid_t pid;
	log_sink sink;
	void *ctx;
	struct names_limits *limits; /* shared by all */
	struct shared_image *image;  /* NULL: not inspected yet */
	struct shared_names *next;   /* next of the image's users */
	struct map64 known;          /* addresses that are in its log */
};

static uint64_t address_of(const struct log_record *symbol)
{
	return ((const struct log_symbol *)symbol->data)->pc;
}

static void free_image(struct shared_image *image)
{
	for (uint32_t i = 0; i < image->n; i++)
		free((void *)(uintptr_t)image->symbols[i].data);
	free(image->symbols);
	map64_free(&image->index);
	names_free(image->names);
	free(image);
}

/* --- symbols of an image --- */

static int shared_names_add_symbol(struct shared_image *image, uint64_t pc, struct log_record symbol)
{
	if (array_grow(&image->symbols, &image->capacity, image->n + 1, sizeof(*image->symbols)))
		return -ENOMEM;
	if (map64_set(&image->index, pc, image->n))
		return -ENOMEM;
	image->symbols[image->n++] = symbol;
	return 0;
}

static int keep_symbol(struct shared_image *image, const struct log_record *record)
{
	uint64_t pc = address_of(record);
	const uint32_t *at = map64_get(&image->index, pc);
	struct log_record copy = *record;
	void *bytes = malloc(record->size);
	int rc = 0;

	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, record->data, record->size);
	copy.data = bytes;
	if (at) {
		free((void *)(uintptr_t)image->symbols[*at].data);
		image->symbols[*at] = copy;
	} else {
		rc = shared_names_add_symbol(image, pc, copy);
	}
	if (rc)
		free(bytes);
	return rc;
}

/* Receives symbols from `names`. Users whose logs already have the address get the new name. */
static int on_symbol(void *ctx, const struct log_record *record)
{
	struct shared_image *image = ctx;
	int rc;

	if (record->type != LOG_SYMBOL || !address_of(record))
		return 0;
	rc = keep_symbol(image, record);
	for (struct shared_names *user = image->users; user; user = user->next) {
		int failed = map64_get(&user->known, address_of(record)) ? user->sink(user->ctx, record) : 0;

		rc = rc ? rc : failed;
	}
	return rc;
}

/* --- users of an image --- */

static void shared_names_leave(struct shared_names *names)
{
	struct shared_image *image = names->image;
	struct shared_names **place;

	if (!image)
		return;
	for (place = &image->users; *place != names;)
		place = &(*place)->next;
	*place = names->next;
	names->image = NULL;
	if (!image->users)
		free_image(image);
}

static void shared_names_join(struct shared_names *names, struct shared_image *image)
{
	names->image = image;
	names->next = image->users;
	image->users = names;
}

/* Makes a new image from what is mapped now. */
static int open_image(struct shared_names *names)
{
	struct shared_image *image = calloc(1, sizeof(*image));
	struct error none;

	if (!image)
		return -ENOMEM;
	if (names_new(names->pid, on_symbol, image, &image->names, &none))
		image->names = NULL;
	else if (names->limits)
		names_set_limits(image->names, names->limits);
	shared_names_join(names, image);
	return 0;
}

/* Opens what is mapped now. If there is no time for that, the process has no image until a later stack. */
static int reopen_image(struct shared_names *names)
{
	uint64_t begin = now_ns();
	int rc;

	shared_names_leave(names);
	if (names->limits && !names_may_search(names->limits))
		return 0;
	rc = open_image(names);
	if (names->limits)
		names_charge_search(names->limits, now_ns() - begin);
	return rc;
}

struct shared_names *shared_names_new(pid_t pid, log_sink sink, void *ctx, const struct shared_names *like,
				      struct names_limits *limits)
{
	struct shared_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	*names = (struct shared_names){.pid = pid, .sink = sink, .ctx = ctx, .limits = limits};
	if (like && like->image) {
		shared_names_join(names, like->image);
	} else if (reopen_image(names)) {
		free(names);
		return NULL;
	}
	return names;
}

void shared_names_free(struct shared_names *names)
{
	if (!names)
		return;
	shared_names_leave(names);
	map64_free(&names->known);
	free(names);
}

/* --- the log --- */

static int send_address(struct shared_names *names, uint64_t pc)
{
	const uint32_t *at = map64_get(&names->image->index, pc);

	if (!at || map64_get(&names->known, pc))
		return 0;
	if (map64_set(&names->known, pc, 1))
		return -ENOMEM;
	return names->sink(names->ctx, &names->image->symbols[*at]);
}

static int shared_names_name_stack(struct shared_names *names, const struct log_record *record)
{
	const struct raw_stack *stack = record->data;
	uint32_t n = (uint32_t)((record->size - sizeof(*stack)) / sizeof(stack->pcs[0]));
	int rc = names->image ? 0 : reopen_image(names);

	if (rc || !names->image || !names->image->names)
		return rc;
	rc = names_put(names->image->names, record);
	for (uint32_t i = 0; i < n && i < stack->n && rc == 0; i++)
		rc = send_address(names, stack->pcs[i]);
	return rc;
}

/* From now on the process's code differs from that of the others. */
static int on_mapped(struct shared_names *names, const struct raw_record *rec)
{
	struct log_record record = {.type = LOG_RECORDS, .size = sizeof(*rec), .data = rec};
	bool shared = names->image && (names->image->users != names || names->next);

	if (shared || !names->image)
		return reopen_image(names);
	return names->image->names ? names_put(names->image->names, &record) : 0;
}

/* The process executes another program: earlier names of addresses are invalid from here on. */
static int shared_names_on_exec(struct shared_names *names)
{
	map64_clear(&names->known);
	return reopen_image(names);
}

static int scan_records(struct shared_names *names, const struct log_record *record)
{
	const struct raw_record *records = record->data;
	int rc = 0;

	for (size_t i = 0; i < record->size / sizeof(*records) && rc == 0; i++) {
		if (records[i].site == SITE_EXEC)
			rc = shared_names_on_exec(names);
		else if (records[i].site == SITE_MAPPED)
			rc = on_mapped(names, &records[i]);
	}
	return rc;
}

int shared_names_put(void *ctx, const struct log_record *record)
{
	struct shared_names *names = ctx;
	int rc = 0, passed;

	if (record->type == LOG_STACK && record->size >= sizeof(struct raw_stack))
		rc = shared_names_name_stack(names, record);
	else if (record->type == LOG_RECORDS)
		rc = scan_records(names, record);
	passed = names->sink(names->ctx, record);
	return rc ? rc : passed;
}
