/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/sampler.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/libbpf.h>
#include <linux/perf_event.h>

#include "capture/bpf.h"

/*
 * The period is one percent longer than requested. A clock that fires exactly every 10 ms would run in step
 * with the program's own tickers (and Go's sysmon), and always sample the same phase of them.
 */
#define SECOND_AND_A_BIT_NS 1010000000ull

static int open_clock(int cpu, unsigned hz)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.size = sizeof(attr),
		.sample_period = SECOND_AND_A_BIT_NS / hz,
		.disabled = 1,
		.exclude_idle = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int add_clock(struct sampler *sampler, const struct bpf *bpf, int event)
{
	const struct bpf_program *program = bpf_object__find_program_by_name(bpf->object, "cpu_sample");
	struct bpf_link *link = bpf_program__attach_perf_event(program, event);

	if (!link) {
		int rc = errno ? -errno : -EINVAL;

		close(event);
		return rc;
	}
	/* libbpf has enabled the event; keep it off until the probes are attached. */
	ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
	sampler->links[sampler->n] = link;
	sampler->events[sampler->n++] = event;
	return 0;
}

int sampler_open(struct sampler *sampler, const struct bpf *bpf, unsigned hz, struct error *err)
{
	int rc = 0;

	sampler->links = calloc(bpf->cpus, sizeof(*sampler->links));
	sampler->events = calloc(bpf->cpus, sizeof(*sampler->events));
	if (!sampler->links || !sampler->events)
		return error_set(err, ENOMEM, "out of memory");
	for (unsigned cpu = 0; cpu < bpf->cpus && rc == 0; cpu++) {
		int event = open_clock((int)cpu, hz);

		if (event >= 0)
			rc = add_clock(sampler, bpf, event);
		else if (errno != ENODEV) /* an offline CPU has no clock */
			rc = -errno;
	}
	if (rc || sampler->n == 0)
		return error_set(err, rc ? -rc : ENODEV,
				 "cannot take CPU samples (perf events of the software clock): %s; use "
				 "--cpu-samples=0 to trace without them",
				 strerror(rc ? -rc : ENODEV));
	return 0;
}

void sampler_switch(const struct sampler *sampler, bool on)
{
	for (unsigned i = 0; i < sampler->n; i++)
		ioctl(sampler->events[i], on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

void sampler_close(struct sampler *sampler)
{
	sampler_switch(sampler, false);
	for (unsigned i = 0; i < sampler->n; i++)
		bpf_link__destroy(sampler->links[i]);
	free(sampler->links);
	free(sampler->events);
	*sampler = (struct sampler){0};
}
