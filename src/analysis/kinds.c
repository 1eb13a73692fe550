/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Classifies waits by their reason and by the functions at the leaf of their stack. */
#include "analysis/kinds.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/array.h"
#include "trace/ops/gap_log.h"

static const char *const activity_names[ACT_COUNT] = {
	[ACT_NONE] = "none",
	[ACT_CODE] = "run",
	[ACT_ASSIST] = "GC assist",
	[ACT_RUNNABLE] = "runnable",
	[ACT_SYSCALL] = "syscall",
	[ACT_NETWORK] = "network",
	[ACT_LOCK] = "lock",
	[ACT_JOIN] = "join",
	[ACT_COND] = "condition",
	[ACT_SEMAPHORE] = "semaphore",
	[ACT_SEND] = "chan send",
	[ACT_RECEIVE] = "chan receive",
	[ACT_SELECT] = "select",
	[ACT_SLEEP] = "sleep",
	[ACT_DISK] = "disk",
	[ACT_MMAP] = "mmap_lock",
	[ACT_GIL] = "GIL",
	[ACT_GC] = "GC wait",
	[ACT_CHILD] = "child process",
	[ACT_PIPE] = "pipe",
	[ACT_FILE] = "file lock",
	[ACT_STOPPED] = "stopped",
	[ACT_FOREVER] = "forever",
	[ACT_OTHER] = "other",
	[ACT_UNWATCHED] = "not watched",
};

const char *activity_name(enum activity activity)
{
	return (unsigned)activity < ACT_COUNT ? activity_names[activity] : "?";
}

bool activity_is_lock(unsigned activity)
{
	return activity == ACT_LOCK || activity == ACT_MMAP || activity == ACT_GIL;
}

bool activity_is_wait(unsigned activity)
{
	return activity >= ACT_NETWORK && activity < ACT_UNWATCHED;
}

bool activity_is_blocked(unsigned activity)
{
	return activity == ACT_SYSCALL || activity_is_wait(activity);
}

bool activity_is_for_others(unsigned activity)
{
	return activity >= ACT_LOCK && activity <= ACT_SELECT;
}

const char *delay_name(bool of_threads, enum delay delay)
{
	static const char *const names[DELAY_COUNT] = {
		[DELAY_STW] = "world stopped",
		[DELAY_WAKEUP] = "P had to wake",
		[DELAY_GC] = "GC had the Ps",
		[DELAY_NO_P] = "no P free",
	};

	if (!of_threads)
		return names[delay];
	/* A CPU without a thread of the program may run another program: the trace does not show it. */
	return delay == DELAY_WAKEUP ? "CPU had to wake, or others used it" : "the program used all CPUs";
}

struct keyword {
	const char *text; /* a prefix of the name; after a *, any part of it */
	uint8_t meaning;
};

static bool kinds_matches(const char *text, const char *word)
{
	return *word == '*' ? strstr(text, word + 1) != NULL : strncmp(text, word, strlen(word)) == 0;
}

static unsigned look_up(const struct keyword *words, size_t n, const char *text, unsigned none)
{
	for (size_t i = 0; i < n; i++) {
		if (kinds_matches(text, words[i].text))
			return words[i].meaning;
	}
	return none;
}

enum {
	/* A Mutex, a WaitGroup or a semaphore of the runtime: the stack shows which. */
	GO_SYNC = ACT_COUNT,
	/* A futex of a thread: of a lock, or of anything. */
	FUTEX_LOCK,
	FUTEX_OTHER,
	/* By the collector or the tracer (suspendG, runtime/preempt.go), in any function. */
	GO_SUSPENDED,
};

/* Reasons of Go 1.22 to 1.26 (runtime/traceruntime.go), which the converter also writes for older formats,
 * and of threads (model/threads/names.c). The first match counts. */
static const struct keyword reason_words[] = {
	{"network", ACT_NETWORK},
	{"chan send", ACT_SEND},
	{"chan receive", ACT_RECEIVE},
	{"select", ACT_SELECT},
	{"sync.(*Cond)", ACT_COND},
	{"sync (condition", ACT_COND},
	{"sync (mutex", FUTEX_LOCK},
	{"sync (rwlock", FUTEX_LOCK},
	{"sync (futex", FUTEX_OTHER},
	{"sync (mmap_lock", ACT_MMAP},
	{"sync (join", ACT_JOIN},
	{"sync (barrier", ACT_JOIN},
	{"sync (semaphore", ACT_SEMAPHORE},
	{"sync (file lock", ACT_FILE},
	{"sync (", ACT_LOCK},
	{"sync", GO_SYNC},
	{"sleep", ACT_SLEEP},
	{"GC ", ACT_GC},
	{"wait until GC", ACT_GC},
	{"forever", ACT_FOREVER},
	{"disk", ACT_DISK},
	{"page fault", ACT_DISK},
	{"wait4", ACT_CHILD},
	{"waitid", ACT_CHILD},
	{"vfork", ACT_CHILD},
	{"clone", ACT_CHILD}, /* with CLONE_VFORK, as posix_spawn(3) does */
	{"pipe", ACT_PIPE},
	{"stopped", ACT_STOPPED},
	{GAP_REASON, ACT_UNWATCHED},
	{"preempted", GO_SUSPENDED},
};

static const struct keyword primitive_words[] = {
	{"*.(*RWMutex).rUnlockSlow", PRIM_READ_UNLOCK},
	{"*.(*RWMutex).RUnlock", PRIM_READ_UNLOCK},
	{"*.(*RWMutex).RLock", PRIM_READ_LOCK},
	{"*.(*RWMutex).Unlock", PRIM_UNLOCK},
	{"*.(*RWMutex).Lock", PRIM_LOCK},
	{"*sync.(*Mutex).Unlock", PRIM_UNLOCK},
	{"*sync.(*Mutex).unlockSlow", PRIM_UNLOCK},
	{"*sync.(*Mutex).Lock", PRIM_LOCK},
	{"*sync.(*Mutex).lockSlow", PRIM_LOCK},
	/* One goroutine at a time writes to a connection, or reads from it. */
	{"internal/poll.(*fdMutex).rwlock", PRIM_LOCK},
	{"internal/poll.(*fdMutex).rwunlock", PRIM_UNLOCK},
	{"*sync.(*WaitGroup)", PRIM_WAIT_GROUP},
	{"*sync.(*Cond)", PRIM_COND},
	{"sync.runtime_notifyList", PRIM_COND},
	{"runtime.chansend", PRIM_SEND},
	{"runtime.chanrecv", PRIM_RECEIVE},
	{"runtime.closechan", PRIM_CLOSE},
	{"runtime.selectgo", PRIM_SELECT},
	{"runtime.selectnb", PRIM_SELECT},
	{"internal/poll.runtime_pollWait", PRIM_NETWORK},
	{"net.runtime_pollWait", PRIM_NETWORK},
	/* semacquire of work.startSema, work.markDoneSema and worldsema (src/runtime/mgc.go, proc.go) */
	{"runtime.gcStart", PRIM_GC},
	{"runtime.gcMarkDone", PRIM_GC},
	/* worldsema: ReadMemStats and others wait for their turn, and the collector does not call these. */
	{"runtime.stopTheWorld", PRIM_LOCK},
	{"runtime.startTheWorld", PRIM_UNLOCK},
	{"time.Sleep", PRIM_SLEEP},
	{"time.goFunc", PRIM_TIMER},
	{"time.sendTime", PRIM_TIMER},
	/* Threads of a Go program: an idle M (runtime/lock_futex.go). The runtime's own lock is lock2. */
	{"runtime.notesleep", PRIM_COND},
	{"runtime.notetsleep", PRIM_COND},
	{"*pthread_mutex_unlock", PRIM_UNLOCK},
	{"*pthread_rwlock_unlock", PRIM_UNLOCK},
	{"*pthread_mutex_", PRIM_LOCK},
	{"*pthread_rwlock_rd", PRIM_READ_LOCK},
	{"*pthread_rwlock_", PRIM_LOCK},
	{"*pthread_spin", PRIM_LOCK},
	{"*lll_lock", PRIM_LOCK},
	{"*lll_unlock", PRIM_UNLOCK},
	{"*lll_mutex_unlock", PRIM_UNLOCK},
	{"*pthread_cond_signal", PRIM_NOTIFY},
	{"*pthread_cond_broadcast", PRIM_NOTIFY},
	{"*pthread_cond_", PRIM_COND},
	{"*pthread_join", PRIM_WAIT_GROUP},
	{"*pthread_timedjoin", PRIM_WAIT_GROUP},
	{"*pthread_clockjoin", PRIM_WAIT_GROUP},
	{"*pthread_barrier", PRIM_BARRIER},
	{"*sem_wait", PRIM_SEMAPHORE},
	{"*sem_timedwait", PRIM_SEMAPHORE},
	{"*sem_clockwait", PRIM_SEMAPHORE},
	{"*sem_post", PRIM_SEMAPHORE},
	{"*new_sem_", PRIM_SEMAPHORE}, /* __new_sem_wait_slow64 of glibc */
	{"*std::counting_semaphore", PRIM_SEMAPHORE},
	{"*std::__atomic_semaphore", PRIM_SEMAPHORE},
	{"*std::mutex::lock", PRIM_LOCK},
	{"*std::mutex::unlock", PRIM_UNLOCK},
	{"*std::condition_variable::notify", PRIM_NOTIFY},
	{"*std::condition_variable", PRIM_COND},
	/* A result that another thread sets, and libstdc++'s ways of waiting for a value. */
	{"*std::future<", PRIM_COND},
	{"*std::shared_future<", PRIM_COND},
	{"*std::promise<", PRIM_COND},
	{"*std::__basic_future<", PRIM_COND},
	{"*std::__future_base::", PRIM_COND},
	{"*std::__atomic_futex_unsigned", PRIM_COND},
	{"*std::__tree_barrier<", PRIM_BARRIER},
	{"*std::barrier<", PRIM_BARRIER},
	{"*std::__atomic_wait", PRIM_COND},
	{"*std::latch::", PRIM_COND},
	{"*std::thread::join", PRIM_WAIT_GROUP},
	/* Of GCC's OpenMP, whose own functions have no symbols. */
	{"GOMP_critical_end", PRIM_UNLOCK},
	{"GOMP_critical_name_end", PRIM_UNLOCK},
	{"GOMP_atomic_end", PRIM_UNLOCK},
	{"GOMP_critical_", PRIM_LOCK},
	{"GOMP_atomic_start", PRIM_LOCK},
	{"omp_unset_", PRIM_UNLOCK},
	{"omp_set_lock", PRIM_LOCK},
	{"omp_set_nest_lock", PRIM_LOCK},
	{"gomp_mutex_unlock", PRIM_UNLOCK},
	{"gomp_mutex_lock", PRIM_LOCK},
	{"libgomp.so", PRIM_TEAM},
	{"gomp_", PRIM_TEAM},
	/* Rust: std::sys::sync; short names are those of line tables; parking_lot */
	{"*::read_contended", PRIM_READ_LOCK},
	{"read_contended", PRIM_READ_LOCK},
	{"*::write_contended", PRIM_LOCK},
	{"write_contended", PRIM_LOCK},
	{"*::lock_contended", PRIM_LOCK},
	{"lock_contended", PRIM_LOCK},
	{"*::lock_shared_slow", PRIM_READ_LOCK},
	{"*::lock_exclusive_slow", PRIM_LOCK},
	{"*::wait_optional_timeout", PRIM_COND},
	{"wait_optional_timeout", PRIM_COND},
	{"*RawMutex::lock_slow", PRIM_LOCK},
	{"*RawMutex>::lock_slow", PRIM_LOCK},
	/* LLVM's OpenMP, GLib, Qt, Boost, and Abseil in a namespace of its release. */
	{"libomp.so", PRIM_TEAM},
	{"__kmp", PRIM_TEAM},
	{"g_mutex_unlock", PRIM_UNLOCK},
	{"g_mutex_", PRIM_LOCK},
	{"g_rec_mutex_unlock", PRIM_UNLOCK},
	{"g_rec_mutex_", PRIM_LOCK},
	{"g_rw_lock_reader_lock", PRIM_READ_LOCK},
	{"g_rw_lock_writer_lock", PRIM_LOCK},
	{"g_cond_wait", PRIM_COND},
	{"g_cond_", PRIM_NOTIFY},
	{"QBasicMutex::unlock", PRIM_UNLOCK},
	{"QBasicMutex::", PRIM_LOCK},
	{"QMutex::unlock", PRIM_UNLOCK},
	{"QMutex::", PRIM_LOCK},
	{"QRecursiveMutex::unlock", PRIM_UNLOCK},
	{"QRecursiveMutex::", PRIM_LOCK},
	{"QReadWriteLock::unlock", PRIM_UNLOCK},
	{"QReadWriteLock::lockForRead", PRIM_READ_LOCK},
	{"QReadWriteLock::tryLockForRead", PRIM_READ_LOCK},
	{"QReadWriteLock::", PRIM_LOCK},
	{"QWaitCondition::wake", PRIM_NOTIFY},
	{"QWaitCondition::", PRIM_COND},
	{"QSemaphore::", PRIM_SEMAPHORE},
	{"boost::shared_mutex::unlock_shared", PRIM_READ_UNLOCK},
	{"boost::shared_mutex::unlock", PRIM_UNLOCK},
	{"boost::shared_mutex::lock_shared", PRIM_READ_LOCK},
	{"boost::shared_mutex::lock", PRIM_LOCK},
	{"boost::mutex::lock", PRIM_LOCK},
	{"boost::mutex::unlock", PRIM_UNLOCK},
	{"boost::condition_variable::notify", PRIM_NOTIFY},
	{"boost::condition_variable::", PRIM_COND},
	/* Java's monitors (HotSpot, src/hotspot/share/runtime/objectMonitor.cpp) */
	{"ObjectMonitor::enter", PRIM_LOCK},
	{"ObjectMonitor::EnterI", PRIM_LOCK},
	{"ObjectMonitor::Exit", PRIM_UNLOCK},
	{"ObjectMonitor::exit", PRIM_UNLOCK},
	{"JavaThread::sleep", PRIM_SLEEP},
	{"*::Mutex::UnlockSlow", PRIM_UNLOCK},
	{"*::Mutex::LockSlow", PRIM_LOCK},
	{"*::Mutex::AwaitCommon", PRIM_COND},
	{"*::CondVar::Wait", PRIM_COND},
	{"*::CondVar::Signal", PRIM_NOTIFY},
	/* Erlang (erts/lib_src): idle schedulers wait for an event. */
	{"ethr_event_set", PRIM_NOTIFY},
	{"ethr_event_", PRIM_COND},
};

enum primitive primitive_of_channel(const char *func)
{
	if (!strstr(func, "Channel<") && !strstr(func, "Sender<") && !strstr(func, "Receiver<"))
		return PRIM_NONE;
	if (strstr(func, ">::send"))
		return PRIM_SEND;
	return strstr(func, ">::recv") ? PRIM_RECEIVE : PRIM_NONE;
}

enum primitive primitive_of(const char *func)
{
	return look_up(primitive_words, sizeof(primitive_words) / sizeof(primitive_words[0]), func,
		       PRIM_NONE);
}

/* Calls that may wait for a disk or another program, even if they were fast in this trace. */
static const char *const io_calls[] = {
	"read",           "write",        "pread",           "pwrite",    "pread64",         "pwrite64",
	"readv",          "writev",       "preadv",          "pwritev",   "preadv2",         "pwritev2",
	"fsync",          "fdatasync",    "sync_file_range", "syncfs",    "msync",           "sendfile",
	"splice",         "fallocate",    "truncate",        "ftruncate", "copy_file_range", "open",
	"openat",         "openat2",      "unlink",          "unlinkat",  "rename",          "renameat",
	"renameat2",      "recv",         "recvfrom",        "recvmsg",   "recvmmsg",        "send",
	"sendto",         "sendmsg",      "sendmmsg",        "connect",   "accept",          "accept4",
	"io_uring_enter", "io_getevents", "io_pgetevents",   "io_submit", "flock",           "fcntlflock",
};

uint8_t io_call_of(const char *func)
{
	size_t n = strcspn(func, "(");
	const char *dot;

	/* "syscall.write", "internal/poll.(*FD).Fsync"; of C "pwrite64(3: /tmp/data)" */
	dot = n == strlen(func) || func[n + 1] == '*' ? strrchr(func, '.') : NULL;
	if (dot) {
		func = dot + 1;
		n = strlen(func);
	}
	for (size_t i = 0; i < sizeof(io_calls) / sizeof(io_calls[0]); i++) {
		if (strlen(io_calls[i]) == n && strncasecmp(io_calls[i], func, n) == 0)
			return (uint8_t)(i + 1);
	}
	return 0;
}

const char *io_call_name(uint8_t io_call)
{
	return io_call ? io_calls[io_call - 1] : NULL;
}

bool io_call_writes(uint8_t io_call)
{
	const char *name = io_call_name(io_call);

	return name && (strncmp(name, "write", 5) == 0 || strncmp(name, "send", 4) == 0);
}

static enum activity of_primitive(enum primitive primitive)
{
	static const uint8_t activities[] = {
		[PRIM_LOCK] = ACT_LOCK,     [PRIM_READ_LOCK] = ACT_LOCK,  [PRIM_WAIT_GROUP] = ACT_JOIN,
		[PRIM_BARRIER] = ACT_JOIN,  [PRIM_TEAM] = ACT_JOIN,       [PRIM_GIL] = ACT_GIL,
		[PRIM_COND] = ACT_COND,     [PRIM_SEND] = ACT_SEND,       [PRIM_RECEIVE] = ACT_RECEIVE,
		[PRIM_SELECT] = ACT_SELECT, [PRIM_NETWORK] = ACT_NETWORK, [PRIM_SLEEP] = ACT_SLEEP,
		[PRIM_UNLOCK] = ACT_OTHER,  [PRIM_TIMER] = ACT_OTHER,     [PRIM_SEMAPHORE] = ACT_SEMAPHORE,
		[PRIM_GC] = ACT_GC,
	};

	return primitive && activities[primitive] ? (enum activity)activities[primitive] : ACT_OTHER;
}

static uint8_t *known_reason(struct analysis *a, uint32_t reason)
{
	if (reason & TEXT_ID)
		return NULL;
	if (array_grow(&a->activity_of, &a->nactivity_of, reason + 1, sizeof(*a->activity_of))) {
		a->oom = true;
		return NULL;
	}
	return &a->activity_of[reason];
}

static unsigned of_reason(struct analysis *a, uint32_t reason)
{
	uint8_t *known = known_reason(a, reason);
	const char *text;
	size_t len;

	if (!reason || !known)
		return ACT_OTHER;
	if (!*known) {
		text = strtab_get(a->gen->tables->strings, reason, &len);
		*known = (uint8_t)(1 + look_up(reason_words, sizeof(reason_words) / sizeof(reason_words[0]),
					       text, ACT_OTHER));
	}
	return *known - 1u;
}

/* The format has no reason for a wait that began before the trace. The call that a thread is in says what
 * for, but not poll and select: those may also be for a time, a pipe or a terminal. */
static enum activity of_call(const struct analysis *a, uint32_t stack)
{
	static const struct keyword calls[] = {
		{"epoll_wait", ACT_NETWORK}, {"epoll_pwait", ACT_NETWORK}, {"accept", ACT_NETWORK},
		{"recvfrom", ACT_NETWORK},   {"recvmsg", ACT_NETWORK},     {"clock_nanosleep", ACT_SLEEP},
		{"nanosleep", ACT_SLEEP},    {"wait4", ACT_CHILD},         {"waitid", ACT_CHILD},
	};
	const struct stack_info *info = &a->stacks[stack];
	size_t len;
	const char *leaf = info->n ? strtab_get(a->strings, a->frames[info->first].func, &len) : "";

	return (enum activity)look_up(calls, sizeof(calls) / sizeof(calls[0]), leaf, ACT_OTHER);
}

bool stack_waits_for_lock(const struct analysis *a, uint32_t stack)
{
	const struct stack_info *info = &a->stacks[stack];

	if (info->primitive)
		return info->primitive == PRIM_LOCK || info->primitive == PRIM_READ_LOCK;
	return info->locks && info->locks / 9 >= info->futexes;
}

static unsigned count_futex(struct analysis *a, unsigned activity, uint32_t stack)
{
	struct stack_info *info = &a->stacks[stack];

	info->locks += activity == FUTEX_LOCK;
	info->futexes += activity == FUTEX_OTHER;
	return activity == FUTEX_LOCK || activity == FUTEX_OTHER ? ACT_LOCK : activity;
}

bool func_waits_for_database(const char *func)
{
	/* PostgreSQL, src/backend/storage/lmgr: by a latch, or by a semaphore. SQLite, src/main.c: sleeps
	 * until another connection has released the file. */
	static const char *const funcs[] = {"ProcSleep", "LWLockAcquire", "sqlite3InvokeBusyHandler"};

	for (size_t i = 0; i < sizeof(funcs) / sizeof(funcs[0]); i++) {
		if (kinds_matches(func, funcs[i]))
			return true;
	}
	return false;
}

enum activity wait_by_outer(const char *func)
{
	static const struct keyword outer[] = {
		/* HotSpot, src/hotspot/share: for a collection, to allocate or because it stops the world. */
		{"MemAllocator::allocate", ACT_GC},
		{"SafepointSynchronize::block", ACT_GC},
		/* Erlang, erts/lib_src and erts/emulator/beam: locks made of events. */
		{"ethr_mutex_", ACT_LOCK},
		{"ethr_rwmutex_", ACT_LOCK},
		{"erts_proc_lock_", ACT_LOCK},
		/* Python, Modules/_threadmodule.c: an RLock has an owner; other locks of Python may be
		   signals. */
		{"rlock_acquire", ACT_LOCK},
		/* Java: Thread.sleep is a condition with a time-out. */
		{"JVM_Sleep", ACT_SLEEP},
		/* Redis, src/networking.c (stopThreadedIO): the main thread parks an I/O thread by its lock.
		 */
		{"IOThreadMain", ACT_COND},
		/* node, src/spawn_sync.cc: execSync and the like have a loop of their own. */
		{"node::SyncProcessRunner::", ACT_CHILD},
		/* uWSGI, core/protocol.c: by the thunder lock, whose holder waits for the next connection. */
		{"wsgi_req_accept", ACT_COND},
	};

	if (func_waits_for_database(func))
		return ACT_LOCK;
	return (enum activity)look_up(outer, sizeof(outer) / sizeof(outer[0]), func, ACT_NONE);
}

static enum activity wait_of(struct analysis *a, uint32_t reason, uint32_t stack)
{
	unsigned activity = count_futex(a, of_reason(a, reason), stack);
	enum activity by_stack = of_primitive((enum primitive)a->stacks[stack].primitive);

	if (activity == GO_SYNC)
		return stack ? by_stack : ACT_LOCK;
	/* glibc's pthread_cond_signal waits until those that were woken before have left the condition
	 * (condvar_quiesce_and_switch_g1): it does not wait for what they do. */
	if (activity == GO_SUSPENDED || a->stacks[stack].primitive == PRIM_NOTIFY)
		return ACT_OTHER;
	if (a->stacks[stack].primitive == PRIM_GIL)
		return ACT_GIL;
	/* A thread that waits for any futex has a lock reason, and statuses have no reason at all. */
	if (activity == ACT_COND &&
	    (a->stacks[stack].made_of_condition || by_stack == ACT_SEND || by_stack == ACT_RECEIVE))
		return by_stack;
	if ((activity == ACT_LOCK || activity == ACT_OTHER) && by_stack != ACT_OTHER)
		return by_stack;
	return reason ? (enum activity)activity : of_call(a, stack);
}

enum activity wait_activity(struct analysis *a, uint32_t reason, uint32_t stack)
{
	enum activity activity = wait_of(a, reason, stack);
	enum activity outer = (enum activity)a->stacks[stack].waits_for;

	/* A lock that parks threads does so only while they wait for it, and not for what its holder calls.
	 */
	if (outer && a->of_threads && (outer != ACT_COND || activity == ACT_LOCK))
		return outer;
	return activity == ACT_NETWORK && stack && !ledger_is_of_threads(&a->ledger)
		       ? (enum activity)a->stacks[stack].polled
		       : activity;
}

bool waits_for_poller(const struct analysis *a, const struct goroutine *g)
{
	return g->activity == ACT_NETWORK ||
	       (g->activity == a->stacks[g->stack].polled && !ledger_is_of_threads(&a->ledger));
}

/*
 * Up to Go 1.21, each primitive has a block event of its own. The general event has no reason: the goroutine
 * was suspended, or is the runtime's.
 */
enum activity block_activity(struct analysis *a, uint32_t reason, uint32_t stack)
{
	return reason ? wait_activity(a, reason, stack) : ACT_OTHER;
}
