/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/trace_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "target/target.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/message.h"

static int open_binary(struct trace_file *file, const char *path, struct error *err)
{
	file->binary_path = path;
	file->binary_fd = file_open(path);
	if (file->binary_fd >= 0)
		return 0;
	error_set(err, -file->binary_fd, "cannot open %s: %s", path, strerror(-file->binary_fd));
	return -ENOEXEC;
}

int trace_file_open(struct trace_file *file, const char *path, const char *binary, struct error *err)
{
	int rc;

	*file = (struct trace_file){.path = path, .binary_fd = -1};
	rc = input_open(&file->in, path, false, err);
	input_need_bytes(&file->in);
	return !rc && binary ? open_binary(file, binary, err) : rc;
}

int trace_file_adopt(struct trace_file *file, int fd, const char *path, struct error *err)
{
	*file = (struct trace_file){.path = path, .binary_fd = -1};
	return input_adopt(&file->in, fd, path, err);
}

int trace_file_begin(struct trace_file *file, struct error *err)
{
	int rc = input_begin_trace(&file->in, err);

	if (!rc && file->binary_fd >= 0 &&
	    target_read_file(file->binary_fd, file->binary_path, NULL, &file->binary, err))
		rc = -ENOEXEC;
	return rc;
}

void trace_file_close(struct trace_file *file)
{
	if (!file->path)
		return;
	input_close(&file->in);
	if (file->binary_fd >= 0)
		close(file->binary_fd);
	target_free(file->binary);
	*file = (struct trace_file){0};
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const char *trace_file_name(const struct trace_file *file)
{
	return last_component(file->path);
}

/* Returns the PID at the start of text if ends_with follows it, or 0. */
static pid_t pid_at(const char *text, char ends_with)
{
	char *end;
	unsigned long pid;

	if (*text < '1' || *text > '9')
		return 0;
	pid = strtoul(text, &end, 10);
	return *end == ends_with && pid <= 1u << 22 ? (pid_t)pid : 0;
}

pid_t trace_file_pid(const char *path)
{
	const char *name = last_component(path), *dot = strrchr(name, '.');

	if (strncmp(name, "gotrace-", 8) == 0)
		return pid_at(name + 8, '-');
	return dot ? pid_at(dot + 1, '\0') : 0;
}

/* Lakes and Perfetto files have such ids: the seed never changes. */
#define ID_SEED 0x676f7472616365ull

void trace_file_id(const struct trace_file *file, uint64_t id[2])
{
	id[0] = hash_bytes(ID_SEED, file->in.bytes, file->in.size);
	id[1] = hash_bytes(ID_SEED + 1, file->in.bytes, file->in.size);
}

int trace_file_read(struct trace_file *file, const struct convert_sink *sink, struct error *err)
{
	int rc = convert_trace(file->in.bytes, file->in.size, file->binary ? file->binary->functab : NULL,
			       sink, &file->result, err);

	if (rc == -EBADMSG && file->result.fault.text[0] && !file->result.generations)
		return error_set(err, EIO, "%s: byte %llu: %s", file->path,
				 (unsigned long long)file->result.error_offset, file->result.fault.text);
	return rc;
}

int trace_file_status(const struct trace_file *file)
{
	struct error fault;

	if (!file->result.fault.text[0])
		return STATUS_WHOLE;
	error_set(&fault, EBADMSG, "%s: byte %llu: %s (everything before it was read)", file->path,
		  (unsigned long long)file->result.error_offset, file->result.fault.text);
	message_error(&fault);
	return STATUS_CUT;
}
