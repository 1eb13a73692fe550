/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "symbol/library.h"

#include <stddef.h>
#include <string.h>

static const char *const plumbing[] = {
	"runtime", "sync",    "internal", "syscall", "os",      "net",    "time", "io",
	"bufio",   "reflect", "fmt",      "log",     "context", "crypto", "iter",
};
/* Frames of C below which the program's own code begins. */
static const char *const c_plumbing[] = {
	"pthread_", "__pthread_",   "___pthread_", "__lll_",     "lll_",  "futex",        "__futex_",
	"std::",    "__gthread",    "__GI_",       "clock_nano", "__",    "_IO_",         "[",
	"syscall",  "start_thread", "usleep",      "nanosleep",  "sleep", "new_do_write", "fwrite",
	"fflush",   "fsync",        "write",       "read",       "pread", "pwrite",       "poll",
	"epoll_",   "recv",         "send",        "fdatasync",  "open",
};

bool library_in_package(const char *func, const char *package)
{
	size_t n = strlen(package);

	return strncmp(func, package, n) == 0 &&
	       (func[n] == '.' || (func[n] == '/' && strcmp(package, "net")));
}

static bool is_go(const char *func)
{
	return strchr(func, '.') && !strstr(func, "::") && !strchr(func, '(') ? true
									      : strstr(func, ".(") != NULL;
}

bool library_is_call(const char *func)
{
	const char *bracket = strchr(func, '(');

	return bracket && bracket[1] >= '0' && bracket[1] <= '9';
}

bool library_has(const char *func)
{
	if (!is_go(func)) {
		for (size_t i = 0; i < sizeof(c_plumbing) / sizeof(c_plumbing[0]); i++) {
			if (strncmp(func, c_plumbing[i], strlen(c_plumbing[i])) == 0)
				return true;
		}
		return !*func || library_is_call(func);
	}
	for (size_t i = 0; i < sizeof(plumbing) / sizeof(plumbing[0]); i++) {
		if (library_in_package(func, plumbing[i]))
			return true;
	}
	return false;
}

bool library_is_lock(const char *func)
{
	if (!is_go(func))
		return library_has(func);
	return library_in_package(func, "runtime") || library_in_package(func, "sync") ||
	       library_in_package(func, "internal");
}

/* A name that has no code of its own has itself for a file: "[page fault]". */
bool library_is_kernel(const char *func, const char *file)
{
	return file[0] == '[' && strcmp(func, file) != 0;
}
