/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The texts of the user's annotations: names, which stay, and messages, which end with their generation. */
#ifndef GOTRACE_MODEL_ANNOTATIONS_H
#define GOTRACE_MODEL_ANNOTATIONS_H

#include "model/state.h"

/* False when out of memory. */
bool annotations_init(struct model *md);
void annotations_free(struct model *md);

/* Records of these sites come with texts, and those with values. */
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

/* The values of a request's record, as they are in the log. */
struct kept_values {
	union {
		struct raw_text text;
		uint64_t words[(sizeof(struct raw_text) + 2 * TEXT_MAX) / 8];
	};
};

/* Makes the texts of an early record those of the record in hand; the values are valid as long as `kept`. */
void annotations_restore(struct model *md, const struct raw_record *rec, struct text_ids ids,
			 struct kept_values *kept);
struct text_ids annotations_text_ids(struct model *md, const struct raw_text *text);
/* Some annotations may be missing here. */
void annotations_lost(struct model *md);
/* A generation is over: its messages, too. */
void annotations_recycle(struct model *md);

#endif
