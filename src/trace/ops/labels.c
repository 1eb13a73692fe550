/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/ops/labels.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/utf8.h"

#define CUT "..."

/* --- writing --- */

static int label_text_compare(const char *a, size_t na, const char *b, size_t nb)
{
	size_t n = na < nb ? na : nb;
	int order = n ? memcmp(a, b, n) : 0;

	return order ? order : (na > nb) - (na < nb);
}

static int label_pair_by_key(const void *a, const void *b)
{
	const struct pprof_label *one = a, *two = b;
	int order = label_text_compare(one->key, one->key_len, two->key, two->key_len);

	return order ? order : label_text_compare(one->value, one->value_len, two->value, two->value_len);
}

/* The output buffer. If n exceeds size, the text did not fit. */
struct label_writer {
	char *text;
	size_t n, size;
};

static void label_writer_put(struct label_writer *writer, const char *bytes, size_t n)
{
	if (writer->n + n <= writer->size)
		memcpy(writer->text + writer->n, bytes, n);
	writer->n += n;
}

static void label_writer_put_quoted(struct label_writer *writer, const char *text, size_t len)
{
	static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD, for a byte that is not UTF-8 */
	char escape[8];
	size_t step;

	label_writer_put(writer, "\"", 1);
	for (size_t at = 0; at < len; at += step) {
		uint32_t point = text_next(text + at, len - at, &step);

		if (point == '"' || point == '\\')
			label_writer_put(writer, escape,
					 (size_t)snprintf(escape, sizeof(escape), "\\%c", (char)point));
		else if (point == 0xfffd)
			label_writer_put(writer, replacement, 3);
		else if (!text_is_printable(point))
			label_writer_put(writer, escape,
					 (size_t)snprintf(escape, sizeof(escape), "\\u%04x",
							  (unsigned)point & 0xffff));
		else
			label_writer_put(writer, text + at, step);
	}
	label_writer_put(writer, "\"", 1);
}

size_t labels_write(struct pprof_label *labels, unsigned n, bool cut, char text[LABELS_TEXT_MAX + 1])
{
	struct label_writer writer = {.text = text, .n = 1, .size = LABELS_TEXT_MAX - sizeof("}" CUT)};
	unsigned put_so_far = 0;

	if (n)
		qsort(labels, n, sizeof(*labels), label_pair_by_key);
	text[0] = '{';
	for (unsigned i = 0; i < n; i++) {
		const struct pprof_label *label = &labels[i];
		size_t before = writer.n;

		if (put_so_far)
			label_writer_put(&writer, ", ", 2);
		label_writer_put_quoted(&writer, label->key,
					cut ? text_whole(label->key, label->key_len) : label->key_len);
		label_writer_put(&writer, ":", 1);
		label_writer_put_quoted(&writer, label->value,
					cut ? text_whole(label->value, label->value_len) : label->value_len);
		if (writer.n > writer.size) {
			writer.n = before;
			cut = true;
			continue;
		}
		put_so_far++;
	}
	writer.size = LABELS_TEXT_MAX;
	label_writer_put(&writer, "}", 1);
	if (cut)
		label_writer_put(&writer, CUT, sizeof(CUT) - 1);
	text[writer.n] = '\0';
	return writer.n;
}

/* --- reading --- */

struct label_reader {
	const char *text;
	size_t at, len;
	char *to; /* free bytes of the set */
	char *end;
};

static bool label_reader_take(struct label_reader *reader, char c)
{
	if (reader->at >= reader->len || reader->text[reader->at] != c)
		return false;
	reader->at++;
	return true;
}

static void skip_spaces(struct label_reader *reader)
{
	while (label_reader_take(reader, ' '))
		;
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads four digits after \u. Surrogates, which labels_write does not write, each become U+FFFD. */
static bool read_point(struct label_reader *reader, uint32_t *point)
{
	*point = 0;
	for (int i = 0; i < 4; i++) {
		int digit = reader->at < reader->len ? hex(reader->text[reader->at++]) : -1;

		if (digit < 0)
			return false;
		*point = *point << 4 | (uint32_t)digit;
	}
	if (*point >= 0xd800 && *point < 0xe000)
		*point = 0xfffd;
	return true;
}

static bool put_byte(struct label_reader *reader, uint32_t byte)
{
	if (reader->to == reader->end)
		return false;
	*reader->to++ = (char)byte;
	return true;
}

static bool put_point(struct label_reader *reader, uint32_t point)
{
	if (point < 0x80)
		return put_byte(reader, point);
	if (point < 0x800)
		return put_byte(reader, 0xc0 | point >> 6) && put_byte(reader, 0x80 | (point & 0x3f));
	return put_byte(reader, 0xe0 | point >> 12) && put_byte(reader, 0x80 | (point >> 6 & 0x3f)) &&
	       put_byte(reader, 0x80 | (point & 0x3f));
}

static bool read_escape(struct label_reader *reader)
{
	static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	char c = reader->at < reader->len ? reader->text[reader->at++] : '\0';
	const char *known = c ? strchr(escapes, c) : NULL;
	uint32_t point;

	if (c == 'u')
		return read_point(reader, &point) && put_point(reader, point);
	return known && put_byte(reader, (unsigned char)meant[known - escapes]);
}

/* Reads a character that is not escaped. */
static bool read_character(struct label_reader *reader)
{
	size_t step;
	uint32_t point = text_next(reader->text + reader->at, reader->len - reader->at, &step);

	if (point == 0xfffd ? !put_point(reader, point) : (size_t)(reader->end - reader->to) < step)
		return false;
	if (point != 0xfffd) {
		memcpy(reader->to, reader->text + reader->at, step);
		reader->to += step;
	}
	reader->at += step;
	return true;
}

static bool label_reader_string(struct label_reader *reader, const char **text, uint16_t *len)
{
	*text = reader->to;
	if (!label_reader_take(reader, '"'))
		return false;
	while (reader->at < reader->len) {
		if (label_reader_take(reader, '"')) {
			*len = (uint16_t)(reader->to - *text);
			return true;
		}
		if (label_reader_take(reader, '\\') ? !read_escape(reader) : !read_character(reader))
			return false;
	}
	return false;
}

static bool read_label(struct label_reader *reader, struct labels_read *set)
{
	struct pprof_label label;

	if (!label_reader_string(reader, &label.key, &label.key_len) || !label_reader_take(reader, ':'))
		return false;
	skip_spaces(reader);
	if (!label_reader_string(reader, &label.value, &label.value_len))
		return false;
	if (set->n < LABELS_TEXT_LABELS)
		set->labels[set->n++] = label;
	else
		set->cut = true;
	return true;
}

int labels_parse(const char *text, size_t len, struct labels_read *set)
{
	struct label_reader reader = {
		.text = text, .len = len, .to = set->bytes, .end = set->bytes + sizeof(set->bytes)};

	set->n = 0;
	set->cut = false;
	if (!label_reader_take(&reader, '{'))
		return -EBADMSG;
	if (!label_reader_take(&reader, '}')) {
		do {
			skip_spaces(&reader);
			if (!read_label(&reader, set))
				return -EBADMSG;
		} while (label_reader_take(&reader, ','));
		if (!label_reader_take(&reader, '}'))
			return -EBADMSG;
	}
	if (len - reader.at >= sizeof(CUT) - 1 && memcmp(text + reader.at, CUT, sizeof(CUT) - 1) == 0) {
		reader.at += sizeof(CUT) - 1;
		set->cut = true;
	}
	return (int)reader.at;
}

static bool label_is_text(const char *text, size_t len, const char *wanted)
{
	return label_text_compare(text, len, wanted, strlen(wanted)) == 0;
}

enum labels_log labels_log_kind(const char *category, size_t len)
{
	if (label_is_text(category, len, LABELS_SET))
		return LABELS_LOG_SET;
	if (label_is_text(category, len, LABELS_HELD))
		return LABELS_LOG_HELD;
	return label_is_text(category, len, LABELS_OTHERS) ? LABELS_LOG_OTHERS : LABELS_LOG_NONE;
}

uint64_t labels_next_goid(const char *text, size_t len, size_t *at)
{
	uint64_t goid = 0;

	if (*at >= len || text[*at] != ' ')
		return 0;
	for (++*at; *at < len && text[*at] >= '0' && text[*at] <= '9'; ++*at) {
		if (goid > UINT64_MAX / 10 - 1)
			return 0;
		goid = goid * 10 + (uint64_t)(text[*at] - '0');
	}
	return goid;
}
