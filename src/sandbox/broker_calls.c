/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Handles requests to the broker, in the thread that serves the client. */
#include "sandbox/broker_state.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "target/maps.h"
#include "util/files.h"
#include "util/rights.h"

enum {
	PIECES = 1024, /* UIO_MAXIOV: most iovecs in one call */
	SECONDS = 10,  /* of allowance that a client can accumulate */
};

#define OPENS_PER_SECOND 5000
#define CALLS_PER_SECOND 200000
#define BYTES_PER_SECOND (4ll << 30)

/* --- allowances --- */

static void budget_refill(int64_t *left, int64_t a_second, uint64_t ns)
{
	uint64_t most = (uint64_t)a_second * SECONDS;

	ns = ns < SECONDS * 1000000000ull ? ns : SECONDS * 1000000000ull;
	*left += (int64_t)((double)a_second * (double)ns / 1e9);
	if (*left > (int64_t)most)
		*left = (int64_t)most;
}

bool allowance_take(struct allowance *allowance, uint64_t now_ns, unsigned opens)
{
	uint64_t ns = now_ns - allowance->filled_ns;

	if (ns >= 10000000) {
		budget_refill(&allowance->opens, OPENS_PER_SECOND, ns);
		budget_refill(&allowance->calls, CALLS_PER_SECOND, ns);
		budget_refill(&allowance->bytes, BYTES_PER_SECOND, ns);
		allowance->filled_ns = now_ns;
	}
	if (allowance->opens < opens || allowance->calls < 1 || allowance->bytes < 1)
		return false;
	allowance->opens -= opens;
	allowance->calls--;
	return true;
}

/* --- files --- */

/* Passes on a regular file only if it is of this kind, by its first bytes. */
static int only_of_kind(int fd, bool (*is_of_kind)(const uint8_t *bytes, size_t n))
{
	uint8_t bytes[64];
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return fd;
	n = fstat(fd, &st) || !S_ISREG(st.st_mode) ? -1 : pread(fd, bytes, sizeof(bytes), 0);
	if (n > 0 && is_of_kind(bytes, (size_t)n))
		return fd;
	close(fd);
	/* The caller distinguishes files that are of another kind. */
	return n >= 0 && S_ISREG(st.st_mode) ? -ENOEXEC : -EACCES;
}

/* Passes on only programs, whatever else is mapped or found at a path. */
static int only_program(int fd)
{
	return only_of_kind(fd, request_is_program);
}

/* No link may lead a name that anyone may take to another file. */
static int open_below_root(int root, const char *path)
{
	if (request_is_perf_map(path))
		return only_of_kind(file_open_in_plain(root, path), request_begins_perf_map);
	return only_program(file_open_in(root, path));
}

static int open_in_root(const struct held_process *process, const char *path)
{
	int root = openat(process->dir, "root", O_PATH | O_DIRECTORY | O_CLOEXEC), fd;

	if (root < 0)
		return -errno;
	fd = only_program(file_open_in(root, path));
	close(root);
	return fd;
}

static int or_errno(int fd)
{
	return fd < 0 ? -errno : fd;
}

/* Opens a file of the process, which only its owner may access. */
static int open_own(const struct held_process *process, const char *rest, bool link, int flags)
{
	struct rights before = rights_to_read();
	int fd = link ? file_open_at(process->dir, rest)
		      : or_errno(openat(process->dir, rest, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | flags));

	rights_restore(&before);
	return fd;
}

/* A file that the user names must be readable by the user. A worker that asks for another one gets no program
 * by way of the processes' directories in /proc. */
static int open_users(const char *path)
{
	struct rights before = rights_as_user();
	int fd = file_open_on_disk(path);

	rights_restore(&before);
	return fd;
}

/* Returns a descriptor or a negative errno. */
static int open_request(struct server *server, const struct request *request, uint64_t flags)
{
	const struct held_process *process = request->pid ? server_process(server, request->pid) : NULL;

	if (request->pid && !process)
		return -EACCES;
	if (request->kind != REQUEST_PROC && server_must_refuse(server))
		return -EIO;
	switch (request->kind) {
	case REQUEST_PROC:
		return open_own(process, request->rest, false, (int)(flags & O_DIRECTORY));
	case REQUEST_LINK:
		return only_program(open_own(process, request->rest, true, 0));
	/* Without O_PATH: the kernel does not pass such descriptors (kernel/seccomp.c, fget). */
	case REQUEST_ROOT:
		return or_errno(openat(process->dir, request->rest, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	case REQUEST_OWN_ROOT:
		return or_errno(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	case REQUEST_IN_ROOT:
		return open_in_root(process, request->rest);
	case REQUEST_SHARED:
		return only_program(server_file(server, request->number));
	case REQUEST_FILE:
		return only_program(open_users(request->rest));
	default:
		return -EACCES;
	}
}

/* --- a worker's memory --- */

static bool client_take_bytes(const struct client *client, uint64_t address, void *to, size_t size)
{
	return pread(client->memory, to, size, (off_t)address) == (ssize_t)size;
}

/* The following page may not be mapped. */
static bool take_path(const struct client *client, uint64_t address, char path[PATH_MAX])
{
	ssize_t n = pread(client->memory, path, PATH_MAX, (off_t)address);

	return n > 0 && memchr(path, '\0', (size_t)n);
}

static bool client_take_request(const struct client *client, uint64_t address, struct request *request)
{
	char path[PATH_MAX];

	if (!take_path(client, address, path))
		return false;
	request_parse(path, request);
	return true;
}

/* --- system calls of workers --- */

static struct answer nothing_but(int64_t value)
{
	return (struct answer){.value = value, .fd = -1};
}

static struct answer with_fd(int fd)
{
	return (struct answer){.value = fd < 0 ? fd : 0, .fd = fd < 0 ? -1 : fd};
}

/* Answers with bytes in the server's buffer, for an address in the window. */
static struct answer with_bytes(const struct server *server, uint64_t to, size_t size, int64_t value)
{
	const struct window *window = &server->client->theirs;
	uint64_t at = to - (uintptr_t)window->bytes;

	if (at >= window->size || size > window->size - at)
		return nothing_but(-EFAULT);
	return (struct answer){.value = value, .fd = -1, .bytes = server->part, .size = size, .to = to};
}

static struct answer server_answer_open(struct server *server, uint64_t path, uint64_t flags)
{
	struct request request;
	struct answer answer;

	if (!client_take_request(server->client, path, &request))
		return nothing_but(-EFAULT);
	answer = with_fd(request_flags_are_harmless(flags) ? open_request(server, &request, flags) : -EACCES);
	answer.is_root = request.kind == REQUEST_ROOT || request.kind == REQUEST_OWN_ROOT;
	return answer;
}

/* Opens a file below a root that was passed earlier. */
static struct answer answer_open_below(struct server *server, const uint64_t *args)
{
	const struct client *client = server->client;
	struct open_how how = {0};
	char path[PATH_MAX];

	if (args[3] != sizeof(how) || !client_take_bytes(client, args[2], &how, sizeof(how)) ||
	    !take_path(client, args[1], path))
		return nothing_but(-EFAULT);
	if (!request_flags_are_harmless(how.flags) || how.mode || !(how.resolve & RESOLVE_IN_ROOT))
		return nothing_but(-EACCES);
	if (server_must_refuse(server))
		return nothing_but(-EIO);
	for (unsigned i = 0; i < client->nroots; i++) {
		if (client->roots[i].theirs == (int)args[0])
			return with_fd(open_below_root(client->roots[i].ours, path));
	}
	return nothing_but(-EACCES);
}

/* A link may lead to a file that does not respond, so use only the attributes that are already known. */
static int stat_known(int dir, const char *path, uint64_t flags, struct stat *st)
{
	struct rights before = rights_to_read();
	int rc = file_stat_at(dir, path, (int)(flags & AT_SYMLINK_NOFOLLOW), st);

	rights_restore(&before);
	return rc;
}

static struct answer answer_stat(struct server *server, uint64_t path, uint64_t to, uint64_t flags)
{
	const struct held_process *process;
	struct request request;
	struct stat st;
	int rc;

	if (!client_take_request(server->client, path, &request))
		return nothing_but(-EFAULT);
	process = request.pid ? server_process(server, request.pid) : NULL;
	if (!process ||
	    (request.kind != REQUEST_PROC && request.kind != REQUEST_LINK && request.kind != REQUEST_PROCESS))
		return nothing_but(-EACCES);
	rc = stat_known(process->dir, request.rest, flags, &st);
	if (rc || !to)
		return nothing_but(rc);
	memcpy(server->part, &st, sizeof(st));
	return with_bytes(server, to, sizeof(st), 0);
}

static struct answer answer_link(struct server *server, uint64_t path, uint64_t to, uint64_t size)
{
	const struct held_process *process;
	struct request request;
	ssize_t n;

	if (!client_take_request(server->client, path, &request))
		return nothing_but(-EFAULT);
	process = request.pid ? server_process(server, request.pid) : NULL;
	if (!process || request.kind != REQUEST_LINK)
		return nothing_but(-EACCES);
	n = readlinkat(process->dir, request.rest, (char *)server->part, size < PATH_MAX ? size : PATH_MAX);
	return n < 0 ? nothing_but(-errno) : with_bytes(server, to, (size_t)n, n);
}

/* process_vm_readv(pid, local, 1, remote, n, 0), for as many bytes as fit into the window. */
static struct answer answer_memory(struct server *server, const uint64_t *args)
{
	const struct client *client = server->client;
	struct held_process *process = server_process(server, (pid_t)args[0]);
	struct iovec local, pieces[PIECES];
	ssize_t n;

	if (!process)
		return nothing_but(-EPERM);
	if (args[2] != 1 || args[4] > PIECES || args[5] ||
	    !client_take_bytes(client, args[1], &local, sizeof(local)) ||
	    !client_take_bytes(client, args[3], pieces, args[4] * sizeof(*pieces)) ||
	    local.iov_len > WINDOW_BYTES)
		return nothing_but(-EINVAL);
	if (server_must_refuse(server))
		return nothing_but(-EIO);
	n = held_process_read(process, server->part, local.iov_len, pieces, args[4]);
	return n < 0 ? nothing_but(n) : with_bytes(server, (uintptr_t)local.iov_base, (size_t)n, n);
}

struct answer answer_call(struct server *server, const struct seccomp_data *call)
{
	const uint64_t *args = (const uint64_t *)call->args;

	switch (call->nr) {
	case SYS_openat:
		return server_answer_open(server, args[1], args[2]);
	case SYS_openat2:
		return answer_open_below(server, args);
	case SYS_newfstatat:
		return answer_stat(server, args[1], args[2], args[3]);
	case SYS_faccessat:
	case SYS_faccessat2:
		return answer_stat(server, args[1], 0, 0);
	case SYS_readlinkat:
		return answer_link(server, args[1], args[2], args[3]);
	case SYS_process_vm_readv:
		return answer_memory(server, args);
#ifdef SYS_open
	case SYS_open:
		return server_answer_open(server, args[0], args[1]);
	case SYS_stat:
		return answer_stat(server, args[0], args[1], 0);
	case SYS_lstat:
		return answer_stat(server, args[0], args[1], AT_SYMLINK_NOFOLLOW);
	case SYS_access:
		return answer_stat(server, args[0], 0, 0);
	case SYS_readlink:
		return answer_link(server, args[0], args[1], args[2]);
#endif
	default:
		return nothing_but(-EPERM);
	}
}

/* --- questions of the privileged process --- */

/* Returns an O_PATH handle of the file: closing that later cannot block. */
static int without_reading(int fd)
{
	char path[64];
	int handle;

	if (fd < 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	handle = or_errno(open(path, O_PATH | O_CLOEXEC));
	close(fd);
	return handle;
}

static struct answer server_read_memory(struct server *server, const struct broker_message *message)
{
	struct held_process *process = server_process(server, message->pid);
	size_t pieces = message->path_len / sizeof(message->pieces[0]);
	ssize_t n = process ? held_process_read(process, server->part, WINDOW_BYTES, message->pieces,
						pieces < BROKER_PIECES ? pieces : BROKER_PIECES)
			    : -ESRCH;

	return (struct answer){.value = n, .fd = -1, .bytes = server->part, .size = n > 0 ? (size_t)n : 0};
}

/* Copies the text to anonymous memory, where reading cannot block. */
static int copy_text(const struct maps *maps)
{
	int fd = memfd_create("gotrace-maps", MFD_CLOEXEC);
	size_t done = 0;

	while (fd >= 0 && done < maps->len) {
		ssize_t n = write(fd, maps->text + done, maps->len - done);

		if (n <= 0) {
			close(fd);
			return -ENOMEM;
		}
		done += (size_t)n;
	}
	return fd >= 0 && lseek(fd, 0, SEEK_SET) == 0 ? fd : -ENOMEM;
}

static struct answer server_read_maps(const struct broker_message *message)
{
	struct error err;
	struct maps maps;
	int fd = maps_read(message->pid, &maps, &err);

	if (fd == 0) {
		fd = copy_text(&maps);
		maps_free(&maps);
	}
	return with_fd(fd);
}

static struct answer server_open_mapping(const struct broker_message *message)
{
	const struct proc_mapping mapping = {
		.start = message->start,
		.end = message->end,
		.inode = message->inode,
		.major = message->major,
		.minor = message->minor,
		.path = message->path,
		.path_len = message->path_len,
	};

	return with_fd(without_reading(maps_open_file(message->pid, &mapping)));
}

static struct answer server_open_exe(struct server *server, const struct broker_message *message)
{
	size_t size = message->size < WINDOW_BYTES ? message->size : WINDOW_BYTES, got = 0;
	struct answer answer =
		with_fd(without_reading(maps_open_exe_header(message->pid, server->part, size, &got)));

	answer.bytes = server->part;
	answer.size = answer.fd < 0 ? 0 : got;
	return answer;
}

static struct answer ask_if_lost(int fd)
{
	char byte;

	return nothing_but(fd >= 0 && pread(fd, &byte, 1, 0) == 0);
}

struct answer answer_question(struct server *server, const struct broker_message *message, int fd)
{
	if (server_must_refuse(server))
		return nothing_but(message->ask == BROKER_LOST ? 0 : -EIO);
	switch (message->ask) {
	case BROKER_MEMORY:
		return server_read_memory(server, message);
	case BROKER_MAPS:
		return server_read_maps(message);
	case BROKER_MAPPING:
		return server_open_mapping(message);
	case BROKER_EXE:
		return server_open_exe(server, message);
	case BROKER_LOST:
		return ask_if_lost(fd);
	default:
		return nothing_but(-EINVAL);
	}
}
