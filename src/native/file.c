/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "native/file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "native/dwarf.h"

/* _start of glibc has 34 bytes, of musl less; what follows begins at a multiple of 16. */
#define START_BYTES 40

struct native_file {
	char *path;
	int fd;      /* until it is opened */
	void *bytes; /* owned */
	size_t size;
	bool opened;
	struct native_elf main, debug, data,
		alt; /* data: of .gnu_debugdata. fd is -1 and elf NULL: not there */
	struct native_symbols symbols;
	struct native_dwarf *dwarf;
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
	free(file->bytes);
	free(file->path);
	free(file);
}

static const char *base_name(const struct native_file *file)
{
	const char *slash = strrchr(file->path, '/');

	return slash && slash[1] ? slash + 1 : file->path;
}

static bool begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

bool native_file_is_libc(const struct native_file *file)
{
	static const char *const names[] = {"libc.so",       "libc-2.",    "libpthread.so",
					    "libpthread-2.", "libc.musl-", "ld-musl-"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (begins_with(base_name(file), names[i]))
			return true;
	}
	return file->kind == ELF_STATIC; /* the C library is in it */
}

bool native_file_is_libcxx(const struct native_file *file)
{
	return begins_with(base_name(file), "libstdc++.so") || begins_with(base_name(file), "libc++.so");
}

/* --- opening --- */

static void tell_file(const struct native_search *search, const char *what, const char *path)
{
	char line[PATH_MAX + 256];

	snprintf(line, sizeof(line), "%s: %s", path, what);
	search->tell(search->ctx, line);
}

static bool has_dwarf(const struct native_elf *file)
{
	GElf_Shdr header;

	return file->elf && (native_elf_section(file, ".debug_info", &header) ||
			     native_elf_section(file, ".zdebug_info", &header));
}

/* Debug information is read into memory as a whole. */
static bool is_affordable(const struct native_file *file, const struct native_elf *elf,
			  const struct native_search *search)
{
	uint64_t size = native_elf_debug_size(elf), alt = 0;

	if (file->alt.elf)
		alt = native_elf_debug_size(&file->alt);
	if (size > *search->debug_left || alt > *search->debug_left - size)
		return false;
	*search->debug_left -= size + alt;
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
		tell_file(
			search,
			"functions have no lines: the other part of its debug file, made by dwz, is missing",
			file->path);
		return;
	}
	if (!is_affordable(file, elf, search)) {
		tell_file(search,
			  "functions have no lines: more than 1 GiB of debug information is not read in all",
			  file->path);
		return;
	}
	file->dwarf = native_dwarf_new(elf, file->alt.elf ? &file->alt : NULL);
	if (!file->dwarf)
		tell_file(search, "functions have no lines: its debug information is damaged", file->path);
}

static void open_symbols(struct native_file *file)
{
	native_symbols_add(&file->symbols, &file->main);
	if (file->debug.elf)
		native_symbols_add(&file->symbols, &file->debug);
	else if (native_elf_debugdata(&file->main, &file->data) == 0)
		native_symbols_add(&file->symbols, &file->data);
	native_symbols_sort(&file->symbols);
}

static void open_file(struct native_file *file, const struct native_search *where)
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
	/* Linkers before binutils 2.36 gave libraries one, too: where their code begins. */
	if (file->kind != ELF_LIBRARY && gelf_getehdr(file->main.elf, &header))
		file->entry = header.e_entry;
	if (!has_dwarf(&file->main))
		native_debug_find(&search, &file->main, &file->debug);
	open_symbols(file);
	open_dwarf(file, &search);
}

/* --- names --- */

/* A function without a name is one function all the same, if it is known where it begins. */
static uint64_t function_start(const struct native_file *file, uint64_t address)
{
	uint64_t start;

	return native_elf_function(&file->main, address, &start) ? start : address;
}

static void add_unknown(const struct native_file *file, uint64_t address, struct symbol_draft *draft)
{
	char text[NAME_MAX + 32];

	snprintf(text, sizeof(text), "%.*s+0x%llx", NAME_MAX, base_name(file), (unsigned long long)address);
	draft_add(draft, text, NULL, 0);
}

/* exit(2), as assembly calls it. */
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
 * Whether the code at an offset ends the thread with what a function has just
 * returned: clone.S and clone3.S of glibc 2.2 to 2.41, clone.s of musl 1.2, which
 * stripped libraries have no name for.
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

/* What an address without a symbol can still be known as. */
static enum native_found without_symbol(const struct native_file *file, uint64_t address, uint64_t offset,
					struct symbol_draft *draft)
{
	if (file->entry && address - file->entry < START_BYTES) {
		draft_add(draft, "_start", NULL, 0);
		draft_finish(draft, true);
		return NATIVE_NAMED;
	}
	add_unknown(file, function_start(file, address), draft);
	/* The return address is one behind. */
	if (file->main.elf && ends_thread(file, offset + 1))
		draft->head.hint = HINT_START;
	return NATIVE_NOTHING;
}

enum native_found native_file_frames(struct native_file *file, const struct native_search *search,
				     uint64_t offset, struct symbol_draft *draft)
{
	const struct native_symbol *symbol;
	uint64_t address;

	if (!file->opened)
		open_file(file, search);
	if (!file->main.elf || !native_elf_address(&file->main, offset, &address)) {
		add_unknown(file, offset, draft);
		return NATIVE_NOTHING;
	}
	symbol = native_symbols_find(&file->symbols, address);
	if (!file->dwarf || !native_dwarf_frames(file->dwarf, address, symbol, draft)) {
		if (!symbol)
			return without_symbol(file, address, offset, draft);
		draft_add(draft, symbol->name, NULL, 0);
	}
	draft_finish(draft, native_file_is_libc(file));
	return NATIVE_NAMED;
}
