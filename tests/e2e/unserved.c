/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A program whose threads sleep with their stacks in a file of its own file system (FUSE), which never
 * answers a read: reading such a stack waits in the kernel. unserved DIRECTORY: where to mount it; needs
 * root.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, THREADS = 8, SECONDS = 120 };

static const struct fuse_attr file_attr = {
	.ino = 2, .size = 2 * THREADS * PAGE, .mode = S_IFREG | 0644, .nlink = 1, .blksize = PAGE};
static const struct fuse_attr root_attr = {.ino = 1, .mode = S_IFDIR | 0755, .nlink = 2, .blksize = PAGE};

static void reply(int fuse, uint64_t unique, int error, const void *bytes, size_t size)
{
	char message[sizeof(struct fuse_out_header) + 256];
	struct fuse_out_header head = {
		.len = (uint32_t)(sizeof(head) + size), .error = error, .unique = unique};

	memcpy(message, &head, sizeof(head));
	if (size)
		memcpy(message + sizeof(head), bytes, size);
	if (write(fuse, message, sizeof(head) + size) < 0)
		_exit(1);
}

static void answer(int fuse, const struct fuse_in_header *in)
{
	struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = PAGE};
	struct fuse_entry_out entry = {.nodeid = 2, .attr = file_attr};
	struct fuse_attr_out attr = {.attr = in->nodeid == 1 ? root_attr : file_attr};
	struct fuse_open_out opened = {.fh = 1};

	switch (in->opcode) {
	case FUSE_INIT:
		reply(fuse, in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		reply(fuse, in->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		reply(fuse, in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		reply(fuse, in->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
	case FUSE_FORGET:
	case FUSE_INTERRUPT:
		break; /* never */
	default:
		reply(fuse, in->unique, -ENOSYS, NULL, 0);
	}
}

static void serve(int fuse)
{
	static char request[64 * PAGE];

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	for (;;) {
		ssize_t n = read(fuse, request, sizeof(request));

		if (n < 0 && errno == ENODEV)
			_exit(0);
		if (n >= (ssize_t)sizeof(struct fuse_in_header))
			answer(fuse, (const void *)request);
	}
}

static int mount_on(const char *directory)
{
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[128];

	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fuse);
	if (fuse < 0 || mount("unserved", directory, "fuse", MS_NOSUID | MS_NODEV, options)) {
		perror("fuse");
		exit(77);
	}
	return fuse;
}

/* Sleeps for good, without touching that stack. */
static void *sleep_there(void *stack)
{
#if defined(__x86_64__)
	register long number __asm__("rax") = 34; /* pause */

	__asm__ volatile("mov %1, %%rsp\n1: mov $34, %%eax\n\tsyscall\n\tjmp 1b"
			 : "+r"(number)
			 : "r"(stack)
			 : "rcx", "r11", "memory");
#else
	(void)stack;
#endif
	return NULL;
}

int main(int argc, char **argv)
{
	char path[4096];
	char *bytes;
	int fuse, fd;

	if (argc < 2)
		return 2;
	fuse = mount_on(argv[1]);
	if (fork() == 0)
		serve(fuse);
	close(fuse);
	snprintf(path, sizeof(path), "%s/file", argv[1]);
	fd = open(path, O_RDWR);
	bytes = fd < 0 ? MAP_FAILED
		       : mmap(NULL, 2 * THREADS * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED) {
		perror(path);
		return 1;
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, sleep_there, bytes + (2 * i + 1) * PAGE + PAGE / 2);
	}
	usleep(200000);
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < SECONDS * 100; i++)
		usleep(10000);
	return 0;
}
