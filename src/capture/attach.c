/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/attach.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "bpf/record.h"
#include "capture/bpf.h"
#include "capture/bpf_compat.h"

/* The program of each site; NULL: none. */
static const char *const programs[UINT8_MAX + 1] = {
#define PROGRAM(name)                                            #name
#define SITE(name, number, program, go_handler, threads_handler) [SITE_##name] = program,
#include "bpf/site_list.h"
#undef SITE
#undef PROGRAM
};

struct bpf_program *attach_program(const struct bpf_object *object, uint8_t site)
{
	const char *name = programs[site];

	return name ? bpf_object__find_program_by_name(object, name) : NULL;
}

/* Arguments of BPF_LINK_CREATE for uprobe_multi links (Linux 6.6 include/uapi/linux/bpf.h). Debian 12's
 * header does not define them. */
enum { TRACE_UPROBE_MULTI = 48 };

#define KERNEL_ENOTSUPP 524 /* include/linux/errno.h, internal to the kernel */

struct multi_attr {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t cnt, uprobe_flags, pid, reserved;
};

void attach_choose(const struct attachments *attachments, struct bpf_program *program)
{
	if (!program)
		return;
	bpf_program__set_autoload(program, true);
	if (attachments->multi)
		bpf_program__set_expected_attach_type(program, (enum bpf_attach_type)TRACE_UPROBE_MULTI);
}

static int failed(const struct attachments *attachments, const char *what, int error, struct error *err)
{
	const char *why =
		attachments->multi ? "" : libbpf_log_last(); /* libbpf has more details than errno */

	error = error ? error : EINVAL;
	if (error == ESRCH)
		return error_set(err, ESRCH, "the process has ended before it could be traced");
	if (error == KERNEL_ENOTSUPP)
		why = "the kernel cannot probe this instruction";
	return error_set(err, error, "cannot attach a probe to %s: %s", what, why[0] ? why : strerror(error));
}

static void detach(const struct attachments *attachments, struct attachment *one)
{
	if (one->in_slot)
		bpf_map_delete_elem(one->fd, &attachments->node->slot);
	else if (one->link)
		bpf_link__destroy(one->link);
	else
		close(one->fd);
}

void attach_init(struct attachments *attachments)
{
	pthread_mutex_init(&attachments->lock, NULL);
}

static int attachments_add(struct attachments *attachments, struct attachment one, const char *what,
			   struct error *err)
{
	int rc = 0;

	if (!one.link && one.fd < 0)
		return failed(attachments, what, errno, err);
	pthread_mutex_lock(&attachments->lock);
	if (attachments->ended)
		rc = error_set(err, ECANCELED, "interrupted before the trace began");
	else if (attachments->n == sizeof(attachments->all) / sizeof(attachments->all[0]))
		rc = error_set(err, E2BIG, "too many probes: name fewer functions");
	else
		attachments->all[attachments->n++] = one;
	pthread_mutex_unlock(&attachments->lock);
	if (rc)
		detach(attachments, &one);
	return rc;
}

static int link_multi(int program, pid_t pid, const char *path, const uint64_t *offsets,
		      const uint64_t *cookies, unsigned n)
{
	struct multi_attr attr = {
		.prog_fd = (uint32_t)program,
		.attach_type = TRACE_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offsets,
		.cookies = (uintptr_t)cookies,
		.cnt = n,
		.pid = (uint32_t)pid,
	};

	return (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}

/*
 * Probes "/", which is not a file with code. A kernel with these links returns EBADF. If it filters by
 * process (46ba0e49b642), it looks up the process first, and returns EINVAL for an invalid pid. Kernels
 * without the links also load the program, but fail both attempts with EINVAL.
 */
bool attach_has_multi(void)
{
	const struct bpf_insn code[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
					{.code = BPF_JMP | BPF_EXIT}};
	LIBBPF_OPTS(bpf_prog_load_opts, options,
		    .expected_attach_type = (enum bpf_attach_type)TRACE_UPROBE_MULTI);
	int program = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "gotrace_probe", "GPL", code, 2, &options);
	const uint64_t offset = 0;
	bool links, filter;

	if (program < 0)
		return false;
	links = link_multi(program, getpid(), "/", &offset, NULL, 1) < 0 && errno == EBADF;
	filter = links && link_multi(program, -1, "/", &offset, NULL, 1) < 0 && errno == EINVAL;
	close(program);
	return filter;
}

/* Attaches the program with a link for each place, or, if the kernel can, with one link for all. */
static int attach_to(struct attachments *attachments, struct bpf_program *program, pid_t pid,
		     const struct attach_places *places, struct error *err)
{
	struct attachment one = {.fd = -1, .site = places->site};
	int rc = program ? 0 : error_set(err, EINVAL, "no program for the site %u", places->site);

	if (rc == 0 && attachments->multi) {
		one.fd = link_multi(bpf_program__fd(program), pid, places->path, places->offsets,
				    places->cookies, places->n);
		return attachments_add(attachments, one, places->name, err);
	}
	for (unsigned i = 0; i < places->n && rc == 0; i++) {
		/* Kernels before 5.15 refuse a cookie; 0 is none. */
		DECLARE_LIBBPF_OPTS(bpf_uprobe_opts, options, .bpf_cookie = places->cookies[i]);

		one.link = bpf_program__attach_uprobe_opts(program, pid, places->path, places->offsets[i],
							   &options);
		rc = attachments_add(attachments, one, places->name, err);
	}
	return rc;
}

/* Name of the program for probes in inlined copies of a site's function. */
#define COPY "_copy"

struct bpf_program *attach_copy_program(const struct bpf_object *object, uint8_t site)
{
	char name[64];

	if (!programs[site])
		return NULL;
	snprintf(name, sizeof(name), "%s" COPY, programs[site]);
	return bpf_object__find_program_by_name(object, name);
}

/* Attaches the probes of a site, either those in the function itself or those in copies of it. */
static int attach_probes(struct attachments *attachments, struct bpf_program *program, pid_t pid,
			 const char *exe, const struct probe_plan *plan, uint8_t site, bool copies,
			 struct error *err)
{
	uint64_t offsets[MAX_PROBES], cookies[MAX_PROBES];
	struct attach_places places = {.site = site, .path = exe, .offsets = offsets, .cookies = cookies};

	for (unsigned i = 0; i < plan->n; i++) {
		const struct probe *probe = &plan->probes[i];

		if (probe->site != site || probe->is_copy != copies)
			continue;
		places.name = places.name ? places.name : probe->name;
		offsets[places.n] = probe->file_offset;
		cookies[places.n++] = probe->cookie;
	}
	return places.n ? attach_to(attachments, program, pid, &places, err) : 0;
}

int attach_site(struct attachments *attachments, struct bpf_object *object, pid_t pid, const char *exe,
		const struct probe_plan *plan, uint8_t site, const char *name, struct error *err)
{
	struct bpf_program *one = name ? bpf_object__find_program_by_name(object, name) : NULL;
	int rc = attach_probes(attachments, one ? one : attach_program(object, site), pid, exe, plan, site,
			       false, err);

	if (rc)
		return rc;
	return attach_probes(attachments, one ? one : attach_copy_program(object, site), pid, exe, plan, site,
			     true, err);
}

int attach_places(struct attachments *attachments, const struct bpf_object *object, pid_t pid,
		  const struct attach_places *places, struct error *err)
{
	return attach_to(attachments, attach_program(object, places->site), pid, places, err);
}

#define SECOND "_backup"

bool attach_is_backup(const struct bpf_program *program)
{
	const char *name = bpf_program__name(program);
	size_t len = strlen(name), end = strlen(SECOND);

	return len > end && strcmp(name + len - end, SECOND) == 0;
}

/* Returns the backup of a tracepoint's program, or NULL if there is none or it was not loaded. */
static const struct bpf_program *backup_of(const struct bpf_object *object, const struct bpf_program *program)
{
	const struct bpf_program *second;
	char name[64];

	snprintf(name, sizeof(name), "%s" SECOND, bpf_program__name(program));
	second = bpf_object__find_program_by_name(object, name);
	return second && bpf_program__fd(second) >= 0 ? second : NULL;
}

/*
 * Puts a program into the node's slot, if the node has its tracepoint. The node's backup calls it, too.
 * Returns false if the program is to be attached as usual.
 */
static bool attach_in_slot(struct attachments *attachments, const struct bpf_program *program, uint8_t site,
			   int *rc, struct error *err)
{
	const char *slash = strchr(bpf_program__section_name(program), '/');
	int map = attachments->node && slash ? node_slot_programs(attachments->node, slash + 1) : -1;
	struct attachment one = {.fd = map, .site = site, .in_slot = true};
	int fd = bpf_program__fd(program);

	if (map < 0 || bpf_map_update_elem(map, &attachments->node->slot, &fd, BPF_ANY))
		return false;
	*rc = attachments_add(attachments, one, bpf_program__name(program), err);
	return true;
}

int attach_by_node(struct attachments *attachments, const struct node_slot *slot, uint32_t tgid,
		   struct error *err)
{
	int rc = slot ? node_slot_enter(slot, tgid) : 0;

	attachments->node = slot;
	return rc ? error_set(err, -rc, "cannot share the node's programs: %s", strerror(-rc)) : 0;
}

int attach_traced(struct attachments *attachments, const struct bpf_object *object,
		  const struct bpf_program *program, uint8_t site, struct error *err)
{
	const struct bpf_program *second = backup_of(object, program);
	struct attachment one = {.fd = -1, .site = site};
	int rc;

	if (attach_in_slot(attachments, program, site, &rc, err))
		return rc;
	one.link = compat_attach(program);
	rc = attachments_add(attachments, one, bpf_program__name(program), err);
	if (rc || !second)
		return rc;
	one.link = compat_attach(second); /* after the first one: the kernel keeps the order */
	return attachments_add(attachments, one, bpf_program__name(second), err);
}

int attach_tracepoint(struct attachments *attachments, struct bpf_object *object, uint8_t site,
		      struct error *err)
{
	return attach_traced(attachments, object, attach_program(object, site), site, err);
}

/* The file offset of an address in gotrace itself. */
struct own_place {
	uintptr_t address;
	uint64_t offset;
	bool found;
};

static int attachments_find_place(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct own_place *place = ctx;

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
	return 1; /* stop: the main program comes first */
}

int attach_self_at(struct attachments *attachments, struct bpf_object *object, const char *name,
		   const void *code, uint64_t cookie, struct error *err)
{
	DECLARE_LIBBPF_OPTS(bpf_uprobe_opts, options, .bpf_cookie = cookie);
	struct bpf_program *program = bpf_object__find_program_by_name(object, name);
	struct own_place place = {.address = (uintptr_t)code};
	struct attachment one = {.fd = -1};

	dl_iterate_phdr(attachments_find_place, &place);
	if (!program || !place.found)
		return error_set(err, ENOENT, "cannot find the function for %s in gotrace itself", name);
	if (attachments->multi)
		one.fd = link_multi(bpf_program__fd(program), getpid(), "/proc/self/exe", &place.offset,
				    &cookie, 1);
	else
		one.link =
			bpf_program__attach_uprobe_opts(program, 0, "/proc/self/exe", place.offset, &options);
	return attachments_add(attachments, one, "gotrace itself", err);
}

int attach_self(struct attachments *attachments, struct bpf_object *object, const char *name,
		const void *function, struct error *err)
{
	return attach_self_at(attachments, object, name, function, 0, err);
}

/* A program of a node's slot is removed at once, by attachments_detach(). */
static void *detach_one(void *attachment)
{
	detach(NULL, attachment);
	return NULL;
}

/* Detaches in a thread, or here if that cannot be. Returns whether there is a thread. */
static bool attachments_detach(const struct attachments *attachments, struct attachment *one,
			       pthread_t *thread)
{
	if (!one->in_slot && pthread_create(thread, NULL, detach_one, one) == 0)
		return true;
	detach(attachments, one);
	return false;
}

/* The kernel waits for a grace period when a link is detached (0.1 to 0.2 s on a busy machine, Linux 6.18).
 * Links that are detached concurrently share it. */
static void *detach_dropped(void *ctx)
{
	struct attachments *attachments = ctx;
	pthread_t threads[MAX_ATTACHMENTS];
	unsigned n = 0;

	for (unsigned i = 0; i < attachments->ndropped; i++)
		n += attachments_detach(attachments, &attachments->dropped[i], &threads[n]);
	while (n)
		pthread_join(threads[--n], NULL);
	return NULL;
}

static void wait_dropped(struct attachments *attachments)
{
	if (attachments->ndropped)
		pthread_join(attachments->dropper, NULL);
	attachments->ndropped = 0;
}

static void begin_drop(struct attachments *attachments)
{
	if (attachments->ndropped == 0)
		return;
	if (pthread_create(&attachments->dropper, NULL, detach_dropped, attachments)) {
		detach_dropped(attachments);
		attachments->ndropped = 0;
	}
}

bool attach_is_on(const struct attachments *attachments, uint8_t site)
{
	for (unsigned i = 0; i < attachments->n; i++) {
		if (attachments->all[i].site == site)
			return true;
	}
	return false;
}

void attach_drop_sites(struct attachments *attachments, const bool sites[UINT8_MAX + 1])
{
	unsigned kept = 0;

	wait_dropped(attachments);
	pthread_mutex_lock(&attachments->lock);
	for (unsigned i = 0; i < attachments->n; i++) {
		if (sites[attachments->all[i].site])
			attachments->dropped[attachments->ndropped++] = attachments->all[i];
		else
			attachments->all[kept++] = attachments->all[i];
	}
	attachments->n = kept;
	pthread_mutex_unlock(&attachments->lock);
	begin_drop(attachments);
}

void attach_end(struct attachments *attachments)
{
	pthread_mutex_lock(&attachments->lock);
	attachments->ended = true;
	for (unsigned i = 0; i < attachments->n; i++)
		attachments->ndetachers += attachments_detach(
			attachments, &attachments->all[i], &attachments->detachers[attachments->ndetachers]);
	attachments->n = 0;
	pthread_mutex_unlock(&attachments->lock);
}

void attach_none(struct attachments *attachments)
{
	attach_end(attachments);
	wait_dropped(attachments);
	while (attachments->ndetachers)
		pthread_join(attachments->detachers[--attachments->ndetachers], NULL);
}
