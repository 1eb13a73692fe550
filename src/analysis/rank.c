/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The order of findings, and one in place of many that are alike. */
#include "analysis/finding.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"

/* The order of findings of level info: why goroutines wait, also where another finding explains it, then
 * where they wait or run, then what is about the recording or about single delays by the scheduler. */
static int info_rank(const struct finding *finding)
{
	if (finding->level != LEVEL_INFO)
		return 0;
	if (strcmp(finding->id, "trust") == 0 || strcmp(finding->id, "idle-p") == 0)
		return 2;
	if (strcmp(finding->id, "timer-bound") == 0 || strcmp(finding->id, "descendants") == 0)
		return 0;
	return finding->impact < 0.05 || !(finding->explained_by || strncmp(finding->id, "lock-", 5) == 0 ||
					   strcmp(finding->id, "pool-small") == 0);
}

/* Findings before those that another one explains, before information. Other programs are not what this
 * one's code is to blame for: what they do not explain comes first. */
static int findings_by_weight(const void *one, const void *other)
{
	const struct finding *a = one, *b = other;

	if ((a->level == LEVEL_INFO) != (b->level == LEVEL_INFO))
		return a->level == LEVEL_INFO ? 1 : -1;
	if (info_rank(a) != info_rank(b))
		return info_rank(a) - info_rank(b);
	if (!a->explained_by != !b->explained_by)
		return a->explained_by ? 1 : -1;
	if (a->level != b->level)
		return a->level > b->level ? -1 : 1;
	if (finding_is_of_others(a) != finding_is_of_others(b))
		return finding_is_of_others(a) ? 1 : -1;
	if (a->impact < b->impact || a->impact > b->impact)
		return a->impact > b->impact ? -1 : 1;
	if (a->total_ns != b->total_ns) /* an impact is at most 1 */
		return a->total_ns > b->total_ns ? -1 : 1;
	return strcmp(a->text, b->text);
}

/* Whether the two say the same of the same place, in threads or goroutines that began differently. */
static bool finding_is_alike(const struct analysis *a, const struct finding *one, const struct finding *other)
{
	return strcmp(one->id, other->id) == 0 && one->part == other->part && one->stack && other->stack &&
	       strcmp(label_stack(a, one->stack).text, label_stack(a, other->stack).text) == 0 &&
	       strcmp(label_stack(a, one->waker_stack).text, label_stack(a, other->waker_stack).text) == 0;
}

static void say_alike(struct finding *finding, unsigned n, uint64_t ns)
{
	if (n)
		finding_evidence(finding, "the same in %u other stack%s: %s more", n, n > 1 ? "s" : "",
				 label_time(ns).text);
}

void findings_merge(struct analysis *a)
{
	for (unsigned i = 0; i < a->nfindings; i++) {
		struct finding *kept = &a->findings[i];
		double impact = kept->impact;
		unsigned n = 0, to = i + 1;
		uint64_t ns = 0;

		for (unsigned j = i + 1; j < a->nfindings; j++) {
			struct finding *other = &a->findings[j];

			if ((kept->level == LEVEL_INFO) != (other->level == LEVEL_INFO) ||
			    !finding_is_alike(a, kept, other)) {
				a->findings[to++] = *other;
				continue;
			}
			n++;
			impact += other->impact;
			if (other->impact > kept->impact) {
				ns += kept->total_ns;
				*kept = *other;
			} else {
				ns += other->total_ns;
			}
		}
		a->nfindings = to;
		say_alike(kept, n, ns);
		if (n && kept->level != LEVEL_INFO)
			finding_weigh(kept, impact);
	}
}

void findings_rank(struct analysis *a)
{
	qsort(a->findings, a->nfindings, sizeof(a->findings[0]), findings_by_weight);
}
