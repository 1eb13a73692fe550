/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Recognizes library functions, which act for the program: a wait in them is named after the caller. Pure. */
#ifndef GOTRACE_CODE_SYMBOL_LIBRARY_H
#define GOTRACE_CODE_SYMBOL_LIBRARY_H

#include <stdbool.h>

/* True if a function belongs to a Go package or to one below it; for "net", only to the package itself. */
bool library_in_package(const char *func, const char *package);
/* True for the function that a goroutine of Go's runtime or of its tracer begins with. */
bool library_is_system(const char *func);
/*
 * True for Go's runtime and the packages close to the system, the C library's waits, and system calls as
 * gotrace names them.
 */
bool library_has(const char *func);
/* True for those that locks are made of: Go's runtime, sync and internal; in C, all of library_has(). */
bool library_is_lock(const char *func);
/* A program's own function that only locks, waits or signals, by its name: "Lck__Lock", "port::Mutex::Lock".
 */
bool library_wraps_lock(const char *func);
/* Whose code a function is. The lower, the better it names a place for the program's author. */
enum code_owner {
	CODE_OF_PROGRAM,  /* of the main module; in C, of no library */
	CODE_OF_MODULE,   /* of another Go module, or of a shared library */
	CODE_OF_STANDARD, /* of the standard library of Go, Java or node */
	CODE_OF_MACHINE,  /* of what runs a program in Java or JavaScript */
	CODE_OF_LIBRARY,  /* library_has(), and C's standard library */
};
/* The file is that of the function's source, or "". */
enum code_owner library_owner(const char *func, const char *file);
/* True for code of a file that has no symbol for it: "libz.so.1.2.13+0x4f80". */
bool library_is_address(const char *func);
/* True for a system call as gotrace names it, with its descriptor: "read(7: /data/x)", "epoll_wait(5)". */
bool library_is_call(const char *func);
/*
 * Functions of Go's net and net/http in which goroutines of servers and clients wait for work: a wait below
 * one is idle, unless the handler (LIBRARY_HTTP_HANDLER) waits.
 */
#define LIBRARY_HTTP_HANDLER "net/http.serverHandler.ServeHTTP"
const char *library_idle_loop(unsigned i); /* NULL = there are not so many */
bool library_is_idle_loop(const char *func);
/* True for a function of the kernel (--kernel-stacks), by its file. */
bool library_is_kernel(const char *func, const char *file);

#endif
