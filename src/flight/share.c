/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "flight/share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LEAST_PART (1u << 20)

/* The second mapping is made after the seal, so mprotect() cannot make it writable (mm/memfd.c). */
static int map_both(struct flight_share_owner *owner, int fd)
{
	const size_t size = sizeof(*owner->number);
	void *writable, *readable;

	if (ftruncate(fd, (off_t)size))
		return -errno;
	writable = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (writable == MAP_FAILED)
		return -errno;
	owner->number = writable;
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW))
		return -errno;
	readable = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (readable == MAP_FAILED)
		return -errno;
	owner->shared = readable;
	return 0;
}

int flight_share_open(struct flight_share_owner *owner, struct error *err)
{
	int fd = memfd_create("gotrace-flight", MFD_CLOEXEC | MFD_ALLOW_SEALING), rc;

	*owner = (struct flight_share_owner){NULL, NULL};
	if (fd < 0)
		return error_set(err, errno, "cannot share the limit on memory: %s", strerror(errno));
	rc = map_both(owner, fd);
	close(fd);
	if (rc == 0)
		return 0;
	flight_share_close(owner);
	return error_set(err, -rc, "cannot share the limit on memory: %s", strerror(-rc));
}

void flight_share_give_up(struct flight_share_owner *owner)
{
	if (owner->number)
		munmap(owner->number, sizeof(*owner->number));
	owner->number = NULL;
}

void flight_share_close(struct flight_share_owner *owner)
{
	flight_share_give_up(owner);
	if (owner->shared)
		munmap((void *)(uintptr_t)owner->shared, sizeof(*owner->shared));
	owner->shared = NULL;
}

size_t flight_share_part(const flight_share *share, size_t all)
{
	unsigned recorders = share ? atomic_load(share) : 1;
	size_t part = recorders > 1 ? all / recorders : all;

	if (part >= LEAST_PART)
		return part;
	return all < LEAST_PART ? all : LEAST_PART;
}
