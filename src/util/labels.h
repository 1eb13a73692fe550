/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A set of pprof labels as text, as logs of a trace have it: {"key":"value", "key2":"value2"}, a JSON object
 * by key, as the goroutine profile prints it (debug=1). "..." follows if labels, or parts of them, were left
 * out. Such a text is untrusted: any program can write one.
 */
#ifndef GOTRACE_UTIL_LABELS_H
#define GOTRACE_UTIL_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LABELS_TEXT_MAX = 1000, /* of a set, without the NUL: Go's readers take strings of 1024 bytes */
	LABELS_TEXT_LABELS = 64,
};

/* Categories of log events with labels: of the goroutine itself, which has just got them, ... */
#define LABELS_SET "labels"
/* ... of the goroutine itself, which has had them before, ... */
#define LABELS_HELD "labels held"
/* ... and of others, which did not run: their ids follow the set, each behind a space. */
#define LABELS_OTHERS "labels of goroutines"

struct pprof_label {
	const char *key, *value; /* any bytes */
	uint16_t key_len, value_len;
};

/*
 * Sorts n labels, and writes them as text, NUL-terminated; those that do not fit are left out. cut: some are
 * missing already. Returns the length.
 */
size_t labels_write(struct pprof_label *labels, unsigned n, bool cut, char text[LABELS_TEXT_MAX + 1]);

/* A set that was read: its texts, which have no escapes any more, are in bytes. */
struct labels_read {
	struct pprof_label labels[LABELS_TEXT_LABELS];
	unsigned n;
	bool cut;
	char bytes[LABELS_TEXT_MAX + 24];
};

/*
 * Reads such a text. Returns how many bytes of it are the set, or a negative errno: -EBADMSG if it is none.
 * The labels of a set with more than LABELS_TEXT_LABELS are cut.
 */
int labels_parse(const char *text, size_t len, struct labels_read *set);
/* The label with this key, or NULL. */
const struct pprof_label *labels_find(const struct labels_read *set, const char *key, size_t len);

enum labels_log {
	LABELS_LOG_NONE, /* it is about something else */
	LABELS_LOG_SET,
	LABELS_LOG_HELD,
	LABELS_LOG_OTHERS,
};

/* What the category of a log event says. */
enum labels_log labels_log_kind(const char *category, size_t len);
/* The next id of a LABELS_LOG_OTHERS behind the set; 0 at the end, and where there is none. */
uint64_t labels_next_goid(const char *text, size_t len, size_t *at);

#endif
