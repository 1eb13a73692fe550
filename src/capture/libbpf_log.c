/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/bpf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <bpf/libbpf.h>

/* A global, because libbpf's callback has no context (libbpf_set_print). */
static _Thread_local char last[256];

static int libbpf_log_keep(enum libbpf_print_level level, const char *fmt, va_list args)
{
	if (level == LIBBPF_WARN)
		vsnprintf(last, sizeof(last), fmt, args);
	last[strcspn(last, "\n")] = '\0';
	return 0;
}

void libbpf_log_capture(void)
{
	libbpf_set_print(libbpf_log_keep);
}

const char *libbpf_log_last(void)
{
	return last;
}
