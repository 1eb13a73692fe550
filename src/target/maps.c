/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "target/memory.h"
#include "target/reads.h"
#include "util/files.h"
#include "util/machine.h"
#include "util/rights.h"

/* vm.max_map_count (65,530 by default) lines of about a hundred bytes; more is rejected. */
#define MAX_TEXT (64u << 20)
#define CHUNK    (64u << 10)

static int maps_read_all(int fd, struct maps *maps)
{
	for (;;) {
		char *bigger = realloc(maps->text, maps->len + CHUNK);
		ssize_t n;

		if (!bigger)
			return -ENOMEM;
		maps->text = bigger;
		n = read(fd, maps->text + maps->len, CHUNK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
		maps->len += (size_t)n;
		if (maps->len > MAX_TEXT)
			return -EFBIG;
	}
}

static int open_text(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int maps_read(pid_t pid, struct maps *maps, struct error *err)
{
	const struct target_reads *reads = target_reads();
	char path[64];
	int fd, rc;

	*maps = (struct maps){.len = 0};
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = reads ? reads->maps(reads->ctx, pid) : open_text(path);
	rc = fd < 0 ? fd : maps_read_all(fd, maps);
	if (fd >= 0)
		close(fd);
	if (rc == 0)
		return 0;
	maps_free(maps);
	if (rc == -ENOENT || rc == -ESRCH)
		return error_set(err, ESRCH, "PID %d is gone", (int)pid);
	if (rc == -EACCES || rc == -EPERM)
		return error_set(err, EPERM, "cannot read %s: %s", path, memory_how_to_be_allowed());
	return error_set(err, -rc, "cannot read %s: %s", path, strerror(-rc));
}

/* --- the mapped file --- */

/*
 * The directory is readable only by its owner, so this needs a capability. Following the link involves no
 * path look-up.
 */
static int open_by_link(pid_t pid, const struct proc_mapping *mapping)
{
	struct rights before = rights_to_read();
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)pid,
		 (unsigned long long)mapping->start, (unsigned long long)mapping->end);
	fd = file_open(path);
	rights_restore(&before);
	return fd;
}

/* File systems whose device in /proc/PID/maps can differ from stat's (subvolumes; layers). */
static bool has_other_device(int fd)
{
	static const unsigned long types[] = {0x9123683e, 0x794c7630}; /* linux/magic.h: btrfs, overlayfs */
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return false;
	return (unsigned long)fs.f_type == types[0] || (unsigned long)fs.f_type == types[1];
}

static bool is_mapped_file(int fd, const struct proc_mapping *mapping)
{
	struct stat st;

	if (fstat(fd, &st) || !mapping->inode || st.st_ino != mapping->inode)
		return false;
	return st.st_dev == makedev(mapping->major, mapping->minor) || has_other_device(fd);
}

static int open_in(int root, const struct proc_mapping *mapping, const char *path)
{
	int fd = file_open_in(root, path);

	if (fd < 0 || is_mapped_file(fd, mapping))
		return fd;
	close(fd);
	return -ENOENT;
}

/*
 * A \012 in the path may be part of the name, or a newline that the kernel escaped: tries both. A name that
 * contains both is not found.
 */
static int open_either(int root, const struct proc_mapping *mapping)
{
	char path[PATH_MAX];
	int fd;

	if (mapping->path_len >= sizeof(path) || !mapping->path_len || mapping->path[0] != '/')
		return -ENOENT;
	memcpy(path, mapping->path, mapping->path_len);
	path[mapping->path_len] = '\0';
	fd = open_in(root, mapping, path);
	return fd < 0 && maps_unescape(path) ? open_in(root, mapping, path) : fd;
}

/*
 * For use without the right to open map_files: opens the path in the process's root, then in ours, and checks
 * that it is the mapped file. A process that called chroot sees its paths from its own root.
 */
static int open_by_path(pid_t pid, const struct proc_mapping *mapping)
{
	char path[64];
	int root, fd;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = open_either(root, mapping);
	if (root >= 0)
		close(root);
	if (fd >= 0)
		return fd;
	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = open_either(root, mapping);
	if (root >= 0)
		close(root);
	return fd;
}

int maps_open_file(pid_t pid, const struct proc_mapping *mapping)
{
	const struct target_reads *reads = target_reads();
	int fd;

	if (reads)
		return reads->file(reads->ctx, pid, mapping);
	fd = open_by_link(pid, mapping);
	if (fd >= 0)
		return fd;
	return fd == -EINVAL ? -ENOENT : open_by_path(pid, mapping);
}

int maps_open_exe_header(pid_t pid, void *header, size_t size, size_t *got)
{
	const struct target_reads *reads = target_reads();
	struct rights before;
	char path[64];
	ssize_t n;
	int fd;

	if (reads)
		return reads->exe(reads->ctx, pid, header, size, got);
	before = rights_to_read();
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	fd = file_open(path);
	rights_restore(&before);
	n = fd < 0 || !size ? 0 : pread(fd, header, size, 0);
	*got = n > 0 ? (size_t)n : 0;
	return fd;
}

int maps_open_exe(pid_t pid)
{
	size_t got;

	return maps_open_exe_header(pid, NULL, 0, &got);
}

bool maps_unescape(char *path)
{
	char *to = path;
	bool changed = false;

	for (const char *from = path; *from; to++) {
		bool newline = strncmp(from, "\\012", 4) == 0;

		*to = newline ? '\n' : *from;
		from += newline ? 4 : 1;
		changed |= newline;
	}
	*to = '\0';
	return changed;
}

void maps_free(struct maps *maps)
{
	free(maps->text);
	*maps = (struct maps){.len = 0};
}

struct maps_line {
	const char *at, *end;
};

/* Parses a hexadecimal or decimal number that is followed by the character `after`. */
static bool maps_number(struct maps_line *line, unsigned base, char after, uint64_t *value)
{
	const char *start = line->at;

	*value = 0;
	for (; line->at < line->end; line->at++) {
		char c = *line->at;
		unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
				 : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
							: 16;

		if (digit >= base)
			break;
		if (*value > (UINT64_MAX - digit) / base)
			return false;
		*value = *value * base + digit;
	}
	if (line->at == start)
		return false;
	/* Without a path, the line ends after the inode. */
	if (line->at == line->end)
		return after == '\n';
	if (*line->at != after && !(after == '\n' && *line->at == ' '))
		return false;
	line->at++;
	return true;
}

/* start-end perms offset major:minor inode   path (fs/proc/task_mmu.c, show_map_vma) */
static bool parse_line(struct maps_line line, struct proc_mapping *mapping)
{
	uint64_t major, minor;

	if (!maps_number(&line, 16, '-', &mapping->start) || !maps_number(&line, 16, ' ', &mapping->end) ||
	    line.end - line.at < 5 || line.at[4] != ' ')
		return false;
	mapping->executable = line.at[2] == 'x';
	line.at += 5;
	if (!maps_number(&line, 16, ' ', &mapping->offset) || !maps_number(&line, 16, ':', &major) ||
	    !maps_number(&line, 16, ' ', &minor) || !maps_number(&line, 10, '\n', &mapping->inode))
		return false;
	while (line.at < line.end && *line.at == ' ')
		line.at++;
	mapping->major = (unsigned)major;
	mapping->minor = (unsigned)minor;
	mapping->path = line.at;
	mapping->path_len = (size_t)(line.end - line.at);
	return mapping->start < mapping->end;
}

bool maps_next(const char *text, size_t len, size_t *at, struct proc_mapping *mapping)
{
	while (*at < len) {
		const char *start = text + *at, *newline = memchr(start, '\n', len - *at);
		struct maps_line line = {.at = start, .end = newline ? newline : text + len};

		*at = (size_t)(line.end - text) + 1;
		if (parse_line(line, mapping))
			return true;
	}
	return false;
}

/* Computes the bias if this mapping contains the start of an executable segment of the image. */
static bool bias_by(const struct proc_mapping *mapping, const struct image *image, uint64_t *bias)
{
	const uint64_t in_page = page_bytes() - 1;

	for (unsigned i = 0; mapping->executable && i < image->n; i++) {
		const struct segment *segment = &image->segments[i];

		/* The kernel maps whole pages. */
		if (segment->executable && mapping->offset == (segment->offset & ~in_page)) {
			*bias = mapping->start - (segment->address & ~in_page);
			return true;
		}
	}
	return false;
}

enum { BY_DEVICE, BY_INODE, BY_PATH, KEYS };

static bool is_of_file(const struct proc_mapping *mapping, int key, uint64_t device, uint64_t inode,
		       const char *exe)
{
	if (key == BY_PATH)
		return exe && mapping->path_len == strlen(exe) &&
		       !memcmp(mapping->path, exe, mapping->path_len);
	if (!mapping->inode || mapping->inode != inode)
		return false;
	return key == BY_INODE || makedev(mapping->major, mapping->minor) == device;
}

int maps_bias(const struct maps *maps, const struct image *image, uint64_t device, uint64_t inode,
	      const char *exe, uint64_t *bias)
{
	struct proc_mapping mapping;

	for (int key = 0; key < KEYS; key++) {
		size_t at = 0;

		while (maps_next(maps->text, maps->len, &at, &mapping)) {
			if (is_of_file(&mapping, key, device, inode, exe) && bias_by(&mapping, image, bias))
				return 0;
		}
	}
	return -ENOENT;
}

int maps_open_inode(pid_t pid, uint64_t device, uint64_t inode)
{
	struct proc_mapping mapping;
	struct error err;
	struct maps maps;
	int fd = -ENOENT;

	if (maps_read(pid, &maps, &err))
		return -ENOENT;
	for (int key = 0; key < BY_PATH && fd < 0; key++) {
		size_t at = 0;

		while (fd < 0 && maps_next(maps.text, maps.len, &at, &mapping)) {
			if (mapping.executable && is_of_file(&mapping, key, device, inode, NULL))
				fd = maps_open_file(pid, &mapping);
		}
	}
	maps_free(&maps);
	return fd;
}
