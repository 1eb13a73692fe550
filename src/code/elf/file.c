/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/elf/file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code/elf/dwarf.h"
#include "util/safe_elf.h"

/* glibc's _start has 34 bytes, musl's fewer; the code after it begins at a multiple of 16. */
#define START_BYTES 40

/* CPU time allowed per file: a constant, plus an amount per byte of debug information (50 MB per second).
 * Uncompressed bytes count up to four times the file's size, which is what compression saves. */
#define FILE_NS   300000000ull
#define BYTE_NS   20u
#define MAX_RATIO 4u

struct native_file {
	char *path;
	int fd;      /* until the file is opened */
	void *bytes; /* owned */
	size_t size;
	bool opened;
	/* data: from .gnu_debugdata. An absent file has fd -1 and elf NULL. */
	struct native_elf main, debug, data, alt;
	struct native_symbols symbols;
	struct native_dwarf *dwarf;
	struct native_cost cost;
	bool reported;  /* excessive cost has been reported */
	uint64_t entry; /* of a program; 0 = none */
	enum native_elf_kind kind;
};

struct native_file *native_file_new(const struct native_source *source)
{
	struct native_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->fd = source->fd;
	file->main.fd = file->debug.fd = file->data.fd = file->alt.fd = -1;
	file->path = strdup(source->path);
	if (source->bytes) {
		file->size = source->size;
		file->bytes = malloc(source->size ? source->size : 1);
		if (file->bytes)
			memcpy(file->bytes, source->bytes, source->size);
	}
	if (file->path && (!source->bytes || file->bytes))
		return file;
	file->fd = -1; /* stays the caller's */
	native_file_free(file);
	return NULL;
}

void native_file_free(struct native_file *file)
{
	if (!file)
		return;
	native_dwarf_free(file->dwarf);
	native_symbols_free(&file->symbols);
	native_elf_close(&file->debug);
	native_elf_close(&file->data);
	native_elf_close(&file->alt);
	native_elf_close(&file->main);
	if (file->fd >= 0)
		close(file->fd);
	if (file->cost.all)
		budget_give(file->cost.all, file->cost.taken);
	free(file->bytes);
	free(file->path);
	free(file);
}

static const char *native_file_base_name(const struct native_file *file)
{
	const char *slash = strrchr(file->path, '/');

	return slash && slash[1] ? slash + 1 : file->path;
}

static bool text_begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* With or without a version suffix: libc.so.6, but not libc.sockets. */
static bool is_library(const char *text, const char *name)
{
	const char *behind = text + strlen(name);

	return text_begins_with(text, name) && (!*behind || *behind == '.');
}

bool native_file_is_libc(const struct native_file *file)
{
	static const char *const with_version[] = {"libc-2.", "libpthread-2.", "libc.musl-", "ld-musl-"};
	const char *name = native_file_base_name(file);

	for (size_t i = 0; i < sizeof(with_version) / sizeof(with_version[0]); i++) {
		if (text_begins_with(name, with_version[i]))
			return true;
	}
	if (is_library(name, "libc.so") || is_library(name, "libpthread.so"))
		return true;
	return file->kind == ELF_STATIC; /* it includes the C library */
}

bool native_file_is_libcxx(const struct native_file *file)
{
	return is_library(native_file_base_name(file), "libstdc++.so") ||
	       is_library(native_file_base_name(file), "libc++.so");
}

/* --- opening --- */

static void warn_file(const struct native_search *search, const char *what, const char *path)
{
	char line[PATH_MAX + 256];

	snprintf(line, sizeof(line), "%s: %s", path, what);
	search->report(search->ctx, line);
}

static bool has_dwarf(const struct native_elf *file)
{
	GElf_Shdr header;

	return file->elf && (native_elf_section(file, ".debug_info", &header) ||
			     native_elf_section(file, ".zdebug_info", &header));
}

static uint64_t size_on_disk(const struct native_elf *elf)
{
	struct stat st;

	return elf->fd >= 0 && fstat(elf->fd, &st) == 0 && st.st_blocks > 0 ? (uint64_t)st.st_blocks * 512
									    : UINT32_MAX;
}

/* Debug information is read into memory as a whole. The CPU time allowed grows with its size. */
static bool native_file_is_affordable(struct native_file *file, const struct native_elf *elf)
{
	uint64_t size = safe_elf_debug_size(elf->elf), most = size_on_disk(elf), alt, more;

	alt = file->alt.elf ? safe_elf_debug_size(file->alt.elf) : 0;
	if (alt > UINT64_MAX - size || !native_cost_take(&file->cost, size + alt))
		return false;
	size += alt;
	more = (size / MAX_RATIO < most ? size : most * MAX_RATIO) * BYTE_NS;
	file->cost.own.cpu_ns += more;
	file->cost.all->cpu_ns += more;
	return true;
}

static void open_dwarf(struct native_file *file, const struct native_search *search)
{
	const struct native_elf *elf = has_dwarf(&file->main) ? &file->main : &file->debug;
	GElf_Shdr header;

	if (!has_dwarf(elf))
		return;
	if (native_elf_section(elf, ".gnu_debugaltlink", &header) &&
	    native_debug_find_alt(search, elf, &file->alt)) {
		warn_file(search, "no line numbers: the supplementary (dwz) debug file is missing",
			  file->path);
		return;
	}
	if (!native_file_is_affordable(file, elf))
		return;
	file->dwarf = native_dwarf_new(elf, file->alt.elf ? &file->alt : NULL, &file->cost);
	if (!file->dwarf && !file->cost.refused)
		warn_file(search, "no line numbers: the debug information is damaged", file->path);
}

static void add_symbols(struct native_file *file, const struct native_elf *elf)
{
	if (native_cost_take(&file->cost, native_elf_size(elf)))
		native_symbols_add(&file->symbols, elf);
}

static void open_symbols(struct native_file *file)
{
	add_symbols(file, &file->main);
	if (file->debug.elf)
		add_symbols(file, &file->debug);
	else if (native_elf_debugdata(&file->main, &file->data) == 0 &&
		 native_cost_take(&file->cost, file->data.unpacked_size))
		add_symbols(file, &file->data);
	native_symbols_sort(&file->symbols);
}

static void native_file_open_found(struct native_file *file, const struct native_search *where)
{
	struct native_search search = *where;
	GElf_Ehdr header;
	int rc = -ENOENT;

	file->opened = true;
	search.path = file->path;
	if (file->fd >= 0) {
		rc = native_elf_open(&file->main, file->fd);
		file->fd = -1;
	} else if (file->bytes) {
		rc = native_elf_memory(&file->main, file->bytes, file->size);
	}
	if (rc)
		return;
	file->kind = native_elf_kind(&file->main);
	/* Linkers before binutils 2.36 also gave libraries an entry point, at the start of their code. */
	if (file->kind != ELF_LIBRARY && gelf_getehdr(file->main.elf, &header))
		file->entry = header.e_entry;
	if (!has_dwarf(&file->main))
		native_debug_find(&search, &file->main, &file->debug);
	open_symbols(file);
	open_dwarf(file, &search);
}

/* --- names --- */

/* Groups the addresses of a function without a name by its start, if that is known. */
static uint64_t function_start(const struct native_file *file, uint64_t address)
{
	uint64_t start;

	return native_elf_function(&file->main, address, &start) ? start : address;
}

static void native_file_add_unknown(const struct native_file *file, uint64_t address,
				    struct symbol_draft *draft)
{
	char text[NAME_MAX + 32];

	snprintf(text, sizeof(text), "%.*s+0x%llx", NAME_MAX, native_file_base_name(file),
		 (unsigned long long)address);
	draft_add(draft, text, NULL, 0);
}

/* The source of a function that only has a symbol is not known, but its library is: "libQt5Core.so.5.15.8".
 */
static const char *library_name(const struct native_file *file)
{
	const char *name = native_file_base_name(file);

	return strstr(name, ".so") ? name : NULL;
}

/* Machine code of the system call exit(2). */
static const struct ending {
	uint8_t size, bytes[8];
} endings[] = {
#if defined(__aarch64__)
	{8, {0xa8, 0x0b, 0x80, 0xd2, 0x01, 0, 0, 0xd4}}, /* mov x8, #SYS_exit; svc #0 */
#else
	{7, {0xb8, 0x3c, 0, 0, 0, 0x0f, 0x05}}, /* mov $SYS_exit, %eax; syscall */
	{4, {0xb0, 0x3c, 0x0f, 0x05}},          /* mov $SYS_exit, %al; syscall */
#endif
};

/*
 * True if the code at an offset ends the thread with the value that a function has just returned: clone.S and
 * clone3.S of glibc 2.2 to 2.41, clone.s of musl 1.2. Stripped libraries have no symbol for it.
 */
static bool ends_thread(const struct native_file *file, uint64_t offset)
{
	uint8_t code[16];

	if (file->main.fd < 0 ||
	    pread(file->main.fd, code, sizeof(code), (off_t)offset) != (ssize_t)sizeof(code))
		return false;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		if (memmem(code, 12, endings[i].bytes, endings[i].size))
			return true;
	}
	return false;
}

/* Resolves an address without a symbol as far as possible. */
static enum native_found without_symbol(const struct native_file *file, uint64_t address, uint64_t offset,
					struct symbol_draft *draft)
{
	if (file->entry && address - file->entry < START_BYTES) {
		draft_add(draft, "_start", NULL, 0);
		draft_finish(draft, true);
		return NATIVE_NAMED;
	}
	native_file_add_unknown(file, function_start(file, address), draft);
	/* The return address is one byte further. */
	if (file->main.elf && ends_thread(file, offset + 1))
		draft->head.hint = HINT_START;
	return NATIVE_NOTHING;
}

static enum native_found native_file_find_frames(struct native_file *file, const struct native_search *search,
						 uint64_t offset, struct symbol_draft *draft)
{
	const struct native_symbol *symbol;
	uint64_t address;

	if (!file->opened && !file->cost.own.spent)
		native_file_open_found(file, search);
	if (!file->main.elf || !native_elf_address(&file->main, offset, &address)) {
		native_file_add_unknown(file, offset, draft);
		return NATIVE_NOTHING;
	}
	symbol = native_symbols_find(&file->symbols, address);
	if (!file->dwarf || file->cost.own.spent ||
	    !native_dwarf_frames(file->dwarf, address, symbol, draft)) {
		if (!symbol)
			return without_symbol(file, address, offset, draft);
		draft_add(draft, symbol->name, library_name(file), 0);
	}
	draft_finish(draft, native_file_is_libc(file));
	return NATIVE_NAMED;
}

static void warn_cost(struct native_file *file, const struct native_search *search)
{
	if (file->reported || (!file->cost.refused && !file->cost.own.spent))
		return;
	file->reported = true;
	warn_file(search,
		  file->cost.refused
			  ? "some functions have no names or lines: the memory limit for names is reached"
			  : "some functions have no names or lines: reading them takes too much CPU time",
		  file->path);
}

enum native_found native_file_frames(struct native_file *file, const struct native_search *search,
				     uint64_t offset, struct symbol_draft *draft)
{
	struct native_cost *cost = &file->cost;
	enum native_found found;
	uint64_t before;

	if (!cost->all) {
		cost->all = search->budget;
		cost->own.cpu_ns = FILE_NS;
	}
	before = budget_thread_ns();
	budget_start(&cost->own);
	cost->own.spent |= cost->all->cpu_ns == 0;
	found = native_file_find_frames(file, search, offset, draft);
	budget_stop(&cost->own);
	before = budget_thread_ns() - before;
	cost->all->cpu_ns -= before < cost->all->cpu_ns ? before : cost->all->cpu_ns;
	warn_cost(file, search);
	return found;
}
