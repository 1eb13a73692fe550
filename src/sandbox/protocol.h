/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the process that looks at targets is asked, and what it answers: flat data. One question at a time; an
 * answer is any number of REPLY_RECORDs and one REPLY_RESULT. The side that asks trusts nothing of it.
 */
#ifndef GOTRACE_SANDBOX_PROTOCOL_H
#define GOTRACE_SANDBOX_PROTOCOL_H

#include <stdint.h>

#include "bpf/record.h"
#include "native/modules.h"
#include "target/target.h"

enum ask {
	ASK_OPEN = 1,       /* arg: pid -> struct target_facts */
	ASK_OPEN_FILE,      /* path -> struct target_facts */
	ASK_BIND,           /* arg: pid -> struct target_facts */
	ASK_WANT_ALLOC,     /* arg: enum alloc_look -> struct target_facts */
	ASK_PLAN,           /* -> struct probe_plan */
	ASK_LOG_INFO,       /* struct ask_log_info -> records */
	ASK_FUNCTAB,        /* -> a memory file with a LOG_FUNCTAB */
	ASK_OTHER_GO,       /* -> a path, not ended by NUL; empty: there is none */
	ASK_SNAPSHOT_BEGIN, /* -> records */
	ASK_SNAPSHOT_READ,  /* -> records; code 1: there is more */
	ASK_SNAPSHOT_PUT,   /* uint32_t[2] -> records */
	ASK_SNAPSHOT_FREE,
	ASK_READ_MS,       /* arg: at most -> struct log_m[] */
	ASK_HEAP_LIVE,     /* -> uint64_t */
	ASK_MODULE,        /* a descriptor of the file, or the file's bytes -> struct module_facts and rows */
	ASK_FUNCTIONS,     /* struct ask_functions, a path, struct ask_function and texts -> see below */
	ASK_FUNCTION_LIST, /* arg: which -> struct function_list_facts and probes, and the file's descriptor
			    */
};

enum reply {
	REPLY_RECORD = 1, /* code: enum log_type; the payload */
	REPLY_RESULT,     /* code: what the function returned; if negative a struct error follows */
};

/* What is known of a target, without what only its own process can use. */
struct target_facts {
	uint32_t go_minor, go_patch;
	char go_version[32];
	uint8_t cgo, pie, stripped, alloc;
	uint64_t bias, device, inode;
	struct go_layout layout;
	struct go_places places;
	struct alloc_layout alloc_layout;
	uint8_t park_skips[PARK_SKIPS];
	struct wait_text wait_texts[WAIT_TEXTS];
};

struct ask_log_info {
	uint32_t pid, flags;
};

struct module_facts {
	struct module_segment segments[MODULE_SEGMENTS];
	uint32_t n, reserved;
	uint64_t base, size, rows, functions, damaged;
};

struct ask_functions {
	uint32_t pid, n, path_len, reserved; /* then the path, then n functions */
};

struct ask_function {
	uint32_t kind, len; /* bytes of text that follow */
};

struct function_list_facts {
	uint32_t site, n;
};

/* Bounds of what is believed. */
enum {
	MOST_RECORD = 64 << 20, /* bytes of a record; LOG_GS has 16,384 rows at most */
	MOST_ROWS = 32 << 20,   /* of a module */
	MOST_LISTS = 64,        /* files with functions */
	MOST_LIST_PROBES = 1 << 20,
	MOST_QUESTION = 1 << 20, /* bytes; the vDSO's are a question */
};
#define MOST_FUNCTAB (2ull << 30)

#endif
