/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A profile in pprof's format: gzip'd protobuf. */
#include <errno.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "export/format.h"
#include "export/profile.h"
#include "trace/ops/labels.h"
#include "export/protobuf.h"
#include "export/profile.pb-c.h"

struct pprof {
	struct profiles profiles;
	struct byte_sink out;
	struct buffer bytes;
	struct strtab *strings; /* ids are those of the string table */
};

/* What a profile measures. */
static const struct {
	const char *count, *unit, *time;
} units[PROFILE_KINDS] = {
	[PROFILE_WALL] = {"intervals", "count", "wall"},
	[PROFILE_BLOCK] = {"contentions", "count", "delay"},
	[PROFILE_MUTEX] = {"contentions", "count", "delay"},
	[PROFILE_SCHED] = {"contentions", "count", "delay"},
	[PROFILE_SYSCALL] = {"contentions", "count", "delay"},
	[PROFILE_NET] = {"contentions", "count", "delay"},
	[PROFILE_CPU] = {"samples", "count", "cpu"},
};

static void pprof_free(void *writer)
{
	struct pprof *pprof = writer;

	profiles_free(&pprof->profiles);
	buffer_free(&pprof->bytes);
	if (pprof->strings)
		strtab_free(pprof->strings);
	free(pprof);
}

static void *pprof_open(const struct export_options *options, const struct census *census,
			struct tl_visitor *visitor, struct error *err)
{
	struct pprof *pprof = calloc(1, sizeof(*pprof));

	(void)err;
	if (!pprof)
		return NULL;
	pprof->out = options->out;
	pprof->strings = strtab_new();
	if (!pprof->strings || profiles_init(&pprof->profiles, census, &options->profile, 1, visitor)) {
		pprof_free(pprof);
		return NULL;
	}
	pprof->profiles.wants_sets = true;
	return pprof;
}

/* --- pieces of the message --- */

static int64_t pprof_text_id(struct pprof *pprof, const char *text)
{
	return strtab_add_str(pprof->strings, text);
}

static int64_t string_id(struct pprof *pprof, uint32_t id)
{
	size_t len;
	const char *text = strtab_get(pprof->profiles.st.strings, id, &len);

	return strtab_add(pprof->strings, text, len);
}

static int pprof_put(struct pprof *pprof, const Pprof__Profile *profile)
{
	return protobuf_append(&pprof->bytes, &profile->base) ? -ENOMEM : 0;
}

static int put_head(struct pprof *pprof)
{
	const struct census *census = pprof->profiles.census;
	enum profile_kind kind = pprof->profiles.all[0].kind;
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	Pprof__ValueType count = PPROF__VALUE_TYPE__INIT, time = PPROF__VALUE_TYPE__INIT,
			 period = PPROF__VALUE_TYPE__INIT, *types[] = {&count, &time};

	count.type = pprof_text_id(pprof, units[kind].count);
	count.unit = pprof_text_id(pprof, units[kind].unit);
	time.type = pprof_text_id(pprof, units[kind].time);
	time.unit = pprof_text_id(pprof, "nanoseconds");
	period.type = pprof_text_id(pprof, kind == PROFILE_CPU ? "cpu" : "trace");
	period.unit = pprof_text_id(pprof, kind == PROFILE_CPU ? "nanoseconds" : "count");
	profile.n_sample_type = 2;
	profile.sample_type = types;
	profile.period_type = &period;
	profile.period = kind == PROFILE_CPU ? (int64_t)census_sample_ns(census) : 1;
	if (census->wall_ns)
		profile.time_nanos = (int64_t)(census->wall_ns + (census->start - census->clock_ns));
	profile.duration_nanos = (int64_t)(census->end - census->start);
	return pprof_put(pprof, &profile);
}

static int put_function(struct pprof *pprof, size_t id)
{
	const struct st_function *from = &pprof->profiles.st.functions[id];
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	Pprof__Function function = PPROF__FUNCTION__INIT, *functions[] = {&function};

	function.id = id;
	function.name = function.system_name = string_id(pprof, from->name);
	function.filename = string_id(pprof, from->file);
	profile.n_function = 1;
	profile.function = functions;
	return pprof_put(pprof, &profile);
}

static int put_location(struct pprof *pprof, size_t id)
{
	const struct st_frame *from = &pprof->profiles.st.frames[id];
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	Pprof__Location location = PPROF__LOCATION__INIT, *locations[] = {&location};
	Pprof__Line line = PPROF__LINE__INIT, *lines[] = {&line};

	line.function_id = from->function;
	line.line = from->line;
	location.id = id;
	location.address = from->pc;
	location.n_line = 1;
	location.line = lines;
	profile.n_location = 1;
	profile.location = locations;
	return pprof_put(pprof, &profile);
}

/* gotrace's own labels, and the program's. */
enum { OWN_LABELS = 4, MAX_LABELS = OWN_LABELS + LABELS_TEXT_LABELS };

static size_t add_set(struct pprof *pprof, uint32_t id, Pprof__Label *labels, size_t n)
{
	size_t len;
	const char *text = strtab_get(pprof->profiles.st.strings, id, &len);
	struct labels_read set;

	if (!id || labels_parse(text, len, &set) < 0)
		return n;
	for (unsigned i = 0; i < set.n; i++) {
		labels[n] = (Pprof__Label)PPROF__LABEL__INIT;
		labels[n].key = strtab_add(pprof->strings, set.labels[i].key, set.labels[i].key_len);
		labels[n++].str = strtab_add(pprof->strings, set.labels[i].value, set.labels[i].value_len);
	}
	return n;
}

static size_t pprof_fill_labels(struct pprof *pprof, const struct profile_labels *from, Pprof__Label *labels)
{
	const struct {
		const char *key;
		uint32_t value;
	} all[OWN_LABELS] = {{"goroutine", from->function},
			     {"task", from->task},
			     {"region", from->region},
			     {"state", from->state}};
	size_t n = 0;

	for (size_t i = 0; i < OWN_LABELS; i++) {
		if (!all[i].value)
			continue;
		labels[n] = (Pprof__Label)PPROF__LABEL__INIT;
		labels[n].key = pprof_text_id(pprof, all[i].key);
		labels[n++].str = string_id(pprof, all[i].value);
	}
	return add_set(pprof, from->set, labels, n);
}

static int pprof_put_sample(struct pprof *pprof, const struct profile_sample *from)
{
	const struct stacktab *st = &pprof->profiles.st;
	const struct st_stack *stack = &st->stacks[from->stack];
	int64_t values[] = {(int64_t)from->count, (int64_t)from->ns};
	uint64_t locations[MAX_FRAMES];
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *samples[] = {&sample};
	Pprof__Label labels[MAX_LABELS], *pointers[MAX_LABELS];

	for (uint32_t i = 0; i < stack->n && i < MAX_FRAMES; i++)
		locations[sample.n_location_id++] = st->frame_ids[stack->first + i];
	sample.location_id = locations;
	sample.n_value = 2;
	sample.value = values;
	sample.n_label = pprof_fill_labels(pprof, &pprof->profiles.labels[from->labels], labels);
	for (size_t i = 0; i < sample.n_label; i++)
		pointers[i] = &labels[i];
	sample.label = pointers;
	profile.n_sample = 1;
	profile.sample = samples;
	return pprof_put(pprof, &profile);
}

static int put_strings(struct pprof *pprof)
{
	for (uint32_t id = 0; id < strtab_count(pprof->strings); id++) {
		char *text = (char *)strtab_get(pprof->strings, id, NULL);
		Pprof__Profile profile = PPROF__PROFILE__INIT;

		profile.n_string_table = 1;
		profile.string_table = &text;
		if (pprof_put(pprof, &profile))
			return -ENOMEM;
	}
	return 0;
}

static int put_all(struct pprof *pprof)
{
	const struct stacktab *st = &pprof->profiles.st;
	const struct profile *profile = &pprof->profiles.all[0];
	int rc = put_head(pprof);

	for (size_t i = 1; i < st->nfunctions && !rc; i++)
		rc = put_function(pprof, i);
	for (size_t i = 1; i < st->nframes && !rc; i++)
		rc = put_location(pprof, i);
	for (size_t i = 0; i < profile->n && !rc; i++)
		rc = pprof_put_sample(pprof, &profile->samples[i]);
	return rc ? rc : put_strings(pprof);
}

static int pprof_finish(void *writer)
{
	struct pprof *pprof = writer;
	struct libdeflate_compressor *compressor;
	size_t bound, n;
	uint8_t *zipped;
	int rc = put_all(pprof);

	if (rc)
		return rc;
	compressor = libdeflate_alloc_compressor(6);
	bound = compressor ? libdeflate_gzip_compress_bound(compressor, pprof->bytes.len) : 0;
	zipped = malloc(bound ? bound : 1);
	n = compressor && zipped ? libdeflate_gzip_compress(compressor, pprof->bytes.bytes, pprof->bytes.len,
							    zipped, bound)
				 : 0;
	rc = n ? pprof->out.write(pprof->out.ctx, zipped, n) : -ENOMEM;
	free(zipped);
	libdeflate_free_compressor(compressor);
	return rc;
}

const struct export_writer export_pprof = {.open = pprof_open, .finish = pprof_finish, .free = pprof_free};
