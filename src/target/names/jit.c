/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/names/jit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code/symbol/perf_map.h"
#include "target/namespaces.h"
#include "util/clock.h"
#include "util/files.h"

#define MAX_FILE (256ull << 20) /* bytes that are read at most */
#define MAX_NAME 2048u          /* bytes of a line's name */
#define AT_LEAST 100000000ull   /* ns between two looks at the file */
#define PIECE    (256u << 10)   /* bytes that are read at once */

struct native_jit {
	pid_t pid;
	int root, fd; /* fd: of the file, -1 = none */
	struct perf_map *map;
	dev_t device; /* of the file */
	ino_t inode;
	uint64_t done;      /* bytes of it that are in the map */
	bool in_long_line;  /* the next bytes belong to a line that is left out */
	uint64_t next_look; /* ns */
};

struct jit_path {
	char text[64];
};

/* The file has the id that the process itself sees. */
static struct jit_path jit_path_of(pid_t pid)
{
	struct jit_path path;

	snprintf(path.text, sizeof(path.text), "/tmp/perf-%u.map", namespace_inner_tid(pid, (uint32_t)pid));
	return path;
}

bool native_jit_is_named(pid_t pid)
{
	char path[64];
	bool named;
	int root;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return false;
	named = file_is_cached_in(root, jit_path_of(pid).text);
	close(root);
	return named;
}

struct native_jit *native_jit_new(pid_t pid, int root)
{
	struct native_jit *jit = calloc(1, sizeof(*jit));

	if (!jit)
		return NULL;
	*jit = (struct native_jit){.pid = pid, .root = root, .fd = -1};
	return jit;
}

static void jit_forget(struct native_jit *jit)
{
	if (jit->fd >= 0)
		close(jit->fd);
	perf_map_free(jit->map);
	jit->map = NULL;
	jit->fd = -1;
	jit->done = 0;
	jit->in_long_line = false;
}

void native_jit_free(struct native_jit *jit)
{
	if (!jit)
		return;
	jit_forget(jit);
	free(jit);
}

/* Anyone may write to /tmp, so the file must be the process's own, or root's, as for perf. */
static bool is_by_target(const struct native_jit *jit, const struct stat *st)
{
	struct stat process;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)jit->pid);
	return st->st_uid == 0 || (stat(path, &process) == 0 && process.st_uid == st->st_uid);
}

/* Opens the file, unless it is the one that is open. A file that was replaced is read from its beginning.
 */
static bool open_map(struct native_jit *jit)
{
	struct stat st;
	int fd = file_open_in_plain(jit->root, jit_path_of(jit->pid).text);

	if (fd < 0)
		return jit->fd >= 0; /* removed, or its process is gone: what is known stays true */
	if (fstat(fd, &st) || !is_by_target(jit, &st)) {
		close(fd);
		return false;
	}
	if (jit->fd >= 0 && st.st_dev == jit->device && st.st_ino == jit->inode &&
	    (uint64_t)st.st_size >= jit->done) {
		close(fd);
		return true;
	}
	jit_forget(jit);
	jit->fd = fd;
	jit->device = st.st_dev;
	jit->inode = st.st_ino;
	jit->map = perf_map_new();
	return jit->map;
}

static void read_new_lines(struct native_jit *jit)
{
	char *text = malloc(PIECE);

	while (text && jit->done < MAX_FILE) {
		ssize_t n = pread(jit->fd, text, PIECE, (off_t)jit->done);
		const char *end = n > 0 ? memchr(text, '\n', (size_t)n) : NULL;
		size_t taken;

		if (!end && n < PIECE)
			break;
		/* A line that fills a piece names nothing: it is left out up to its end. */
		if (!end)
			taken = (size_t)n;
		else if (jit->in_long_line)
			taken = (size_t)(end + 1 - text);
		else
			taken = perf_map_add(jit->map, jit->done, text, (size_t)n);
		jit->in_long_line = !end;
		jit->done += taken;
	}
	free(text);
	perf_map_sort(jit->map);
}

static void jit_look(struct native_jit *jit)
{
	uint64_t begin = now_ns(), end;

	if (begin < jit->next_look)
		return;
	if (open_map(jit))
		read_new_lines(jit);
	end = now_ns();
	jit->next_look = end + AT_LEAST + (end - begin) * JIT_PART;
}

bool native_jit_frame(struct native_jit *jit, uint64_t address, struct symbol_draft *draft)
{
	struct perf_map_name place;
	struct jit_name name;
	char text[MAX_NAME];
	ssize_t n;

	if (!jit->map || !perf_map_find(jit->map, address, &place))
		jit_look(jit);
	if (!jit->map || !perf_map_find(jit->map, address, &place))
		return false;
	n = pread(jit->fd, text, place.len < sizeof(text) ? place.len : sizeof(text), (off_t)place.at);
	if (n <= 0)
		return false;
	jit_name_parse(text, (size_t)n, &name);
	draft_begin(draft, draft->head.pc);
	draft_add(draft, name.function, name.file[0] ? name.file : NULL, name.line);
	return true;
}
