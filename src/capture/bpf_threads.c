/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/bpf_threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/call_kind.h"
#include "bpf/cpu_places.h"
#include "bpf/record.h"
#include "bpf/threads.skel.h"
#include "bpf/threads_before512.skel.h"
#include "bpf/threads_nobtf.skel.h"
#include "capture/ids.h"
#include "capture/bpf_compat.h"
#include "capture/kernel.h"
#include "capture/bpf.h"
#include "capture/probe_set.h"
#include "capture/thread_detail.h"
#include "capture/functions.h"
#include "target/descendants.h"

enum {
	LIST_MAX = 1 << 20, /* threads of a process; pid_max is at most 4 Mi */
	LIST_STEP = 256,
	MAX_STEPS = 4096, /* limit on steps through the map of processes: four times its size */
};

/* Selects one of three programs by the order of the tracepoint's arguments. */
static struct bpf_program *switch_program(const struct threads_bpf *skeleton, enum switch_form form)
{
	switch (form) {
	case SWITCH_STATE_LAST:
		return skeleton->progs.sched_switch;
	case SWITCH_STATE_FIRST:
		return skeleton->progs.sched_switch_516;
	default:
		return skeleton->progs.sched_switch_old;
	}
}

static void bpf_threads_choose_programs(struct bpf *bpf, const struct bpf_threads_options *options,
					const struct kernel_facts *kernel)
{
	bool seconds = options->syscalls && options->features->preempted_calls;
	struct threads_bpf *skeleton = bpf->threads;
	struct bpf_program *wanted[] = {
		switch_program(skeleton, kernel->switch_form),
		skeleton->progs.sched_waking,
		skeleton->progs.sched_process_fork,
		skeleton->progs.sched_process_exec,
		skeleton->progs.sched_process_exit,
		skeleton->progs.sched_process_free,
		skeleton->progs.task_rename,
		skeleton->progs.list_progress,
		skeleton->progs.list_thread,
	};

	for (unsigned i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		bpf_program__set_autoload(wanted[i], true);
	bpf_program__set_autoload(skeleton->progs.sys_enter, options->syscalls);
	bpf_program__set_autoload(skeleton->progs.sys_exit, options->syscalls);
	bpf_program__set_autoload(skeleton->progs.sys_enter_backup, seconds);
	bpf_program__set_autoload(skeleton->progs.sys_exit_backup, seconds);
	bpf_program__set_autoload(skeleton->progs.cpu_sample, options->samples);
	bpf_program__set_autoload(skeleton->progs.own_call, !options->features->pointers);
	if (options->functions) {
		attach_choose(&bpf->attachments, skeleton->progs.function_begin);
		attach_choose(&bpf->attachments, skeleton->progs.function_end);
	}
	attach_choose(&bpf->attachments, skeleton->progs.marker);
	attach_choose(&bpf->attachments, skeleton->progs.renew);
}

/* Sets the ids before loading. If gotrace is in its own pid namespace, the programs translate ids. */
static int set_ids(struct bpf *bpf, const struct bpf_threads_options *options, struct error *err)
{
	struct threads_bpf__rodata *constants = bpf->threads->rodata;
	struct ids_space space;
	uint32_t target = 0;
	int rc = ids_space(options->features, &space, err);

	if (rc == 0)
		rc = ids_outer(options->features, getpid(), (uint32_t *)&constants->own_tgid, err);
	if (rc == 0)
		rc = ids_outer(options->features, (pid_t)options->tgid, &target, err);
	if (rc)
		return rc;
	bpf->outer_tgid = constants->progress_tgid = target;
	constants->spawned = options->spawned ? target : 0;
	constants->own_level = space.level;
	constants->own_inode = space.inode;
	if (space.level)
		bpf_map__set_max_entries(bpf->threads->maps.pidns_ids, IDS_MAX);
	return 0;
}

static void bpf_threads_set_constants(struct bpf *bpf, const struct bpf_threads_options *options,
				      const struct kernel_facts *kernel)
{
	struct threads_bpf__rodata *constants = bpf->threads->rodata;

	constants->probed_tasks = !options->features->pointers;
	constants->preempted_calls = options->features->preempted_calls;
	constants->runs_returns = options->features->register_writes;
	constants->has_shadow_stacks = options->features->shadow_stacks;
	constants->several = constants->follow_children = constants->unwind_several = options->children;
	constants->kernel_stacks = options->kernel_stacks;
	memcpy((void *)&constants->cpu_places, &kernel->cpu_places, sizeof(kernel->cpu_places));
	calls_kinds((uint8_t *)constants->call_kinds);
	bpf_plan_rings(bpf, options->ring_bytes, options->rings, &RING_CONSTANTS(constants));
}

static void bpf_threads_destroy(struct bpf *bpf)
{
	threads_bpf__destroy(bpf->threads);
	bpf->threads = NULL;
}

int bpf_load_threads(struct bpf *bpf, const struct bpf_threads_options *options, struct error *err)
{
	struct compat_variants variants = {.before_512 = {.data = NULL}};
	struct kernel_facts kernel;
	int rc = kernel_facts(options->features->btf, &kernel, err);

	if (rc)
		return rc;
	bpf->destroy = bpf_threads_destroy;
	bpf->threads = calloc(1, sizeof(*bpf->threads));
	if (!bpf->threads || threads_bpf__create_skeleton(bpf->threads))
		return error_set(err, ENOMEM, "out of memory");
	variants.before_512.data = threads_before512_bpf__elf_bytes(&variants.before_512.size);
	variants.no_btf.data = threads_nobtf_bpf__elf_bytes(&variants.no_btf.size);
	rc = compat_open(options->features, bpf->threads->skeleton, &variants, err);
	if (rc)
		return rc;
	bpf_begin(bpf, bpf->threads->obj, options->features);
	bpf->threads_by_proc = !options->features->tracing;
	bpf_threads_choose_programs(bpf, options, &kernel);
	compat_choose(options->features, bpf->object);
	bpf_threads_set_constants(bpf, options, &kernel);
	values_prepare(bpf, options->values, (bool *)&bpf->threads->rodata->reads_values);
	rc = set_ids(bpf, options, err);
	if (rc)
		return rc;
	rc = native_tables_prepare(options->tables, bpf->object, err);
	if (rc)
		return rc;
	rc = threads_bpf__load(bpf->threads);
	if (rc)
		return error_set(err, -rc, "the kernel refused the BPF programs: %s (%s)", strerror(-rc),
				 libbpf_log_last());
	bpf->lease = (volatile struct lease *)&bpf->threads->bss->lease;
	rc = native_tables_place(options->tables, bpf->object, err);
	return rc ? rc : bpf_make_rings(bpf, err);
}

void bpf_find_regs(const struct bpf *bpf)
{
	struct bpf_program *program = bpf->threads->progs.own_call;
	struct bpf_link *link = bpf_program__autoload(program) ? compat_attach(program) : NULL;

	if (!link)
		return;
	getppid();
	bpf_link__destroy(link);
}

/* Returns the site by which a system call program can be removed later, or 0 for other programs. */
static uint8_t site_of_call(const struct bpf *bpf, const struct bpf_program *program)
{
	return program == bpf->threads->progs.sys_enter  ? SITE_SYSCALL
	       : program == bpf->threads->progs.sys_exit ? SITE_SYSCALL_DONE
							 : 0;
}

void bpf_forget_calls(const struct bpf *bpf)
{
	bpf->threads->bss->call_epoch++;
}

int bpf_set_syscalls(struct bpf *bpf, bool on, struct error *err)
{
	struct threads_bpf *skeleton = bpf->threads;
	bool drop[UINT8_MAX + 1] = {false};
	int rc;

	if (on == attach_is_on(&bpf->attachments, SITE_SYSCALL))
		return 0;
	if (on) {
		bpf_forget_calls(bpf);
		rc = attach_traced(&bpf->attachments, bpf->object, skeleton->progs.sys_exit,
				   SITE_SYSCALL_DONE, err);
		return rc ? rc
			  : attach_traced(&bpf->attachments, bpf->object, skeleton->progs.sys_enter,
					  SITE_SYSCALL, err);
	}
	drop[SITE_SYSCALL] = drop[SITE_SYSCALL_DONE] = true;
	attach_drop_sites(&bpf->attachments, drop);
	bpf_forget_calls(bpf);
	return 0;
}

void bpf_cut_stacks(struct bpf *bpf, uint32_t most_frames)
{
	bpf->threads->bss->most_frames = most_frames;
}

void bpf_pause_following(struct bpf *bpf, bool paused)
{
	bpf->threads->bss->follow_paused = paused;
}

void bpf_trace_process(struct bpf *bpf, uint32_t tgid)
{
	bpf_forget_calls(bpf);
	bpf->threads->data->traced_tgid = tgid;
}

void bpf_trace_nothing(struct bpf *bpf)
{
	bpf->threads->data->traced_tgid = UINT32_MAX;
}

void bpf_pause_tracing(struct bpf *bpf, bool paused)
{
	if (!paused)
		bpf_forget_calls(bpf);
	bpf->threads->bss->tracing_paused = paused;
}

/* With the types of another kernel, find_regs() in bpf/threads.bpf.c does not find gotrace's own thread. */
int bpf_check_types(const struct bpf *bpf, const struct features *features, struct error *err)
{
	if (features->pointers || features->own_btf || bpf->threads->bss->regs_place)
		return 0;
	return error_set(err, EINVAL,
			 "--btf: the types in %s are not those of the running kernel; give the BTF of the "
			 "running kernel",
			 features->btf);
}

int bpf_attach_own(struct bpf *bpf, struct error *err)
{
	int rc = attach_self(&bpf->attachments, bpf->object, "marker", own_marker, err);

	return rc ? rc : attach_self(&bpf->attachments, bpf->object, "renew", own_renew, err);
}

int bpf_attach_threads(struct bpf *bpf, const struct bpf_threads_options *options, struct error *err)
{
	struct bpf_program *program;
	int rc = 0;

	bpf_object__for_each_program(program, bpf->object)
	{
		if (rc == 0 && compat_is_tracepoint(program) && bpf_program__autoload(program) &&
		    program != bpf->threads->progs.own_call && !attach_is_backup(program))
			rc = attach_traced(&bpf->attachments, bpf->object, program,
					   site_of_call(bpf, program), err);
	}
	/* Forks are seen from now on, and threads that existed before are in the list. */
	if (rc == 0 && bpf->threads->rodata->own_level)
		rc = ids_fill(options->features, bpf_map__fd(bpf->threads->maps.pidns_ids), err);
	if (rc == 0 && !options->spawned && !options->children)
		bpf->threads->data->traced_tgid = bpf->outer_tgid;
	return rc;
}

int bpf_follow(const struct bpf *bpf, uint32_t tgid)
{
	struct error none;
	uint32_t key;
	int rc = ids_outer(bpf->features, (pid_t)tgid, &key, &none);

	if (rc)
		return rc == -ESRCH ? 0 : rc; /* it has ended */
	rc = bpf_map_update_elem(bpf_map__fd(bpf->threads->maps.traced), &key, &tgid, BPF_NOEXIST);
	return rc == 0 ? 1 : rc == -EEXIST ? 0 : rc;
}

static bool is_listed(const pid_t *pids, unsigned n, pid_t pid)
{
	for (unsigned i = 0; i < n; i++) {
		if (pids[i] == pid)
			return true;
	}
	return false;
}

unsigned bpf_followed(const struct bpf *bpf, pid_t *pids, unsigned most)
{
	int fd = bpf_map__fd(bpf->threads->maps.traced);
	uint32_t key, pid, *from = NULL;
	unsigned n = 0;

	/* If a key is deleted meanwhile, the kernel starts over: some are listed again. */
	for (int i = 0; i < MAX_STEPS && n < most && bpf_map_get_next_key(fd, from, &key) == 0; i++) {
		if (bpf_map_lookup_elem(fd, &key, &pid) == 0 && !is_listed(pids, n, (pid_t)pid))
			pids[n++] = (pid_t)pid;
		from = &key;
	}
	return n;
}

/* A process that has ended stays in the map until its parent has reaped it. */
bool bpf_has_live_process(const struct bpf *bpf)
{
	int fd = bpf_map__fd(bpf->threads->maps.traced);
	uint32_t key, pid, *from = NULL;

	/* If a key is deleted meanwhile, the kernel starts over. */
	for (int i = 0; i < MAX_STEPS && bpf_map_get_next_key(fd, from, &key) == 0; i++) {
		if (bpf_map_lookup_elem(fd, &key, &pid) == 0 && process_is_alive("/proc", (pid_t)pid))
			return true;
		from = &key;
	}
	return false;
}

static int open_list(const struct bpf *bpf, uint32_t tgid, struct bpf_link **link, struct error *err)
{
	int fd = bpf_iterate_tasks(bpf->threads->progs.list_thread, tgid, link);

	if (fd == -ESRCH)
		return error_set(err, ESRCH, "the process has ended");
	return fd < 0 ? error_set(err, -fd, "cannot list the threads: %s", strerror(-fd)) : fd;
}

static int bpf_threads_read_list(int fd, struct raw_thread **found)
{
	size_t n = 0, capacity = 0, bytes = 0;

	for (;;) {
		ssize_t got;

		if (bytes / sizeof(**found) + LIST_STEP > capacity) {
			void *more;

			capacity += capacity / 2 + 2 * LIST_STEP;
			more = capacity > LIST_MAX ? NULL : realloc(*found, capacity * sizeof(**found));
			if (!more)
				return -ENOMEM;
			*found = more;
		}
		got = read(fd, (char *)*found + bytes, capacity * sizeof(**found) - bytes);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got < 0)
			return -errno;
		bytes += (size_t)got;
		n = bytes / sizeof(**found);
		if (got == 0)
			return (int)n;
	}
}

/* Lists the threads of one process, or of all traced processes, without iterators. */
static int list_by_proc(const struct bpf *bpf, uint32_t tgid, struct raw_thread **found, struct error *err)
{
	int fd = bpf_map__fd(bpf->threads->maps.traced), n = 0;
	uint32_t key, *from = NULL;

	if (tgid)
		n = proc_threads_add("/proc", tgid, found, n);
	for (int i = 0; !tgid && n >= 0 && i < MAX_STEPS && bpf_map_get_next_key(fd, from, &key) == 0; i++) {
		n = proc_threads_add("/proc", key, found, n);
		from = &key;
	}
	if (n < 0) {
		free(*found);
		*found = NULL;
		error_set(err, -n, "cannot list the threads: %s", strerror(-n));
	}
	return n;
}

int bpf_list_threads(const struct bpf *bpf, uint32_t tgid, struct raw_thread **found, struct error *err)
{
	struct bpf_link *link;
	int fd, n;

	*found = NULL;
	if (bpf->threads_by_proc)
		return list_by_proc(bpf, tgid, found, err);
	fd = open_list(bpf, tgid, &link, err);
	if (fd < 0) {
		bpf_link__destroy(link);
		return fd == -ESRCH ? 0 : fd;
	}
	n = bpf_threads_read_list(fd, found);
	close(fd);
	bpf_link__destroy(link);
	if (n < 0) {
		free(*found);
		*found = NULL;
		error_set(err, -n, "cannot list the threads: %s", strerror(-n));
	}
	return n;
}
