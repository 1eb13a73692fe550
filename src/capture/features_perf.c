/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Uprobes, and clocks for CPU samples. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/perf_event.h>

#include "capture/attach.h"
#include "capture/features_probes.h"

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd;

	attr->size = sizeof(*attr);
	attr->disabled = 1;
	fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/*
 * Tests a perf event uprobe (Linux 4.17, 33ea4b24277b) on "/". That is not a file with code, but the kernel
 * checks permission first. From 5.8 on CAP_PERFMON was enough; since 6.17 (ba677dbe77af), and in stable
 * kernels of all series, CAP_SYS_ADMIN is needed.
 */
static int try_perf_uprobe(const char *root)
{
	static const char directory[] = "/";
	struct perf_event_attr attr = {.config1 = (uintptr_t)directory, .sample_period = 1};
	char type[32];
	int rc;

	if (!feature_read(root, "/sys/bus/event_source/devices/uprobe/type", type, sizeof(type)))
		return -ENODEV;
	attr.type = (uint32_t)strtoul(type, NULL, 10);
	rc = open_event(&attr, getpid(), -1);
	return rc == -EINVAL || rc == -ENOENT || rc == -EISDIR ? 0 : rc;
}

static void explain_no_uprobes(struct feature *feature, const char *root, int error)
{
	const char *capabilities =
		error == EACCES || error == EPERM
			? "CAP_SYS_ADMIN: CAP_PERFMON is not enough for perf events on functions"
			: NULL;
	char found[160], advice[192];

	if (error == ENODEV) {
		feature_missing(
			feature, NEED_GO | NEED_C,
			"the kernel has no uprobes, or /sys/bus/event_source/devices/uprobe is hidden",
			"nothing can be traced",
			"mount /sys, or use a kernel built with CONFIG_UPROBE_EVENTS");
		return;
	}
	snprintf(found, sizeof(found), "refused: %s", strerror(error));
	if (feature_capable(root, CAP_SYS_ADMIN))
		capabilities = NULL;
	feature_why_refused(root, error, capabilities, advice, sizeof(advice));
	feature_missing(feature, NEED_GO | NEED_C, found, "nothing can be traced", advice);
}

/* For probes on functions of the target and of gotrace itself. */
void probe_uprobes(struct features *features, const char *root)
{
	struct feature *feature = feature_add(features, "uprobes");
	int rc;

	features->multi = features->bpf && attach_has_multi();
	rc = features->multi ? 0 : try_perf_uprobe(root);
	if (features->multi)
		feature_available(feature, "uprobe_multi links");
	else if (rc)
		explain_no_uprobes(feature, root, -rc);
	else
		feature_replaced(feature, "perf events (no uprobe_multi links for one process: Linux 6.10)",
				 "starting and ending take seconds", "");
}

/* Opens a software clock of an online CPU, as capture/sampler.c does. */
static int try_clock(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int rc = -ENODEV;

	for (int cpu = 0; cpu < cpus && rc == -ENODEV; cpu++) {
		struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
					       .config = PERF_COUNT_SW_CPU_CLOCK,
					       .sample_period = 10000000,
					       .exclude_idle = 1};

		rc = open_event(&attr, -1, cpu);
	}
	return rc;
}

/* Sampling all processes on a CPU needs CAP_PERFMON, or perf_event_paranoid below 1 (kernel/events/core.c,
 * perf_allow_cpu). Debian's and Ubuntu's kernels may require CAP_SYS_ADMIN. */
void probe_samples(struct features *features, const char *root)
{
	struct feature *feature = feature_add(features, "CPU samples");
	char found[160], why[160], advice[192];
	int rc = try_clock();

	if (rc == 0) {
		feature_available(feature, "perf events of the CPU clock");
		return;
	}
	snprintf(found, sizeof(found), "perf_event_open(2) is refused: %s", strerror(-rc));
	feature_why_refused(root, -rc, feature_capable(root, CAP_SYS_ADMIN) ? NULL : "CAP_SYS_ADMIN", why,
			    sizeof(why));
	snprintf(advice, sizeof(advice), "trace with --cpu-samples=0; or: %.150s", why);
	feature_missing(feature, NEED_SAMPLES, found, "no CPU samples", advice);
}
