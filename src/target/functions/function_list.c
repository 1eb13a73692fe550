/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/functions/function_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/private.h"
#include "util/array.h"

int function_list_add(struct function_list *list, const char *name, size_t len)
{
	size_t prefix = strlen(list->prefix);

	if (!len || len < prefix || memcmp(name, list->prefix, prefix) != 0 || memchr(name, '\n', len))
		return 0;
	if (list->len + len + 1 > FUNCTION_LIST_MAX) {
		list->cut = true;
		return 0;
	}
	if (array_grow(&list->text, &list->capacity, list->len + len + 1, 1))
		return -ENOMEM;
	memcpy(list->text + list->len, name, len);
	list->len += len + 1;
	list->text[list->len - 1] = '\n';
	return 0;
}

void function_list_free(struct function_list *list)
{
	free(list->text);
	*list = (struct function_list){.prefix = list->prefix};
}

int go_functions_list(const struct target *target, struct function_list *list)
{
	uint64_t entry, end;
	const char *name;
	int rc = 0;

	for (size_t i = 0; i < functab_count(target->functab) && rc == 0; i++) {
		if (functab_entry(target->functab, i, &entry, &end, &name) == 0)
			rc = function_list_add(list, name, strlen(name));
	}
	return rc;
}
