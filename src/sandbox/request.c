/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sandbox/request.h"

#include <ctype.h>
#include <elf.h>
#include <fcntl.h>
#include <string.h>

#include "util/text.h"

bool request_flags_are_harmless(uint64_t flags)
{
	const uint64_t harmless = O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_DIRECTORY | O_NOFOLLOW | O_PATH |
				  0100000u; /* O_LARGEFILE, which libc's header defines as 0 */

	return (flags & O_ACCMODE) == O_RDONLY && !(flags & ~harmless);
}

/* Parses a decimal number without sign or leading zero, in the range of pids. */
static bool take_number(const char **at, uint64_t *value)
{
	const char *start = *at;

	*value = 0;
	for (; **at >= '0' && **at <= '9'; (*at)++) {
		*value = *value * 10 + (uint64_t)(**at - '0');
		if (*value > INT_MAX)
			return false;
	}
	return *at > start && *start != '0';
}

static bool take_pid(const char **at, pid_t *pid)
{
	uint64_t value;
	bool is_one = take_number(at, &value);

	*pid = is_one ? (pid_t)value : 0;
	return is_one;
}

static bool is_hex(const char **at)
{
	const char *start = *at;

	while ((**at >= '0' && **at <= '9') || (**at >= 'a' && **at <= 'f'))
		(*at)++;
	return *at > start && *at - start <= 16;
}

/* map_files/A-B */
static bool is_map_file(const char *rest)
{
	static const char dir[] = "map_files/";

	if (strncmp(rest, dir, sizeof(dir) - 1) != 0)
		return false;
	rest += sizeof(dir) - 1;
	if (!is_hex(&rest) || *rest++ != '-')
		return false;
	return is_hex(&rest) && !*rest;
}

/* task/TID/NAME: files of a thread that reveal no more than the process's. */
static bool is_of_thread(const char *rest)
{
	static const char *const names[] = {"comm", "stat", "status", "syscall"};
	pid_t tid;

	if (strncmp(rest, "task/", 5) != 0)
		return false;
	rest += 5;
	return take_pid(&rest, &tid) && *rest == '/' && text_is_one_of(rest + 1, names, 4);
}

static enum request_kind request_kind_of_path(const char *rest)
{
	static const char *const texts[] = {"maps", "comm", "stat", "status", "task"};

	if (text_is_one_of(rest, texts, sizeof(texts) / sizeof(texts[0])) || is_of_thread(rest))
		return REQUEST_PROC;
	if (strcmp(rest, "exe") == 0 || is_map_file(rest))
		return REQUEST_LINK;
	if (strcmp(rest, "root") == 0)
		return REQUEST_ROOT;
	return strncmp(rest, "root/", 5) == 0 ? REQUEST_IN_ROOT : REQUEST_REFUSED;
}

/* Kernel file systems have no programs. */
static bool is_of_kernel(const char *path)
{
	static const char *const dirs[] = {"/proc", "/sys", "/dev"};

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		size_t len = strlen(dirs[i]);

		if (strncmp(path, dirs[i], len) == 0 && (path[len] == '/' || !path[len]))
			return true;
	}
	return false;
}

void request_parse(const char *path, struct request *request)
{
	const char *at = path + 6;

	*request = (struct request){.kind = REQUEST_REFUSED};
	if (!*path || strlen(path) >= sizeof(request->rest))
		return;
	if (strncmp(path, "/proc/", 6) == 0) {
		if (!take_pid(&at, &request->pid) || (*at && *at != '/'))
			return;
		if (!*at++) {
			request->kind = REQUEST_PROCESS;
			strcpy(request->rest, ".");
			return;
		}
		request->kind = request_kind_of_path(at);
		strcpy(request->rest, request->kind == REQUEST_IN_ROOT ? at + 4 : at);
	} else if (strncmp(path, REQUEST_SHARED_AT, sizeof(REQUEST_SHARED_AT) - 1) == 0) {
		at = path + sizeof(REQUEST_SHARED_AT) - 1;
		if (take_number(&at, &request->number) && !*at)
			request->kind = REQUEST_SHARED;
	} else if (strcmp(path, "/") == 0) {
		request->kind = REQUEST_OWN_ROOT;
	} else if (!is_of_kernel(path)) {
		request->kind = REQUEST_FILE;
		strcpy(request->rest, path);
	}
}

bool request_is_program(const uint8_t *bytes, size_t n)
{
	Elf64_Ehdr header;

	if (n < EI_NIDENT + sizeof(header.e_type) || memcmp(bytes, ELFMAG, SELFMAG))
		return false;
	/* The type directly follows the identification in both ELF classes. */
	memcpy(&header.e_type, bytes + EI_NIDENT, sizeof(header.e_type));
	return header.e_type == ET_EXEC || header.e_type == ET_DYN;
}

bool request_is_perf_map(const char *path)
{
	static const char begin[] = "/tmp/perf-";
	size_t digits;

	if (strncmp(path, begin, sizeof(begin) - 1))
		return false;
	path += sizeof(begin) - 1;
	digits = strspn(path, "0123456789");
	return digits && strcmp(path + digits, ".map") == 0;
}

bool request_begins_perf_map(const uint8_t *bytes, size_t n)
{
	unsigned digits = 0, numbers = 0;

	for (size_t i = 0; i < n && numbers < 2; i++) {
		if (bytes[i] == ' ' && digits) {
			numbers++;
			digits = 0;
		} else if (isxdigit(bytes[i]) || (bytes[i] == 'x' && digits == 1)) {
			digits++;
		} else {
			return false;
		}
	}
	return numbers == 2;
}
