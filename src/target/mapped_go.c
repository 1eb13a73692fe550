/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Go code outside the executable: a plugin of an old release; a library built with -buildmode=c-shared, which
 * contains a runtime of its own; or a program that the dynamic linker was asked to run, so that the linker is
 * the executable. It is recognised by sections that the linker gives all Go code (Go 1.5 to 1.27
 * cmd/link/internal/ld/data.go).
 */
#include "target/mapped_go.h"

#include "target/target.h"

#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "target/maps.h"
#include "target/private.h"
#include "target/remote.h"
#include "util/safe_elf.h"

/* Files to search, at most; the rest are skipped. */
#define MAX_LIBRARIES 512

/* In a shared object up to Go 1.25 the C linker puts the function table among other data. */
static const char *const names_of_go[] = {".go.buildinfo", ".gopclntab", ".data.rel.ro.gopclntab"};

static bool has_go_section(Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		Elf64_Shdr *header = elf64_getshdr(section);
		const char *name = header ? elf_strptr(elf, names, header->sh_name) : NULL;

		for (unsigned i = 0; name && i < sizeof(names_of_go) / sizeof(names_of_go[0]); i++) {
			if (strcmp(name, names_of_go[i]) == 0)
				return true;
		}
	}
	return false;
}

static bool is_go(int fd)
{
	Elf *elf = safe_elf_file(fd);
	bool found = elf && has_go_section(elf);

	elf_end(elf);
	return found;
}

static bool is_excepted(const struct proc_mapping *mapping, const uint64_t *except, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (mapping->inode == except[i])
			return true;
	}
	return false;
}

int mapped_go_open(pid_t pid, const uint64_t *except, unsigned n, char *path, size_t size)
{
	struct error err = {.text = ""};
	struct proc_mapping mapping;
	unsigned seen = 0;
	struct maps maps;
	size_t at = 0;
	int fd = -ENOENT;

	if (maps_read(pid, &maps, &err))
		return -ENOENT;
	while (fd < 0 && seen < MAX_LIBRARIES && maps_next(maps.text, maps.len, &at, &mapping)) {
		if (!mapping.executable || !mapping.inode || is_excepted(&mapping, except, n))
			continue;
		seen++;
		/* The mapped file itself: its path may lead elsewhere in the process's own mount namespace.
		 */
		fd = maps_open_file(pid, &mapping);
		if (fd < 0 || is_go(fd))
			continue;
		close(fd);
		fd = -ENOENT;
	}
	if (fd >= 0)
		snprintf(path, size, "%.*s", (int)mapping.path_len, mapping.path);
	maps_free(&maps);
	return fd;
}

bool target_other_go(const struct target *target, char *path, size_t size)
{
	uint64_t except[1 + MAX_PLUGINS] = {target->inode};
	const struct plugins *plugins;
	unsigned n = 1;
	int fd;

	if (target->remote)
		return target->remote->other_go(target, path, size);
	plugins = &target->image->plugins;
	for (unsigned i = 0; i < plugins->n; i++)
		except[n++] = plugins->all[i]->inode;
	fd = mapped_go_open(target->pid, except, n, path, size);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}
