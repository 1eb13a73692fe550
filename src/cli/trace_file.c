/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/trace_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/input.h"
#include "target/target.h"
#include "util/message.h"

int trace_file_open_fd(struct trace_file *file, int fd, const char *path, struct error *err)
{
	struct stat st;
	void *bytes = NULL;

	*file = (struct trace_file){.path = path, .bytes = (const uint8_t *)""};
	if (fstat(fd, &st))
		return error_set(err, errno, "cannot read %s: %s", path, strerror(errno));
	if (st.st_size > 0)
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return error_set(err, errno, "cannot read %s: %s", path, strerror(errno));
	if (bytes) {
		file->bytes = bytes;
		file->size = (size_t)st.st_size;
	}
	return 0;
}

int trace_file_open(struct trace_file *file, const char *path, const char *binary, struct error *err)
{
	int fd = input_open_trace(path, false, NULL, err), rc;

	*file = (struct trace_file){.path = path};
	if (fd < 0)
		return fd;
	rc = trace_file_open_fd(file, fd, path, err);
	close(fd);
	return !rc && binary && target_open_file(binary, NULL, &file->binary, err) ? -ENOEXEC : rc;
}

void trace_file_close(struct trace_file *file)
{
	if (file->size)
		munmap((void *)file->bytes, file->size);
	target_free(file->binary);
	*file = (struct trace_file){0};
}

const char *trace_file_name(const struct trace_file *file)
{
	const char *slash = strrchr(file->path, '/');

	return slash ? slash + 1 : file->path;
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

pid_t trace_file_pid(const struct trace_file *file)
{
	const char *name = trace_file_name(file), *dot = strrchr(name, '.');

	if (strncmp(name, "gotrace-", 8) == 0)
		return pid_at(name + 8, '-');
	return dot ? pid_at(dot + 1, '\0') : 0;
}

int trace_file_read(struct trace_file *file, const struct convert_sink *sink, struct error *err)
{
	int rc = convert_trace(file->bytes, file->size, file->binary ? file->binary->functab : NULL, sink,
			       &file->result, err);

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
