/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/control.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/thread.h"

enum {
	/* The longest interval between checks; each takes a CPU from other work. */
	TICK_MS = LEASE_RENEW_MS,
	SETTLE_MS = 40, /* at the end, time for the draining thread to read the target's state */
	/*
	 * If the rings have not been drained for this long, the draining thread has stalled. Shorter delays
	 * are normal: it may wait for the target's memory while a thread that maps memory holds a lock, and
	 * that thread may itself be waiting for a CPU. Until then, records fit into the rings, or a full ring
	 * closes the lease.
	 */
	STALLED_MS = 1000,
};

static void pause_ms(unsigned ms)
{
	const struct timespec pause = {.tv_nsec = ms * 1000000l};

	nanosleep(&pause, NULL);
}

/* Returns how long to wait before the next check, in ms. */
static unsigned time_to_check(const struct capture_control *control)
{
	uint64_t due = control->guard.due(control->guard.ctx), now = now_ns();

	if (due && due < now + TICK_MS * 1000000ull)
		return due > now ? (unsigned)((due - now) / 1000000) + 1 : 1;
	return TICK_MS;
}

static bool is_drained(const struct capture_control *control, uint64_t now)
{
	uint64_t last = atomic_load(&control->drained_ns);

	return now < last + STALLED_MS * 1000000ull;
}

static void keep_lease(struct capture_control *control, uint64_t now, uint64_t *due)
{
	if (control->guard.is_held_up(control->guard.ctx)) {
		lease_close(&control->lease);
		atomic_store(&control->is_held_up, true);
		atomic_store(&control->is_over, true);
		return;
	}
	atomic_store(&control->is_held_up, false);
	if (now < *due || atomic_load(&control->is_over) || !is_drained(control, now))
		return;
	*due = now + LEASE_RENEW_MS * 1000000ull;
	if (!lease_renew(&control->lease))
		atomic_store(&control->is_over, true);
}

static void wake_by(int eventfd)
{
	const uint64_t one = 1;

	if (write(eventfd, &one, sizeof(one)) < 0) {
		/* It is already woken. */
	}
}

/* The present state of the threads settles the last system calls, if it can be read in time. */
static void control_finish(struct capture_control *control)
{
	uint64_t end = now_ns() + SETTLE_MS * 1000000ull;

	wake_by(control->wake);
	while (!atomic_load(&control->is_settled) && now_ns() < end)
		pause_ms(1);
	lease_close(&control->lease);
	atomic_store(&control->ended_ns, now_ns());
	attach_end(control->attachments);
}

/* Waits until the next check. */
static void wait_nudged(const struct capture_control *control)
{
	struct pollfd nudged = {.fd = control->nudge, .events = POLLIN};
	uint64_t nudges;

	if (poll(&nudged, 1, (int)time_to_check(control)) > 0 &&
	    read(control->nudge, &nudges, sizeof(nudges)) < 0) {
		/* It was not readable after all. */
	}
}

static void *control_work(void *ctx)
{
	struct capture_control *control = ctx;
	uint64_t due = 0;

	if (control->guard.begin)
		control->guard.begin(control->guard.ctx);
	while (!atomic_load(&control->reason)) {
		int reason = control->guard.must_end(control->guard.ctx);

		if (reason) {
			atomic_store(&control->reason, reason);
			break;
		}
		keep_lease(control, now_ns(), &due);
		wait_nudged(control);
	}
	control_finish(control);
	return NULL;
}

/* Raises this thread's priority above that of the draining thread, which has the same policy. Without
 * permission, their priorities are equal. */
static void control_raise_priority(pthread_t thread)
{
	struct sched_param param;
	int policy;

	if (pthread_getschedparam(thread, &policy, &param) || policy != SCHED_RR)
		return;
	param.sched_priority++;
	pthread_setschedparam(thread, policy, &param);
}

int control_start(struct capture_control *control, const struct capture_guard *guard,
		  struct attachments *attachments, volatile struct lease *lease, struct error *err)
{
	int rc;

	control->guard = *guard;
	control->attachments = attachments;
	control->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	control->nudge = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (control->wake < 0 || control->nudge < 0) {
		rc = error_set(err, errno, "cannot create a file descriptor: %s", strerror(errno));
		close(control->wake);
		close(control->nudge);
		return rc;
	}
	lease_init(&control->lease, lease);
	/* Work before the first round may take as long as it needs. */
	atomic_store(&control->drained_ns, UINT64_MAX / 2);
	lease_open(&control->lease);
	rc = thread_start(&control->thread, control_work, control);
	if (rc) {
		close(control->wake);
		close(control->nudge);
		return error_set(err, rc, "cannot start a thread: %s", strerror(rc));
	}
	control->started = true;
	control_raise_priority(control->thread);
	return 0;
}

/* After a long pause, the control thread may not have run yet. */
void control_check(struct capture_control *control)
{
	if (!is_drained(control, now_ns()) && !atomic_load(&control->is_over) &&
	    !lease_renew(&control->lease))
		atomic_store(&control->is_over, true);
}

void control_beat(struct capture_control *control)
{
	atomic_store(&control->drained_ns, now_ns());
}

bool control_wait(struct capture_control *control, int pidfd, int rings, uint64_t timeout_ns)
{
	struct pollfd fds[] = {{.fd = control->wake, .events = POLLIN},
			       {.fd = pidfd, .events = POLLIN},
			       {.fd = rings, .events = POLLIN}};
	const struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / 1000000000),
					 .tv_nsec = (long)(timeout_ns % 1000000000)};

	/* A signal may ask for the end. Only this thread receives them. */
	if (!atomic_load(&control->reason) && ppoll(fds, 3, &timeout, NULL) < 0 && errno == EINTR)
		wake_by(control->nudge);
	return atomic_load(&control->reason) != 0;
}

void control_reopen(struct capture_control *control)
{
	control_beat(control);
	lease_open(&control->lease);
	atomic_store(&control->is_over, false); /* until then the thread does not touch the lease */
}

void control_look(struct capture_control *control)
{
	wake_by(control->nudge);
}

void control_end(struct capture_control *control)
{
	int none = 0;

	if (!control->started)
		return;
	atomic_compare_exchange_strong(&control->reason, &none, LOG_END_STOPPED);
	atomic_store(&control->is_settled, true);
	wake_by(control->nudge);
	while (!atomic_load(&control->ended_ns))
		pause_ms(1);
}

void control_free(struct capture_control *control)
{
	if (control->started) {
		control_end(control);
		pthread_join(control->thread, NULL);
		close(control->wake);
		close(control->nudge);
	}
	control->started = false;
}
