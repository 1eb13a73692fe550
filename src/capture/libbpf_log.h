/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: captures the details of errors, which libbpf only prints. */
#ifndef GOTRACE_CAPTURE_LIBBPF_LOG_H
#define GOTRACE_CAPTURE_LIBBPF_LOG_H

/* Keeps libbpf from printing anything from now on. */
void libbpf_log_capture(void);
/* Returns libbpf's last warning in this thread as one line, "" if there was none. */
const char *libbpf_log_last(void);

#endif
