/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/bpf.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/btf.h>

#include "bpf/record.h"
#include "bpf/gotrace.skel.h"

/* Which program serves which site. */
static const struct {
	uint8_t site;
	const char *program;
} programs[] = {
	{SITE_PARK, "park"},
	{SITE_READY, "ready"},
	{SITE_UNBLOCK, "unblock"},
	{SITE_EXECUTE, "execute"},
	{SITE_GOSCHED, "gosched"},
	{SITE_GOYIELD, "goyield"},
	{SITE_PREEMPTPARK, "preemptpark"},
	{SITE_DESTROY, "destroy"},
	{SITE_NEWPROC, "newproc"},
	{SITE_CORO, "coro"},
	{SITE_SYSCALL_BLOCK, "syscall_block"},
	{SITE_CALL_ENTER, "call_enter"},
	{SITE_CALL_RETURN, "call_return"},
	{SITE_CALL_EXIT, "call_exit"},
	{SITE_EXIT_NO_P, "exit_no_p"},
	{SITE_NEEDM, "needm"},
	{SITE_DROPM, "dropm"},
	{SITE_ACQUIREP, "acquirep"},
	{SITE_RELEASEP, "releasep"},
	{SITE_STEALP, "stealp"},
	{SITE_HANDOFFP, "handoffp"},
	{SITE_GCWAIT, "gcwait"},
	{SITE_PROCRESIZE, "procresize"},
	{SITE_STW_BEGIN, "stw_begin"},
	{SITE_STW_END, "stw_end"},
	{SITE_GC_BEGIN, "gc_begin"},
	{SITE_GC_END, "gc_end"},
};

/* libbpf tells details by a callback without a context; the last warning goes into our own line. */
static char last_warning[256];

static int keep_warning(enum libbpf_print_level level, const char *fmt, va_list args)
{
	if (level == LIBBPF_WARN)
		vsnprintf(last_warning, sizeof(last_warning), fmt, args);
	last_warning[strcspn(last_warning, "\n")] = '\0';
	return 0;
}

static bool has_capability(unsigned bit)
{
	unsigned long long effective = 0;
	char line[128];
	FILE *file = fopen("/proc/self/status", "re");

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "CapEff: %llx", &effective) == 1)
			break;
	}
	if (file)
		fclose(file);
	return effective >> bit & 1;
}

/* Uprobes by perf events need CAP_SYS_ADMIN, CAP_PERFMON does not do (kernel/events/core.c, Linux 6.18). */
static int check_privileges(struct error *err)
{
	enum { SYS_PTRACE = 19, SYS_ADMIN = 21 }; /* linux/capability.h */

	if (!has_capability(SYS_ADMIN))
		return error_set(err, EPERM,
				 "attaching uprobes needs root, or CAP_SYS_ADMIN: run it with sudo");
	if (!has_capability(SYS_PTRACE))
		return error_set(err, EPERM,
				 "reading the target needs root, or CAP_SYS_PTRACE: run it with sudo");
	return 0;
}

/* BTF begins with its magic number. */
static bool has_btf(void)
{
	uint16_t magic = 0;
	FILE *file = fopen("/sys/kernel/btf/vmlinux", "re");
	bool read = file && fread(&magic, sizeof(magic), 1, file) == 1;

	if (file)
		fclose(file);
	return read && magic == BTF_MAGIC;
}

int bpf_check_kernel(struct error *err)
{
	int rc = check_privileges(err);

	libbpf_set_print(keep_warning);
	if (rc)
		return rc;
	if (!has_btf())
		return error_set(err, ENOTSUP,
				 "the kernel has no BTF (/sys/kernel/btf/vmlinux): it must be built with "
				 "CONFIG_DEBUG_INFO_BTF=y");
	if (access("/sys/bus/event_source/devices/uprobe/type", R_OK))
		return error_set(err, ENOTSUP,
				 "the kernel has no uprobes: it must be built with CONFIG_UPROBE_EVENTS=y");
	if (libbpf_probe_bpf_map_type(BPF_MAP_TYPE_RINGBUF, NULL) != 1)
		return error_set(err, ENOTSUP,
				 "the kernel has no BPF ring buffer, or does not let us use it: Linux 5.10 "
				 "or later is needed");
	return 0;
}

static void choose_programs(struct gotrace_bpf *skeleton, bool syscalls)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, skeleton->obj) bpf_program__set_autoload(program, true);
	bpf_program__set_autoload(skeleton->progs.sys_enter, syscalls);
	bpf_program__set_autoload(skeleton->progs.sys_exit, syscalls);
}

static uint32_t ring_size(uint32_t wanted)
{
	uint32_t size = 4096;

	if (!wanted)
		return 16u << 20;
	while (size < wanted && size < 1u << 30)
		size *= 2;
	return size;
}

int bpf_load(struct bpf *bpf, const struct bpf_options *options, struct error *err)
{
	int cpus, rc;

	bpf->skeleton = gotrace_bpf__open();
	if (!bpf->skeleton)
		return error_set(err, errno, "cannot open the BPF programs: %s", last_warning);
	cpus = libbpf_num_possible_cpus();
	bpf->cpus = cpus > 0 ? (unsigned)cpus : 1;
	bpf->skeleton->rodata->layout = *options->layout;
	bpf->skeleton->rodata->target_tgid = options->tgid;
	bpf->skeleton->rodata->stop_skip = options->go_minor >= 25 ? 0 : 1;
	bpf->skeleton->rodata->quiet_ps = options->go_minor <= 25 || options->cgo;
	bpf->skeleton->rodata->syscall_oldp = options->go_minor <= 25;
	choose_programs(bpf->skeleton, options->syscalls);
	bpf_map__set_max_entries(bpf->skeleton->maps.ring, ring_size(options->ring_bytes));
	rc = gotrace_bpf__load(bpf->skeleton);
	if (rc)
		return error_set(err, -rc, "the kernel refused the BPF programs: %s (%s)", strerror(-rc),
				 last_warning);
	return 0;
}

static int add_link(struct bpf *bpf, struct bpf_link *link, const char *what, struct error *err)
{
	if (!link)
		return error_set(err, errno ? errno : EINVAL, "cannot attach a probe to %s: %s", what,
				 last_warning[0] ? last_warning : strerror(errno));
	bpf->links[bpf->nlinks++] = link;
	return 0;
}

static struct bpf_program *program_of(const struct bpf *bpf, uint8_t site)
{
	for (unsigned i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (programs[i].site == site)
			return bpf_object__find_program_by_name(bpf->skeleton->obj, programs[i].program);
	}
	return NULL;
}

int bpf_attach_probe(struct bpf *bpf, pid_t pid, const char *exe, const struct probe *probe, bool empty,
		     struct error *err)
{
	struct bpf_program *program = empty ? bpf->skeleton->progs.empty : program_of(bpf, probe->site);

	if (!program || bpf->nlinks >= MAX_PROBES)
		return error_set(err, EINVAL, "no program for the site %s", probe->name);
	return add_link(bpf, bpf_program__attach_uprobe(program, false, pid, exe, probe->file_offset),
			probe->name, err);
}

int bpf_attach_syscalls(struct bpf *bpf, struct error *err)
{
	int rc = add_link(bpf, bpf_program__attach(bpf->skeleton->progs.sys_enter), "sys_enter", err);

	if (rc)
		return rc;
	return add_link(bpf, bpf_program__attach(bpf->skeleton->progs.sys_exit), "sys_exit", err);
}

/* A function of this program: where it is in the file. */
struct place {
	uintptr_t address;
	size_t offset;
	bool found;
};

static int find_place(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct place *place = ctx;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_LOAD && place->address >= start &&
		    place->address < start + ph->p_memsz) {
			place->offset = place->address - start + ph->p_offset;
			place->found = true;
		}
	}
	return 1; /* the program itself comes first */
}

int bpf_attach_self(struct bpf *bpf, const char *name, const void *function, struct error *err)
{
	struct bpf_program *program = bpf_object__find_program_by_name(bpf->skeleton->obj, name);
	struct place place = {.address = (uintptr_t)function};

	dl_iterate_phdr(find_place, &place);
	if (!program || !place.found)
		return error_set(err, ENOENT, "cannot find the function for %s in gotrace itself", name);
	return add_link(bpf, bpf_program__attach_uprobe(program, false, 0, "/proc/self/exe", place.offset),
			"gotrace itself", err);
}

void bpf_detach_last(struct bpf *bpf)
{
	if (bpf->nlinks)
		bpf_link__destroy(bpf->links[--bpf->nlinks]);
}

int bpf_ring_fd(const struct bpf *bpf)
{
	return bpf_map__fd(bpf->skeleton->maps.ring);
}

int bpf_read_losses(const struct bpf *bpf, uint64_t losses[BPF_LOSSES])
{
	int fd = bpf_map__fd(bpf->skeleton->maps.losses);
	uint64_t *values = calloc(bpf->cpus, sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (uint32_t which = 0; which < BPF_LOSSES; which++) {
		losses[which] = 0;
		if (bpf_map_lookup_elem(fd, &which, values))
			continue;
		for (unsigned cpu = 0; cpu < bpf->cpus; cpu++)
			losses[which] += values[cpu];
	}
	free(values);
	return 0;
}

uint64_t bpf_read_missed(const struct bpf *bpf)
{
	struct bpf_program *program;
	uint64_t missed = 0;

	bpf_object__for_each_program(program, bpf->skeleton->obj)
	{
		struct bpf_prog_info info = {0};
		uint32_t size = sizeof(info);
		int fd = bpf_program__fd(program);

		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &size))
			missed += info.recursion_misses;
	}
	return missed;
}

static void *detach_one(void *link)
{
	bpf_link__destroy(link);
	return NULL;
}

/*
 * The kernel waits for a grace period at the end of each uprobe (0.1 to 0.2 s
 * on a busy machine, Linux 6.18): all at once they share it.
 */
static void detach_all(struct bpf *bpf)
{
	pthread_t threads[MAX_PROBES + 4];
	unsigned n = 0;

	while (bpf->nlinks) {
		struct bpf_link *link = bpf->links[--bpf->nlinks];

		if (pthread_create(&threads[n], NULL, detach_one, link))
			bpf_link__destroy(link);
		else
			n++;
	}
	while (n)
		pthread_join(threads[--n], NULL);
}

void bpf_unload(struct bpf *bpf)
{
	detach_all(bpf);
	gotrace_bpf__destroy(bpf->skeleton);
	bpf->skeleton = NULL;
}
