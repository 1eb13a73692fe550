/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The raw log: all that was seen of a target, as a stream of typed records.
 * Live, the stream goes from capture straight to the model; with --raw it is
 * also written to a file, from which `gotrace replay` feeds the same model.
 * Nothing behind the log looks at the live process.
 */
#ifndef GOTRACE_RAWLOG_H
#define GOTRACE_RAWLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"
#include "util/error.h"

/* Types are stored in files: never renumber, only append. A reader skips types it does not know. */
enum log_type {
	LOG_TARGET = 1,   /* struct log_target: always the first record */
	LOG_REASON = 2,   /* struct log_reason + text */
	LOG_FUNCTAB = 3,  /* struct log_functab + pclntab bytes + gofunc bytes; at most one, may come late */
	LOG_MAPPING = 4,  /* struct log_mapping + path */
	LOG_RECORDS = 5,  /* struct raw_record[], causes before effects; markers included */
	LOG_STACK = 6,    /* struct raw_stack with its pcs */
	LOG_SNAPSHOT = 7, /* struct log_snapshot: opens a snapshot, after its second marker went by */
	LOG_GS = 8,       /* struct log_g[]: of the open snapshot; may come in several records */
	LOG_PS = 9,       /* struct log_p[] */
	LOG_MS = 10,      /* struct log_m[] */
	LOG_SNAPSHOT_END = 11, /* empty */
	LOG_BOUNDARY = 12,     /* struct log_boundary + struct log_m[]: end of a generation */
	LOG_LOSS = 13,         /* struct log_loss: since the previous LOG_LOSS; a snapshot follows */
	LOG_END = 14,          /* struct log_end: the last record of a whole log */
	LOG_NOTE = 15,         /* struct log_note + text: what the trace itself shall say here */
	LOG_TEXT = 16,         /* one struct raw_text, in the ring's order between LOG_RECORDS */
	LOG_HEAP = 17,         /* struct log_heap: of the open snapshot */
	LOG_HEAP_LIVE = 18,    /* struct log_heap_live */
	LOG_AREAS = 20,        /* struct log_area[]: of the open snapshot, if memory is looked at (--alloc) */
	LOG_THREADS = 21,      /* struct log_thread[]: of the open snapshot, instead of LOG_GS, _PS and _MS */
	LOG_SYMBOL =
		22, /* struct log_symbol: what an address of native code is, before the first stack with it */
	LOG_FILE = 23,     /* struct log_file + text: before the first record with its key */
	LOG_FUNCTION = 24, /* struct log_function + name: before the first record with its number */
};

#define LOG_LAST LOG_FUNCTION

struct log_record {
	uint32_t type;    /* enum log_type */
	uint32_t size;    /* bytes at data */
	const void *data; /* 8-byte aligned; owned by whoever hands the record over, valid during the call */
};

/* Takes one record; returns 0 or a negative errno, which ends the stream. */
typedef int (*log_sink)(void *ctx, const struct log_record *record);

enum log_target_flags {
	LOG_TARGET_GO = 1,
	LOG_TARGET_CGO = 2,
	LOG_TARGET_PIE = 4,
	LOG_TARGET_STRIPPED = 8, /* no .symtab */
	LOG_TARGET_SPAWNED = 16, /* started by gotrace: seen from its first goroutine */
	LOG_TARGET_THREADS = 32, /* seen as threads on CPUs: SITE_SWITCH and so on; Go or not */
	LOG_TARGET_ARM64 = 64,   /* the program is for arm64: numbers of system calls are; else for amd64 */
};

/* The flag of what this gotrace traces: programs for the processor that it was built for. */
#if defined(__aarch64__)
#define LOG_TARGET_OWN LOG_TARGET_ARM64
#else
#define LOG_TARGET_OWN 0
#endif

struct log_clock {
	uint64_t mono_ns;  /* CLOCK_MONOTONIC */
	uint64_t wall_sec; /* CLOCK_REALTIME at the same moment */
	uint32_t wall_nsec;
	uint32_t reserved;
};

struct log_target {
	uint32_t pid;
	uint32_t flags;    /* enum log_target_flags */
	uint32_t go_minor; /* 26 for go1.26.8 */
	uint32_t go_patch;
	struct log_clock clock; /* when capture began */
	char go_version[32];    /* "go1.26.8", NUL-terminated */
	char comm[16];
	char exe[256]; /* for people; may be cut */
};

enum log_reason_table {
	REASON_BLOCK = 1, /* index = raw_record.arg of SITE_PARK (m.waitTraceBlockReason) */
	REASON_WAIT = 2,  /* index = g.waitreason */
	REASON_STW = 3,   /* index = raw_record.arg of SITE_STW_BEGIN */
	REASON_STOP = 4,  /* 0 unspecified, 1 runtime.Gosched, 2 preempted */
	REASON_PARK = 5,  /* index = g.waitreason: the block reason that goes with it */
};

struct log_reason {
	uint16_t table; /* enum log_reason_table */
	uint16_t index;
	uint32_t len; /* bytes of text that follow, no NUL */
};

/* Addresses are those of the live process (after relocation), in the table up to Go 1.17 too. */
struct log_functab {
	uint64_t text; /* moduledata.text */
	uint64_t etext;
	uint64_t gofunc;       /* address of the gofunc bytes; inline-tree offsets are relative to it */
	uint32_t pclntab_size; /* bytes that follow */
	uint32_t gofunc_size;  /* bytes that follow the pclntab */
	uint32_t go_minor;
	uint32_t reserved;
};

struct log_mapping {
	uint64_t start, end, offset;
	uint32_t len; /* bytes of path that follow, no NUL */
	uint32_t reserved;
};

/*
 * A snapshot lies between two markers in the ring. It is not atomic: the
 * model takes a goroutine's first state from its first hit between the
 * markers if there is one, else from the snapshot.
 */
struct log_snapshot {
	uint32_t marker_before, marker_after; /* raw_record.arg of the SITE_MARKERs */
	uint64_t time_before, time_after;     /* ns, CLOCK_MONOTONIC, of the reading */
	uint32_t gomaxprocs;
	uint32_t reserved;
};

enum log_gc {
	LOG_GC_OFF = 1,
	LOG_GC_RUNS = 2, /* runtime.gcphase: marking or its termination */
};

struct log_heap {
	uint64_t goal; /* bytes at which the next cycle is to end, 0 = none */
	uint32_t gc;   /* enum log_gc */
	uint32_t reserved;
};

enum log_assist { /* 0: not known */
		  LOG_ASSIST_NONE = 1,
		  LOG_ASSIST_OPEN = 2,
};

/* The size of the heap, read where its growing is not probed. */
struct log_heap_live {
	uint64_t time; /* ns */
	uint64_t bytes;
};

struct log_g {
	uint64_t g;
	uint64_t goid;
	uint64_t m; /* g.m, 0 if none */
	uint64_t startpc;
	uint64_t stack;     /* hash of a LOG_STACK before, 0 = not known */
	uint32_t status;    /* without the scan bit */
	uint32_t tid;       /* procid of g.m, 0 if none */
	uint8_t waitreason; /* index in REASON_WAIT */
	uint8_t assist;     /* enum log_assist: g.inMarkAssist */
	uint8_t reserved[6];
};

struct log_p {
	uint64_t p;
	uint64_t m;
	uint32_t id;
	uint32_t status; /* runtime's: 0 idle, 1 running, 2 syscall (<= 1.25), 3 gcstop, 4 dead */
	uint32_t tid;    /* procid of p.m, 0 if none */
	uint32_t reserved;
};

struct log_m {
	uint64_t m;
	uint64_t curg;
	uint64_t p;      /* m.p */
	uint64_t oldp;   /* m.oldp */
	uint32_t tid;    /* m.procid */
	uint32_t status; /* curg's status without the scan bit; 0 if no curg */
	uint32_t syscalltick;
	uint32_t p_status; /* of p, or of oldp if p is 0 */
};

/* A thread of a target that is seen as threads. */
struct log_thread {
	uint32_t tid;
	int32_t cpu;        /* where it runs or ran last */
	uint64_t start_ns;  /* when it was born (CLOCK_BOOTTIME): tids recur */
	uint64_t arg, arg2; /* as in SITE_SWITCH, if it waits or is in a system call */
	uint64_t stack;     /* hash of a LOG_STACK before, 0 = not known */
	uint8_t status;     /* enum log_thread_status */
	uint8_t left;       /* enum left, if it waits */
	uint8_t reserved[2];
	uint32_t tgid; /* its process; 0 in logs of one process from before there were several */
	char comm[16]; /* ended by NUL */
};

enum log_thread_status {
	LOG_THREAD_RUNNABLE = 1,
	LOG_THREAD_RUNNING = 2,
	LOG_THREAD_WAITING = 3,
};

/* What is known of an address by its function's name, for the model. */
enum log_symbol_hint {
	HINT_NONE = 0,
	HINT_START = 1, /* libc's own start code: the function above it in the stack is the thread's */
	HINT_MUTEX = 2, /* pthread_mutex_lock and its kind: whoever blocks in it waits for a mutex */
	HINT_COND = 3,  /* pthread_cond_wait */
	HINT_RWLOCK = 4,
	HINT_JOIN = 5, /* pthread_join */
	HINT_SEM = 6,
	HINT_BARRIER = 7,
	HINT_SLEEP = 8, /* nanosleep and its kind */
};

#define SYMBOL_DEPTH 32 /* frames of one address at most: inlined callers */

/*
 * One address of native code as it is in stacks (a return address). Followed
 * by nframes times struct log_symbol_frame with its texts, innermost inlined
 * function first; 0 frames: nothing is known. What comes again replaces what
 * was there: another library has been mapped at that place.
 */
struct log_symbol {
	uint64_t pc;
	uint16_t nframes;
	uint8_t hint; /* enum log_symbol_hint */
	uint8_t reserved[5];
};

/* Followed by the function's name and the file's path, no NULs; the next frame follows at once. */
struct log_symbol_frame {
	uint32_t line; /* 0 = not known */
	uint16_t function_len;
	uint16_t file_len; /* 0 = not known */
};

struct log_file {
	uint64_t key; /* as raw_record.arg2 of SITE_SWITCH and SITE_CALL */
	uint32_t len; /* bytes of text that follow, no NUL: a path, "10.0.0.1:5432", "pipe" */
	uint32_t reserved;
};

enum log_function_kind {
	FUNCTION_REGION = 1,
	FUNCTION_TASK = 2,
};

struct log_function {
	uint32_t number; /* raw_record.arg of SITE_FUNCTION_BEGIN */
	uint16_t kind;   /* enum log_function_kind */
	uint16_t len;    /* bytes of the name that follow, no NUL */
};

enum log_area_kind {
	AREA_SPAN = 1,  /* of the heap's pages */
	AREA_STACK = 2, /* of a goroutine */
};

struct log_area { /* a piece of the program's memory that is in use */
	uint64_t address;
	uint64_t bytes;
	uint32_t kind;  /* enum log_area_kind */
	uint32_t class; /* AREA_SPAN: span class << 1 of one with objects, 1 of another */
};

/* The ring was drained after the Ms had been read, so every record before time_before is in the log by now.
 */
struct log_boundary {
	uint64_t time_before, time_after; /* ns, of the reading of the Ms */
	struct log_clock clock;
	uint32_t nm; /* struct log_m that follow */
	uint32_t reserved;
};

struct log_note {
	uint64_t time;  /* ns */
	uint32_t len;   /* bytes of text that follow, no NUL */
	uint32_t flags; /* enum log_note_flags */
};

enum log_note_flags {
	LOG_NOTE_GAP = 1,     /* nothing is seen from here on */
	LOG_NOTE_SEEN = 2,    /* up to here; a snapshot follows */
	LOG_NOTE_NO_HEAP = 8, /* from here to the next note no sweeps are seen */
	LOG_NOTE_SPANS = 4,   /* from here to the next note only starts of goroutines are seen (SITE_SPAN) */
};

struct log_loss {
	uint64_t ring_full;  /* records for which the ring had no room */
	uint64_t stack_full; /* stacks for which ring or dictionary had no room */
	uint64_t unreadable; /* hits whose g, m or p could not be read */
	uint64_t missed;     /* hits that the kernel skipped (program recursion) */
};

enum log_end_reason {
	LOG_END_STOPPED = 1, /* the user or the duration ended it */
	LOG_END_EXITED = 2,  /* the target exited or was killed */
	LOG_END_EXECED = 3,  /* the target replaced its program */
	LOG_END_SIZE = 4,    /* --max-size */
	LOG_END_ERROR = 5,
};

struct log_end {
	uint32_t reason;       /* enum log_end_reason */
	uint32_t lost_samples; /* CPU samples that could not be taken: 0 in logs from before there were any */
	struct log_clock clock;
	struct log_loss total; /* over the whole run */
	uint64_t hits;         /* records seen, but for CPU samples */
	uint64_t probe_hit_ns; /* calibrated cost of one hit in the target, ns; 0 = not measured */
};

/* --- the file --- */

struct rawlog_writer;
struct rawlog_reader;

/*
 * Begins a log on fd (which the caller keeps and closes). Records are gathered
 * in blocks, each with its own checksum; the header says "incomplete" until
 * rawlog_writer_finish. Large LOG_FUNCTAB payloads are compressed.
 */
struct rawlog_writer *rawlog_writer_new(int fd, struct error *err);
int rawlog_writer_put(struct rawlog_writer *writer, const struct log_record *record, struct error *err);
/* Writes out what is gathered, so that it survives a kill. */
int rawlog_writer_flush(struct rawlog_writer *writer, struct error *err);
/* Flushes, and marks the log complete. */
int rawlog_writer_finish(struct rawlog_writer *writer, struct error *err);
uint64_t rawlog_writer_bytes(const struct rawlog_writer *writer);
void rawlog_writer_free(struct rawlog_writer *writer);

/* Opens a log from fd. Refuses what is no raw log or of another version. */
struct rawlog_reader *rawlog_reader_new(int fd, struct error *err);
/*
 * Reads the next record; it is valid until the next call. Returns 1, 0 at the
 * end, or a negative errno: -EBADMSG when a block is torn or its checksum is
 * wrong (err names the byte offset); all records before it were good. Every
 * record has been checked for the minimum size of its type.
 */
int rawlog_reader_next(struct rawlog_reader *reader, struct log_record *record, struct error *err);
/* True if the header says that the writer finished. */
bool rawlog_reader_complete(const struct rawlog_reader *reader);
void rawlog_reader_free(struct rawlog_reader *reader);

/* 0 if the record's payload has a legal size for its type (counts inside agree), else -EBADMSG. */
int rawlog_check_record(const struct log_record *record, struct error *err);

#endif
