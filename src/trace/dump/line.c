/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/dump/line.h"

#include <errno.h>
#include <inttypes.h>

#include "util/json.h"
#include "util/text.h"

static struct line_field *add_field(struct line *line, const char *name)
{
	struct line_field *field = &line->fields[line->nfields < LINE_MAX_FIELDS ? line->nfields++ : 0];

	*field = (struct line_field){.name = name};
	return field;
}

void line_add_number(struct line *line, const char *name, uint64_t value)
{
	add_field(line, name)->value = value;
}

void line_add_text(struct line *line, const char *name, const char *bytes, size_t len)
{
	struct line_field *field = add_field(line, name);

	field->is_text = true;
	field->text = (struct line_text){bytes, len};
}

/* --- text --- */

static void line_put_text(const struct line_text *text, FILE *out)
{
	size_t step;

	for (size_t at = 0; at < text->len; at += step) {
		uint32_t point = text_next(text->bytes + at, text->len - at, &step);

		if (point == '"' || point == '\\')
			fprintf(out, "\\%c", (char)point);
		else if (text_is_printable(point))
			fwrite(text->bytes + at, 1, step, out);
		else
			fprintf(out, "\\u%04x", (unsigned)point);
	}
}

static void line_put_quoted(const struct line_text *text, FILE *out)
{
	putc('"', out);
	line_put_text(text, out);
	putc('"', out);
}

static void put_context(char letter, uint64_t id, FILE *out)
{
	if (id == LINE_NONE)
		fprintf(out, " %c=-", letter);
	else
		fprintf(out, " %c=%" PRIu64, letter, id);
}

static void line_put_field(const struct line_field *field, FILE *out)
{
	fprintf(out, " %s=", field->name);
	if (field->is_text)
		line_put_quoted(&field->text, out);
	else if (field->value == LINE_NONE)
		fputs("-1", out);
	else
		fprintf(out, "%" PRIu64, field->value);
}

static void line_put_frame(const struct line_frame *frame, FILE *out)
{
	fprintf(out, "%16s0x%" PRIx64, "", frame->pc);
	if (frame->func.len) {
		putc(' ', out);
		line_put_text(&frame->func, out);
	}
	if (frame->file.len) {
		putc(' ', out);
		line_put_text(&frame->file, out);
		fprintf(out, ":%" PRIu64, frame->line);
	}
	putc('\n', out);
}

static void line_print(const struct line *line, FILE *out)
{
	fprintf(out, "%15" PRId64 " %s", line->time, line->name);
	put_context('M', line->m, out);
	put_context('P', line->p, out);
	put_context('G', line->g, out);
	for (unsigned i = 0; i < line->nfields; i++)
		line_put_field(&line->fields[i], out);
	if (line->stack)
		fprintf(out, " stack=%" PRIu64, line->stack);
	putc('\n', out);
	for (size_t i = 0; line->frames && i < line->nframes; i++)
		line_put_frame(&line->frames[i], out);
}

/* --- JSON --- */

static void put_id(struct json *json, const char *name, uint64_t id)
{
	if (id == LINE_NONE)
		json_text(json, name, NULL);
	else
		json_number(json, name, id);
}

static void put_args(struct json *json, const struct line *line)
{
	json_open(json, "args", '{');
	for (unsigned i = 0; i < line->nfields; i++) {
		const struct line_field *field = &line->fields[i];

		if (field->is_text)
			json_string(json, field->name, field->text.bytes, field->text.len);
		else
			put_id(json, field->name, field->value);
	}
	json_close(json, '}');
}

static void line_put_frames(struct json *json, const struct line *line)
{
	json_open(json, "frames", '[');
	for (size_t i = 0; i < line->nframes; i++) {
		const struct line_frame *frame = &line->frames[i];

		json_open(json, NULL, '{');
		json_string(json, "func", frame->func.bytes, frame->func.len);
		json_string(json, "file", frame->file.bytes, frame->file.len);
		json_number(json, "line", frame->line);
		json_number(json, "pc", frame->pc);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void line_print_json(const struct line *line, FILE *out)
{
	struct json json = {.out = out};

	json_open(&json, NULL, '{');
	json_integer(&json, "time", line->time);
	json_text(&json, "name", line->name);
	put_id(&json, "m", line->m);
	put_id(&json, "p", line->p);
	put_id(&json, "g", line->g);
	put_args(&json, line);
	json_number(&json, "stack", line->stack);
	json_number(&json, "offset", line->offset);
	if (line->frames)
		line_put_frames(&json, line);
	json_close(&json, '}');
	putc('\n', out);
}

int line_write(const struct line *line, bool json, FILE *out)
{
	if (json)
		line_print_json(line, out);
	else
		line_print(line, out);
	if (!ferror(out))
		return 0;
	return errno ? -errno : -EIO;
}
