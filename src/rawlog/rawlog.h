/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The raw log: all observations of a target, as a stream of typed records. In a live trace the stream goes
 * directly from capture to the model. With --raw it is also written to a file, from which `gotrace replay`
 * feeds the same model. Consumers of the log never access the live process.
 */
#ifndef GOTRACE_RAWLOG_RAWLOG_H
#define GOTRACE_RAWLOG_RAWLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"
#include "util/error.h"

/* Types are stored in files: never renumber, only append. Readers skip unknown types. */
enum log_type {
	LOG_TARGET = 1,   /* struct log_target: always the first record */
	LOG_REASON = 2,   /* struct log_reason + text */
	LOG_FUNCTAB = 3,  /* struct log_functab + pclntab bytes + gofunc bytes; at most one, may come late */
	LOG_MAPPING = 4,  /* struct log_mapping + path */
	LOG_RECORDS = 5,  /* struct raw_record[], causes before effects; includes markers */
	LOG_STACK = 6,    /* struct raw_stack with its pcs */
	LOG_SNAPSHOT = 7, /* struct log_snapshot: opens a snapshot, after its second marker in the log */
	LOG_GS = 8,       /* struct log_g[]: of the open snapshot; may come in several records */
	LOG_PS = 9,       /* struct log_p[] */
	LOG_MS = 10,      /* struct log_m[] */
	LOG_SNAPSHOT_END = 11, /* empty */
	LOG_BOUNDARY = 12,     /* struct log_boundary + struct log_m[]: end of a generation */
	LOG_LOSS = 13,         /* struct log_loss: since the previous LOG_LOSS; a snapshot follows */
	LOG_END = 14,          /* struct log_end: the last record of a complete log */
	LOG_NOTE = 15,         /* struct log_note + text: a message for the trace at this time */
	LOG_TEXT = 16,         /* one struct raw_text, in the ring's order between LOG_RECORDS */
	LOG_HEAP = 17,         /* struct log_heap: of the open snapshot */
	LOG_HEAP_LIVE = 18,    /* struct log_heap_live */
	LOG_AREAS = 20,        /* struct log_area[]: of the open snapshot, if memory is traced (--alloc) */
	LOG_THREADS = 21,      /* struct log_thread[]: of the open snapshot, instead of LOG_GS, _PS and _MS */
	/* struct log_symbol: names of an address of native code, before the first stack that contains it */
	LOG_SYMBOL = 22,
	LOG_FILE = 23,         /* struct log_file + text: before the first record with its key */
	LOG_FUNCTION = 24,     /* struct log_function + name: before the first record with its number */
	LOG_THREAD_TIMES = 25, /* struct log_thread_times + struct log_thread_time[]: of a Go program */
	LOG_QUOTA = 26,        /* struct log_quota + path of the cgroup: of a Go program */
	/* struct log_g_details[], if requested: as many as LOG_GS has, in the same order */
	LOG_G_DETAILS = 27,
	/* struct log_labels and texts: before the LOG_G_DETAILS or LOG_G_LABELS with its number */
	LOG_LABELS = 28,
	LOG_G_LABELS = 29,   /* struct log_g_labels[]: of the open snapshot, goroutines with labels */
	LOG_VALUES = 30,     /* struct log_values and names: after the LOG_FUNCTION with its number */
	LOG_PARK_SKIPS = 31, /* uint8_t[]: leaf frames to skip in the stack of a block, by g.waitreason */
	/* as LOG_FUNCTAB, of a plugin: any number, before the end of the generation that needs it */
	LOG_PLUGIN_FUNCTAB = 32,
};

#define LOG_LAST LOG_PLUGIN_FUNCTAB

/* Whether the record comes with texts, in a LOG_TEXT: those of these sites and those with values do. */
static inline bool raw_has_texts(const struct raw_record *rec)
{
	uint8_t site = rec->site;

	return rec->flags & RAW_VALUES || site == SITE_TASK_BEGIN || site == SITE_REGION_BEGIN ||
	       site == SITE_REGION_END || site == SITE_LOG || site == SITE_REGION_START ||
	       site == SITE_LABELS;
}

/* Whether it is big, and so has a compressed block of its own. */
static inline bool log_is_table(uint32_t type)
{
	return type == LOG_FUNCTAB || type == LOG_PLUGIN_FUNCTAB;
}

enum { PARK_SKIPS = 64 }; /* wait reasons, at most */

struct log_record {
	uint32_t type;    /* enum log_type */
	uint32_t size;    /* bytes at data */
	const void *data; /* 8-byte aligned; owned by the caller, valid during the call */
};

/* Accepts one record. Returns 0, or a negative errno, which ends the stream. */
typedef int (*log_sink)(void *ctx, const struct log_record *record);

/* Returns whether the record is a fork of a process that is traced from then on. */
static inline bool log_is_followed_fork(const struct raw_record *rec)
{
	return rec->site == SITE_FORK && rec->arg != rec->goid && rec->status == FORK_FOLLOWED;
}

/* Destination of a live log, which another process or thread consumes. */
struct log_outlet {
	log_sink put;             /* never waits */
	void (*flush)(void *ctx); /* wakes the consumer for the records put so far */
	/* Unread records as a fraction of the limit; may exceed 1. */
	double (*fill)(void *ctx);
	void *ctx;
};

enum log_target_flags {
	LOG_TARGET_GO = 1,
	LOG_TARGET_CGO = 2,
	LOG_TARGET_PIE = 4,
	LOG_TARGET_STRIPPED = 8, /* no .symtab */
	LOG_TARGET_SPAWNED = 16, /* started by gotrace: observed from its first goroutine on */
	LOG_TARGET_THREADS = 32, /* traced as threads on CPUs: SITE_SWITCH and so on; Go or not */
	LOG_TARGET_ARM64 = 64,   /* an arm64 program, which determines system call numbers; else amd64 */
};

/* The flag for programs that this build of gotrace can trace: those of its own architecture. */
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
	char exe[256]; /* for users; may be truncated */
};

enum log_reason_table {
	REASON_BLOCK = 1, /* index = raw_record.arg of SITE_PARK (m.waitTraceBlockReason) */
	REASON_WAIT = 2,  /* index = g.waitreason */
	REASON_STW = 3,   /* index = raw_record.arg of SITE_STW_BEGIN */
	REASON_STOP = 4,  /* 0 unspecified, 1 runtime.Gosched, 2 preempted */
	REASON_PARK = 5,  /* index = g.waitreason: the corresponding block reason */
};

struct log_reason {
	uint16_t table; /* enum log_reason_table */
	uint16_t index;
	uint32_t len; /* bytes of text that follow, no NUL */
};

/* Addresses are those of the live process (after relocation). Up to Go 1.17, so are those in the table. */
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
 * A snapshot is taken between two markers in the ring. It is not atomic: the model takes a goroutine's
 * initial state from its first record between the markers, or else from the snapshot.
 */
struct log_snapshot {
	uint32_t marker_before, marker_after; /* raw_record.arg of the SITE_MARKERs */
	uint64_t time_before, time_after;     /* ns, CLOCK_MONOTONIC: when reading began and ended */
	uint32_t gomaxprocs;
	uint32_t left_out; /* goroutine structs that were not read, because a limit was set */
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

/* g.inMarkAssist; 0 = unknown. */
enum log_assist {
	LOG_ASSIST_NONE = 1,
	LOG_ASSIST_OPEN = 2,
};

/* The size of the heap, read directly because its growth is not probed. */
struct log_heap_live {
	uint64_t time; /* ns */
	uint64_t bytes;
};

struct log_g {
	uint64_t g;
	uint64_t goid;
	uint64_t m; /* g.m, 0 if none */
	uint64_t startpc;
	uint64_t stack;     /* hash of an earlier LOG_STACK, 0 = unknown */
	uint32_t status;    /* without the scan bit */
	uint32_t tid;       /* procid of g.m, 0 if none */
	uint8_t waitreason; /* index in REASON_WAIT */
	uint8_t assist;     /* enum log_assist: g.inMarkAssist */
	/* In a snapshot with LOG_G_DETAILS, what it waits for: see log_g_set_awaited. 0 = not known. */
	uint8_t awaited[6];
};

/* Packs an AWAITED value. Its address is a multiple of 4: the lowest two bits hold the kind. */
static inline void log_g_set_awaited(struct log_g *g, uint64_t awaited)
{
	uint64_t address = AWAITED_ADDRESS(awaited),
		 packed = address & 3 ? 0 : address | AWAITED_KIND(awaited);

	for (unsigned i = 0; i < sizeof(g->awaited); i++)
		g->awaited[i] = (uint8_t)(packed >> 8 * i);
}

/* Returns the AWAITED value, or 0 if it is not known. */
static inline uint64_t log_g_awaited(const struct log_g *g)
{
	uint64_t packed = 0;

	for (unsigned i = 0; i < sizeof(g->awaited); i++)
		packed |= (uint64_t)g->awaited[i] << 8 * i;
	return packed & 3 && packed >> 2 ? AWAITED(packed & 3, packed & ~3ull & ((1ull << AWAITED_BITS) - 1))
					 : 0;
}

enum log_g_details_flags {
	LOG_G_SEQ = 1,         /* seq is known */
	LOG_G_LABELS_LOST = 2, /* it has labels that could not be read */
};

/* Details of a goroutine that the trace itself does not need. */
struct log_g_details {
	uint64_t goid;
	uint64_t gopc;   /* the return address in the function that created it */
	uint64_t parent; /* goid of its creator; 0 = not known (up to Go 1.20) */
	/*
	 * g.waitsince: CLOCK_MONOTONIC in ns, 0 = not known. The garbage collector sets it when it first sees
	 * the goroutine wait, to the end of the previous cycle (Go 1.26 runtime/mgcmark.go, work.tstart).
	 */
	uint64_t waitsince;
	uint64_t sp;     /* stack pointer where it stopped */
	uint32_t labels; /* number of an earlier LOG_LABELS, 0 = none */
	uint8_t seq;     /* g.trackingSeq: counts how often it stopped running, modulo 256 */
	uint8_t flags;   /* enum log_g_details_flags */
	uint8_t reserved[2];
};

enum {
	LABELS_MAX = 64,          /* labels in a set */
	LABEL_TEXT_MAX = 128,     /* bytes of a key, or of a value */
	LABEL_SETS_MAX = 1 << 18, /* label sets in a snapshot */
};

enum log_labels_flags {
	LOG_LABELS_CUT = 1, /* labels, or parts of their texts, were left out */
};

/*
 * A set of pprof labels, followed by n struct log_label with their texts, sorted by key. Numbers begin with 1
 * in each snapshot.
 */
struct log_labels {
	uint32_t number;
	uint16_t n;
	uint16_t flags; /* enum log_labels_flags */
};

/* Followed by the key and the value, without NULs. The next label follows without padding. */
struct log_label {
	uint16_t key_len, value_len;
};

/* A goroutine with labels. */
struct log_g_labels {
	uint64_t g;
	uint64_t goid;
	uint32_t labels; /* number of an earlier LOG_LABELS, 0 = lost */
	uint32_t flags;  /* enum log_g_details_flags: LOG_G_LABELS_LOST */
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

/* A thread of a target that is traced as threads. */
struct log_thread {
	uint32_t tid;
	int32_t cpu;        /* where it runs or last ran */
	uint64_t start_ns;  /* time of its creation (CLOCK_BOOTTIME): tids are reused */
	uint64_t arg, arg2; /* as in SITE_SWITCH, if it waits or is in a system call */
	uint64_t stack;     /* hash of an earlier LOG_STACK, 0 = unknown */
	uint8_t status;     /* enum log_thread_status */
	uint8_t left;       /* enum left, if it waits */
	uint8_t reserved[2];
	uint32_t tgid; /* its process; 0 in old logs of a single process */
	char comm[16]; /* NUL-terminated */
};

enum log_thread_status {
	LOG_THREAD_RUNNABLE = 1,
	LOG_THREAD_RUNNING = 2,
	LOG_THREAD_WAITING = 3,
};

/* The role of a function, which the model derives from its name. */
enum log_symbol_hint {
	HINT_NONE = 0,
	HINT_START = 1, /* libc's start code: the function above it in the stack is the thread's */
	HINT_MUTEX = 2, /* pthread_mutex_lock and similar: a thread that blocks in it waits for a mutex */
	HINT_COND = 3,  /* pthread_cond_wait */
	HINT_RWLOCK = 4,
	HINT_JOIN = 5, /* pthread_join */
	HINT_SEM = 6,
	HINT_BARRIER = 7,
	HINT_SLEEP = 8, /* nanosleep and similar */
};

/*
 * In a stack of native code, an entry with this bit is the number of a kernel function, which has a
 * LOG_SYMBOL (--kernel-stacks). Kernel functions come first in the stack.
 */
#define LOG_KERNEL_PC (1ull << 63)

#define SYMBOL_DEPTH 32 /* frames of one address: inlined callers, and the function itself */

/*
 * An address of native code as it appears in stacks (a return address). Followed by nframes struct
 * log_symbol_frame with their texts, innermost inlined function first; nframes = 0: no name. A later record
 * for an address replaces the earlier one: another library has been mapped there.
 */
struct log_symbol {
	uint64_t pc;
	uint16_t nframes;
	uint8_t hint; /* enum log_symbol_hint */
	uint8_t reserved[5];
};

/* Followed by the function's name and the file's path, without NULs. The next frame follows unpadded. */
struct log_symbol_frame {
	uint32_t line; /* 0 = unknown */
	uint16_t function_len;
	uint16_t file_len; /* 0 = unknown */
};

struct log_file {
	uint64_t key; /* as raw_record.arg2 of SITE_SWITCH and SITE_SYSCALL */
	uint32_t len; /* bytes of text that follow, no NUL: a path, "10.0.0.1:5432", "pipe" */
	uint32_t reserved;
};

enum log_function_kind {
	FUNCTION_REGION = 1,
	FUNCTION_TASK = 2,
	FUNCTION_REQUEST = 3, /* a probe of --requests; the name is the preset's: "http.server" */
};

struct log_function {
	uint32_t number; /* raw_record.arg of SITE_FUNCTION_BEGIN */
	uint16_t kind;   /* enum log_function_kind */
	uint16_t len;    /* bytes of the name that follow, no NUL */
};

#define VALUE_LABEL_MAX 64 /* bytes of a value's name, including a NUL in memory */

/*
 * Names of the values that a function's probes read (RAW_VALUES). Followed by n names, each of which is a
 * byte with its length, below VALUE_LABEL_MAX, and the text.
 */
struct log_values {
	uint32_t number; /* of the function */
	uint16_t n;      /* at most VALUES_MAX */
	uint8_t site;    /* SITE_FUNCTION_BEGIN or _END */
	uint8_t reserved;
};

enum log_area_kind {
	AREA_SPAN = 1,  /* of the heap */
	AREA_STACK = 2, /* of a goroutine */
};

/* A part of the program's memory that is in use. */
struct log_area {
	uint64_t address;
	uint64_t bytes;
	uint32_t kind;  /* enum log_area_kind */
	uint32_t class; /* AREA_SPAN: size class << 1 if it holds objects, else 1 */
};

/* CPU times of threads. If there are too many threads, some are missing. */
struct log_thread_times {
	uint64_t time; /* ns */
	uint32_t n;    /* struct log_thread_time that follow */
	uint32_t reserved;
};

/* /proc/PID/task/TID/schedstat: since the thread was created. */
struct log_thread_time {
	uint32_t tid;
	uint32_t reserved;
	uint64_t cpu_ns, wait_ns; /* time on a CPU; time waiting for one */
};

/* The cgroup that limits the process's CPU time, and its throttling so far. */
struct log_quota {
	uint64_t time;                /* ns */
	uint64_t quota_us, period_us; /* CPU time that it may use in each period */
	uint64_t periods, throttled_periods;
	uint64_t throttled_ns; /* summed over all its CPUs */
	uint32_t version;      /* of cgroups: 1 or 2 */
	uint32_t len;          /* bytes of path that follow, no NUL */
};

/* The ring was drained after the Ms were read: every record before time_before precedes this one. */
struct log_boundary {
	uint64_t time_before, time_after; /* ns: when reading the Ms began and ended */
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
	LOG_NOTE_GAP = 1,       /* nothing is recorded from here on */
	LOG_NOTE_RESUMED = 2,   /* end of such a gap; a snapshot follows */
	LOG_NOTE_NO_HEAP = 8,   /* until the next note, no sweeps are observed */
	LOG_NOTE_NO_CALLS = 32, /* until the next note, no system calls of threads are observed */
	/* Not for the trace: directly after this note, the kernel forgets which stacks it has sent. */
	LOG_NOTE_RENEW = 16,
	/* Part of the program is not observed: the trace is incomplete, as the text says. */
	LOG_NOTE_INCOMPLETE = 64,
	/* No record from before its time follows, so the note takes effect then, and not with the last
	   record. */
	LOG_NOTE_DATED = 128,
	LOG_NOTE_SPANS = 4, /* until the next note, only starts of goroutines are observed (SITE_RESUME) */
};

struct log_loss {
	/*
	 * Records that did not fit into the ring. With a lease (bpf/lease.bpf.h), a full ring causes a gap
	 * instead.
	 */
	uint64_t ring_full;
	uint64_t stack_full; /* stacks that did not fit into the ring or the dictionary */
	uint64_t unreadable; /* probe hits whose g, m or p could not be read */
	uint64_t missed;     /* probe hits that the kernel skipped (recursion of the program) */
};

/* The records that are missing: a stack that was lost leaves its record. */
static inline uint64_t log_loss_records(const struct log_loss *loss)
{
	return loss->ring_full + loss->unreadable + loss->missed;
}

enum log_end_reason {
	LOG_END_STOPPED = 1, /* the user or the duration ended it */
	LOG_END_EXITED = 2,  /* the target exited or was killed */
	LOG_END_EXECED = 3,  /* the target replaced its program */
	LOG_END_SIZE = 4,    /* --max-size */
	LOG_END_ERROR = 5,
};

struct log_end {
	uint32_t reason; /* enum log_end_reason */
	/* CPU samples that could not be taken; 0 in logs from before CPU samples existed. */
	uint32_t lost_samples;
	struct log_clock clock;
	struct log_loss total; /* over the whole trace */
	uint64_t hits;         /* records seen, without CPU samples */
	uint64_t probe_hit_ns; /* calibrated cost of a probe hit in the target, ns; 0 = not measured */
	/* Records that left their ring after later ones of other rings (capture/merge.h). Older logs end
	 * here. */
	uint64_t late;
};

#define LOG_END_LEAST offsetof(struct log_end, late) /* bytes */

/* Copies a checked LOG_END. A member that an older log does not have is 0. */
struct log_end log_end_of(const struct log_record *record);

/* --- the file --- */

struct rawlog_writer;
struct rawlog_reader;

/*
 * Starts a log on fd, which the caller owns and keeps open. Returns NULL and sets *err and errno on failure.
 * Records are collected in blocks, each with its own checksum. The header says "incomplete" until
 * rawlog_writer_finish. Function tables are compressed. After a failed write, what was written
 * ends with a whole block, if the file can be truncated, and later calls fail with the same error.
 */
struct rawlog_writer *rawlog_writer_new(int fd, struct error *err);
int rawlog_writer_put(struct rawlog_writer *writer, const struct log_record *record, struct error *err);
/* Writes the records collected so far, so that they survive a kill. */
int rawlog_writer_flush(struct rawlog_writer *writer, struct error *err);
/* Flushes, and marks the log as complete. */
int rawlog_writer_finish(struct rawlog_writer *writer, struct error *err);
uint64_t rawlog_writer_bytes(const struct rawlog_writer *writer);
void rawlog_writer_free(struct rawlog_writer *writer);

/* Opens a log from fd. Returns NULL and sets *err if the file is not a raw log or is of another version. */
struct rawlog_reader *rawlog_reader_new(int fd, struct error *err);
/*
 * Reads the next record, which is valid until the next call. Returns 1, 0 at the end, or a negative errno:
 * -EBADMSG if a block is truncated or its checksum is wrong (err contains the byte offset); all records
 * before it were valid. Every record has been checked for the minimum size of its type.
 */
int rawlog_reader_next(struct rawlog_reader *reader, struct log_record *record, struct error *err);
/* Returns whether the header, or an end block that has been read, says that the writer finished. */
bool rawlog_reader_complete(const struct rawlog_reader *reader);
void rawlog_reader_free(struct rawlog_reader *reader);

/* Checks the payload's size against the record's type and the counts in it. Returns 0 or -EBADMSG. */
int rawlog_check_record(const struct log_record *record, struct error *err);

#endif
