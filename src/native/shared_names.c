/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "native/shared_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "native/names.h"
#include "util/map64.h"

/* What is known of a program's addresses, and who runs it. */
struct image {
	void *names;                /* NULL: it could not be looked at */
	struct map64 index;         /* address -> place in symbols */
	struct log_record *symbols; /* owned copies */
	uint32_t n, capacity;
	struct shared_names *users; /* a list */
};

struct shared_names {
	pid_t pid;
	log_sink sink;
	void *ctx;
	struct map64 *told_lines;  /* of all of them */
	struct image *image;       /* NULL: not looked at yet */
	struct shared_names *next; /* of the image's users */
	struct map64 told;         /* addresses */
};

static uint64_t address_of(const struct log_record *symbol)
{
	return ((const struct log_symbol *)symbol->data)->pc;
}

static void free_image(struct image *image)
{
	for (uint32_t i = 0; i < image->n; i++)
		free((void *)(uintptr_t)image->symbols[i].data);
	free(image->symbols);
	map64_free(&image->index);
	names_free(image->names);
	free(image);
}

/* --- the image learns --- */

static int add_symbol(struct image *image, uint64_t pc, struct log_record symbol)
{
	if (image->n == image->capacity) {
		uint32_t capacity = image->capacity ? image->capacity * 2 : 256;
		struct log_record *bigger = realloc(image->symbols, capacity * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		image->symbols = bigger;
		image->capacity = capacity;
	}
	if (map64_set(&image->index, pc, image->n))
		return -ENOMEM;
	image->symbols[image->n++] = symbol;
	return 0;
}

static int keep_symbol(struct image *image, const struct log_record *record)
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
		rc = add_symbol(image, pc, copy);
	}
	if (rc)
		free(bytes);
	return rc;
}

/* What names has to say goes to those who know the address by another name. */
static int learn(void *ctx, const struct log_record *record)
{
	struct image *image = ctx;
	int rc;

	if (record->type != LOG_SYMBOL || !address_of(record))
		return 0;
	rc = keep_symbol(image, record);
	for (struct shared_names *user = image->users; user; user = user->next) {
		int failed = map64_get(&user->told, address_of(record)) ? user->sink(user->ctx, record) : 0;

		rc = rc ? rc : failed;
	}
	return rc;
}

/* --- who runs what --- */

static void leave(struct shared_names *names)
{
	struct image *image = names->image;
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

static void join(struct shared_names *names, struct image *image)
{
	names->image = image;
	names->next = image->users;
	image->users = names;
}

/* Anew, by what is mapped now. */
static int look(struct shared_names *names)
{
	struct image *image = calloc(1, sizeof(*image));
	struct error none;

	leave(names);
	if (!image)
		return -ENOMEM;
	if (names_new(names->pid, learn, image, &image->names, &none))
		image->names = NULL;
	else
		names_tell_once(image->names, names->told_lines);
	join(names, image);
	return 0;
}

struct shared_names *shared_names_new(pid_t pid, log_sink sink, void *ctx, const struct shared_names *like,
				      struct map64 *told)
{
	struct shared_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	*names = (struct shared_names){.pid = pid, .sink = sink, .ctx = ctx, .told_lines = told};
	if (like && like->image) {
		join(names, like->image);
	} else if (look(names)) {
		free(names);
		return NULL;
	}
	return names;
}

void shared_names_free(struct shared_names *names)
{
	if (!names)
		return;
	leave(names);
	map64_free(&names->told);
	free(names);
}

/* --- the log --- */

static int tell_address(struct shared_names *names, uint64_t pc)
{
	const uint32_t *at = map64_get(&names->image->index, pc);

	if (!at || map64_get(&names->told, pc))
		return 0;
	if (map64_set(&names->told, pc, 1))
		return -ENOMEM;
	return names->sink(names->ctx, &names->image->symbols[*at]);
}

static int name_stack(struct shared_names *names, const struct log_record *record)
{
	const struct raw_stack *stack = record->data;
	uint32_t n = (uint32_t)((record->size - sizeof(*stack)) / sizeof(stack->pcs[0]));
	int rc = names->image ? 0 : look(names);

	if (rc || !names->image->names)
		return rc;
	rc = names_put(names->image->names, record);
	for (uint32_t i = 0; i < n && i < stack->n && rc == 0; i++)
		rc = tell_address(names, stack->pcs[i]);
	return rc;
}

/* Its code is its own from now on. */
static int on_mapped(struct shared_names *names, const struct raw_record *rec)
{
	struct log_record record = {.type = LOG_RECORDS, .size = sizeof(*rec), .data = rec};
	bool shared = names->image && (names->image->users != names || names->next);

	if (shared || !names->image)
		return look(names);
	return names->image->names ? names_put(names->image->names, &record) : 0;
}

/* Another program: what was told of addresses does not hold for what follows. */
static int on_exec(struct shared_names *names)
{
	map64_clear(&names->told);
	return look(names);
}

static int look_at_records(struct shared_names *names, const struct log_record *record)
{
	const struct raw_record *records = record->data;
	int rc = 0;

	for (size_t i = 0; i < record->size / sizeof(*records) && rc == 0; i++) {
		if (records[i].site == SITE_EXEC)
			rc = on_exec(names);
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
		rc = name_stack(names, record);
	else if (record->type == LOG_RECORDS)
		rc = look_at_records(names, record);
	passed = names->sink(names->ctx, record);
	return rc ? rc : passed;
}
