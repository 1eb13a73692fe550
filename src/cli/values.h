/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Values of options, each checked in full: nothing may follow, nothing may overflow. */
#ifndef GOTRACE_CLI_VALUES_H
#define GOTRACE_CLI_VALUES_H

#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"
#include "wire/wire.h"

/* All return 0, or -EINVAL with a line that names the option. */

/* "500ms", "1.5s", "2m", "1h"; a bare number counts seconds. From 1 ms to 1000 h. */
/* A duration, or "none" (OFF_CPU_NO_REGIONS). */
int parse_off_cpu(const char *option, const char *text, uint64_t *ns, struct error *err);
int parse_duration(const char *option, const char *text, uint64_t *ns, struct error *err);
/* The same with any unit from ns to h and decimals, from 0: "1.5s", "20us". A bare number counts seconds. */
int parse_time(const char *option, const char *text, uint64_t *ns, struct error *err);
/* A number from 1 on: of a goroutine, of a task. */
int parse_id(const char *option, const char *text, uint64_t *id, struct error *err);
/* "4096", "64k", "10M", "2G" (powers of 1024), from min to max bytes. */
int parse_size(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *bytes,
	       struct error *err);
int parse_pid(const char *option, const char *text, pid_t *pid, struct error *err);
/* "10" or "10%", from 1 to 1000. */
int parse_percent(const char *option, const char *text, unsigned *percent, struct error *err);
/* "100" or "100Hz", from 0 to max. */
int parse_rate(const char *option, const char *text, unsigned max, unsigned *hz, struct error *err);
int parse_format(const char *option, const char *text, enum wire_format *format, struct error *err);

/* Of --max-overhead: a percentage, or "none" (OVERHEAD_NONE). */
int parse_overhead(const char *text, unsigned *percent, struct error *err);
/* Of --sort: a column of the summary (struct summary_style). */
int parse_sort(const char *text, uint8_t *sort, struct error *err);
/* Of --buffer: 1 MiB to 1 GiB. */
int parse_buffer(const char *text, size_t *bytes, struct error *err);

#endif
