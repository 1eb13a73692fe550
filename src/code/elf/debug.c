/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/elf/debug.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "util/files.h"

#define ROOTS    2
#define MAX_ID   64           /* bytes of a build id; 20 is usual */
#define MAX_FILE (8ull << 30) /* largest file to compute a checksum of */

/* --- identity --- */

struct debug_identity {
	uint8_t id[MAX_ID];
	size_t id_len; /* 0 = the file has none */
	bool has_crc;
	uint32_t crc;
};

static void debug_read_id(const struct native_elf *file, struct debug_identity *identity)
{
	const void *id;
	ssize_t len = dwelf_elf_gnu_build_id(file->elf, &id);

	if (len < 2 || len > MAX_ID)
		return;
	identity->id_len = (size_t)len;
	memcpy(identity->id, id, identity->id_len);
}

/* The checksum in .gnu_debuglink is zlib's CRC32 (binutils' bfd_calc_gnu_debuglink_crc32). */
static bool has_crc(int fd, uint32_t wanted)
{
	uint8_t bytes[1 << 15];
	uint64_t done = 0;
	uLong crc = crc32(0, NULL, 0);

	for (;;) {
		ssize_t n = pread(fd, bytes, sizeof(bytes), (off_t)done);

		if (n == 0)
			return crc == wanted;
		if (n < 0 || done > MAX_FILE)
			return false;
		crc = crc32(crc, bytes, (uInt)n);
		done += (uint64_t)n;
	}
}

/* A build id takes precedence: debug files may be modified after the checksum was made. */
static bool is_same_build(const struct native_elf *debug, const struct debug_identity *wanted)
{
	struct debug_identity found = {.id_len = 0};

	debug_read_id(debug, &found);
	if (wanted->id_len && found.id_len)
		return found.id_len == wanted->id_len && !memcmp(found.id, wanted->id, found.id_len);
	return wanted->has_crc && has_crc(debug->fd, wanted->crc);
}

static void warn_other_build(const struct native_search *search, const char *path)
{
	char line[2 * PATH_MAX];

	snprintf(line, sizeof(line), "%s: debug file ignored, it belongs to another build of %s", path,
		 search->path);
	search->report(search->ctx, line);
}

static int try_path(const struct native_search *search, int root, const char *path,
		    const struct debug_identity *wanted, struct native_elf *debug)
{
	int fd = file_open_in(root, path);
	int rc = fd < 0 ? fd : native_elf_open(debug, fd);

	if (rc)
		return rc;
	if (is_same_build(debug, wanted))
		return 0;
	warn_other_build(search, path);
	native_elf_close(debug);
	return -ENOENT;
}

/* Both roots may be the same directory. */
static bool is_repeated(const struct native_search *search, unsigned root)
{
	struct stat first, second;

	return root == 1 && search->roots[0] >= 0 && !fstat(search->roots[0], &first) &&
	       !fstat(search->roots[1], &second) && first.st_dev == second.st_dev &&
	       first.st_ino == second.st_ino;
}

static int try_roots(const struct native_search *search, const char *path,
		     const struct debug_identity *wanted, struct native_elf *debug)
{
	for (unsigned i = 0; i < ROOTS; i++) {
		if (!is_repeated(search, i) && try_path(search, search->roots[i], path, wanted, debug) == 0)
			return 0;
	}
	return -ENOENT;
}

/* --- locations --- */

static int find_by_id(const struct native_search *search, const struct debug_identity *wanted,
		      struct native_elf *debug)
{
	char path[64 + 2 * MAX_ID];
	int at = snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%02x/", wanted->id[0]);

	if (wanted->id_len == 0)
		return -ENOENT;
	for (size_t i = 1; i < wanted->id_len; i++)
		at += snprintf(path + at, sizeof(path) - (size_t)at, "%02x", wanted->id[i]);
	snprintf(path + at, sizeof(path) - (size_t)at, ".debug");
	return try_roots(search, path, wanted, debug);
}

/* The directories that gdb searches. */
static int find_by_name(const struct native_search *search, const char *name,
			const struct debug_identity *wanted, struct native_elf *debug)
{
	static const char *const forms[] = {"%.*s/%s", "%.*s/.debug/%s", "/usr/lib/debug%.*s/%s"};
	const char *slash = strrchr(search->path, '/');
	int dir = slash ? (int)(slash - search->path) : 0;
	char path[2 * PATH_MAX];

	if (!slash || !name[0] || strchr(name, '/') || strlen(name) > NAME_MAX || dir > PATH_MAX)
		return -ENOENT;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		snprintf(path, sizeof(path), forms[i], dir, search->path, name);
		if (try_roots(search, path, wanted, debug) == 0)
			return 0;
	}
	return -ENOENT;
}

int native_debug_find(const struct native_search *search, const struct native_elf *file,
		      struct native_elf *debug)
{
	struct debug_identity wanted = {.id_len = 0};
	const char *name;
	GElf_Word crc;

	debug_read_id(file, &wanted);
	if (find_by_id(search, &wanted, debug) == 0)
		return 0;
	name = dwelf_elf_gnu_debuglink(file->elf, &crc);
	if (!name)
		return -ENOENT;
	wanted.has_crc = true;
	wanted.crc = crc;
	return find_by_name(search, name, &wanted, debug);
}

/* --- dwz --- */

/* The section has a file name, a zero byte, and the other file's build id. */
static const char *alt_link(const struct native_elf *debug, struct debug_identity *wanted)
{
	GElf_Shdr header;
	Elf_Scn *section = native_elf_section(debug, ".gnu_debugaltlink", &header);
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	const char *name = data ? data->d_buf : NULL, *end;

	end = name ? memchr(name, '\0', data->d_size) : NULL;
	if (!end)
		return NULL;
	wanted->id_len = data->d_size - (size_t)(end + 1 - name);
	if (wanted->id_len < 2 || wanted->id_len > MAX_ID)
		return NULL;
	memcpy(wanted->id, end + 1, wanted->id_len);
	return name;
}

/* The name is relative to the debug file, which may have been found through a symbolic link. Debian has all
 * such files in one place. */
static int find_dwz(const struct native_search *search, const char *name, const struct debug_identity *wanted,
		    struct native_elf *alt)
{
	const char *dwz = strstr(name, ".dwz/");
	char path[PATH_MAX];

	if (name[0] == '/')
		return try_roots(search, name, wanted, alt);
	if (!dwz || strstr(name, ".dwz/..") ||
	    snprintf(path, sizeof(path), "/usr/lib/debug/%s", dwz) >= PATH_MAX)
		return -ENOENT;
	return try_roots(search, path, wanted, alt);
}

int native_debug_find_alt(const struct native_search *search, const struct native_elf *debug,
			  struct native_elf *alt)
{
	struct debug_identity wanted = {.id_len = 0};
	const char *name = alt_link(debug, &wanted);

	if (!name)
		return -ENOENT;
	if (find_dwz(search, name, &wanted, alt) == 0)
		return 0;
	return find_by_id(search, &wanted, alt);
}
