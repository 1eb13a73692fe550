/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/functions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "capture/own_sites.h"

/* The probes stay: nothing calls the function any more, and taking them off would wait for the kernel. */
uint64_t functions_calibrate(struct bpf *bpf)
{
	const char *code = (const char *)own_calibration;
	uint64_t bare = own_calibration_ns(), probed;

	if (attach_self(&bpf->attachments, bpf->object, "function_begin", code, NULL) ||
	    attach_self(&bpf->attachments, bpf->object, "function_end", code + OWN_RETURN, NULL))
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
		values[list->n + i] = list->probes[i].cookie;
	}
	places.offsets = values;
	places.cookies = values + list->n;
	rc = attach_places(&bpf->attachments, bpf->object, pid, &places, err);
	free(values);
	return rc;
}

int functions_attach(struct bpf *bpf, pid_t pid, const struct function_plan *plan, struct error *err)
{
	int rc = 0;

	for (unsigned i = 0; i < plan->nlists && rc == 0; i++)
		rc = attach_list(bpf, pid, &plan->lists[i], err);
	return rc;
}
