/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "target/threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/go14_tids.h"
#include "target/stack.h"
#include "target/remote.h"

/* By default Go aborts at 10,000 threads. The limit also ends the walk of a damaged, circular list. */
#define MAX_MS 65536u
/* The list changes while it is walked. A walk that reached freed memory is repeated. */
#define TRIES  5
#define WORD   sizeof(uint64_t)
#define MAX_PS 65536u

int threads_fail(const struct target *target, int rc, const char *what, struct error *err)
{
	const char *label = target->image->label;

	if (rc == -ESRCH)
		return error_set(err, ESRCH, "%s is gone", label);
	if (rc == -ENOMEM)
		return error_set(err, ENOMEM, "out of memory reading %s of %s", what, label);
	if (rc == -EPERM)
		return error_set(err, EPERM, "%s: may not read its memory: %s", label,
				 memory_how_to_be_allowed());
	return error_set(err, -rc, "%s: cannot read %s: %s", label, what, strerror(-rc));
}

static size_t m_size(const struct go_layout *layout)
{
	const uint32_t offsets[] = {layout->m_curg,   layout->m_p,           layout->m_oldp,
				    layout->m_procid, layout->m_syscalltick, layout->m_alllink};

	return layout_extent(offsets, sizeof(offsets) / sizeof(offsets[0]));
}

static int add_m(struct go_threads *threads, const struct log_m *lm)
{
	if (threads->nms == MAX_MS)
		return -ELOOP;
	if (!(threads->nms & (threads->nms - 1))) {
		size_t capacity = threads->nms ? threads->nms * 2 : 1;
		struct log_m *bigger = realloc(threads->ms, capacity * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		threads->ms = bigger;
	}
	threads->ms[threads->nms++] = *lm;
	return 0;
}

/* Walks the list m.alllink once. bytes has space for one M. */
static int walk_ms(const struct target *target, uint8_t *bytes, size_t size, struct go_threads *threads)
{
	const struct go_layout *layout = &target->layout;
	uint64_t m;
	int rc = memory_read(target->pid, target->allm, &m, sizeof(m));

	threads->nms = 0;
	while (rc == 0 && m) {
		struct log_m lm = {.m = m};

		rc = memory_read(target->pid, m, bytes, size);
		if (rc)
			break;
		lm.curg = layout_word(bytes, layout->m_curg);
		lm.p = layout_word(bytes, layout->m_p);
		lm.oldp = layout_word(bytes, layout->m_oldp);
		lm.tid = (uint32_t)layout_word(bytes, layout->m_procid);
		lm.syscalltick = (uint32_t)layout_word(bytes, layout->m_syscalltick);
		m = layout_word(bytes, layout->m_alllink);
		rc = add_m(threads, &lm);
	}
	return rc;
}

static int read_ms(const struct target *target, struct go_threads *threads)
{
	size_t size = m_size(&target->layout);
	uint8_t *bytes = malloc(size);
	int rc = bytes ? -EFAULT : -ENOMEM;

	for (int i = 0; i < TRIES && (rc == -EFAULT || rc == -ELOOP); i++)
		rc = walk_ms(target, bytes, size, threads);
	free(bytes);
	return rc;
}

static int note_tids(struct go_threads *threads)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < threads->nms; i++)
		rc = map64_set(&threads->tids, threads->ms[i].m, threads->ms[i].tid);
	return rc;
}

/*
 * Up to Go 1.11 an M in a system call keeps m.p, although another M may have taken the P. Later releases have
 * m.oldp for this.
 */
static void note_old_p(struct log_m *lm)
{
	if (lm->status != G_STATUS_SYSCALL)
		return;
	lm->oldp = lm->p;
	lm->p = 0;
}

/* Reads the statuses of objects that the Ms point to: curg, and p or oldp. Unreadable ones stay 0. */
static int read_m_statuses(const struct target *target, struct memory_batch *batch,
			   struct go_threads *threads)
{
	const struct go_layout *layout = &target->layout;
	struct memory_piece *pieces = calloc(threads->nms * 2 + 1, sizeof(*pieces));
	size_t n = 0;
	int rc;

	if (!pieces)
		return -ENOMEM;
	for (size_t i = 0; i < threads->nms; i++) {
		const struct log_m *lm = &threads->ms[i];
		uint64_t p = lm->p ? lm->p : lm->oldp;

		if (lm->curg)
			pieces[n++] = (struct memory_piece){
				.address = lm->curg + layout->g_status, .size = 4, .owner = (uint32_t)i * 2};
		if (p)
			pieces[n++] = (struct memory_piece){
				.address = p + layout->p_status, .size = 4, .owner = (uint32_t)i * 2 + 1};
	}
	rc = memory_gather(batch, pieces, n);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct log_m *lm = &threads->ms[pieces[i].owner / 2];
		uint32_t status = 0;

		if (pieces[i].bytes)
			memcpy(&status, pieces[i].bytes, sizeof(status));
		if (pieces[i].owner & 1)
			lm->p_status = status;
		else
			lm->status = status & ~(uint32_t)G_STATUS_SCAN;
	}
	for (size_t i = 0; layout->m_oldp == LAYOUT_ABSENT && i < threads->nms; i++)
		note_old_p(&threads->ms[i]);
	free(pieces);
	return rc;
}

/* Reads the address and length of the array of pointers to Ps. */
static int read_allp(const struct target *target, uint64_t slice[2])
{
	uint32_t n;
	int rc;

	if (!target->allp_is_array)
		return memory_read(target->pid, target->allp, slice, 2 * WORD);
	rc = memory_read(target->pid, target->gomaxprocs, &n, sizeof(n));
	slice[0] = target->allp;
	slice[1] = n;
	return rc;
}

/* Reads the addresses of all Ps. Retries until the slice is the same before and after. */
static int read_p_addresses(const struct target *target, uint64_t **addresses, size_t *n)
{
	uint64_t slice[2], again[2];
	int rc;

	*n = 0;
	for (int i = 0; i < TRIES; i++) {
		rc = read_allp(target, slice);
		if (rc)
			return rc;
		/* Empty: the runtime is still starting. */
		if (!slice[1])
			return 0;
		if (slice[1] > MAX_PS)
			return -EBADMSG;
		*addresses = calloc(slice[1], WORD);
		if (!*addresses)
			return -ENOMEM;
		rc = memory_read(target->pid, slice[0], *addresses, slice[1] * WORD);
		if (rc == 0)
			rc = read_allp(target, again);
		if (rc == 0 && !memcmp(slice, again, sizeof(slice))) {
			*n = slice[1];
			return 0;
		}
		free(*addresses);
		*addresses = NULL;
		if (rc && rc != -EFAULT)
			return rc;
	}
	return -EAGAIN;
}

static int read_p_structs(const struct target *target, struct memory_batch *batch, const uint64_t *addresses,
			  size_t n, struct go_threads *threads)
{
	const struct go_layout *layout = &target->layout;
	const uint32_t offsets[] = {layout->p_id, layout->p_status, layout->p_m};
	struct memory_piece *pieces = calloc(n + 1, sizeof(*pieces));
	int rc;

	threads->ps = calloc(n + 1, sizeof(*threads->ps));
	if (!pieces || !threads->ps) {
		free(pieces);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		pieces[i] = (struct memory_piece){.address = addresses[i],
						  .size = (uint32_t)layout_extent(offsets, 3)};
	rc = memory_gather(batch, pieces, n);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		const uint8_t *bytes = pieces[i].bytes;
		struct log_p *lp = &threads->ps[threads->nps];

		if (!bytes)
			continue;
		*lp = (struct log_p){
			.p = pieces[i].address,
			.m = layout_word(bytes, layout->p_m),
			.id = (uint32_t)layout_word(bytes, layout->p_id),
			.status = (uint32_t)layout_word(bytes, layout->p_status),
		};
		lp->tid = threads_tid(threads, lp->m);
		threads->nps++;
	}
	free(pieces);
	return rc;
}

static int read_ps(const struct target *target, struct memory_batch *batch, struct go_threads *threads)
{
	uint64_t *addresses = NULL;
	size_t n = 0;
	int rc = read_p_addresses(target, &addresses, &n);

	if (rc == 0)
		rc = read_p_structs(target, batch, addresses, n, threads);
	if (rc == 0)
		rc = memory_read(target->pid, target->gomaxprocs, &threads->gomaxprocs,
				 sizeof(threads->gomaxprocs));
	free(addresses);
	return rc;
}

int threads_read(const struct target *target, struct memory_batch *batch, bool with_ps,
		 struct go_threads *threads, struct error *err)
{
	int rc;

	*threads = (struct go_threads){.nms = 0};
	rc = read_ms(target, threads);
	if (rc == 0)
		rc = read_m_statuses(target, batch, threads);
	if (rc == 0 && target->go_minor == 4)
		rc = go14_tids_find(target, batch, &(struct m_list){threads->ms, threads->nms});
	if (rc == 0)
		rc = note_tids(threads);
	if (rc)
		return threads_fail(target, rc, "its threads (runtime.allm)", err);
	rc = with_ps ? read_ps(target, batch, threads) : 0;
	return rc ? threads_fail(target, rc, "its processors (runtime.allp)", err) : 0;
}

void threads_free(struct go_threads *threads)
{
	free(threads->ms);
	free(threads->ps);
	map64_free(&threads->tids);
}

uint32_t threads_tid(const struct go_threads *threads, uint64_t m)
{
	const uint32_t *tid = m ? map64_get(&threads->tids, m) : NULL;

	return tid ? *tid : 0;
}

int target_read_ms(const struct target *target, struct log_m *ms, unsigned max, struct error *err)
{
	struct memory_batch batch = {.pid = target->pid};
	struct go_threads threads;
	size_t n;
	int rc;

	if (target->remote)
		return target->remote->read_ms(target, ms, max, err);
	rc = threads_read(target, &batch, false, &threads, err);
	n = threads.nms < max ? threads.nms : max;
	if (rc == 0 && n)
		memcpy(ms, threads.ms, n * sizeof(*ms));
	threads_free(&threads);
	memory_batch_free(&batch);
	return rc ? rc : (int)n;
}
