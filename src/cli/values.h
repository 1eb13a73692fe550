/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Parses values of options. Refuses trailing characters and overflow. */
#ifndef GOTRACE_CLI_VALUES_H
#define GOTRACE_CLI_VALUES_H

#include <stdint.h>
#include <sys/types.h>

#include "cli/options.h"
#include "util/error.h"
#include "trace/wire/wire.h"

#define FORMATS_OF_GO "v0, 1.5, 1.7, 1.8, 1.9, 1.10, 1.11, 1.19, 1.21, 1.22, 1.23, 1.25, 1.26"

/* All return 0, or -EINVAL and set *err to a line that names the option. */

/* "500ms", "1.5s", "2m", "1h"; a number without a unit is in seconds. From 1 ms to 1000 h. */
int parse_duration(const char *option, const char *text, uint64_t *ns, struct error *err);
/*
 * --os: "off", "all", a duration, "summary" (no regions), or "all," and one of the last two. Sets *regions_ns
 * as off_cpu_ns of annotate_options.
 */
int parse_os(const char *option, const char *text, struct os_detail *os, uint64_t *regions_ns,
	     struct error *err);
/* Its time alone: a duration, or "none" for no regions (OFF_CPU_NO_REGIONS). */
int parse_os_regions(const char *option, const char *text, uint64_t *ns, struct error *err);
/* --detail: exact, auto, light or starts. */
int parse_detail(const char *option, const char *text, enum record_detail *detail, struct error *err);
/* As parse_duration(), with any unit from ns to h, and from 0 on: "1.5s", "20us". */
int parse_time(const char *option, const char *text, uint64_t *ns, struct error *err);
/* A wall-clock time, in ns since 1970: "2026-11-26T21:05:00.25Z", "2026-11-26T22:05:00+01:00", or "@SECONDS".
 */
int parse_wall_time(const char *option, const char *text, uint64_t *ns, struct error *err);
/* One of these, or a time as parse_time() takes it. */
int parse_moment(const char *option, const char *text, struct moment *moment, struct error *err);
/* The id of a goroutine or task: a number from 1 on. */
int parse_id(const char *option, const char *text, uint64_t *id, struct error *err);
/* "4096", "64k", "10M", "2G" (powers of 1024), from min to max bytes. */
int parse_size(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *bytes,
	       struct error *err);
int parse_pid(const char *option, const char *text, pid_t *pid, struct error *err);
/* The number of a user, or a name in /etc/passwd: other databases of users are code that gotrace does not
 * load. */
int parse_user(const char *option, const char *text, uid_t *uid, struct error *err);
/* "100" or "100Hz", from 0 to max. */
int parse_rate(const char *option, const char *text, unsigned max, unsigned *hz, struct error *err);
int parse_format(const char *option, const char *text, enum wire_format *format, struct error *err);

/* --max-overhead: a percentage, or "none" (OVERHEAD_NONE). */
int parse_overhead(const char *text, unsigned *percent, struct error *err);
/* --sort: a column of the summary (struct summary_style). */
int parse_sort(const char *text, uint8_t *sort, struct error *err);
/* --buffer: 1 MiB to 1 GiB. */
int parse_buffer(const char *text, size_t *bytes, struct error *err);

#endif
