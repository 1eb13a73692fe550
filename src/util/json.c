/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/json.h"

#include <math.h>
#include <string.h>

#include "util/text.h"

static void write_escaped(FILE *out, const char *text, size_t len)
{
	size_t step;

	for (size_t at = 0; at < len; at += step) {
		uint32_t point = text_next(text + at, len - at, &step);

		if (point == '"' || point == '\\')
			fprintf(out, "\\%c", (char)point);
		else if (!text_is_printable(point) && !(point == 0xfffd && step > 1))
			/* All unprintable code points fit into four hex digits. */
			fprintf(out, "\\u%04x", (unsigned)point);
		else
			fwrite(text + at, 1, step, out);
	}
}

static void write_quoted(FILE *out, const char *text, size_t len)
{
	fputc('"', out);
	write_escaped(out, text, len);
	fputc('"', out);
}

static void json_begin_value(struct json *json, const char *name)
{
	if (json->more)
		fputc(',', json->out);
	json->more = true;
	if (!name)
		return;
	write_quoted(json->out, name, strlen(name));
	fputc(':', json->out);
}

void json_open(struct json *json, const char *name, char bracket)
{
	json_begin_value(json, name);
	fputc(bracket, json->out);
	json->more = false;
}

void json_close(struct json *json, char bracket)
{
	fputc(bracket, json->out);
	json->more = true;
}

void json_string(struct json *json, const char *name, const char *text, size_t len)
{
	json_begin_value(json, name);
	write_quoted(json->out, text, len);
}

void json_text(struct json *json, const char *name, const char *text)
{
	if (text) {
		json_string(json, name, text, strlen(text));
		return;
	}
	json_begin_value(json, name);
	fputs("null", json->out);
}

void json_number(struct json *json, const char *name, uint64_t value)
{
	json_begin_value(json, name);
	fprintf(json->out, "%llu", (unsigned long long)value);
}

void json_integer(struct json *json, const char *name, int64_t value)
{
	json_begin_value(json, name);
	fprintf(json->out, "%lld", (long long)value);
}

/* JSON has no infinities or NaN. */
void json_real(struct json *json, const char *name, double value)
{
	json_begin_value(json, name);
	if (isfinite(value))
		fprintf(json->out, "%.6g", value);
	else
		fputs("null", json->out);
}

void json_bool(struct json *json, const char *name, bool value)
{
	json_begin_value(json, name);
	fputs(value ? "true" : "false", json->out);
}
