/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Go code outside the executable: a plugin, or a library built with -buildmode=c-shared, which contains a
 * runtime of its own. It is recognised by sections that the linker gives all Go code (Go 1.5 to 1.26
 * cmd/link/internal/ld/data.go).
 */
#include "target/target.h"

#include <fcntl.h>
#include <libelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/maps.h"
#include "target/private.h"
#include "target/remote.h"
#include "util/safe_elf.h"

/* Files to search, at most; the rest are skipped. */
#define MAX_LIBRARIES 512

static bool has_go_section(Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		Elf64_Shdr *header = elf64_getshdr(section);
		const char *name = header ? elf_strptr(elf, names, header->sh_name) : NULL;

		if (name && (!strcmp(name, ".gopclntab") || !strcmp(name, ".data.rel.ro.gopclntab")))
			return true;
	}
	return false;
}

/* Opens the mapped file itself. Its path may lead elsewhere in the process's own mount namespace. */
static bool is_go(pid_t pid, const struct proc_mapping *mapping)
{
	bool found = false;
	Elf *elf;
	int fd = maps_open_file(pid, mapping);

	if (fd < 0)
		return false;
	elf = safe_elf_file(fd);
	found = elf && has_go_section(elf);
	elf_end(elf);
	close(fd);
	return found;
}

bool target_other_go(const struct target *target, char *path, size_t size)
{
	struct error err = {.text = ""};
	struct proc_mapping mapping;
	unsigned seen = 0;
	struct maps maps;
	bool found = false;
	size_t at = 0;

	if (target->remote)
		return target->remote->other_go(target, path, size);
	if (maps_read(target->pid, &maps, &err))
		return false;
	while (!found && seen < MAX_LIBRARIES && maps_next(maps.text, maps.len, &at, &mapping)) {
		if (!mapping.executable || !mapping.inode || mapping.inode == target->inode)
			continue;
		seen++;
		found = is_go(target->pid, &mapping);
	}
	if (found)
		snprintf(path, size, "%.*s", (int)mapping.path_len, mapping.path);
	maps_free(&maps);
	return found;
}
