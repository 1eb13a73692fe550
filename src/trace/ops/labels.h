/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A set of pprof labels as text, as in the logs of a trace: {"key":"value", "key2":"value2"}, a JSON object
 * sorted by key, as the goroutine profile prints it (debug=1). "..." follows if labels, or parts of them,
 * were left out. Such a text is untrusted input: any program can write one.
 */
#ifndef GOTRACE_TRACE_OPS_LABELS_H
#define GOTRACE_TRACE_OPS_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LABELS_TEXT_MAX = 1000, /* of a set, without the NUL: Go's readers take strings of 1024 bytes */
	LABELS_TEXT_LABELS = 64,
};

/* Category of log events with labels that the goroutine itself has just received. */
#define LABELS_SET "labels"
/* The same, but the goroutine has had them for longer. */
#define LABELS_HELD "labels held"
/* Labels of other goroutines, which did not run: their ids follow the set, each after a space. */
#define LABELS_OTHERS "labels of goroutines"

struct pprof_label {
	const char *key, *value; /* any bytes */
	uint16_t key_len, value_len;
};

/*
 * Sorts n labels, and writes them as NUL-terminated text; those that do not fit are left out. cut: some were
 * left out before. Returns the length.
 */
size_t labels_write(struct pprof_label *labels, unsigned n, bool cut, char text[LABELS_TEXT_MAX + 1]);

/* A set that was read. bytes has its strings, without escapes. */
struct labels_read {
	struct pprof_label labels[LABELS_TEXT_LABELS];
	unsigned n;
	bool cut;
	char bytes[LABELS_TEXT_MAX + 24];
};

/*
 * Reads a set at the beginning of text. Returns its length in bytes, or -EBADMSG. Labels beyond
 * LABELS_TEXT_LABELS are left out, and set->cut is true.
 */
int labels_parse(const char *text, size_t len, struct labels_read *set);

enum labels_log {
	LABELS_LOG_NONE, /* it is about something else */
	LABELS_LOG_SET,
	LABELS_LOG_HELD,
	LABELS_LOG_OTHERS,
};

/* Classifies a log event by its category. */
enum labels_log labels_log_kind(const char *category, size_t len);
/*
 * Returns the next id after the set in a LABELS_LOG_OTHERS, and advances *at. Returns 0 at the end, or if
 * there is no id.
 */
uint64_t labels_next_goid(const char *text, size_t len, size_t *at);

#endif
