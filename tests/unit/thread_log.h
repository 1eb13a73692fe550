/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* For tests: a log of threads made by hand, and the ops that the model makes of it. Every op is checked. */
#ifndef GOTRACE_THREAD_LOG_H
#define GOTRACE_THREAD_LOG_H

#include "annotate/annotate.h"
#include "code/symbol/symbol.h"
#include "trace/wire/wire.h"

enum { LOG_PID = 100, LOG_START = 1000000 };

struct thread_log {
	struct model *model;
	struct strtab *strings;
	struct op_rules *rules;
	uint64_t now; /* ns, time of the next record */
	/* All ops except OP_NONE, one per line; "-- N" before generation N. */
	char *text;
	size_t len, capacity;
	uint32_t generations;
	/* With a format, each generation is also encoded. */
	struct symbol *symbol;
	struct wire *wire;
	uint8_t *bytes;
	size_t nbytes;
};

/* `flags` are added to LOG_TARGET_THREADS. *format: the format to encode in; NULL = none. */
void thread_log_begin(struct thread_log *log, uint32_t flags, const enum wire_format *format);
/* For long traces: any generation may be the first of a file. */
void thread_log_begin_days(struct thread_log *log);
/* Ends the model; the text stays until thread_log_free. */
void thread_log_end(struct thread_log *log);
void thread_log_free(struct thread_log *log);

void thread_log_put(struct thread_log *log, uint32_t type, const void *data, size_t size);
/* A time of 0 becomes 1000 ns after the previous record, a goid of 0 LOG_PID. */
void thread_log_record(struct thread_log *log, struct raw_record rec);
void thread_log_marker(struct thread_log *log, uint32_t number);
void thread_log_comm(struct thread_log *log, uint32_t tid, const char *comm);
void thread_log_symbol(struct thread_log *log, uint64_t pc, const char *function, uint8_t hint);
void thread_log_stack(struct thread_log *log, uint64_t hash, uint16_t flags, const uint64_t *pcs, uint32_t n);
void thread_log_file(struct thread_log *log, uint64_t key, const char *text);
void thread_log_function(struct thread_log *log, uint32_t number, uint16_t kind, const char *name);
/* Adds a snapshot between markers 1 and 2, with nothing between them. */
void thread_log_snapshot(struct thread_log *log, uint32_t ncpus, const struct log_thread *threads, size_t n);
void thread_log_boundary(struct thread_log *log);
void thread_log_loss(struct thread_log *log);

#endif
