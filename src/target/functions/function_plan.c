/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The lists of probes in a plan: one for each file and site. */
#include "target/functions/functions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code/isa/value_places.h"
#include "util/array.h"

static bool function_plan_is_same_file(int one, int other)
{
	struct stat a, b;

	return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static struct function_probes *list_for(struct function_plan *plan, int fd, uint8_t site)
{
	struct function_probes *grown;

	for (unsigned i = 0; i < plan->nlists; i++) {
		if (plan->lists[i].site == site && function_plan_is_same_file(plan->lists[i].fd, fd))
			return &plan->lists[i];
	}
	grown = realloc(plan->lists, (plan->nlists + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	plan->lists = grown;
	grown[plan->nlists] = (struct function_probes){.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3), .site = site};
	return &grown[plan->nlists++];
}

int function_plan_add(struct function_plan *plan, int fd, uint8_t site, uint64_t offset, uint64_t cookie,
		      struct error *err)
{
	struct function_probes *list = list_for(plan, fd, site);

	if (!list || list->fd < 0)
		return error_set(err, ENOMEM, "out of memory, or of file descriptors");
	if (array_grow(&list->probes, &list->capacity, list->n + 1, sizeof(*list->probes)))
		return error_set(err, ENOMEM, "out of memory");
	list->probes[list->n++] = (struct function_probe){.offset = offset, .cookie = cookie};
	return 0;
}

const char *function_place_name(uint8_t place)
{
	return place_name(place);
}

int function_plan_read(struct function_plan *plan, const struct function_values *values, struct error *err)
{
	struct function_values *grown;

	if (plan->nvalues == VALUE_SETS)
		return error_set(
			err, ENOSPC,
			"too many functions (or compiler-made copies) with arguments to read: at most %u",
			VALUE_SETS);
	grown = realloc(plan->values, (plan->nvalues + 1) * sizeof(*grown));
	if (!grown)
		return error_set(err, ENOMEM, "out of memory");
	plan->values = grown;
	grown[plan->nvalues] = *values;
	return (int)++plan->nvalues;
}

void functions_free(struct function_plan *plan)
{
	for (unsigned i = 0; i < plan->nlists; i++) {
		free(plan->lists[i].probes);
		if (plan->lists[i].fd >= 0)
			close(plan->lists[i].fd);
	}
	free(plan->lists);
	free(plan->values);
	*plan = (struct function_plan){.nwanted = 0};
}
