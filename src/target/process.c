/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/process.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "target/maps.h"
#include "target/memory.h"
#include "target/private.h"
#include "util/files.h"
#include "util/machine.h"
#include "util/utf8.h"

#define STATUS_BYTES 4096 /* of /proc/PID/status; the lines needed are among the first */

/* Fields of /proc/PID/status. */
struct proc_status {
	char name[64];
	char state;
	pid_t tgid;
	bool has_memory; /* has VmSize: kernel threads and zombies do not */
};

static ssize_t process_read_all(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n;
}

static void process_take_line(struct proc_status *status, const char *line)
{
	if (strncmp(line, "Name:\t", 6) == 0)
		snprintf(status->name, sizeof(status->name), "%.*s", (int)strcspn(line + 6, "\n"), line + 6);
	else if (strncmp(line, "State:\t", 7) == 0)
		status->state = line[7];
	else if (strncmp(line, "Tgid:\t", 6) == 0)
		status->tgid = (pid_t)strtol(line + 6, NULL, 10);
	else if (strncmp(line, "VmSize:", 7) == 0)
		status->has_memory = true;
}

static int read_status(const char *proc, pid_t pid, struct proc_status *status)
{
	char path[4096], text[STATUS_BYTES];
	ssize_t n;

	*status = (struct proc_status){.tgid = pid};
	snprintf(path, sizeof(path), "%s/%d/status", proc, (int)pid);
	n = process_read_all(path, text, sizeof(text));
	if (n < 0)
		return (int)n;
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		process_take_line(status, line);
	}
	return 0;
}

static int refuse_thread(const char *proc, pid_t tid, const struct proc_status *thread, struct error *err)
{
	struct proc_status process;

	if (read_status(proc, thread->tgid, &process))
		process = *thread;
	return error_set(err, EINVAL, "%d is a thread of process %d (%s): trace the process with -p %d",
			 (int)tid, (int)thread->tgid, process.name, (int)thread->tgid);
}

/* Checks what the kernel reports about the process. */
static int check_status(const char *proc, pid_t pid, struct proc_status *status, struct error *err)
{
	int rc = read_status(proc, pid, status);

	if (rc == -ENOENT || rc == -ESRCH)
		return error_set(err, ESRCH, "no process has PID %d: use pgrep -a NAME to find it", (int)pid);
	if (rc)
		return error_set(err, -rc, "PID %d: cannot read its status: %s", (int)pid, strerror(-rc));
	if (status->tgid != pid)
		return refuse_thread(proc, pid, status, err);
	if (status->state == 'Z' || status->state == 'X')
		return error_set(
			err, ENOTSUP,
			"PID %d (%s) is a zombie: it has ended, and its parent has not waited for it",
			(int)pid, status->name);
	if (!status->has_memory)
		return error_set(err, ENOTSUP, "PID %d (%s) is a kernel thread: give the PID of a process",
				 (int)pid, status->name);
	return 0;
}

/* Checks the first bytes of an executable. */
static int check_header(const uint8_t *bytes, size_t n, const char *label, struct error *err)
{
	Elf64_Ehdr header;

	if (n < EI_NIDENT || memcmp(bytes, ELFMAG, SELFMAG))
		return error_set(err, ENOEXEC, "%s: its executable is not an ELF file", label);
	if (bytes[EI_CLASS] == ELFCLASS32)
		return error_set(err, ENOTSUP, "%s is a 32-bit program: gotrace traces 64-bit programs only",
				 label);
	if (n < sizeof(header))
		return error_set(err, EBADMSG, "%s has a damaged or truncated executable", label);
	memcpy(&header, bytes, sizeof(header));
	if (header.e_machine != OWN_MACHINE)
		return error_set(err, ENOTSUP,
				 "%s is a program for an architecture other than " OWN_MACHINE_NAME, label);
	return 0;
}

static int process_refuse_exe(int code, const char *label, struct error *err)
{
	if (code == EACCES || code == EPERM)
		return error_set(err, EPERM, "%s: permission denied: %s", label, memory_how_to_be_allowed());
	if (code == ENOENT || code == ESRCH)
		return error_set(err, ESRCH, "%s has just ended", label);
	return error_set(err, code, "%s: cannot open its executable: %s", label, strerror(code));
}

static int check_opened(int fd, const char *label, struct error *err)
{
	uint8_t bytes[sizeof(Elf64_Ehdr)];
	ssize_t n;
	int rc;

	if (fd < 0)
		return process_refuse_exe(-fd, label, err);
	n = read(fd, bytes, sizeof(bytes));
	rc = n < 0 ? process_refuse_exe(errno, label, err) : check_header(bytes, (size_t)n, label, err);
	close(fd);
	return rc;
}

static int check_running(pid_t pid, const char *label, struct error *err)
{
	uint8_t bytes[sizeof(Elf64_Ehdr)];
	size_t n;
	int fd = maps_open_exe_header(pid, bytes, sizeof(bytes), &n);

	if (fd < 0)
		return process_refuse_exe(-fd, label, err);
	close(fd);
	return check_header(bytes, n, label, err);
}

int process_check(const char *proc, pid_t pid, struct error *err)
{
	struct proc_status status;
	char path[4096], label[96];
	int rc = check_status(proc, pid, &status, err);

	if (rc)
		return rc;
	snprintf(label, sizeof(label), "PID %d (%s)", (int)pid, status.name);
	if (strcmp(proc, "/proc") == 0)
		return check_running(pid, label, err);
	snprintf(path, sizeof(path), "%s/%d/exe", proc, (int)pid);
	return check_opened(file_open(path), label, err);
}

int process_open_pidfd(pid_t pid, struct error *err)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0); /* Linux 5.3; glibc has a wrapper since 2.36 */

	int code = errno;

	if (fd >= 0)
		return fd;
	/* A thread's id gives EINVAL, or ENOENT from Linux 6.9 on: process_check() explains it. */
	if (process_check("/proc", pid, err))
		return -ESRCH;
	return error_set(err, code, "cannot watch PID %d: %s", (int)pid, strerror(code));
}

int process_check_file(const char *path, struct error *err)
{
	return check_opened(file_open(path), path, err);
}

void process_comm(pid_t pid, char comm[16])
{
	char path[64], text[32];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	n = process_read_all(path, text, sizeof(text));
	if (n > 0 && text[n - 1] == '\n')
		text[--n] = '\0';
	text[n > 0 ? text_whole(text, n < 15 ? (size_t)n : 15) : 0] =
		'\0'; /* the kernel cuts it after 15 bytes */
	snprintf(comm, 16, "%.15s", text);
}

void process_open(struct process *process, pid_t pid)
{
	ssize_t n;

	*process = (struct process){.pid = pid};
	snprintf(process->exe, sizeof(process->exe), "/proc/%d/exe", (int)pid);
	n = readlink(process->exe, process->path, sizeof(process->path) - 1);
	process->path[n > 0 ? n : 0] = '\0';
	process_comm(pid, process->comm);
	snprintf(process->label, sizeof(process->label), "PID %d (%s)", (int)pid, process->comm);
}

void process_open_file(struct process *process, const char *path)
{
	const char *slash = strrchr(path, '/');

	*process = (struct process){.pid = 0};
	snprintf(process->exe, sizeof(process->exe), "%s", path);
	snprintf(process->path, sizeof(process->path), "%s", path);
	snprintf(process->comm, sizeof(process->comm), "%.*s", text_fit(slash ? slash + 1 : path, 15),
		 slash ? slash + 1 : path);
	snprintf(process->label, sizeof(process->label), "%.*s", text_fit(path, 63), path);
}

int process_log_target(const struct process *process, unsigned extra_flags, log_sink sink, void *ctx,
		       struct error *err)
{
	struct log_target head = {
		.pid = (uint32_t)process->pid,
		.flags = LOG_TARGET_THREADS | LOG_TARGET_OWN | extra_flags,
		.clock = target_clock(),
	};
	struct log_record record = {.type = LOG_TARGET, .size = sizeof(head), .data = &head};
	int rc;

	memcpy(head.comm, process->comm, sizeof(head.comm));
	memcpy(head.exe, process->path, sizeof(head.exe));
	rc = sink(ctx, &record);
	return rc ? error_set(err, -rc, "cannot write the log: %s", strerror(-rc)) : 0;
}

int process_log_info(const struct process *process, unsigned extra_flags, log_sink sink, void *ctx,
		     struct error *err)
{
	int rc = process_log_target(process, extra_flags, sink, ctx, err);

	return rc ? rc : target_log_mappings(process->pid, sink, ctx, err);
}
