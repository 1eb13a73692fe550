/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/load.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* More than any Go program that runs has. */
#define MAX_FILE   (64ull << 30)
#define MAX_LOADED (2ull << 30)

struct loader {
	int fd;
	uint8_t *data;
	uint64_t size;
	uint64_t budget;
};

/* Returns 0, -ERANGE if the range is not in the file, or a negative errno. */
static int load_range(struct loader *loader, uint64_t offset, uint64_t size)
{
	if (size > loader->size || offset > loader->size - size)
		return -ERANGE;
	if (size > loader->budget)
		return -EFBIG;
	loader->budget -= size;
	while (size) {
		ssize_t n = pread(loader->fd, loader->data + offset, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ERANGE;
		offset += (uint64_t)n;
		size -= (uint64_t)n;
	}
	return 0;
}

static int load_segments(struct loader *loader, const Elf64_Ehdr *header)
{
	int rc = load_range(loader, header->e_phoff, (uint64_t)header->e_phnum * sizeof(Elf64_Phdr));

	for (unsigned i = 0; rc == 0 && i < header->e_phnum; i++) {
		Elf64_Phdr program;

		memcpy(&program, loader->data + header->e_phoff + i * sizeof(program), sizeof(program));
		if (program.p_type == PT_LOAD)
			rc = load_range(loader, program.p_offset, program.p_filesz);
	}
	return rc;
}

/* Headers and names only; a file may do without, so nothing here fails. */
static void load_sections(struct loader *loader, const Elf64_Ehdr *header)
{
	Elf64_Shdr names;

	if (header->e_shstrndx >= header->e_shnum ||
	    load_range(loader, header->e_shoff, (uint64_t)header->e_shnum * sizeof(names)))
		return;
	memcpy(&names, loader->data + header->e_shoff + header->e_shstrndx * sizeof(names), sizeof(names));
	load_range(loader, names.sh_offset, names.sh_size);
}

static int load_all(struct loader *loader, struct error *err)
{
	Elf64_Ehdr header;
	int rc = load_range(loader, 0, sizeof(header));

	if (rc == 0) {
		memcpy(&header, loader->data, sizeof(header));
		if (memcmp(header.e_ident, ELFMAG, SELFMAG))
			return error_set(err, ENOEXEC, "is not an ELF executable");
		rc = load_segments(loader, &header);
	}
	if (rc == -ERANGE)
		return error_set(err, EBADMSG, "has a damaged or cut executable");
	if (rc == -EFBIG)
		return error_set(err, EFBIG, "has an executable of more than %llu bytes", MAX_LOADED);
	if (rc)
		return error_set(err, -rc, "cannot read its executable: %s", strerror(-rc));
	load_sections(loader, &header);
	return 0;
}

int load_file(int fd, struct loaded *loaded, struct error *err)
{
	struct loader loader = {.fd = fd, .budget = MAX_LOADED};
	struct stat st;
	void *map;
	int rc;

	*loaded = (struct loaded){.size = 0};
	if (fstat(fd, &st))
		return error_set(err, errno, "cannot read its executable: %s", strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(Elf64_Ehdr))
		return error_set(err, ENOEXEC, "is not an ELF executable");
	if ((uint64_t)st.st_size > MAX_FILE)
		return error_set(err, EFBIG, "has an executable of more than %llu bytes", MAX_FILE);
	loader.size = (uint64_t)st.st_size;
	map = mmap(NULL, loader.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		   0);
	if (map == MAP_FAILED)
		return error_set(err, ENOMEM, "out of memory for its executable (%llu bytes)",
				 (unsigned long long)loader.size);
	loader.data = map;
	*loaded = (struct loaded){.data = map, .size = loader.size};
	rc = load_all(&loader, err);
	if (rc)
		load_free(loaded);
	return rc;
}

void load_free(struct loaded *loaded)
{
	if (loaded->data)
		munmap(loaded->data, loaded->size);
	*loaded = (struct loaded){.size = 0};
}
