/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/analyse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/input.h"
#include "util/message.h"
#include "wire/read_v1.h"
#include "wire/wire.h"

int trace_input_map(struct trace_input *input, int fd, uint64_t size, struct error *err)
{
	void *bytes = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;

	if (bytes == MAP_FAILED)
		return error_set(err, errno, "cannot read %s: %s", input->name, strerror(errno));
	input->bytes = bytes;
	input->size = size;
	return 0;
}

int trace_input_open(struct trace_input *input, const char *path, struct error *err)
{
	uint64_t size = 0;
	int fd = input_open(path, false, &size, err), ret;

	*input = (struct trace_input){.name = path, .file = path};
	if (fd < 0)
		return fd;
	ret = trace_input_map(input, fd, size, err);
	close(fd);
	return ret;
}

void trace_input_close(struct trace_input *input)
{
	if (input->bytes)
		munmap(input->bytes, input->size);
	input->bytes = NULL;
}

int trace_input_read(const struct trace_input *input, const struct convert_sink *sink, bool *cut,
		     struct error *err)
{
	const uint8_t *bytes = input->bytes ? input->bytes : (const uint8_t *)"";
	struct convert_result result;
	struct error fault;
	bool was_cut = *cut;
	int ret = convert_trace(bytes, input->size, NULL, sink, &result, err);

	if (!result.fault.text[0])
		return ret;
	*cut = true;
	error_set(&fault, EBADMSG, "%s: byte %llu: %s%s", input->name,
		  (unsigned long long)result.error_offset, result.fault.text,
		  result.generations ? " (everything before it was read)" : "");
	if (!result.generations) {
		*err = fault;
		return -EBADMSG;
	}
	if (!was_cut)
		message_error(&fault);
	return 0;
}

struct one_pass {
	struct analysis_options options;
	struct analysis *a;
};

static int take_generation(void *ctx, const struct generation *gen)
{
	struct one_pass *pass = ctx;

	return analysis_generation(pass->a, gen);
}

static int begin_again(void *ctx)
{
	struct one_pass *pass = ctx;

	analysis_free(pass->a);
	pass->a = analysis_new(&pass->options);
	return pass->a ? 0 : -ENOMEM;
}

int trace_input_analyse(const struct trace_input *input, struct analysis **a, bool *cut, struct error *err)
{
	struct one_pass pass = {
		.options = {
			.name = input->name,
			.file = input->file,
			.short_calls = input->bytes && v1_format(input->bytes, input->size) != WIRE_NONE,
			.host = input->host,
			.by_label = input->by_label,
			.label = input->label,
		}};
	const struct convert_sink sink = {
		.generation = take_generation, .restart = begin_again, .ctx = &pass, .source_times = true};
	int ret = begin_again(&pass);

	if (!ret)
		ret = trace_input_read(input, &sink, cut, err);
	*a = pass.a;
	if (!ret)
		ret = analysis_end(*a);
	if (ret && !err->text[0])
		error_set(err, -ret, "out of memory");
	return ret;
}
