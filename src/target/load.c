/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/load.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/machine.h"

/* Limit on the bytes read, without debug information. Below a worker's memory limit (SANDBOX_BYTES). */
#define MAX_LOADED   (800ull << 20)
#define MAX_FUNCTION (4u << 20)

/*
 * A private mapping that cannot be written does not count as the worker's memory (RLIMIT_DATA), and reading
 * its pages allocates none.
 */
static void *load_reserve(void *at, size_t size, int flags)
{
	return mmap(at, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

static int make_writable(const struct loaded *loaded, uint64_t offset, uint64_t size)
{
	uint64_t skip = offset % page_bytes();

	return size && mprotect(loaded->data + offset - skip, size + skip, PROT_READ | PROT_WRITE) ? -errno
												   : 0;
}

/* Reads a range of the file. Returns 0, -ERANGE if the range is not in the file, or a negative errno. */
static int read_range(const struct loaded *loaded, uint64_t offset, uint64_t size)
{
	int rc;

	if (size > loaded->size || offset > loaded->size - size)
		return -ERANGE;
	rc = make_writable(loaded, offset, size);
	if (rc)
		return rc;
	while (size) {
		ssize_t n = pread(loaded->fd, loaded->data + offset, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ERANGE;
		offset += (uint64_t)n;
		size -= (uint64_t)n;
	}
	return 0;
}

static int load_range(struct loaded *loaded, uint64_t offset, uint64_t size)
{
	if (size > loaded->budget)
		return -EFBIG;
	loaded->budget -= size;
	return read_range(loaded, offset, size);
}

/*
 * Reads the segments with code, or those without. The headers must have been read. They are not read again:
 * the file may have changed.
 */
static int load_segments(struct loaded *loaded, bool code)
{
	Elf64_Ehdr header;
	int rc = 0;

	memcpy(&header, loaded->data, sizeof(header));
	for (unsigned i = 0; rc == 0 && i < header.e_phnum; i++) {
		Elf64_Phdr program;

		memcpy(&program, loaded->data + header.e_phoff + i * sizeof(program), sizeof(program));
		if (program.p_type == PT_LOAD && code == !!(program.p_flags & PF_X))
			rc = load_range(loaded, program.p_offset, program.p_filesz);
	}
	return rc;
}

/* Reads section headers and names. They are optional, so errors are ignored. */
static void load_sections(struct loaded *loaded, const Elf64_Ehdr *header)
{
	Elf64_Shdr names;

	if (header->e_shstrndx >= header->e_shnum ||
	    load_range(loaded, header->e_shoff, (uint64_t)header->e_shnum * sizeof(names)))
		return;
	memcpy(&names, loaded->data + header->e_shoff + header->e_shstrndx * sizeof(names), sizeof(names));
	load_range(loaded, names.sh_offset, names.sh_size);
}

static int load_all(struct loaded *loaded, struct error *err)
{
	Elf64_Ehdr header;
	int rc = load_range(loaded, 0, sizeof(header));

	if (rc == 0) {
		memcpy(&header, loaded->data, sizeof(header));
		if (memcmp(header.e_ident, ELFMAG, SELFMAG))
			return error_set(err, ENOEXEC, "is not an ELF executable");
		rc = load_range(loaded, header.e_phoff, (uint64_t)header.e_phnum * sizeof(Elf64_Phdr));
	}
	if (rc == 0)
		rc = load_segments(loaded, false);
	if (rc == -ERANGE)
		return error_set(err, EBADMSG, "has a damaged or truncated executable");
	if (rc == -EFBIG)
		return error_set(err, EFBIG, "has more than %llu bytes of code and data in its executable",
				 MAX_LOADED);
	if (rc)
		return error_set(err, -rc, "cannot read its executable: %s", strerror(-rc));
	load_sections(loaded, &header);
	return 0;
}

int load_file(int fd, struct loaded *loaded, struct error *err)
{
	struct stat st;
	void *map;
	int rc;

	*loaded = (struct loaded){.fd = -1, .budget = MAX_LOADED};
	if (fstat(fd, &st))
		return error_set(err, errno, "cannot read its executable: %s", strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(Elf64_Ehdr))
		return error_set(err, ENOEXEC, "is not an ELF executable");
	if ((uint64_t)st.st_size > LOAD_MAX_FILE)
		return error_set(err, EFBIG, "has an executable of more than %llu bytes", LOAD_MAX_FILE);
	map = load_reserve(NULL, (size_t)st.st_size, 0);
	if (map == MAP_FAILED)
		return error_set(err, ENOMEM, "out of memory for its executable (%llu bytes)",
				 (unsigned long long)st.st_size);
	loaded->data = map;
	loaded->size = (size_t)st.st_size;
	loaded->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	rc = loaded->fd < 0 ? error_set(err, errno, "cannot read its executable: %s", strerror(errno))
			    : load_all(loaded, err);
	if (rc)
		load_free(loaded);
	return rc;
}

int load_code(const struct loaded *loaded, uint64_t offset, uint64_t size)
{
	return size > MAX_FUNCTION ? -EFBIG : read_range(loaded, offset, size);
}

int load_all_code(struct loaded *loaded)
{
	return load_segments(loaded, true);
}

void load_drop(const struct loaded *loaded, uint64_t offset, uint64_t size)
{
	uint64_t page = page_bytes(), begin = (offset + page - 1) & ~(page - 1);
	uint64_t end = (offset + size) & ~(page - 1);

	/* Pages that the range shares with other data are kept. */
	if (begin < end && end <= loaded->size)
		load_reserve(loaded->data + begin, end - begin, MAP_FIXED);
}

void load_free(struct loaded *loaded)
{
	if (!loaded->data)
		return;
	munmap(loaded->data, loaded->size);
	if (loaded->fd >= 0)
		close(loaded->fd);
	*loaded = (struct loaded){.fd = -1};
}
