/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Threads that wait for sockets, pipes, files and pages. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "target.h"

enum { CLIENTS = 4, FILE_BYTES = 16 << 20, PAGE = 4096 };

/* Forks a child process that dies with its parent. Returns 0 in the child. */
static pid_t fork_child(const char *name)
{
	pid_t child = fork();

	if (child < 0)
		fail("fork");
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, name);
		alarm(0);
	}
	return child;
}

/* --- a server --- */

static int listen_at(struct sockaddr_in *address)
{
	socklen_t size = sizeof(*address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	*address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (fd < 0 || bind(fd, (struct sockaddr *)address, size) || listen(fd, 16) ||
	    getsockname(fd, (struct sockaddr *)address, &size))
		fail("listen");
	return fd;
}

/* A client: asks, waits for the answer, thinks for a while, asks again. */
static void client(const struct sockaddr_in *address)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char text[64] = "request";

	if (fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof(*address)))
		fail("connect");
	while (write(fd, text, sizeof(text)) > 0 && read(fd, text, sizeof(text)) > 0)
		pause_us(500);
	exit(0);
}

static FRAME void answer(int fd)
{
	char text[64];
	ssize_t n = read(fd, text, sizeof(text));

	spin_us(30);
	if (n > 0)
		n = write(fd, text, (size_t)n);
	if (n <= 0)
		close(fd);
	NO_TAIL_CALL();
}

static FRAME void serve_once(int poll)
{
	struct epoll_event events[4];
	int n = epoll_wait(poll, events, 4, -1);

	for (int i = 0; i < n; i++)
		answer(events[i].data.fd);
}

static FRAME void *server(void *arg)
{
	for (;;)
		serve_once(*(int *)arg);
	return arg;
}

void mode_epoll(void)
{
	static int polls[2];
	struct sockaddr_in address;
	int door = listen_at(&address);

	for (int i = 0; i < CLIENTS; i++)
		if (fork_child("client") == 0)
			client(&address);
	for (int i = 0; i < 2; i++)
		polls[i] = epoll_create1(0);
	for (int i = 0; i < CLIENTS; i++) {
		int fd = accept(door, NULL, NULL);

		epoll_ctl(polls[i % 2], EPOLL_CTL_ADD, fd, &(struct epoll_event){EPOLLIN, {.fd = fd}});
	}
	for (int i = 0; i < 2; i++)
		start_thread("server", server, &polls[i]);
}

/* --- pipes --- */

static FRAME void produce(int fd)
{
	char text[512] = "";

	if (write(fd, text, sizeof(text)) != (ssize_t)sizeof(text))
		fail("write to the pipe");
	NO_TAIL_CALL();
}

static FRAME void consume(int fd)
{
	char text[512];

	if (read(fd, text, sizeof(text)) <= 0)
		fail("read from the pipe");
	NO_TAIL_CALL();
}

static FRAME void *producer(void *arg)
{
	for (;;) {
		produce(((int *)arg)[1]);
		spin_us(40);
	}
	return arg;
}

static FRAME void *consumer(void *arg)
{
	for (;;) {
		consume(((int *)arg)[0]);
		spin_us(10);
	}
	return arg;
}

void mode_pipe(void)
{
	static int ends[2];

	if (pipe(ends))
		fail("pipe");
	start_thread("consumer", consumer, ends);
	start_thread("producer", producer, ends);
}

void mode_pipe2(void)
{
	static int ends[2];

	if (pipe(ends))
		fail("pipe");
	if (fork_child("feeder") == 0) {
		for (;;) {
			produce(ends[1]);
			pause_us(500);
		}
	}
	start_thread("consumer", consumer, ends);
}

/* --- pages and disks --- */

static FRAME int touch(const volatile char *page)
{
	return *page;
}

static FRAME int read_pages(const char *pages)
{
	int sum = 0;

	for (long at = 0; at < FILE_BYTES; at += PAGE)
		sum += touch(pages + at);
	return sum;
}

/* In every round none of the file's pages is in memory. */
static FRAME void *page_reader(void *arg)
{
	int fd = *(int *)arg;

	for (;;) {
		char *pages = mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED, fd, 0);

		if (pages == MAP_FAILED || madvise(pages, FILE_BYTES, MADV_RANDOM))
			fail("mmap");
		read_pages(pages);
		munmap(pages, FILE_BYTES);
		if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
			fail("fadvise");
	}
	return arg;
}

void mode_fault(void)
{
	static int fd;

	fd = scratch_file(FILE_BYTES);
	if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		fail("fadvise");
	start_thread("pages", page_reader, &fd);
}

static FRAME void keep(int fd, long at)
{
	static char block[PAGE];

	if (pwrite(fd, block, sizeof(block), at) != (ssize_t)sizeof(block) || fsync(fd))
		fail("write");
	NO_TAIL_CALL();
}

static FRAME void *disk_writer(void *arg)
{
	for (long at = 0;; at = (at + PAGE) % FILE_BYTES)
		keep(*(int *)arg, at);
	return arg;
}

static FRAME void fetch(int fd, long at)
{
	static _Alignas(PAGE) char block[PAGE];

	if (pread(fd, block, sizeof(block), at) <= 0)
		fail("read");
	NO_TAIL_CALL();
}

static FRAME void *disk_reader(void *arg)
{
	for (long at = 0;; at = (at + PAGE) % FILE_BYTES)
		fetch(*(int *)arg, at);
	return arg;
}

void mode_disk(void)
{
	static int files[2];
	char name[64];
	int file = scratch_file(FILE_BYTES);

	/* Bypasses the page cache. */
	snprintf(name, sizeof(name), "/proc/self/fd/%d", file);
	files[0] = scratch_file(FILE_BYTES);
	files[1] = open(name, O_RDONLY | O_DIRECT);
	if (files[1] < 0)
		fail("O_DIRECT");
	start_thread("writer", disk_writer, &files[0]);
	start_thread("reader", disk_reader, &files[1]);
}
