/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/ids.skel.h"
#include "bpf/record.h"
#include "capture/bpf.h"
#include "target/namespaces.h"

enum { PAIRS_AT_ONCE = 512 };

static int find(int list, uint32_t pid, uint32_t *outer)
{
	struct id_pair pairs[PAIRS_AT_ONCE];

	for (;;) {
		/* The kernel hands out whole pairs: what it writes for one task it never divides. */
		ssize_t n = read(list, pairs, sizeof(pairs));

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ESRCH;
		for (size_t i = 0; i < (size_t)n / sizeof(pairs[0]); i++) {
			if (pairs[i].own != pid)
				continue;
			*outer = pairs[i].outer;
			return 0;
		}
	}
}

static int search(const struct ids_bpf *skeleton, uint32_t pid, uint32_t *outer)
{
	struct bpf_link *link = bpf_program__attach_iter(skeleton->progs.list_ids, NULL);
	int list = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
	int rc = list < 0 ? -errno : find(list, pid, outer);

	if (list >= 0)
		close(list);
	bpf_link__destroy(link);
	return rc;
}

int ids_outer(pid_t pid, uint32_t *outer, struct error *err)
{
	struct bpf_object_open_opts opts = bpf_open_options();
	struct ids_bpf *skeleton;
	int rc;

	*outer = (uint32_t)pid;
	if (namespace_is_initial(getpid()))
		return 0;
	skeleton = ids_bpf__open_opts(&opts);
	rc = skeleton ? ids_bpf__load(skeleton) : -errno;
	if (rc == 0)
		rc = search(skeleton, (uint32_t)pid, outer);
	ids_bpf__destroy(skeleton);
	if (rc == -ESRCH)
		return error_set(err, ESRCH, "no process has PID %d", (int)pid);
	return rc ? error_set(err, -rc,
			      "cannot find out what PID %d of this pid namespace is called outside of it: %s",
			      (int)pid, strerror(-rc))
		  : 0;
}
