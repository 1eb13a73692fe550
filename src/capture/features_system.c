/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Feature probes that read files. All paths are below a given root. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/btf.h>
#include <linux/capability.h>

#include "capture/clock_skew.h"
#include "capture/features_probes.h"
#include "util/rights.h"
#include "util/utf8.h"

void probe_kernel(struct features *features)
{
	struct utsname name;
	struct feature *feature = feature_add(features, "kernel");

	if (uname(&name))
		feature_available(feature, "not known");
	else
		feature_available(feature, "%.*s %.*s, %.*s", text_fit(name.sysname, 60), name.sysname,
				  text_fit(name.release, 60), name.release, text_fit(name.machine, 20),
				  name.machine);
}

/*
 * Linux 5.8 split CAP_SYS_ADMIN: CAP_BPF and CAP_PERFMON load and attach programs. Other probes test what
 * they do not cover (uprobes, samples). CAP_SYS_PTRACE is needed to read the memory of another user's process
 * or, with Yama's ptrace_scope, one's own (kernel/ptrace.c, __ptrace_may_access).
 */
void probe_privileges(struct features *features, const char *root)
{
	struct feature *feature = feature_add(features, "capabilities");
	bool admin = feature_capable(root, CAP_SYS_ADMIN), bpf = feature_capable(root, CAP_BPF),
	     perfmon = feature_capable(root, CAP_PERFMON), ptrace = feature_capable(root, CAP_SYS_PTRACE);
	char found[128];

	if (!*root && rights_in_user_namespace()) {
		feature_missing(feature, NEED_GO | NEED_C,
				"only those of a user namespace (a rootless container?)",
				"nothing can be traced", "run gotrace with sudo outside it");
		return;
	}
	snprintf(found, sizeof(found), "%s%s%s%s", admin ? "CAP_SYS_ADMIN " : "", bpf ? "CAP_BPF " : "",
		 perfmon ? "CAP_PERFMON " : "", ptrace ? "CAP_SYS_PTRACE" : "");
	if (!found[0])
		snprintf(found, sizeof(found), "none");
	else if (found[strlen(found) - 1] == ' ')
		found[strlen(found) - 1] = '\0';
	if (!admin && !(bpf && perfmon))
		feature_missing(
			feature, NEED_GO | NEED_C, found, "nothing can be traced",
			"use sudo, or grant CAP_SYS_ADMIN, or CAP_BPF and CAP_PERFMON; and CAP_SYS_PTRACE");
	else if (!ptrace)
		feature_missing(feature, NEED_GO | NEED_C, found,
				"the memory of a process cannot be read (CAP_SYS_PTRACE)",
				"use sudo, or grant CAP_SYS_PTRACE");
	else
		feature_available(feature, "%s", found);
}

/* BTF begins with its magic number. */
static bool begins_as_btf(const char *path)
{
	uint16_t magic = 0;
	FILE *file = fopen(path, "re");
	bool read = file && fread(&magic, sizeof(magic), 1, file) == 1;

	if (file)
		fclose(file);
	return read && magic == BTF_MAGIC;
}

/* A file given by the user must describe a kernel. */
static void check_btf_file(struct feature *feature, const char *path)
{
	struct btf *btf = btf__parse(path, NULL);
	int rc = btf ? 0 : errno, id = btf ? btf__find_by_name_kind(btf, "task_struct", BTF_KIND_STRUCT) : -1;
	char found[192], why[64] = "";

	btf__free(btf);
	if (id > 0) {
		feature_available(feature, "types of the kernel from %s", path);
		return;
	}
	if (!btf)
		libbpf_strerror(rc, why, sizeof(why)); /* libbpf has its own error numbers */
	snprintf(found, sizeof(found), "%.*s %s%s", text_fit(path, 80), path,
		 btf ? "does not have the types of a kernel" : "cannot be read: ", why);
	feature_missing(feature, NEED_GO | NEED_C, found, "nothing can be traced",
			"--btf takes the vmlinux file of the running kernel with its debug information, or "
			"BTF made from it (pahole -J, bpftool btf dump)");
}

/* CONFIG_DEBUG_INFO_BTF, Linux 5.4 (341dfcf8d78e). CO-RE needs it to find members of kernel structs. */
void probe_btf(struct features *features, const char *root, const char *file)
{
	struct feature *feature = feature_add(features, "BTF");
	char path[512];

	snprintf(path, sizeof(path), "%s/sys/kernel/btf/vmlinux", root);
	features->own_btf = begins_as_btf(path);
	/* libbpf would search modules for a type that the kernel does not have, which needs CAP_SYS_ADMIN
	 * (BPF_BTF_GET_NEXT_ID). It does not if the types come from a file. */
	if (features->own_btf && !file && !feature_capable(root, CAP_SYS_ADMIN))
		features->btf = "/sys/kernel/btf/vmlinux";
	if (file)
		check_btf_file(feature, file);
	else if (features->own_btf)
		feature_available(feature, "/sys/kernel/btf/vmlinux");
	else
		feature_missing(feature, NEED_GO | NEED_C,
				"the kernel has none (/sys/kernel/btf/vmlinux): it was built without "
				"CONFIG_DEBUG_INFO_BTF",
				"nothing can be traced",
				"give --btf FILE: the BTF of the running kernel, or its vmlinux file");
}

/* Linux 5.4 (security/lockdown): "none [integrity] confidentiality". The last mode forbids programs to read
 * kernel memory, which probe_kernel_reads() tests. */
void probe_lockdown(struct features *features, const char *root)
{
	struct feature *feature = feature_add(features, "lockdown");
	char line[128];
	const char *mode;

	if (!feature_read(root, "/sys/kernel/security/lockdown", line, sizeof(line))) {
		feature_available(feature, "none");
		return;
	}
	mode = strchr(line, '[');
	line[strcspn(line, "]")] = '\0';
	feature_available(feature, "%s", mode ? mode + 1 : line);
}

/* kernel.perf_event_paranoid does not restrict CAP_PERFMON. Debian's kernels have level 3, and Ubuntu's 4, at
 * which all perf events need CAP_SYS_ADMIN (up to Linux 6.x). probe_samples() tests opening clocks. */
void probe_paranoid(struct features *features, const char *root)
{
	struct feature *feature = feature_add(features, "perf_event_paranoid");
	char line[32];

	if (feature_read(root, "/proc/sys/kernel/perf_event_paranoid", line, sizeof(line))) {
		features->perf_restricted = atoi(line) > 2;
		feature_available(feature, "%s (applies only without capabilities)", line);
	} else {
		feature_available(feature, "not shown");
	}
}

void probe_unprivileged_bpf(struct features *features, const char *root)
{
	struct feature *feature = feature_add(features, "unprivileged_bpf_disabled");
	char line[32];

	if (feature_read(root, "/proc/sys/kernel/unprivileged_bpf_disabled", line, sizeof(line)))
		feature_available(feature, "%s (applies only without CAP_BPF)", line);
	else
		feature_available(feature, "not shown");
}

/* Programs are attached to tracepoints by bpf(2), to functions by perf events or links: none needs
 * tracefs. */
void probe_tracefs(struct features *features, const char *root)
{
	struct feature *feature = feature_add(features, "tracefs");
	char path[512];

	snprintf(path, sizeof(path), "%s/sys/kernel/tracing/events", root);
	feature_available(feature,
			  access(path, F_OK) ? "not mounted, and not needed" : "mounted (not needed)");
}

/* hidepid=2 hides other users' processes, except from readers with CAP_SYS_PTRACE or in the group. */
void probe_proc(struct features *features, const char *root)
{
	struct feature *feature = feature_add(features, "/proc");
	char path[512], line[512];
	bool hides = false;
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc/self/mounts", root);
	file = fopen(path, "re");
	if (!file) {
		feature_missing(feature, NEED_GO | NEED_C, "not mounted", "nothing can be traced",
				"mount -t proc proc /proc");
		return;
	}
	while (fgets(line, sizeof(line), file))
		hides = hides || (strstr(line, " /proc proc ") && strstr(line, "hidepid=") &&
				  !strstr(line, "hidepid=0") && !strstr(line, "hidepid=off"));
	fclose(file);
	if (!hides || feature_capable(root, CAP_SYS_PTRACE))
		feature_available(feature,
				  hides ? "hides processes, but not from gotrace" : "shows all processes");
	else
		feature_replaced(feature, "hides processes of other users (hidepid)",
				 "those cannot be traced", "use sudo, or grant CAP_SYS_PTRACE");
}

/* Linux 5.6 (kernel/time/namespace.c): the offset of CLOCK_MONOTONIC in our time namespace. BPF programs do
 * not see it, so their times would not match those read in user space. */
void probe_clock(struct features *features, const char *root)
{
	struct feature *feature = feature_add(features, "clock");
	char line[128], found[96];
	long long sec = 0;
	long nsec = 0;

	if (!feature_read(root, "/proc/self/timens_offsets", line, sizeof(line)) ||
	    sscanf(line, "monotonic %lld %ld", &sec, &nsec) != 2 || (sec == 0 && nsec == 0)) {
		feature_available(feature, "the kernel's");
		return;
	}
	snprintf(found, sizeof(found), "%lld s from the kernel's, because of a time namespace", sec);
	feature_missing(feature, NEED_GO | NEED_C, found, "nothing can be traced",
			"run gotrace outside that namespace");
}

void probe_clock_skew(struct features *features)
{
	struct clock_skew skew = clock_skew_measure(clock_of_cpu, 2000000000);
	struct feature *feature;
	char found[96];

	if (!skew.cpus)
		return;
	feature = feature_add(features, "clocks of the CPUs");
	snprintf(found, sizeof(found), "those of CPU %u and CPU %u differ by %.1f us or more", skew.first,
		 skew.cpu, (double)skew.ns / 1000);
	if (skew.ns < LEAST_SKEW_NS)
		feature_available(feature, "%u agree to %.1f us or better", skew.cpus + 1,
				  (double)skew.within / 1000);
	else
		feature_replaced(feature, found, "events of these CPUs may be in the wrong order",
				 "see /sys/devices/system/clocksource/clocksource0/current_clocksource");
}

/* security/yama: 1 = descendants only, 2 = with CAP_SYS_PTRACE only, 3 = never. Applies to
 * process_vm_readv(2), too. */
void probe_yama(struct features *features, const char *root)
{
	struct feature *feature = feature_add(features, "ptrace_scope");
	char line[32];

	if (!feature_read(root, "/proc/sys/kernel/yama/ptrace_scope", line, sizeof(line)))
		feature_available(feature, "no Yama");
	else if (atoi(line) >= 3)
		feature_missing(feature, NEED_GO | NEED_C,
				"3: Yama forbids reading the memory of any process", "nothing can be traced",
				"set kernel.yama.ptrace_scope below 3 and reboot: it cannot be lowered while "
				"Linux runs");
	else
		feature_available(feature, "%s (does not limit gotrace)", line);
}

/* Sets SCHED_RR for this thread, and resets it at once. */
static bool may_be_real_time(void)
{
	const struct sched_param least = {.sched_priority = 1};
	struct sched_param before;
	int policy = sched_getscheduler(0);

	if (policy < 0 || sched_getparam(0, &before) || sched_setscheduler(0, SCHED_RR, &least))
		return false;
	sched_setscheduler(0, policy, &before);
	return true;
}

static bool may_raise_priority(void)
{
	int nice = getpriority(PRIO_PROCESS, 0);

	return setpriority(PRIO_PROCESS, 0, nice - 1) == 0 && setpriority(PRIO_PROCESS, 0, nice) == 0;
}

void probe_priority(struct features *features)
{
	struct feature *feature = feature_add(features, "scheduling");

	if (may_be_real_time())
		feature_available(feature, "SCHED_RR for the threads that must not be late");
	else if (may_raise_priority())
		feature_replaced(
			feature, "no SCHED_RR, but a lower niceness",
			"in a cgroup with a CPU limit (cpu.max) gotrace may fall behind and record less",
			"give it more CPU time");
	else
		feature_replaced(feature, "neither SCHED_RR nor a lower niceness (CAP_SYS_NICE)",
				 "on a machine without idle CPUs gotrace may fall behind and record less",
				 "add CAP_SYS_NICE (docker: --cap-add SYS_NICE)");
}

static int read_one_byte(pid_t pid)
{
	char byte;
	struct iovec to = {.iov_base = &byte, .iov_len = 1}, from = {.iov_base = NULL, .iov_len = 1};

	/* Permission is checked before the address (mm/process_vm_access.c). */
	return process_vm_readv(pid, &to, 1, &from, 1, 0) < 0 && errno != EFAULT ? -errno : 0;
}

int features_check_target(const char *root, pid_t pid, struct error *err)
{
	char path[512];
	struct stat seen;
	int rc;

	snprintf(path, sizeof(path), "%s/proc/%d", root, (int)pid);
	if (stat(path, &seen))
		return error_set(err, ESRCH,
				 "/proc shows no process %d: it does not exist, or is hidden (hidepid)",
				 (int)pid);
	rc = read_one_byte(pid);
	if (rc)
		return error_set(
			err, -rc,
			"the memory of process %d cannot be read: %s; CAP_SYS_PTRACE and a seccomp filter "
			"that allows process_vm_readv(2) are needed",
			(int)pid, strerror(-rc));
	return 0;
}
