/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* /proc/PID/stat and /proc/PID/task/TID/stat, as proc(5) describes them. */
#ifndef GOTRACE_UTIL_PROC_STAT_H
#define GOTRACE_UTIL_PROC_STAT_H

#include <stdbool.h>
#include <stdint.h>

struct proc_stat {
	uint32_t pid;            /* field 1; for a thread, its tid */
	char comm[16];           /* 2, any bytes; NUL-terminated */
	char state;              /* 3, a letter of fs/proc/array.c */
	int32_t parent;          /* 4 */
	uint32_t flags;          /* 9, PF_* of include/linux/sched.h */
	uint64_t cpu_ticks;      /* 14 and 15: in user and kernel mode, in units of sysconf(_SC_CLK_TCK) */
	uint64_t children_ticks; /* 16 and 17: the same of children that have ended and were waited for */
	int32_t threads;         /* 20 */
	uint64_t start_ticks;    /* 22, since boot, in units of sysconf(_SC_CLK_TCK) */
	uint64_t size;           /* 23, bytes of address space; 0 if it has none any more */
	uint64_t stack_start;    /* 28, randomised by each exec; 0 or 1 for readers without privilege */
	int32_t cpu;             /* 39, where it runs or last ran */
};

/* Returns false if the text is malformed. */
bool proc_stat_parse(const char *text, struct proc_stat *stat);
/* Reads and parses such a file. Returns false if it cannot be read. */
bool proc_stat_read(const char *path, struct proc_stat *stat);

#endif
