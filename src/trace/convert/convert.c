/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "trace/convert/convert.h"

#include <errno.h>
#include <string.h>

#include "trace/convert/from.h"
#include "trace/wire/read_v1.h"
#include "trace/wire/wire.h"

static int read_trace(const uint8_t *bytes, size_t n, const struct functab *names,
		      const struct convert_sink *sink, struct convert_result *result, struct error *err)
{
	struct builder b;
	int ret;

	*result = (struct convert_result){0};
	err->text[0] = '\0';
	ret = builder_init(&b, sink, result, err);
	if (!ret)
		ret = v1_format(bytes, n) ? from_v1(&b, bytes, n, names) : from_v2(&b, bytes, n);
	builder_free(&b);
	return ret;
}

int convert_trace(const uint8_t *bytes, size_t n, const struct functab *names,
		  const struct convert_sink *sink, struct convert_result *result, struct error *err)
{
	struct convert_sink retry_sink = *sink;
	int ret = read_trace(bytes, n, names, sink, result, err);

	if (ret == -EBADMSG && sink->restart) {
		retry_sink.restart = NULL;
		ret = sink->restart(sink->ctx);
		if (!ret)
			ret = read_trace(bytes, n, names, &retry_sink, result, err);
	}
	/* An inconsistent file is reported like one that breaks its format. */
	if (ret == -EBADMSG && !result->fault.text[0]) {
		result->fault = *err;
		err->text[0] = '\0';
	}
	return ret;
}
