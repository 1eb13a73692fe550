/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Decodes one record of v1 or v0. Rules of all readers: Go 1.21 src/internal/trace/parser.go (readTrace).
 * Rules of newer readers only: Go 1.25 src/internal/trace/internal/tracev1/parser.go (readRawEvent).
 */
#include <errno.h>
#include <inttypes.h>

#include "trace/wire/trace_v1.h"
#include "trace/wire/varint.h"

struct record_reader {
	const struct v1_trace *trace;
	const uint8_t *p, *end;
	uint64_t offset; /* of the record */
	struct fault *fault;
};

#define BAD(place, ...) fault_set((place)->fault, (place)->offset, __VA_ARGS__)

unsigned v1_lead(unsigned format)
{
	return format == WIRE_GO15 ? 2 : 1;
}

/* Most values are one byte long. */
static inline int decode_v1_read_value(struct record_reader *place, uint64_t *v)
{
	int n;

	if (place->p < place->end && *place->p < 0x80) {
		*v = *place->p++;
		return 0;
	}
	n = get_uv(place->p, place->end, v);
	if (n > 0) {
		place->p += n;
		return 0;
	}
	return BAD(place, n == UV_END ? "the file ends in the middle of a record"
				      : "a number in this record has more than 64 bits");
}

static int read_bytes(struct record_reader *place, uint64_t n, uint64_t most, const char *what,
		      struct v1_text *text)
{
	if (n > most)
		return BAD(place, "%s of %" PRIu64 " bytes, at most %" PRIu64 " allowed", what, n, most);
	if (n > (uint64_t)(place->end - place->p))
		return BAD(place,
			   "the file ends in the middle of a record: %" PRIu64 " bytes wanted, %td left", n,
			   place->end - place->p);
	*text = (struct v1_text){place->p, (uint32_t)n};
	place->p += n;
	return 0;
}

static int decode_v1_read_string(struct record_reader *place, struct v1_raw *raw)
{
	if (decode_v1_read_value(place, &raw->values[0]) || decode_v1_read_value(place, &raw->values[1]))
		return -EBADMSG;
	raw->nvalues = 2;
	if (raw->values[0] == 0)
		return BAD(place, "a string has the id 0");
	if (raw->values[1] == 0)
		return BAD(place, "string %" PRIu64 " is empty", raw->values[0]);
	return read_bytes(place, raw->values[1], V1_STRING_LIMIT, "a string", &raw->text);
}

static int decode_v1_take_value(struct record_reader *place, struct v1_raw *raw)
{
	uint64_t v = 0;

	if (decode_v1_read_value(place, &v))
		return -EBADMSG;
	if (raw->nvalues < V1_MAX_VALUES)
		raw->values[raw->nvalues] = v;
	raw->nvalues++;
	return 0;
}

/* Reads the values of a record that states its length. */
static int read_long(struct record_reader *place, struct v1_raw *raw)
{
	const uint8_t *end = place->end;
	struct v1_text body;
	uint64_t len = 0;

	if (decode_v1_read_value(place, &len))
		return -EBADMSG;
	/* Readers from Go 1.23 on, which read these formats, have this limit. */
	if (place->trace->format >= WIRE_GO111 && len > V1_MAX_RECORD)
		return BAD(place, "a record of %" PRIu64 " bytes, at most %d allowed", len, V1_MAX_RECORD);
	if (read_bytes(place, len, UINT32_MAX, "a record", &body))
		return -EBADMSG;
	place->end = place->p;
	place->p = body.bytes;
	while (place->p < place->end)
		if (decode_v1_take_value(place, raw))
			return -EBADMSG;
	place->end = end;
	return 0;
}

static int read_message(struct record_reader *place, struct v1_raw *raw)
{
	uint64_t len = 0;

	if (decode_v1_read_value(place, &len))
		return -EBADMSG;
	return read_bytes(place, len, V1_STRING_LIMIT, "a log message", &raw->text);
}

int v1_decode(const struct v1_trace *trace, uint64_t offset, struct v1_raw *raw, struct fault *fault)
{
	struct record_reader place = {trace, trace->bytes + offset, trace->bytes + trace->n, offset, fault};
	unsigned first = *place.p++, inline_values = first >> V1_COUNT_SHIFT;
	int ret = 0;

	raw->type = first & V1_TYPE_MASK;
	raw->nvalues = 0; /* values beyond nvalues stay unset */
	raw->text = (struct v1_text){NULL, 0};
	if (!event_v1_spec(raw->type, trace->format))
		return BAD(&place, "unknown event type %u", raw->type);
	if (raw->type == V1_STRING)
		ret = decode_v1_read_string(&place, raw);
	else if (inline_values == V1_COUNT_LONG)
		ret = read_long(&place, raw);
	else
		for (unsigned i = 0; i < inline_values + v1_lead(trace->format) && !ret; i++)
			ret = decode_v1_take_value(&place, raw);
	if (!ret && raw->type == V1_USER_LOG)
		ret = read_message(&place, raw);
	raw->end = (uint64_t)(place.p - trace->bytes);
	return ret;
}

void v1_decode_again(const struct v1_trace *trace, uint64_t offset, struct v1_raw *raw)
{
	struct fault none = {0};

	v1_decode(trace, offset, raw, &none);
}

uint64_t v1_arg(const struct v1_trace *trace, const struct v1_raw *raw, unsigned i)
{
	unsigned at = v1_lead(trace->format) + i;

	return at < raw->nvalues && at < V1_MAX_VALUES ? raw->values[at] : 0;
}
