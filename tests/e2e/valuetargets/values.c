/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Calls of functions with arguments of all kinds, each printed as gotrace shows it. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct address {
	char scheme[8];
	const char *path;
};

struct request {
	int n;
	const char *method;
	struct address *url;
	struct {
		uint16_t size;
		short depth;
	};
	unsigned bits : 3;
};

struct small {
	long left, right;
};

struct large {
	long words[5];
};

enum color { RED = -1, BLUE = 7 };

#define APART __attribute__((noinline, noclone))

APART int handle(int id, const char *name, unsigned char flag, uint64_t big)
{
	printf("handle id=%d name=\"%s\" flag=%u big=%llu\n", id, name, flag, (unsigned long long)big);
	return id + (int)strlen(name);
}

APART int serve(struct request *req, double x, int a, int b, int c, int d, enum color color, int f7, long last)
{
	printf("serve req->url->path=\"%s\" scheme=\"%s\" color=%d last=%ld\n", req->url->path, req->url->scheme,
	       color, last);
	return req->n + (int)x + a + b + c + d + f7;
}

APART int fields(struct request *req, int8_t tiny)
{
	printf("fields req->n=%d req->size=%u req->depth=%d tiny=%d\n", req->n, req->size, req->depth, tiny);
	return req->n;
}

APART long structs(struct small small, struct large large, long last)
{
	printf("structs small.right=%ld last=%ld\n", small.right, last);
	return small.left + large.words[1];
}

/* The place for the result is an argument, too. */
APART struct large result(int id)
{
	struct large large = {{id, id, id}};

	printf("result id=%d\n", id);
	return large;
}

APART void odd(const char *text, const char *expected)
{
	printf("odd text=%s\n", expected);
	(void)text;
}

/* Maps a page of a file without touching it: it is not in the process's page tables. */
static void untouched(const char *path)
{
	int fd = open(path, O_RDONLY);
	char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);

	madvise(page, 4096, MADV_RANDOM);
	odd(page + 1, "\"ELF\\x02\\x01\\x01\"");
}

static void odd_texts(const char *path)
{
	char long_one[300], expected[300];
	char *end = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(long_one, 'y', sizeof(long_one));
	snprintf(expected, sizeof(expected), "\"%.200s\xe2\x80\xa6\"", long_one);
	odd(long_one, expected);
	long_one[200] = '\0';
	snprintf(expected, sizeof(expected), "\"%.200s\"", long_one);
	odd(long_one, expected);
	odd(NULL, "nil");
	untouched(path);
	odd((const char *)16, "?");
	odd((const char *)0xdead000000000000, "?");
	munmap(end + 4096, 4096);
	memcpy(end + 4090, "tail", 5);
	odd(end + 4090, "\"tail\"");
	memset(end + 4090, 'x', 6);
	odd(end + 4090, "?");
	odd("a\"b\\c\n\x1b[31m\xff", "\"a\\\"b\\\\c\\n\\x1b[31m\\xff\"");
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 5;
	char path[64];

	usleep(argc > 2 ? (useconds_t)atoi(argv[2]) * 1000 : 300000); /* until it is traced */
	for (int i = 0; i < n; i++) {
		struct address url = {"http", path};
		struct request req = {-i, "GET", &url, {(uint16_t)(i * 3), (short)-i}, 0};
		struct large large = {{i, 2}};

		snprintf(path, sizeof(path), "/p/%d", i);
		handle(i * 3 - 1, path, (unsigned char)(250 + i), (uint64_t)i << 33);
		serve(&req, 1.5, 1, 2, 3, 4, i % 2 ? RED : BLUE, i * 2, -(long)i << 32);
		fields(&req, (int8_t)-i);
		structs((struct small){i, -i}, large, i * 5);
		result(i);
	}
	odd_texts(argv[0]);
	usleep(100000);
	return 0;
}
