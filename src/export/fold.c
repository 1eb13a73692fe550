/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/fold.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/utf8.h"

/* Appends a name, with the characters that separate names and lines replaced. */
static int put_name(struct buffer *out, const char *text, size_t len)
{
	if (buffer_reserve(out, len))
		return -ENOMEM;
	for (size_t at = 0, step; at < len; at += step) {
		uint32_t point = text_next(text + at, len - at, &step);

		memcpy(out->bytes + out->len, text + at, step);
		if (point == ';')
			out->bytes[out->len] = ':';
		else if (!text_is_printable(point))
			memset(out->bytes + out->len, '?', step);
		out->len += step;
	}
	return 0;
}

static int fold_put_string(const struct profiles *ps, struct buffer *out, uint32_t id)
{
	size_t len;
	const char *text = strtab_get(ps->st.strings, id, &len);

	return put_name(out, text, len);
}

static int fold_put_frames(const struct profiles *ps, struct buffer *out, const struct profile_sample *sample)
{
	const struct st_stack *stack = &ps->st.stacks[sample->stack];

	for (uint32_t i = stack->n; i-- > 0;) {
		const struct st_frame *frame = &ps->st.frames[ps->st.frame_ids[stack->first + i]];
		uint32_t name = ps->st.functions[frame->function].name;
		int rc = name ? fold_put_string(ps, out, name) : buffer_append(out, "?", 1);

		if (rc || (i && buffer_append(out, ";", 1)))
			return -ENOMEM;
	}
	if (stack->n)
		return 0;
	if (ps->labels[sample->labels].function)
		return fold_put_string(ps, out, ps->labels[sample->labels].function);
	return buffer_append(out, "[unknown]", 9);
}

static int fold_put_line(const struct profiles *ps, struct buffer *out, const struct profile_sample *sample,
			 uint64_t value)
{
	uint32_t state = ps->labels[sample->labels].state;
	char number[32];
	int n = snprintf(number, sizeof(number), " %llu\n", (unsigned long long)value);

	if (fold_put_frames(ps, out, sample))
		return -ENOMEM;
	if (state &&
	    (buffer_append(out, ";[", 2) || fold_put_string(ps, out, state) || buffer_append(out, "]", 1)))
		return -ENOMEM;
	return buffer_append(out, number, (size_t)n);
}

int fold(const struct profiles *ps, const struct profile *profile, struct buffer *out)
{
	for (size_t i = 0; i < profile->n; i++) {
		const struct profile_sample *sample = &profile->samples[i];
		uint64_t value = profile->kind == PROFILE_CPU ? sample->count : (sample->ns + 500) / 1000;

		if (value && fold_put_line(ps, out, sample, value))
			return -ENOMEM;
	}
	return 0;
}
