/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: one sequence of Perfetto packets. Texts and stacks are interned under the ids of the
 * stacktab, timestamps are deltas to the previous packet, and packets are compressed in blocks.
 */
#ifndef GOTRACE_EXPORT_PERFETTO_STREAM_H
#define GOTRACE_EXPORT_PERFETTO_STREAM_H

#include "export/stacktab.h"
#include "export/perfetto.pb-c.h"
#include "util/error.h"
#include "trace/wire/buffer.h"
#include "trace/wire/wire.h"

/* TrackEvent.type, of Perfetto's track_event.proto. */
enum pf_type { PF_BEGIN = 1, PF_END = 2, PF_INSTANT = 3, PF_COUNTER = 4, PF_STATE = 5 };

enum pf_category {
	PF_NO_CATEGORY,
	PF_RUN,
	PF_STATES,
	PF_WAKE,
	PF_GC,
	PF_USER,
	PF_SYSCALL,
	PF_GOTRACE,
	PF_THREAD,
	PF_OS,
	PF_CPU,
	PF_CATEGORIES
};

enum pf_annotation {
	PF_NO_ANNOTATION,
	PF_GOID,
	PF_MESSAGE,
	PF_TASK,
	PF_BYTES,
	PF_TID,
	PF_LABELS,
	PF_ANNOTATIONS
};

struct pf_marks { /* which ids have been interned */
	uint8_t *seen;
	size_t capacity;
};

struct pf_stream {
	struct byte_sink out;
	struct libdeflate_compressor *compressor;
	struct buffer block; /* packets not yet written */
	struct buffer zipped;
	struct stacktab *st;
	uint32_t sequence;
	uint64_t last_ns; /* the last packet's timestamp */
	struct pf_marks names, functions, paths, frames, stacks, contexts;
};

/* The stacktab is not owned. Returns 0 or -ENOMEM. */
int pf_stream_init(struct pf_stream *pf, const struct byte_sink *out, struct stacktab *st, uint32_t sequence);
void pf_stream_free(struct pf_stream *pf);
/* Writes the sequence's first packets: clocks, defaults. suspended_ns: how long the machine has been
 * suspended since boot; wall_ns: the wall clock at start_ns; 0 = unknown. */
int pf_stream_start(struct pf_stream *pf, uint64_t start_ns, uint64_t suspended_ns, uint64_t wall_ns);
/* Each adds a packet. Returns 0, -ENOMEM, or the sink's error. */
int pf_put(struct pf_stream *pf, Perfetto__TracePacket *packet);
int pf_put_at(struct pf_stream *pf, uint64_t time_ns, Perfetto__TracePacket *packet);
int pf_descriptor(struct pf_stream *pf, Perfetto__TrackDescriptor *descriptor);
/* The same, out of time order. */
int pf_put_aside(struct pf_stream *pf, uint64_t time_ns, Perfetto__TracePacket *packet);
int pf_flush(struct pf_stream *pf);

/* Interns an item. Call before a packet refers to its id. Id 0 is none. */
int pf_intern_name(struct pf_stream *pf, uint32_t string);
int pf_intern_stack(struct pf_stream *pf, uint32_t stack);
int pf_intern_context(struct pf_stream *pf, uint32_t id, const char *name, const char *kind);

#endif
