/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "cli/titles.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/array.h"
#include "util/text.h"

enum { MAX_TITLES = 1 << 16, MAX_SHOWN = TITLE_BYTES - 8 };

#define REFRESH_NS 1000000000ull

void titles_add(struct titles *titles, pid_t pid)
{
	if (titles->n >= MAX_TITLES ||
	    array_grow(&titles->all, &titles->capacity, titles->n + 1, sizeof(*titles->all)))
		return;
	titles->all[titles->n++] = (struct title){.pid = pid};
}

/* Shortens a path to its last component. The text ends at the first NUL. */
static void take_text(struct title *title, char *line)
{
	size_t path = strcspn(line, " ");
	char *slash = line[0] == '/' || line[0] == '.' ? memrchr(line, '/', path) : NULL;
	const char *text = slash ? slash + 1 : line;
	size_t len = (size_t)text_fit(text, MAX_SHOWN);
	struct text shown;

	while (len && text[len - 1] == ' ')
		len--;
	if (!len)
		return;
	shown = text_name(text, len, MAX_SHOWN);
	snprintf(title->text, sizeof(title->text), "%.*s", text_fit(shown.bytes, TITLE_BYTES - 1),
		 shown.bytes);
}

static void read_title(struct title *title)
{
	char path[64], line[1024];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)title->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (n <= 0)
		return;
	line[n] = '\0';
	take_text(title, line);
}

void titles_refresh(struct titles *titles, uint64_t now_ns)
{
	size_t from = titles->fresh;

	if (now_ns >= titles->next_ns) {
		from = 0;
		titles->next_ns = now_ns + REFRESH_NS;
	}
	for (size_t i = from; i < titles->n; i++)
		read_title(&titles->all[i]);
	titles->fresh = titles->n;
}

int titles_save(const struct titles *titles, int fd)
{
	size_t size = titles->n * sizeof(*titles->all);

	return size && write(fd, titles->all, size) != (ssize_t)size ? -EIO : 0;
}

int titles_load(struct titles *titles, int fd)
{
	struct stat st;
	size_t n;

	*titles = (struct titles){0};
	if (fstat(fd, &st))
		return -errno;
	n = (size_t)st.st_size / sizeof(*titles->all);
	if (!n)
		return 0;
	if (n > MAX_TITLES || array_grow(&titles->all, &titles->capacity, n, sizeof(*titles->all)))
		return -ENOMEM;
	if (pread(fd, titles->all, n * sizeof(*titles->all), 0) != (ssize_t)(n * sizeof(*titles->all)))
		return -EIO;
	for (size_t i = 0; i < n; i++)
		titles->all[i].text[TITLE_BYTES - 1] = '\0';
	titles->n = titles->fresh = n;
	return 0;
}

const char *titles_find(const struct titles *titles, pid_t pid)
{
	for (size_t i = titles->n; i-- > 0;) {
		if (titles->all[i].pid == pid && titles->all[i].text[0])
			return titles->all[i].text;
	}
	return NULL;
}

void titles_free(struct titles *titles)
{
	free(titles->all);
	*titles = (struct titles){0};
}
