/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A flame graph as one self-contained HTML page: folded stacks of every profile that the trace has, and a
 * script that draws them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/symbol/library.h"
#include "export/flame_page.h"
#include "export/fold.h"
#include "export/format.h"
#include "util/json.h"

struct flame {
	struct profiles profiles;
	struct byte_sink out;
	char *title;
};

static void flame_free(void *writer)
{
	struct flame *flame = writer;

	profiles_free(&flame->profiles);
	free(flame->title);
	free(flame);
}

static void *flame_open(const struct export_options *options, const struct census *census,
			struct tl_visitor *visitor, struct error *err)
{
	static const enum profile_kind kinds[PROFILE_KINDS] = {PROFILE_WALL,  PROFILE_CPU,     PROFILE_BLOCK,
							       PROFILE_MUTEX, PROFILE_SYSCALL, PROFILE_NET,
							       PROFILE_SCHED};
	struct flame *flame = calloc(1, sizeof(*flame));

	(void)err;
	if (!flame)
		return NULL;
	flame->out = options->out;
	flame->title = strdup(options->title ? options->title : "trace");
	if (!flame->title || profiles_init(&flame->profiles, census, kinds, PROFILE_KINDS, visitor)) {
		flame_free(flame);
		return NULL;
	}
	return flame;
}

/* Writes `<` as a JSON escape: in a script it could end the script. */
static int put_json_text(struct buffer *out, const char *text, size_t len)
{
	char *json = NULL;
	size_t n = 0;
	FILE *file = open_memstream(&json, &n);
	struct json writer = {.out = file};
	int rc = file ? 0 : -ENOMEM;

	if (!file)
		return rc;
	json_string(&writer, NULL, text, len);
	if (fclose(file))
		rc = -ENOMEM;
	for (size_t i = 0, from = 0; i <= n && !rc; i++) {
		if (i < n && json[i] != '<')
			continue;
		rc = buffer_append(out, json + from, i - from);
		if (!rc && i < n)
			rc = buffer_append(out, "\\u003c", 6);
		from = i + 1;
	}
	free(json);
	return rc ? -ENOMEM : 0;
}

static int flame_put_text(struct buffer *out, const char *text)
{
	return buffer_append(out, text, strlen(text));
}

static int put_profile(struct flame *flame, const struct profile *profile, struct buffer *out)
{
	struct buffer lines = {0};
	int rc = fold(&flame->profiles, profile, &lines);

	if (!rc && lines.len) {
		rc = flame_put_text(out, "{\"name\":\"") ||
		     flame_put_text(out, profile_name(profile->kind)) ||
		     flame_put_text(out, profile->kind == PROFILE_CPU ? "\",\"unit\":\"samples\",\"folded\":"
								      : "\",\"unit\":\"us\",\"folded\":") ||
		     put_json_text(out, (const char *)lines.bytes, lines.len) || flame_put_text(out, "},\n");
	}
	buffer_free(&lines);
	return rc ? -ENOMEM : 0;
}

static int put_constant(struct buffer *out, const char *name, const char *text)
{
	return flame_put_text(out, "const ") || flame_put_text(out, name) || flame_put_text(out, " = ") ||
	       put_json_text(out, text, strlen(text)) || flame_put_text(out, ";\n");
}

/* The functions by which the page knows idle waits. */
static int put_idle_functions(struct buffer *out)
{
	const char *loop;
	int rc = put_constant(out, "handler", LIBRARY_HTTP_HANDLER) ||
		 flame_put_text(out, "const loops = [\n");

	for (unsigned i = 0; (loop = library_idle_loop(i)) && !rc; i++)
		rc = put_json_text(out, loop, strlen(loop)) || flame_put_text(out, ",\n");
	return rc || flame_put_text(out, "];\n") ? -ENOMEM : 0;
}

static int flame_finish(void *writer)
{
	struct flame *flame = writer;
	struct buffer out = {0};
	int rc = flame_put_text(&out, flame_page_head) || put_constant(&out, "title", flame->title) ||
		 put_idle_functions(&out) || flame_put_text(&out, "const profiles = [\n");

	for (size_t i = 0; i < flame->profiles.n && !rc; i++)
		rc = put_profile(flame, &flame->profiles.all[i], &out);
	if (!rc)
		rc = flame_put_text(&out, "];\n") || flame_put_text(&out, flame_page_tail);
	rc = rc ? -ENOMEM : flame->out.write(flame->out.ctx, out.bytes, out.len);
	buffer_free(&out);
	return rc;
}

const struct export_writer export_flame = {.open = flame_open, .finish = flame_finish, .free = flame_free};
