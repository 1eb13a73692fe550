/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What --requests traces: for each kind of request, the functions where one begins and ends, and the values
 * to read there. The offsets come from the program's own type descriptors, so the tables have names of
 * fields, not numbers. Argument words and the pairing of begin and end were verified for the releases in
 * docs/requests.md.
 */
#ifndef GOTRACE_TARGET_REQUEST_PRESETS_H
#define GOTRACE_TARGET_REQUEST_PRESETS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/record.h"

/* Roles of values. The log stores them as the values' names, so they never change. */
#define REQUEST_KEY    "key"    /* the same at begin and end; without a key, the goroutine pairs them */
#define REQUEST_KEYS   "keys"   /* at an end: ends all open requests with this key */
#define REQUEST_DONE   "done"   /* at an end: not 0 if it had already ended */
#define REQUEST_FAILED "failed" /* at an end: 0 if nothing ends here, else an error */
#define REQUEST_METHOD "method" /* first word of the name */
#define REQUEST_PATH   "path"   /* second word, unless there is a route */
#define REQUEST_HOST   "host"   /* before the path */
#define REQUEST_QUERY  "query"  /* after the path, if requested */
/*
 * Begins nothing: the pattern that a router matched, such as "GET /items/{id}". A router inside another one
 * has a pattern of its own; a subroute is certainly without what the outer ones matched.
 */
#define REQUEST_ROUTE    "route"
#define REQUEST_SUBROUTE "subroute"
#define REQUEST_MATCHED  "matched" /* beside a route: 0 if the router did not match one */
#define REQUEST_STATUS   "status"  /* 0 if none was set */
#define REQUEST_CODE     "code"    /* status code of gRPC */
/*
 * At an end: the hash of the error's type. Its name in the log is "type=HASH,HASH2", eight hexadecimal digits
 * each. HASH is that of the type that has a code; HASH2 is that of io.EOF, which is not a failure. Where
 * there are no codes, both are io.EOF's. Without an error there is no failure.
 */
#define REQUEST_TYPE   "type"
#define REQUEST_ERROR  "error" /* not 0 if it failed */
#define REQUEST_TRACE  "trace" /* first and second half of a trace id */
#define REQUEST_TRACE2 "trace2"
/* Begins nothing: names what the goroutine begins next, unless that has a name of its own. */
#define REQUEST_PREPARED "prepared"
/* Begins nothing: the rows of the query with this key are open, so it has not failed. */
#define REQUEST_ROWS "rows"

enum request_place {
	REQUEST_AT_BEGIN,         /* at the function's beginning */
	REQUEST_AFTER_CALL,       /* after the only call of `callee`, where a probe is cheap if possible */
	REQUEST_AFTER_FIRST_CALL, /* the same, if there may be several calls */
	REQUEST_AT_CALL,          /* at the only call of `callee`, whose arguments are read */
};

enum { REQUEST_WORDS = 2, REQUEST_VALUES = 8, REQUEST_PROBES = 18, REQUEST_TYPES = 2 };

/* A value is argument word `word` or, if `path` is set, a field of the struct to which that word points. */
struct request_value {
	const char *role; /* NULL ends the list */
	uint8_t word;
	uint8_t kind; /* enum value_kind */
	uint8_t size; /* of a number, in bytes */
	uint8_t part; /* offset in the field, in bytes: 8 for the data of an interface */
	/* The word is on the stack, counted from the first argument there, or is saved there after a call. */
	bool on_stack;
	/*
	 * After a call: the word is an argument of the callee, where that saves it on the stack. It is there
	 * only if the callee needs it after a call of its own.
	 */
	bool of_callee;
	bool only_if_asked;      /* read only with --request-values */
	const char *type, *path; /* as in struct type_field */
	uint8_t nsteps;          /* pointers to follow from there; steps[] are the offsets to add */
	uint8_t steps[REQUEST_WORDS];
	const char *types[REQUEST_TYPES]; /* for REQUEST_TYPE: the structs to which such errors point */
	/* If not NULL, applies only if the type has this field, at offset `given_at` unless that is 0. */
	const char *given_type, *given_path;
	uint32_t given_at;
};

struct request_probe {
	const char *function; /* NULL ends the list */
	uint8_t site;         /* SITE_REQUEST_BEGIN or _END */
	uint8_t place;        /* enum request_place */
	const char *callee;
	uint8_t since, last;        /* minor releases of Go; 0 = any */
	const char *given_function; /* if not NULL, the program must have this one, too */
	const char *part;           /* for messages: "HTTP/2"; NULL = the preset itself */
	/* No message if the program does not have it, or has another probe of the same part. */
	bool may_be_absent;
	bool alternative; /* not used if an earlier probe of the same part is found */
	/* Of several values with one role, the first that the program's types have is read. */
	struct request_value values[REQUEST_VALUES];
};

struct request_preset {
	const char *name;  /* "http.server": name in LOG_FUNCTION; never changes */
	const char *group; /* as given by the user: "http" */
	const char *title; /* "HTTP server" */
	struct request_probe probes[REQUEST_PROBES];
};

extern const struct request_preset request_presets[];
extern const unsigned request_preset_count;

/* Returns the preset with this name, or NULL. */
const struct request_preset *request_preset(const char *name);

#endif
