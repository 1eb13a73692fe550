/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What --requests traces: for each kind of request the functions where one begins and ends, and what to read
 * there. The offsets come from the program's own type descriptors, so the tables name fields, not numbers.
 * Words of arguments and the pairing of begin and end were verified in the releases of docs/requests.md.
 */
#ifndef GOTRACE_TARGET_REQUEST_PRESETS_H
#define GOTRACE_TARGET_REQUEST_PRESETS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/record.h"

/* What a value is for. The log has these as the names of values, so they are never changed. */
#define REQUEST_KEY    "key"    /* the same at begin and end; without it, the goroutine pairs them */
#define REQUEST_KEYS   "keys"   /* at an end: of all that are open with it */
#define REQUEST_DONE   "done"   /* at an end: not 0: it has been seen before */
#define REQUEST_FAILED "failed" /* at an end: 0: it is not one; otherwise an error */
#define REQUEST_METHOD "method" /* first word of the name */
#define REQUEST_PATH   "path"   /* second word, unless there is a route */
#define REQUEST_HOST   "host"   /* before the path */
#define REQUEST_QUERY  "query"  /* behind the path, if asked for */
#define REQUEST_ROUTE  "route"
#define REQUEST_STATUS "status" /* 0: none was set */
#define REQUEST_CODE   "code"   /* of gRPC */
/*
 * At an end: the hash of an error's type. Its name in the log is "type=HASH,HASH2", eight hexadecimal digits
 * each: of the type for which there is a code, and of io.EOF's, which is no failure. No error: no failure.
 * Where there are no codes, both are io.EOF's.
 */
#define REQUEST_TYPE   "type"
#define REQUEST_ERROR  "error" /* not 0: it failed */
#define REQUEST_TRACE  "trace" /* the first and second half of a trace id */
#define REQUEST_TRACE2 "trace2"
/* Nothing begins here: the name of what the goroutine begins next, if that has no name of its own. */
#define REQUEST_PREPARED "prepared"
/* Nothing begins here: the rows of the query with this key are open, so it has not failed. */
#define REQUEST_ROWS "rows"

enum request_place {
	REQUEST_AT_BEGIN,    /* where the function begins */
	REQUEST_BEHIND_CALL, /* behind the only call of `callee`, at a conditional jump if there is one */
};

enum { REQUEST_WORDS = 2, REQUEST_VALUES = 8, REQUEST_PROBES = 11, REQUEST_TYPES = 2 };

/* A value is in word `word` of the arguments, or if `path` is given in the struct to which that points. */
struct request_value {
	const char *role; /* NULL: the end of the list */
	uint8_t word;
	uint8_t kind;            /* enum value_kind */
	uint8_t size;            /* of a number */
	uint8_t part;            /* bytes from the field on: 8 is the data of an interface */
	bool on_stack;           /* the word is on the stack, counted from the first argument there */
	bool only_if_asked;      /* --request-values */
	const char *type, *path; /* as in struct type_field */
	uint8_t nsteps;          /* pointers to follow from there on, and what to add */
	uint8_t steps[REQUEST_WORDS];
	const char *types[REQUEST_TYPES]; /* of REQUEST_TYPE: structs to which such an error points */
	/* Not NULL: only if the type has this field, and if `given_at` is not 0 at this offset. */
	const char *given_type, *given_path;
	uint32_t given_at;
};

struct request_probe {
	const char *function; /* NULL: the end of the list */
	uint8_t site;         /* SITE_REQUEST_BEGIN or _END */
	uint8_t place;        /* enum request_place */
	const char *callee;
	uint8_t since, last;        /* minor releases of Go; 0: any */
	const char *given_function; /* not NULL: only if the program has this one, too */
	const char *part;           /* for messages: "HTTP/2"; NULL: the preset itself */
	/* Not worth a message, if the program does not have it or another probe of the same part is there. */
	bool may_be_absent;
	/* Of several values of one role, the first that the program's types have is read. */
	struct request_value values[REQUEST_VALUES];
};

struct request_preset {
	const char *name;  /* "http.server": of the log's LOG_FUNCTION, never changed */
	const char *group; /* as the user gives it: "http" */
	const char *title; /* "HTTP server" */
	struct request_probe probes[REQUEST_PROBES];
};

extern const struct request_preset request_presets[];
extern const unsigned request_preset_count;

/* NULL: there is no such preset. */
const struct request_preset *request_preset(const char *name);

#endif
