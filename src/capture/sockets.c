/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"

enum {
	SHARE = 50,  /* reading takes at most 1/SHARE of the time */
	MIN_MS = 20, /* minimum interval between readings */
	TEXT_MAX_BYTES = 64 << 20,
	MAX_LINES = 20000, /* of a table: the rings are not drained while it is read */
	NAME_MAX_BYTES = 160,
};

#define LISTENING 10u /* TCP_LISTEN, include/net/tcp_states.h */

/* Parses the words of an address, each printed in host byte order: net/ipv4/tcp_ipv4.c,
 * net/ipv6/tcp_ipv6.c. */
static bool parse_address(const char *hex, size_t digits, char *text, socklen_t size)
{
	uint32_t words[4] = {0};
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	for (size_t i = 0; i < digits / 8; i++) {
		char word[9] = {0};

		memcpy(word, hex + 8 * i, 8);
		words[i] = (uint32_t)strtoul(word, NULL, 16);
	}
	if (digits == 8)
		return inet_ntop(AF_INET, words, text, size);
	if (memcmp(words, mapped, sizeof(mapped)) == 0)
		return inet_ntop(AF_INET, &words[3], text, size);
	text[0] = '[';
	if (!inet_ntop(AF_INET6, words, text + 1, size - 2))
		return false;
	strcat(text, "]");
	return true;
}

bool sockets_parse_inet(const char *line, uint64_t *inode, char *text, size_t size)
{
	char local[33], peer[33], address[INET6_ADDRSTRLEN + 2];
	unsigned local_port, peer_port, state;
	unsigned long long number;
	bool listens;

	if (sscanf(line, " %*u: %32[0-9A-Fa-f]:%x %32[0-9A-Fa-f]:%x %x %*s %*s %*s %*u %*u %llu", local,
		   &local_port, peer, &peer_port, &state, &number) != 6)
		return false;
	if ((strlen(local) != 8 && strlen(local) != 32) || strlen(local) != strlen(peer))
		return false;
	listens = state == LISTENING || !peer_port;
	if (!parse_address(listens ? local : peer, strlen(peer), address, sizeof(address)))
		return false;
	*inode = number;
	snprintf(text, size, "%s%s:%u", listens ? "listening on " : "", address,
		 listens ? local_port : peer_port);
	return true;
}

bool sockets_parse_unix(const char *line, uint64_t *inode, char *text, size_t size)
{
	unsigned long long number;
	int at = 0;

	if (sscanf(line, "%*x: %*x %*x %*x %*x %*x %llu%n", &number, &at) != 1 || !at)
		return false;
	while (line[at] == ' ')
		at++;
	*inode = number;
	snprintf(text, size, "unix%s%.*s", line[at] && line[at] != '\n' ? " " : "",
		 (int)strcspn(line + at, "\n"), line + at);
	return true;
}

static int sockets_keep(struct sockets *sockets, uint64_t inode, const char *text)
{
	size_t len = strlen(text) + 1;

	if (!inode)
		return 0;
	if (sockets->size + len > sockets->capacity) {
		size_t capacity = 2 * (sockets->capacity + len) + 4096;
		char *more = capacity > TEXT_MAX_BYTES ? NULL : realloc(sockets->text, capacity);

		if (!more)
			return -ENOMEM;
		sockets->text = more;
		sockets->capacity = capacity;
	}
	memcpy(sockets->text + sockets->size, text, len);
	if (map64_set(&sockets->known, inode, (uint32_t)sockets->size))
		return -ENOMEM;
	sockets->size += len;
	return 0;
}

static void sockets_read_table(struct sockets *sockets, pid_t pid, const char *name,
			       bool (*parse)(const char *, uint64_t *, char *, size_t))
{
	char path[64], line[512], text[NAME_MAX_BYTES];
	unsigned lines = 0;
	uint64_t inode;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, name);
	file = fopen(path, "re");
	while (file && lines++ < MAX_LINES && fgets(line, sizeof(line), file)) {
		if (parse(line, &inode, text, sizeof(text)) && sockets_keep(sockets, inode, text))
			break;
	}
	if (file)
		fclose(file);
}

static void read_tables(struct sockets *sockets, pid_t pid)
{
	uint64_t begin = now_ns(), took, pause;

	map64_clear(&sockets->known);
	sockets->size = 0;
	sockets_read_table(sockets, pid, "tcp", sockets_parse_inet);
	sockets_read_table(sockets, pid, "tcp6", sockets_parse_inet);
	sockets_read_table(sockets, pid, "udp", sockets_parse_inet);
	sockets_read_table(sockets, pid, "udp6", sockets_parse_inet);
	sockets_read_table(sockets, pid, "unix", sockets_parse_unix);
	took = now_ns() - begin;
	pause = took * SHARE > MIN_MS * 1000000ull ? took * SHARE : MIN_MS * 1000000ull;
	sockets->next_ns = begin + pause;
}

void sockets_describe(struct sockets *sockets, pid_t pid, uint64_t inode, char *text, size_t size)
{
	const uint32_t *found = inode ? map64_get(&sockets->known, inode) : NULL;

	if (!found && inode && now_ns() >= sockets->next_ns) {
		read_tables(sockets, pid);
		found = map64_get(&sockets->known, inode);
	}
	snprintf(text, size, "%s", found ? sockets->text + *found : "socket");
}

void sockets_free(struct sockets *sockets)
{
	map64_free(&sockets->known);
	free(sockets->text);
}
