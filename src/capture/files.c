/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/files.h"
#include "util/rights.h"

/* At LOGGED_MAX keys, all are forgotten, and are looked up again. */
enum { LOGGED_MAX = 1 << 20, MAX_TEXT = 512 };

/* If a file was closed before it was looked up, the next lookup may find it open. */
enum { TRIES = 8, LOGGED = TRIES };

bool files_is_unknown(const struct files *files, uint64_t key)
{
	const uint32_t *tries;

	if (WAIT_KIND(key) == FILE_NONE || WAIT_IS_FUTEX(key))
		return false;
	tries = map64_get(&files->logged, key);
	return !tries || *tries < LOGGED;
}

/* "pipe:[81]", "anon_inode:[eventfd]", "anon_inode:inotify" (fs/anon_inodes.c, fs/pipe.c) */
void files_shorten(char *link)
{
	static const char anon[] = "anon_inode:";
	char *text = link, *end;

	if (strncmp(link, anon, sizeof(anon) - 1) == 0)
		text += sizeof(anon) - 1;
	if (strncmp(link, "pipe:[", 6) == 0)
		link[4] = '\0';
	if (*text == '[')
		text++;
	end = text > link ? strchr(text, ']') : NULL;
	if (end)
		*end = '\0';
	memmove(link, text, strlen(text) + 1);
	if (strcmp(link, "eventpoll") == 0)
		strcpy(link, "epoll");
}

/* If the descriptor refers to something else by now, leaves the text empty. */
static void files_describe_key(struct files *files, uint64_t key, char *text, size_t size)
{
	struct rights before = rights_to_read(); /* only the owner may search the directory */
	unsigned long long inode;
	struct stat st;
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd/%u", (int)files->pid, WAIT_FD(key));
	n = readlink(path, text, size - 1);
	if (file_stat_at(AT_FDCWD, path, 0, &st) || wait_mark(st.st_ino) != WAIT_MARK(key))
		n = 0;
	rights_restore(&before);
	text[n > 0 ? n : 0] = '\0';
	if (sscanf(text, "socket:[%llu]", &inode) == 1)
		sockets_describe(&files->sockets, files->pid, inode, text, size);
	else
		files_shorten(text);
}

int files_describe(struct files *files, uint64_t key, log_sink sink, void *ctx)
{
	struct {
		struct log_file head;
		char text[MAX_TEXT];
	} file = {.head = {.key = key}};
	struct log_record record = {.type = LOG_FILE, .data = &file};

	const uint32_t *tries;

	if (files->logged.count >= LOGGED_MAX)
		map64_clear(&files->logged);
	tries = map64_get(&files->logged, key);
	files_describe_key(files, key, file.text, sizeof(file.text));
	if (map64_set(&files->logged, key, file.text[0] ? LOGGED : tries ? *tries + 1 : 1))
		return -ENOMEM;
	if (!file.text[0] && tries)
		return 0;
	file.head.len = (uint32_t)strlen(file.text);
	record.size = (uint32_t)(sizeof(file.head) + file.head.len);
	return sink(ctx, &record);
}

size_t files_count(const struct files *files)
{
	return files->logged.count;
}

void files_forget(struct files *files)
{
	map64_clear(&files->logged);
}

void files_free(struct files *files)
{
	map64_free(&files->logged);
	sockets_free(&files->sockets);
}
