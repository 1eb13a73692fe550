/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Go code beside the executable's: a plugin, or a library of -buildmode=c-shared, which brings a runtime of
 * its own. The sections that the linker gives all Go code tell (Go 1.5 to 1.26 cmd/link/internal/ld/data.go).
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

/* A process with more libraries than this is not looked through to the end. */
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

/* By what is mapped, not by its path: that may lead elsewhere, in the process's own namespace. */
static bool is_go(pid_t pid, const struct mapping *mapping)
{
	bool found = false;
	Elf *elf;
	int fd = maps_open_file(pid, mapping);

	if (fd < 0)
		return false;
	/* Reads what it looks at; a mapped file could be cut under our hands. */
	elf = elf_version(EV_CURRENT) != EV_NONE ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
	if (elf && elf_kind(elf) == ELF_K_ELF && elf64_getehdr(elf))
		found = has_go_section(elf);
	elf_end(elf);
	close(fd);
	return found;
}

bool target_other_go(const struct target *target, char *path, size_t size)
{
	struct error err = {.text = ""};
	struct mapping mapping;
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
