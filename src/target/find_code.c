/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Looks up the target's functions and their code. */
#include "target/private.h"

#include <errno.h>
#include <string.h>

int target_code_at(const struct target *target, uint64_t entry, uint64_t end, struct code *code)
{
	const struct target_image *image = target->image;
	uint64_t offset;

	if (entry >= end)
		return -ENOENT;
	code->address = entry - target->bias;
	code->size = end - entry;
	code->arm64 = image->elf.arm64;
	code->bytes = image_bytes(&image->elf, code->address, code->size);
	if (!code->bytes || !image_code_offset(&image->elf, code->address, &offset) ||
	    load_code(&image->file, offset, code->size))
		return -ENOENT;
	return 0;
}

int target_find_function(const struct target *target, const char *name, uint64_t *entry, uint64_t *end)
{
	static const char package[] = "runtime.";
	int rc = functab_find(target->functab, name, entry, end);

	if (rc && target->go_minor == 4 && strncmp(name, package, strlen(package)) == 0)
		rc = functab_find(target->functab, name + strlen(package), entry, end);
	return rc;
}

int target_code(const struct target *target, const char *name, struct code *code)
{
	uint64_t entry, end;

	if (target_find_function(target, name, &entry, &end))
		return -ENOENT;
	return target_code_at(target, entry, end, code);
}
