/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "analysis/why.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/figures.h"
#include "analysis/names.h"
#include "analysis/path.h"
#include "util/array.h"
#include "util/text.h"

/* 48 bytes each: 384 MiB at most. */
enum { MAX_SPANS = 8 << 20, MAX_SAMPLES = 1 << 20 };

struct why *why_new(const struct why_question *question)
{
	struct why *why = calloc(1, sizeof(*why));

	if (why)
		why->question = *question;
	return why;
}

void why_free(struct why *why)
{
	if (!why)
		return;
	for (size_t i = 0; i < why->ntracks; i++) {
		free(why->tracks[i].spans);
		free(why->tracks[i].off_cpu);
	}
	free(why->tracks);
	free(why->segments);
	free(why->samples);
	map64_free(&why->track_of);
	free(why);
}

static struct track *track_get(struct why *why, uint64_t goid)
{
	const uint32_t *known = map64_get(&why->track_of, goid);

	if (known)
		return &why->tracks[*known];
	if (array_grow(&why->tracks, &why->track_capacity, why->ntracks + 1, sizeof(*why->tracks)) ||
	    map64_set(&why->track_of, goid, (uint32_t)why->ntracks)) {
		why->oom = true;
		return NULL;
	}
	why->tracks[why->ntracks].goid = goid;
	return &why->tracks[why->ntracks++];
}

static void keep_span(struct why *why, uint64_t goid, const struct span *span)
{
	struct track *track = goid ? track_get(why, goid) : NULL;

	if (!track || span->end <= why->begin || span->start >= why->end || span->end <= span->start)
		return;
	if (why->nspans >= MAX_SPANS) {
		why->overflow = true;
		return;
	}
	if (array_grow(&track->spans, &track->capacity, track->n + 1, sizeof(*track->spans))) {
		why->oom = true;
		return;
	}
	track->spans[track->n++] = *span;
	why->nspans++;
}

/* Selects the goroutine's whole life, or its interval at the given time. */
static void choose_by_goroutine(struct why *why, const struct analysis *a, uint64_t goid,
				const struct span *span)
{
	uint64_t at = a->begin + why->question.at_ns;

	if (goid != why->question.goroutine)
		return;
	why->goid = goid;
	if (why->question.at_ns != UINT64_MAX) {
		if (span->start <= at && at < span->end) {
			why->begin = span->start;
			why->end = span->end;
			why->found = true;
		}
		return;
	}
	if (!why->found || span->start < why->begin)
		why->begin = span->start;
	if (!why->found || span->end > why->end)
		why->end = span->end;
	why->found = true;
}

static void on_span(void *ctx, const struct analysis *a, uint64_t goid, const struct span *span)
{
	struct why *why = ctx;

	if (why->pass == 2)
		keep_span(why, goid, span);
	else if (why->question.kind == WHY_GOROUTINE)
		choose_by_goroutine(why, a, goid, span);
}

static void on_off_cpu(void *ctx, const struct analysis *a, uint64_t goid, uint64_t begin, uint32_t name)
{
	struct why *why = ctx;
	struct track *track =
		why->pass == 2 && begin < why->end && a->now > why->begin ? track_get(why, goid) : NULL;

	if (!track || begin >= a->now)
		return;
	if (why->noff_cpu >= MAX_SAMPLES) {
		why->overflow = true;
		return;
	}
	if (array_grow(&track->off_cpu, &track->off_cpu_capacity, track->noff_cpu + 1,
		       sizeof(*track->off_cpu))) {
		why->oom = true;
		return;
	}
	track->off_cpu[track->noff_cpu++] = (struct off_cpu_part){begin, a->now, name};
	why->noff_cpu++;
}

static void on_cpu_sample(void *ctx, const struct why_sample *sample)
{
	struct why *why = ctx;

	if (why->pass != 2 || sample->time < why->begin || sample->time >= why->end ||
	    why->nsamples >= MAX_SAMPLES)
		return;
	if (array_grow(&why->samples, &why->sample_capacity, why->nsamples + 1, sizeof(*why->samples))) {
		why->oom = true;
		return;
	}
	why->samples[why->nsamples++] = *sample;
}

static unsigned why_kind_of(const struct why *why)
{
	static const uint8_t kinds[] = {[WHY_TASK] = INSTANCE_TASK,
					[WHY_REGION] = INSTANCE_REGION,
					[WHY_LABEL] = INSTANCE_LABEL,
					[WHY_GOROUTINE] = INSTANCE_LIFE};

	return kinds[why->question.kind];
}

static bool is_asked(const struct why *why, const struct analysis *a, const struct instances *all)
{
	const struct why_question *question = &why->question;
	const char *name;

	if (question->kind == WHY_GOROUTINE || all->kind != why_kind_of(why))
		return false;
	name = name_text(a, all->name);
	return strcmp(name, question->name) == 0 || (question->also && strcmp(name, question->also) == 0);
}

static void on_instance(void *ctx, const struct analysis *a, const struct instances *all,
			const struct instance *one)
{
	struct why *why = ctx;
	uint64_t at = a->begin + why->question.at_ns;

	if (!is_asked(why, a, all))
		return;
	if (why->pass == 1) {
		/* Of several that were under way, the one that ends first. */
		if (why->question.at_ns != UINT64_MAX && one->begin <= at && at < one->begin + one->ns &&
		    !why->found) {
			why->begin = one->begin;
			why->end = one->begin + one->ns;
			why->goid = one->goid;
			why->found = true;
		}
		return;
	}
	if (one->ns >= why->p40 && one->ns <= why->p60) {
		why->ntypical++;
		why->typical_ns += one->ns;
		for (unsigned i = 0; i < ACT_COUNT; i++)
			why->typical[i] += one->spent[i];
	}
	if (one->begin == why->begin && one->goid == why->goid && one->begin + one->ns == why->end)
		memcpy(why->spent, one->spent, sizeof(why->spent));
}

void why_watch(struct why *why, struct analysis *a)
{
	why->pass++;
	a->observer = (struct observer){.ctx = why,
					.span = on_span,
					.instance = on_instance,
					.sample = on_cpu_sample,
					.off_cpu = on_off_cpu};
}

/* --- which one --- */

static const struct instances *find_instances(const struct why *why, const struct analysis *a)
{
	for (size_t i = 1; i < a->ninstances; i++) {
		if (is_asked(why, a, &a->instances[i]))
			return &a->instances[i];
	}
	return NULL;
}

const char *why_kind_name(enum why_kind kind)
{
	static const char *const names[] = {"task", "region", "label", "goroutine"};

	return names[kind];
}

/* Sets *err to the names that the trace has. Returns -ENOENT. */
static int why_print_names(const struct why *why, const struct analysis *a, struct error *err)
{
	const char *what = why_kind_name(why->question.kind);
	char names[200 + 2 + sizeof(struct text)] = "";

	for (size_t i = 1; i < a->ninstances; i++) {
		const char *name = name_text(a, a->instances[i].name);

		if (a->instances[i].kind == why_kind_of(why) && strlen(names) < 200)
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
				 *names ? ", " : "", text_name(name, strlen(name), 60).bytes);
	}
	return error_set(err, ENOENT, "no %s '%.*s' ends in the trace (available: %s)", what,
			 text_fit(why->question.name, 100), why->question.name, *names ? names : "none");
}

static int choose_slowest(struct why *why, const struct instances *all, struct error *err)
{
	const struct instance *one;

	if (why->question.slowest > all->nslowest)
		return error_set(err, ENOENT, "--slowest %u: only the %u slowest are available",
				 why->question.slowest, all->nslowest);
	one = &all->slowest[why->question.slowest - 1];
	why->begin = one->begin;
	why->end = one->begin + one->ns;
	why->goid = one->goid;
	why->found = true;
	return 0;
}

int why_choose(struct why *why, struct analysis *a, struct error *err)
{
	const struct instances *all = NULL;
	int ret = 0;

	if (why->question.kind != WHY_GOROUTINE) {
		all = find_instances(why, a);
		if (!all)
			return why_print_names(why, a, err);
		why->n = all->hist.n;
		why->p40 = histogram_quantile(&all->hist, 0.4);
		why->p60 = histogram_quantile(&all->hist, 0.6);
		/* Histogram values are within 1.6 %. */
		why->p40 -= why->p40 / 60;
		why->p60 += why->p60 / 60;
		if (why->question.at_ns == UINT64_MAX)
			ret = choose_slowest(why, all, err);
	}
	if (!ret && !why->found)
		ret = why->question.kind == WHY_GOROUTINE
			      ? error_set(err, ENOENT, "goroutine %llu is not in the trace%s",
					  (unsigned long long)why->question.goroutine,
					  why->question.at_ns == UINT64_MAX ? "" : " at that time")
			      : error_set(err, ENOENT, "no instance was in progress at that time");
	return ret;
}

int why_explain(struct why *why, struct analysis *a, struct error *err)
{
	int ret = why->oom ? -ENOMEM : why->overflow ? -EOVERFLOW : path_find(why);

	(void)a;
	if (ret == -EOVERFLOW)
		return error_set(err, EOVERFLOW, "too much happened in %s: ask for a shorter one (--at)",
				 label_time(why->end - why->begin).text);
	return ret ? error_set(err, -ret, "out of memory") : 0;
}
