/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Requests to the inspector, the process that parses files and memory of targets, and its answers (rpc.h):
 * flat data, which the requesting side does not trust. Records of an answer are log records (enum log_type).
 */
#ifndef GOTRACE_SANDBOX_PROTOCOL_H
#define GOTRACE_SANDBOX_PROTOCOL_H

#include <stdint.h>

#include "bpf/record.h"
#include "target/names/modules.h"
#include "target/target.h"

enum inspect_kind {
	INSPECT_OPEN = 1,   /* arg: pid -> struct target_facts */
	INSPECT_OPEN_FILE,  /* path -> struct target_facts */
	INSPECT_BIND,       /* arg: pid -> struct target_facts */
	INSPECT_WANT_ALLOC, /* arg: enum alloc_level -> struct target_facts */
	INSPECT_PLAN,       /* -> struct probe_plan */
	INSPECT_LOG_INFO,   /* struct inspect_log_info -> records */
	INSPECT_FUNCTAB,    /* -> a memory file with a LOG_FUNCTAB */
	INSPECT_OTHER_GO,   /* -> a path without NUL; empty: there is none */
	/* arg: 0, the most goroutines to read with details, or SNAPSHOT_LABELLED -> records */
	INSPECT_SNAPSHOT_BEGIN,
	INSPECT_SNAPSHOT_READ, /* -> records; code 1: there is more */
	INSPECT_SNAPSHOT_PUT,  /* uint32_t[2] -> records */
	INSPECT_SNAPSHOT_FREE,
	INSPECT_READ_MS,   /* arg: most Ms -> struct log_m[] */
	INSPECT_HEAP_LIVE, /* -> uint64_t */
	INSPECT_MODULE,    /* a descriptor of the file, or the file's bytes -> struct module_facts and rows */
	INSPECT_MODULE_FILE, /* the file's path -> the same */
	/* struct inspect_functions, a path, struct inspect_function and texts -> code: number of lists */
	INSPECT_FUNCTIONS,
	/* the text of a layout (layout_text.h), for targets to be opened later; closes this one */
	INSPECT_LAYOUT,
	/* arg: which -> struct function_list_facts and probes, and the file's descriptor */
	INSPECT_FUNCTION_LIST,
	INSPECT_REQUEST_REPORT,   /* -> text: which requests are traced (function_plan.report) */
	INSPECT_MAY_HAVE_PLUGINS, /* -> code: 1 if it may */
	INSPECT_PLUGINS,          /* -> code: number of plugins */
	/* arg: which, struct plan_constants -> struct plugin_facts, and the file's descriptor */
	INSPECT_PLUGIN,
	INSPECT_PLUGIN_FUNCTAB,  /* arg: which -> a memory file with a LOG_PLUGIN_FUNCTAB */
	INSPECT_FUNCTION_VALUES, /* -> struct function_values[]: what their probes read */
	/* arg: pid, or 0 for the opened Go program; a prefix -> code: 1 if it is cut; names, one a line */
	INSPECT_FUNCTION_NAMES,
};

#define SNAPSHOT_LABELLED (1ull << 32)

/* The properties of a target, except those that only the inspector can use. */
struct target_facts {
	uint32_t go_minor, go_patch;
	char go_version[32];
	uint32_t nearest, given;                 /* as in struct target */
	uint8_t cgo, pie, stripped, alloc, file; /* the last two are enums */
	uint64_t bias, device, inode;
	struct go_layout layout;
	struct go_places places;
	struct alloc_layout alloc_layout;
	uint8_t park_skips[PARK_SKIPS];
	struct wait_text wait_texts[WAIT_TEXTS];
};

/* What the executable's plan has as constants. */
struct plan_constants {
	uint64_t task_key_type, task_type;
	uint32_t region_flag_register, reserved;
};

struct plugin_facts {
	char name[64];
	struct plugin_places places;
	struct probe_plan plan;
};

struct inspect_log_info {
	uint32_t pid, flags;
};

struct module_facts {
	struct module_segment segments[MODULE_SEGMENTS];
	uint32_t n, reserved;
	uint64_t base, size, rows, functions, damaged;
};

struct inspect_functions {
	uint32_t pid, n, path_len, reserved; /* then the path, then n functions */
};

struct inspect_function {
	uint32_t kind, len; /* bytes of text that follow */
};

struct function_list_facts {
	uint32_t site, n;
};

/* Limits on what is accepted. */
enum {
	MAX_RECORD = 64 << 20,        /* bytes per record; a LOG_GS has at most 16,384 rows */
	MAX_ANSWER_RECORDS = 1 << 20, /* per answer */
	MAX_READS = 1 << 17,          /* per snapshot: each reads some thousand goroutines */
	MAX_ANSWER_ROWS = EHFRAME_ROWS_MAX,
	MAX_LISTS = 64, /* files with functions */
	MAX_LIST_PROBES = 1 << 20,
	MAX_REQUEST = 1 << 20, /* bytes; the vDSO is sent in a request */
};
#define MAX_RECORD_BYTES (1ull << 30) /* per answer */
#define MAX_FUNCTAB      (1ull << 30) /* more than fits into the inspector's memory */

#endif
