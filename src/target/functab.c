/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The target's function table: parsed, and copied for the log. */
#include "target/private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/remote.h"

int target_read_functab(struct target *target, const struct functab_source *bytes, struct error *err)
{
	const struct module *module = &target->image->module;
	struct functab_source source = *bytes;
	struct functab *functab;

	source.pclntab_size = module->pclntab_size;
	source.text = module->text + target->bias;
	source.etext = module->etext + target->bias;
	source.go_minor = target->go_minor;
	functab = functab_new(&source, err);
	if (!functab)
		return -ENOTSUP;
	functab_free(target->functab);
	target->functab = functab;
	return 0;
}

/* Copies the table out of the image and releases the image's pages. From then on, only the copy exists. */
static int copy_functab(struct target *target, struct error *err)
{
	struct target_image *image = target->image;
	const struct module *module = &image->module;
	uint64_t from = module->gofunc + target->bias, to = from;
	bool trees = functab_gofunc_range(target->functab, &from, &to);
	size_t available, extent = trees ? (size_t)(to - from) : 0, size, offset;
	const uint8_t *gofunc = image_rest(&image->elf, from - target->bias, &available);
	const uint8_t *pclntab = image_bytes(&image->elf, module->pclntab, module->pclntab_size);
	struct log_functab head = {
		.text = module->text + target->bias,
		.etext = module->etext + target->bias,
		.gofunc = from,
		.pclntab_size = (uint32_t)module->pclntab_size,
		.gofunc_size = (uint32_t)(extent < available ? extent : available),
		.go_minor = target->go_minor,
	};
	struct functab_source bytes;
	uint8_t *data;

	size = sizeof(head) + module->pclntab_size + head.gofunc_size;
	if (size > UINT32_MAX)
		return error_set(err, EFBIG, "%s: its function table has %zu bytes, more than a log can hold",
				 image->label, size);
	image->names = malloc(size);
	if (!image->names)
		return error_set(err, ENOMEM, "out of memory for the function table (%zu bytes)", size);
	image->names_size = size;
	data = (uint8_t *)(image->names + 1);
	*image->names = head;
	memcpy(data, pclntab, module->pclntab_size);
	functab_relocate(target->functab, data);
	if (head.gofunc_size)
		memcpy(data + module->pclntab_size, gofunc, head.gofunc_size);
	offset = (size_t)(pclntab - image->file.data);
	load_drop(&image->file, offset, module->pclntab_size);
	bytes = (struct functab_source){
		.pclntab = data,
		.gofunc = data + module->pclntab_size,
		.gofunc_size = head.gofunc_size,
		.gofunc_address = from,
	};
	return target_read_functab(target, &bytes, err);
}

int target_functab(struct target *target, struct log_record *record, struct error *err)
{
	struct target_image *image = target->image;
	int rc;

	if (target->remote)
		return target->remote->functab(target, record, err);
	rc = image->names ? 0 : copy_functab(target, err);
	*record = (struct log_record){
		.type = LOG_FUNCTAB,
		.size = (uint32_t)image->names_size,
		.data = image->names,
	};
	return rc;
}

void target_functab_drop(struct target *target)
{
	if (target->remote)
		target->remote->functab_drop(target);
}
