/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/ids.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/ids.skel.h"
#include "bpf/record.h"
#include "target/namespaces.h"

enum { PAIRS_AT_ONCE = 512 };

/* Called with each thread of our namespace. A nonzero result ends the iteration. */
typedef int (*take_pair)(void *ctx, const struct id_pair *pair);

static int take_pairs(int list, take_pair take, void *ctx)
{
	struct id_pair pairs[PAIRS_AT_ONCE];

	for (;;) {
		/* The kernel never splits what it writes for one task, so pairs are complete. */
		ssize_t n = read(list, pairs, sizeof(pairs));
		int rc = 0;

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		for (size_t i = 0; rc == 0 && i < (size_t)n / sizeof(pairs[0]); i++)
			rc = take(ctx, &pairs[i]);
		if (rc)
			return rc;
	}
}

static int ids_read_list(const struct ids_bpf *skeleton, take_pair take, void *ctx)
{
	struct bpf_link *link = bpf_program__attach_iter(skeleton->progs.list_ids, NULL);
	int list = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
	int rc = list < 0 ? -errno : take_pairs(list, take, ctx);

	if (list >= 0)
		close(list);
	bpf_link__destroy(link);
	return rc;
}

static int ids_list_all(const struct features *features, take_pair take, void *ctx, struct error *err)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .btf_custom_path = features->btf);
	struct ids_bpf *skeleton = features->tracing ? ids_bpf__open_opts(&options) : NULL;
	int rc = skeleton ? ids_bpf__load(skeleton) : features->tracing ? -errno : -ENOTSUP;

	if (rc == 0)
		rc = ids_read_list(skeleton, take, ctx);
	ids_bpf__destroy(skeleton);
	if (rc < 0)
		error_set(err, -rc, "cannot find the PIDs outside this pid namespace: %s", strerror(-rc));
	return rc;
}

static int find_pid(void *ctx, const struct id_pair *pair)
{
	struct id_pair *wanted = ctx;

	if (pair->own != wanted->own)
		return 0;
	*wanted = *pair;
	return 1;
}

int ids_outer(const struct features *features, pid_t pid, uint32_t *outer, struct error *err)
{
	struct id_pair pair = {.own = (uint32_t)pid};
	int rc;

	*outer = (uint32_t)pid;
	if (namespace_is_initial(getpid()))
		return 0;
	rc = ids_list_all(features, find_pid, &pair, err);
	if (rc < 0)
		return rc;
	*outer = pair.outer;
	return rc ? 0 : error_set(err, ESRCH, "no process has PID %d", (int)pid);
}

static int find_level(void *ctx, const struct id_pair *pair)
{
	*(uint32_t *)ctx = pair->level;
	return 1;
}

int ids_space(const struct features *features, struct ids_space *space, struct error *err)
{
	struct stat st;
	int rc;

	*space = (struct ids_space){0};
	if (namespace_is_initial(getpid()) || stat("/proc/self/ns/pid", &st))
		return 0;
	space->inode = (uint32_t)st.st_ino;
	rc = ids_list_all(features, find_level, &space->level, err);
	return rc < 0 ? rc : 0;
}

static int put_pair(void *ctx, const struct id_pair *pair)
{
	const int *map = ctx;

	/* If the map is full, the thread is treated as one outside the namespace. */
	bpf_map_update_elem(*map, &pair->outer, &pair->own, BPF_ANY);
	return 0;
}

int ids_fill(const struct features *features, int map, struct error *err)
{
	return ids_list_all(features, put_pair, &map, err);
}
