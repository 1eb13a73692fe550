/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The texts of user annotations: names, which are permanent, and messages, which last for one generation. */
#ifndef GOTRACE_MODEL_ANNOTATIONS_H
#define GOTRACE_MODEL_ANNOTATIONS_H

#include "model/state.h"

/* Returns false when out of memory. */
bool annotations_init(struct model *md);
void annotations_free(struct model *md);

/* Whether the record comes with texts: records of these sites and records with values do. */
static inline bool has_texts(const struct raw_record *rec)
{
	uint8_t site = rec->site;

	return rec->flags & RAW_VALUES || site == SITE_TASK_BEGIN || site == SITE_REGION_BEGIN ||
	       site == SITE_REGION_END || site == SITE_LOG || site == SITE_REGION_START ||
	       site == SITE_LABELS;
}

static inline bool is_request_site(uint8_t site)
{
	return site == SITE_REQUEST_BEGIN || site == SITE_REQUEST_END;
}

/* A request's record with its values, in the format of the log. */
struct kept_values {
	union {
		struct raw_text text;
		uint64_t words[(sizeof(struct raw_text) + 2 * TEXT_MAX) / 8];
	};
};

/* Makes the texts of an early record current. Its values stay valid as long as *kept. */
void annotations_restore(struct model *md, const struct raw_record *rec, struct text_ids ids,
			 struct kept_values *kept);
struct text_ids annotations_text_ids(struct model *md, const struct raw_text *text);
/* Notes that annotations may be missing at this point. */
void annotations_lost(struct model *md);
/* Drops the messages of the generation that has ended. */
void annotations_recycle(struct model *md);

#endif
