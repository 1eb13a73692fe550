/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/functions.h"

#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

void values_prepare(const struct bpf *bpf, unsigned n, bool *reads)
{
	bpf_map__set_max_entries(bpf_object__find_map_by_name(bpf->object, "value_rules"), n + 1);
	*reads = n > 0;
}

int values_pass(const struct bpf *bpf, const struct function_plan *plan, struct error *err)
{
	int fd = bpf_object__find_map_fd_by_name(bpf->object, "value_rules");

	for (uint32_t number = 1; number <= plan->nvalues; number++) {
		if (bpf_map_update_elem(fd, &number, &plan->values[number - 1].rules, BPF_ANY))
			return error_set(err, errno,
					 "cannot pass the rules for arguments to the programs: %s",
					 strerror(errno));
	}
	return 0;
}
