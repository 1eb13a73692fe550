/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */

#include <errno.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "capture/tally.h"

enum { THREADS_AT_ONCE = 512 };

/* Returns the sum, or 0 if it cannot be read. */
static uint64_t progress_sum_of(int list)
{
	uint64_t bytes[THREADS_AT_ONCE], sum = 0;

	for (;;) {
		/* The kernel never splits what it writes for one task. */
		ssize_t n = read(list, bytes, sizeof(bytes));

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return n < 0 ? 0 : sum;
		for (size_t i = 0; i < (size_t)n / sizeof(bytes[0]); i++)
			sum += bytes[i];
	}
}

static uint64_t bytes_so_far(const struct capture *capture)
{
	const struct bpf_program *program =
		bpf_object__find_program_by_name(capture->bpf.object, "list_progress");
	struct bpf_link *link = NULL;
	uint64_t sum = 0;
	int list;

	if (!program || !bpf_program__autoload(program))
		return 0;
	list = bpf_iterate_tasks(program, capture->options.children ? 0 : (uint32_t)capture->options.pid,
				 &link);
	if (list >= 0) {
		sum = capture->processes.ended_bytes + progress_sum_of(list);
		close(list);
	}
	bpf_link__destroy(link);
	return sum;
}

void progress_learn(struct capture *capture, bool watched)
{
	const struct governor_window window = {.watched = watched,
					       .cpu_ns = tally_cpu_ns(capture),
					       .cost_ns = capture->cost_ns,
					       .work = bytes_so_far(capture)};

	governor_learn(&capture->governor, &window);
}
