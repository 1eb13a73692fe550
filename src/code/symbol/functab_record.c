/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "code/symbol/functab_record.h"

struct functab *functab_of_record(const struct log_record *record)
{
	const struct log_functab *head = record->data;
	const uint8_t *bytes = (const uint8_t *)(head + 1);
	struct functab_source source;

	if (!log_is_table(record->type) || rawlog_check_record(record, NULL))
		return NULL;
	source = (struct functab_source){
		.pclntab = bytes,
		.pclntab_size = head->pclntab_size,
		.gofunc = head->gofunc_size ? bytes + head->pclntab_size : NULL,
		.gofunc_size = head->gofunc_size,
		.gofunc_address = head->gofunc,
		.text = head->text,
		.etext = head->etext,
		.go_minor = head->go_minor,
	};
	return functab_new(&source, NULL);
}
