/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Appends protobuf-c messages to a buffer that grows. */
#ifndef GOTRACE_EXPORT_PROTOBUF_H
#define GOTRACE_EXPORT_PROTOBUF_H

#include <protobuf-c/protobuf-c.h>

#include "trace/wire/buffer.h"

/* Appends the bare message: several of one type concatenate to one. Returns 0, or -1 when out of memory. */
static inline int protobuf_append(struct buffer *out, const ProtobufCMessage *message)
{
	size_t size = protobuf_c_message_get_packed_size(message);

	if (buffer_reserve(out, size))
		return -1;
	out->len += protobuf_c_message_pack(message, out->bytes + out->len);
	return 0;
}

/* Appends it as field `number` (below 16) of an enclosing message. Returns as protobuf_append() does. */
static inline int protobuf_append_field(struct buffer *out, unsigned number, const ProtobufCMessage *message)
{
	size_t size = protobuf_c_message_get_packed_size(message), rest = size;

	if (buffer_reserve(out, size + 11))
		return -1;
	out->bytes[out->len++] = (uint8_t)(number << 3 | 2); /* length-delimited */
	for (; rest >= 0x80; rest >>= 7)
		out->bytes[out->len++] = (uint8_t)(rest | 0x80);
	out->bytes[out->len++] = (uint8_t)rest;
	out->len += protobuf_c_message_pack(message, out->bytes + out->len);
	return 0;
}

#endif
