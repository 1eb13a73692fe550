/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/rights.h"

/* A key that is forgotten is asked for again. */
enum { TOLD_MAX = 1 << 20, TEXT_ROOM = 512 };

/* A file that was closed before it was asked for may be open the next time. */
enum { TRIES = 8, TOLD = TRIES };

bool files_is_new(const struct files *files, uint64_t key)
{
	const uint32_t *tries = WAIT_KIND(key) != FILE_NONE ? map64_get(&files->told, key) : NULL;

	return WAIT_KIND(key) != FILE_NONE && (!tries || *tries < TOLD);
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

/* What is behind the descriptor now need not be what was: then nothing is said. */
static void describe(struct files *files, uint64_t key, char *text, size_t size)
{
	struct rights before = rights_to_read(); /* the directory is its owner's alone */
	unsigned long long inode;
	struct stat st;
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd/%u", (int)files->pid, WAIT_FD(key));
	n = readlink(path, text, size - 1);
	if (stat(path, &st) || wait_mark(st.st_ino) != WAIT_MARK(key))
		n = 0;
	rights_restore(&before);
	text[n > 0 ? n : 0] = '\0';
	if (sscanf(text, "socket:[%llu]", &inode) == 1)
		sockets_describe(&files->sockets, files->pid, inode, text, size);
	else
		files_shorten(text);
}

int files_tell(struct files *files, uint64_t key, log_sink sink, void *ctx)
{
	struct {
		struct log_file head;
		char text[TEXT_ROOM];
	} file = {.head = {.key = key}};
	struct log_record record = {.type = LOG_FILE, .data = &file};

	const uint32_t *tries;

	if (files->told.count >= TOLD_MAX)
		map64_clear(&files->told);
	tries = map64_get(&files->told, key);
	describe(files, key, file.text, sizeof(file.text));
	if (map64_set(&files->told, key, file.text[0] ? TOLD : tries ? *tries + 1 : 1))
		return -ENOMEM;
	if (!file.text[0] && tries)
		return 0;
	file.head.len = (uint32_t)strlen(file.text);
	record.size = (uint32_t)(sizeof(file.head) + file.head.len);
	return sink(ctx, &record);
}

size_t files_told(const struct files *files)
{
	return files->told.count;
}

void files_forget(struct files *files)
{
	map64_clear(&files->told);
}

void files_free(struct files *files)
{
	map64_free(&files->told);
	sockets_free(&files->sockets);
}
