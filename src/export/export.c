/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/format.h"
#include "util/utf8.h"

struct exporter {
	const struct export_writer *kind;
	void *writer;
	struct op_timeline *timeline;
};

static const struct export_writer *const writers[] = {
	[EXPORT_PERFETTO] = &export_perfetto, [EXPORT_PPROF] = &export_pprof,
	[EXPORT_FOLDED] = &export_folded,     [EXPORT_FLAME] = &export_flame,
	[EXPORT_SQLITE] = &export_sqlite,     [EXPORT_PARQUET] = &export_parquet,
};

static const char *const profile_names[] = {
	[PROFILE_WALL] = "wall",   [PROFILE_BLOCK] = "block",     [PROFILE_MUTEX] = "mutex",
	[PROFILE_SCHED] = "sched", [PROFILE_SYSCALL] = "syscall", [PROFILE_NET] = "net",
	[PROFILE_CPU] = "cpu",
};

const char *profile_name(enum profile_kind kind)
{
	return kind < PROFILE_KINDS ? profile_names[kind] : "?";
}

static bool parse_profile(const char *name, enum profile_kind *profile, struct error *err)
{
	for (unsigned i = 0; i < PROFILE_KINDS; i++) {
		if (strcmp(name, profile_names[i]) == 0) {
			*profile = (enum profile_kind)i;
			return true;
		}
	}
	error_set(err, EINVAL, "unknown profile '%.*s'; use block, mutex, sched, syscall, net, cpu or wall",
		  text_fit(name, 40), name);
	return false;
}

bool export_parse(const char *text, enum export_format *format, enum profile_kind *profile, struct error *err)
{
	static const struct {
		const char *name;
		enum export_format format;
	} plain[] = {{"perfetto", EXPORT_PERFETTO},
		     {"folded", EXPORT_FOLDED},
		     {"flame", EXPORT_FLAME},
		     {"sqlite", EXPORT_SQLITE},
		     {"parquet", EXPORT_PARQUET}};

	*profile = PROFILE_WALL;
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		if (strcmp(text, plain[i].name) == 0) {
			*format = plain[i].format;
			return true;
		}
	}
	if (strncmp(text, "pprof", 5) == 0 && (!text[5] || text[5] == ':')) {
		*format = EXPORT_PPROF;
		return parse_profile(text[5] ? text + 6 : "", profile, err);
	}
	if (strncmp(text, "folded:", 7) == 0) {
		*format = EXPORT_FOLDED;
		return parse_profile(text + 7, profile, err);
	}
	return false;
}

static struct exporter *export_refuse(struct exporter *exporter, struct error *err)
{
	if (!err->text[0])
		error_set(err, ENOMEM, "out of memory");
	exporter_free(exporter);
	return NULL;
}

struct exporter *exporter_new(const struct export_options *options, const struct census *census,
			      struct error *err)
{
	struct exporter *exporter = calloc(1, sizeof(*exporter));
	struct tl_visitor visitor = {0};

	err->text[0] = '\0';
	if (!exporter)
		return export_refuse(NULL, err);
	exporter->kind = writers[options->format];
	exporter->writer = exporter->kind->open(options, census, &visitor, err);
	if (!exporter->writer)
		return export_refuse(exporter, err);
	visitor.ctx = exporter->writer;
	exporter->timeline = timeline_new(&visitor, census);
	return exporter->timeline ? exporter : export_refuse(exporter, err);
}

static int export_report(const struct exporter *exporter, int rc, struct error *err)
{
	const char *fault = rc && exporter->kind->fault ? exporter->kind->fault(exporter->writer) : "";

	if (rc && fault[0])
		return error_set(err, -rc, "%s", fault);
	return rc == -ENOMEM ? error_set(err, ENOMEM, "out of memory") : rc;
}

int exporter_generation(struct exporter *exporter, const struct generation *gen, struct error *err)
{
	return export_report(exporter, timeline_generation(exporter->timeline, gen), err);
}

int exporter_finish(struct exporter *exporter, struct error *err)
{
	int rc = timeline_finish(exporter->timeline);

	return export_report(exporter, rc ? rc : exporter->kind->finish(exporter->writer), err);
}

void exporter_free(struct exporter *exporter)
{
	if (!exporter)
		return;
	timeline_free(exporter->timeline);
	if (exporter->writer)
		exporter->kind->free(exporter->writer);
	free(exporter);
}
