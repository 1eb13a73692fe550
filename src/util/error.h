/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* One line of text: what failed, on what, and what to do. */
#ifndef GOTRACE_UTIL_ERROR_H
#define GOTRACE_UTIL_ERROR_H

struct error {
	char text[512]; /* one line without a newline; "" = no error */
};

/*
 * Writes the line to err (which may be NULL) and returns -code. code is an errno value > 0, which allows
 * `return error_set(err, EINVAL, "...");`.
 */
int error_set(struct error *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
