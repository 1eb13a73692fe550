/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/elf/rust.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

/* --- readable names --- */

struct rust_name {
	char *text; /* NATIVE_FUNCTION_MAX bytes */
	size_t n;
	jmp_buf full;
};

static void rust_write(const char *part, size_t len, void *of)
{
	struct rust_name *name = of;

	if (len > NATIVE_FUNCTION_MAX - name->n) {
		memcpy(name->text + name->n, part, NATIVE_FUNCTION_MAX - name->n);
		memcpy(name->text + NATIVE_FUNCTION_MAX - 3, "...", 3);
		longjmp(name->full, 1);
	}
	memcpy(name->text + name->n, part, len);
	name->n += len;
}

/*
 * The library has no other way to end, and references to references can be as long as those of C++: it is
 * left where the text is full. All that it holds then is on the stack, but for an identifier in Punycode.
 */
size_t rust_readable(const char *name, char readable[NATIVE_FUNCTION_MAX])
{
	struct rust_name rust = {.text = readable};

	if (setjmp(rust.full))
		return NATIVE_FUNCTION_MAX;
	return rust_demangle_callback(name, DMGL_PARAMS, rust_write, &rust) ? rust.n : 0;
}

/* --- hints --- */

struct rust_hint_name {
	const char *last; /* element of the path */
	uint8_t hint;
};

/*
 * What the threads of Rust begin with, and its locks wait in: std from Rust 1.62 on
 * (library/std/src/sys/sync, before 1.80 library/std/src/sys/unix/locks), and parking_lot. Channels of std
 * and crossbeam wait in park.
 */
static const struct rust_hint_name rust_names[] = {
	{"lock_contended", HINT_MUTEX},        {"lock_slow", HINT_MUTEX},
	{"read_contended", HINT_RWLOCK},       {"write_contended", HINT_RWLOCK},
	{"lock_shared_slow", HINT_RWLOCK},     {"lock_exclusive_slow", HINT_RWLOCK},
	{"lock_upgradable_slow", HINT_RWLOCK}, {"wait_optional_timeout", HINT_COND},
	{"Condvar::wait", HINT_COND},          {"Condvar::wait_timeout", HINT_COND},
	{"Condvar>::wait", HINT_COND},         {"Condvar>::wait_timeout", HINT_COND},
	{"wait_until_internal", HINT_COND},    {"park", HINT_COND},
	{"park_timeout", HINT_COND},           {"thread_start", HINT_START},
};

/* By the file, where debugging information has only short names. */
static bool is_rust_lock(const char *name, size_t len, const char *file, size_t file_len)
{
	static const char *const crates[] = {"std::", "<std::", "parking_lot", "<parking_lot"};
	static const char *const folders[] = {"/library/std/src/", "/parking_lot-", "/parking_lot_core-"};

	for (size_t i = 0; i < sizeof(crates) / sizeof(crates[0]); i++) {
		if (len > strlen(crates[i]) && memcmp(name, crates[i], strlen(crates[i])) == 0)
			return true;
	}
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (memmem(file, file_len, folders[i], strlen(folders[i])))
			return true;
	}
	return false;
}

enum log_symbol_hint rust_hint(const char *name, size_t len, const char *file, size_t file_len)
{
	for (size_t i = 0; i < sizeof(rust_names) / sizeof(rust_names[0]); i++) {
		const char *last = rust_names[i].last;
		size_t n = strlen(last);

		if (len < n || memcmp(name + len - n, last, n) != 0 || (len > n && name[len - n - 1] != ':'))
			continue;
		return is_rust_lock(name, len, file, file_len) ? rust_names[i].hint : HINT_NONE;
	}
	return HINT_NONE;
}
