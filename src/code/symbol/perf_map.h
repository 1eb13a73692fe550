/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * /tmp/perf-PID.map: a program that generates code names it there, for perf and tools like it (Linux 6.18
 * tools/perf/Documentation/jit-interface.txt). Each line has the code's address and size, in hexadecimal, and
 * its name. The newest line about an address counts, because memory is used again. Pure; all text is
 * untrusted.
 */
#ifndef GOTRACE_CODE_SYMBOL_PERF_MAP_H
#define GOTRACE_CODE_SYMBOL_PERF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_map;

/* Where the name of a piece of code is in the file. */
struct perf_map_name {
	uint64_t at; /* bytes from its beginning */
	uint32_t len;
};

/* NULL when out of memory. */
struct perf_map *perf_map_new(void);
void perf_map_free(struct perf_map *map);
/*
 * Takes the text at this offset of the file, which begins with a line. Returns how many bytes were taken: all
 * complete lines. Lines that are none are skipped, and those beyond PERF_MAP_LINES have no names.
 */
#define PERF_MAP_LINES (1u << 21)
size_t perf_map_add(struct perf_map *map, uint64_t at, const char *text, size_t len);
/* Makes what was added known to perf_map_find(). */
void perf_map_sort(struct perf_map *map);
/* Finds the piece of code with this address. */
bool perf_map_find(const struct perf_map *map, uint64_t address, struct perf_map_name *name);

/* A name in parts, each NUL-terminated. */
struct jit_name {
	char function[512];
	char file[1024]; /* "": not known */
	uint32_t line;
};

/*
 * Takes apart what V8, CPython, the JVM and .NET write: "JS:*parse /srv/app.js:12:3",
 * "py::parse:/srv/app.py", "int Shop.parse(java.lang.String)", "void [Shop] Shop::Parse(string)[Tier1]".
 * Tiers of compilation, types and arguments are left out, so that a function has one name. Other names stay
 * as they are.
 */
void jit_name_parse(const char *text, size_t len, struct jit_name *name);

#endif
