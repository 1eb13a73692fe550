/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/this_machine.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/clock.h"

/* Name and description of a note are padded to 4 bytes (ELF specification, "Note Section"). */
static size_t padded(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

void build_id_find(const unsigned char *notes, size_t size, char text[BUILD_ID_TEXT])
{
	text[0] = '\0';
	for (size_t at = 0; size - at >= sizeof(Elf64_Nhdr);) {
		Elf64_Nhdr note;
		const unsigned char *bytes = notes + at + sizeof(note);
		size_t left = size - at - sizeof(note), name;

		memcpy(&note, notes + at, sizeof(note));
		name = padded(note.n_namesz);
		if (name > left || padded(note.n_descsz) > left - name)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(bytes, "GNU", 4) == 0) {
			for (size_t i = 0; i < note.n_descsz && 2 * i + 2 < BUILD_ID_TEXT; i++)
				snprintf(text + 2 * i, 3, "%02x", bytes[name + i]);
			return;
		}
		at += sizeof(note) + name + padded(note.n_descsz);
	}
}

static void read_build_id(char text[BUILD_ID_TEXT])
{
	unsigned char notes[4096];
	int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, notes, sizeof(notes));

	if (fd >= 0)
		close(fd);
	build_id_find(notes, n > 0 ? (size_t)n : 0, text);
}

static uint64_t suspended_ns(void)
{
	uint64_t monotonic = clock_ns(CLOCK_MONOTONIC), since_boot = clock_ns(CLOCK_BOOTTIME);

	/* On a machine that was never suspended, the two reads are about 100 ns apart. */
	return since_boot > monotonic + NS_PER_MS ? since_boot - monotonic : 0;
}

void this_machine_read(struct this_machine *machine)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	memset(machine, 0, sizeof(*machine));
	uname(&machine->name);
	read_build_id(machine->build_id);
	machine->facts = (struct export_machine){
		.host = machine->name.nodename,
		.system = machine->name.sysname,
		.release = machine->name.release,
		.version = machine->name.version,
		.machine = machine->name.machine,
		.kernel_build_id = machine->build_id,
		.cpus = cpus > 0 ? (uint32_t)cpus : 0,
		.suspended_ns = suspended_ns(),
	};
}
