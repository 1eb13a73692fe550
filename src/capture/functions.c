/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/functions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "bpf/record.h"
#include "capture/probe_set.h"

/* The prefixes rep and bnd have no effect. This ABI does not use a `ret` that pops arguments. */
uint64_t functions_return(const uint8_t code[2], uint64_t offset)
{
	bool prefixed = code[0] == 0xf3 || code[0] == 0xf2;

	return code[prefixed] == 0xc3 ? FUNCTION_RETURN_AT(offset) : 0;
}

/* Reads the instruction from the file, because the kernel executes the file's bytes (kernel/events/uprobes.c,
 * copy_insn). No other source is trusted. */
static uint64_t find_return(const struct function_probes *list, uint64_t offset)
{
	uint8_t code[2] = {0};

	if (list->site != SITE_FUNCTION_END || pread(list->fd, code, sizeof(code), (off_t)offset) < 1)
		return 0;
	return functions_return(code, offset);
}

/*
 * The probes stay attached: nothing else calls the function, and removing them would wait for the kernel.
 * This runs before the target's probes are attached: if a kernel accepted a program's writes but still ran
 * the instruction, gotrace would crash here, not the target.
 */
uint64_t functions_calibrate(struct bpf *bpf, uint64_t bare)
{
	const char *code = (const char *)own_calibration;
	uint64_t cookie = functions_return((const uint8_t *)code + OWN_RETURN, (uintptr_t)code + OWN_RETURN);
	uint64_t probed;

	if (attach_self(&bpf->attachments, bpf->object, "function_begin", code, NULL) ||
	    attach_self_at(&bpf->attachments, bpf->object, "function_end", code + OWN_RETURN, cookie, NULL))
		return 0;
	probed = own_calibration_ns();
	return probed > bare ? (probed - bare) / 2 : 0;
}

static int attach_list(struct bpf *bpf, pid_t pid, const struct function_probes *list, struct error *err)
{
	char path[64];
	struct attach_places places = {
		.site = list->site, .path = path, .name = "a function of the program", .n = list->n};
	uint64_t *values = calloc(list->n, 2 * sizeof(*values));
	int rc;

	if (!values)
		return error_set(err, ENOMEM, "out of memory");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", list->fd);
	for (unsigned i = 0; i < list->n; i++) {
		values[i] = list->probes[i].offset;
		values[list->n + i] = list->probes[i].cookie | find_return(list, list->probes[i].offset);
	}
	places.offsets = values;
	places.cookies = values + list->n;
	rc = attach_places(&bpf->attachments, bpf->object, pid, &places, err);
	free(values);
	return rc;
}

bool functions_are_on(const struct bpf *bpf, const struct function_plan *plan)
{
	return !plan->nlists || attach_is_on(&bpf->attachments, plan->lists[0].site);
}

int functions_attach(struct bpf *bpf, pid_t pid, const struct function_plan *plan, struct error *err)
{
	int rc = values_pass(bpf, plan, err);

	for (unsigned i = 0; i < plan->nlists && rc == 0; i++)
		rc = attach_list(bpf, pid, &plan->lists[i], err);
	return rc;
}
