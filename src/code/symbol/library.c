/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/symbol/library.h"

#include <stddef.h>
#include <string.h>

static const char *const library_packages[] = {
	"runtime", "sync",    "internal", "syscall", "os",      "net",    "time", "io",
	"bufio",   "reflect", "fmt",      "log",     "context", "crypto", "iter",
};
/* Beginnings of names of C and C++ libraries, and "[page fault]". */
static const char *const library_prefixes[] = {
	"pthread_", "__", "lll_", "futex_", "std::", "_IO_", "epoll_", "[",
};
/* Functions of the C library that wait. */
static const char *const library_functions[] = {
	"futex",        "syscall",    "start_thread", "usleep",  "nanosleep", "clock_nanosleep", "sleep",
	"new_do_write", "fwrite",     "fread",        "fflush",  "fsync",     "fdatasync",       "write",
	"writev",       "pwrite",     "pwrite64",     "pwritev", "read",      "readv",           "pread",
	"pread64",      "preadv",     "poll",         "ppoll",   "select",    "pselect",         "recv",
	"recvfrom",     "recvmsg",    "recvmmsg",     "send",    "sendto",    "sendmsg",         "sendmmsg",
	"sendfile",     "sendfile64", "open",         "open64",  "openat",    "openat64",        "accept",
	"accept4",      "connect",    "wait4",        "waitpid", "waitid",
};

bool library_in_package(const char *func, const char *package)
{
	size_t n = strlen(package);

	return strncmp(func, package, n) == 0 &&
	       (func[n] == '.' || (func[n] == '/' && strcmp(package, "net")));
}

/* The length of a C name without what compilers and linkers append: "f.part.0", "f@plt", "f(int)". */
static size_t c_name_length(const char *func)
{
	return strcspn(func, ".@(");
}

/* "f.constprop.0": a copy or a part of a C function; a Go name has no number behind a point. */
static bool is_compiler_copy(const char *func)
{
	const char *last = strrchr(func, '.');

	return last && last[1] && last[1 + strspn(last + 1, "0123456789")] == '\0';
}

static bool is_go(const char *func)
{
	if (strstr(func, ".("))
		return true;
	return strchr(func, '.') && !strstr(func, "::") && !strchr(func, '(') && !is_compiler_copy(func);
}

static bool is_c_library(const char *func)
{
	size_t len = c_name_length(func);

	for (size_t i = 0; i < sizeof(library_prefixes) / sizeof(library_prefixes[0]); i++) {
		if (strncmp(func, library_prefixes[i], strlen(library_prefixes[i])) == 0)
			return true;
	}
	for (size_t i = 0; i < sizeof(library_functions) / sizeof(library_functions[0]); i++) {
		if (strlen(library_functions[i]) == len && memcmp(func, library_functions[i], len) == 0)
			return true;
	}
	return false;
}

bool library_is_call(const char *func)
{
	const char *bracket = strchr(func, '(');

	return bracket && bracket[1] >= '0' && bracket[1] <= '9';
}

bool library_has(const char *func)
{
	if (!is_go(func))
		return !*func || library_is_call(func) || is_c_library(func);
	for (size_t i = 0; i < sizeof(library_packages) / sizeof(library_packages[0]); i++) {
		if (library_in_package(func, library_packages[i]))
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

/* A name without code is its own file: "[page fault]". */
bool library_is_kernel(const char *func, const char *file)
{
	return file[0] == '[' && strcmp(func, file) != 0;
}
