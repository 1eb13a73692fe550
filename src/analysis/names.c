/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Copies strings and stacks of the tables, once each. The copies outlive the reader of the trace. */
#include "analysis/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/kinds.h"
#include "code/symbol/library.h"
#include "trace/ops/own_names.h"
#include "code/symbol/symbol.h"
#include "util/array.h"
#include "util/text.h"

uint32_t name_string(struct analysis *a, uint32_t id)
{
	size_t len;
	const char *text = tables_string(a->gen->tables, id, &len);
	uint32_t string = strtab_add(a->strings, text, len);

	if (len && !string)
		a->oom = true;
	return string;
}

const char *name_text(const struct analysis *a, uint32_t string)
{
	size_t len;

	return strtab_get(a->strings, string, &len);
}

static uint32_t find_frame(const struct analysis *a, const struct stack_info *info,
			   bool (*skip)(const char *))
{
	for (uint32_t i = 0; i < info->n; i++) {
		const struct code_place *place = &a->frames[info->first + i];
		const char *func = name_text(a, place->func);

		if (!library_is_kernel(func, name_text(a, place->file)) && !skip(func))
			return i;
	}
	return UINT32_MAX;
}

/* A name without code, as a thread's, is its own file. */
static enum code_owner frame_owner(const struct analysis *a, const struct code_place *place)
{
	const char *func = name_text(a, place->func), *file = name_text(a, place->file);

	return place->func == place->file || library_is_kernel(func, file) ? CODE_OF_LIBRARY
									   : library_owner(func, file);
}

/* Returns the first frame of the main module, else of another module, else of Go's standard library. */
static uint32_t find_site(const struct analysis *a, const struct stack_info *info)
{
	enum code_owner best = CODE_OF_LIBRARY;
	uint32_t site = UINT32_MAX;

	for (uint32_t i = 0; i < info->n && best > CODE_OF_PROGRAM; i++) {
		enum code_owner owner = frame_owner(a, &a->frames[info->first + i]);

		if (owner < best) {
			best = owner;
			site = i;
		}
	}
	return site;
}

/*
 * Returns the library function that the site is in: of Go, the first one outside the runtime and sync; of C,
 * the one that the site calls. A primitive says no more than the activity does.
 */
static uint32_t find_leaf(const struct analysis *a, const struct stack_info *info)
{
	uint32_t leaf = info->site;
	const char *func;

	if (!info->site || info->site >= info->n)
		return info->site;
	func = name_text(a, a->frames[info->first + info->near].func);
	leaf = info->near < info->site && strchr(func, '.') ? info->near : info->site - 1;
	func = name_text(a, a->frames[info->first + leaf].func);
	/* syscall.RawSyscall6 */
	if (library_in_package(func, "syscall")) {
		leaf = info->site - 1;
		func = name_text(a, a->frames[info->first + leaf].func);
	}
	/* What the program called last is below the frame that says that others are missing. */
	while (leaf && (library_is_address(func) || strcmp(func, CUT_FRAME) == 0))
		func = name_text(a, a->frames[info->first + --leaf].func);
	/* C's syscall() makes any call, a futex is of any lock, and "[...]" is no function. */
	if (!func[0] || func[0] == '[' || strcmp(func, CUT_FRAME) == 0 || strcmp(func, "syscall") == 0 ||
	    strcmp(func, "futex") == 0 || library_in_package(func, "runtime") || primitive_of(func) ||
	    library_is_kernel(func, name_text(a, a->frames[info->first + leaf].file)))
		return info->site;
	return leaf;
}

/*
 * True for Go's resolver (src/net/lookup.go, dnsclient_unix.go, cgo_unix.go; functions rather than methods
 * before Go 1.8), and the C library's.
 */
static bool names_is_lookup(const char *func)
{
	static const char *const begins[] = {
		"net.(*Resolver).lookup", "net.(*Resolver).goLookup", "net.(*Resolver).resolveAddrList",
		"net.lookupIP",           "net.lookupHost",           "net.goLookup",
		"net.cgoLookup",          "net.cgoResolve",
	};
	static const char *const whole[] = {
		"getaddrinfo", "__GI_getaddrinfo", "gethostbyname", "gethostbyname_r", "getnameinfo",
	};

	return text_begins_with_one_of(func, begins, sizeof(begins) / sizeof(begins[0])) ||
	       text_is_one_of(func, whole, sizeof(whole) / sizeof(whole[0]));
}

static bool names_is_handshake(const char *func)
{
	static const char *const names[] = {"crypto/tls.(*Conn).clientHandshake",
					    "crypto/tls.(*Conn).serverHandshake", "SSL_connect",
					    "SSL_accept"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(func, names[i]) == 0)
			return true;
	}
	return false;
}

/* The function that a goroutine or thread began with, or that the runtime called on a thread's own stack. */
static uint32_t find_root(const struct analysis *a, const struct stack_info *info)
{
	static const char *const below[] = {"runtime.goexit", "runtime.systemstack", "runtime.mcall",
					    "runtime.morestack"};
	uint32_t last = info->n ? info->n - 1 : 0;

	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]) && last; i++) {
		if (strcmp(name_text(a, a->frames[info->first + last].func), below[i]) == 0)
			return last - 1;
	}
	return last;
}

/*
 * Functions of libgomp have no symbols, but for those that programs call. If one of these has no frame, as it
 * ends with a jump, the wait may also be for a lock.
 */
static bool is_surely_team(const struct analysis *a, const struct stack_info *info)
{
	const char *called = info->site ? name_text(a, a->frames[info->first + info->site - 1].func) : "";

	return library_has(name_text(a, a->frames[info->first + info->site].func)) ||
	       strncmp(called, "libgomp.so", strlen("libgomp.so")) != 0;
}

/* Code of the interpreter itself, and not of an extension, which has conditions of its own. */
static bool is_of_interpreter(const char *func)
{
	static const char *const files[] = {"python", "libpython", "ruby", "libruby"};

	return library_is_address(func) &&
	       text_begins_with_one_of(func, files, sizeof(files) / sizeof(files[0]));
}

/*
 * True if the condition that is waited for is that of an interpreter's lock. Python's take_gil() waits for it
 * 5 ms at a time (Python/ceval_gil.c of 3.2 to 3.14), and is called when bytecode has run for long, or when a
 * call has ended that did not need the lock. Ruby's gvl_yield() (thread_pthread.c of 2.7 to 3.2) is called
 * after 100 ms, and gvl_acquire_internal() when a call that did not need the lock has ended, with a time-out
 * in the thread that keeps the time; what else takes that lock looks like other waits. Debian's programs have
 * symbols of the callers of these functions, and not of the functions.
 */
static bool is_gil(const struct analysis *a, const struct stack_info *info, enum primitive found)
{
	static const char *const callers[] = {"take_gil",
					      "_PyEval_EvalFrameDefault",
					      "PyEval_RestoreThread",
					      "PyEval_AcquireThread",
					      "gvl_acquire_internal",
					      "thread_sched_to_running_common",
					      "rb_threadptr_execute_interrupts",
					      "rb_thread_io_blocking_region",
					      "rb_nogvl",
					      "rb_thread_call_without_gvl",
					      "rb_thread_call_without_gvl2",
					      "rb_thread_wait_for_single_fd",
					      "rb_io_wait"};
	static const char *const waits[] = {"PyCOND_TIMEDWAIT", "rb_native_cond_wait",
					    "rb_native_cond_timedwait"};
	unsigned between = 0;

	/* The condition has a mutex, for which many queue where many want the interpreter. */
	if (found != PRIM_COND && found != PRIM_LOCK)
		return false;
	for (uint32_t i = info->near; i < info->n; i++) {
		const char *func = name_text(a, a->frames[info->first + i].func);

		if (text_is_one_of(func, callers, sizeof(callers) / sizeof(callers[0])))
			return found == PRIM_COND || strcmp(func, "_PyEval_EvalFrameDefault") != 0;
		if (is_of_interpreter(func) && between++ < 3)
			continue;
		if (!text_is_one_of(func, waits, sizeof(waits) / sizeof(waits[0])))
			return false;
	}
	return false;
}

/* Whether a library makes one of the other: locks, teams and sleeps of conditions, critical sections of
 * teams. */
static bool is_made_of(enum primitive outer, enum primitive inner)
{
	switch (inner) {
	case PRIM_NONE:
	case PRIM_TEAM:
		return outer != PRIM_NONE;
	case PRIM_COND:
		return outer == PRIM_LOCK || outer == PRIM_READ_LOCK || outer == PRIM_SEMAPHORE ||
		       outer == PRIM_TEAM || outer == PRIM_SLEEP;
	case PRIM_NOTIFY:
		return outer == PRIM_UNLOCK || outer == PRIM_READ_UNLOCK || outer == PRIM_SEMAPHORE;
	default:
		return false;
	}
}

static void find_primitive(const struct analysis *a, struct stack_info *info)
{
	enum primitive found = PRIM_NONE;

	for (uint32_t i = 0; i < info->n && i <= info->near + 1; i++) {
		enum primitive one = primitive_of(name_text(a, a->frames[info->first + i].func));

		if (!is_made_of(one, found))
			continue;
		info->made_of_condition |= found == PRIM_COND;
		found = one;
	}
	for (uint32_t i = 0; i < info->n && (found == PRIM_NONE || found == PRIM_COND); i++) {
		enum primitive channel = primitive_of_channel(name_text(a, a->frames[info->first + i].func));

		found = channel ? channel : found;
	}
	if (is_gil(a, info, found)) {
		info->of_gil_mutex = found == PRIM_LOCK;
		found = PRIM_GIL;
	}
	if (found == PRIM_TEAM && !is_surely_team(a, info)) {
		found = PRIM_NONE;
		info->made_of_condition = false;
	}
	info->primitive = (uint8_t)found;
}

/*
 * One goroutine reads a connection and passes on what it gets to those that have asked: these wait for the
 * network, too. Go's net/http/transport.go, golang.org/x/net/http2/transport.go, and
 * google.golang.org/grpc/internal/transport/transport.go.
 */
static bool is_for_peer(const char *func)
{
	static const char *const waits[] = {
		"net/http.(*persistConn).roundTrip",
		"net/http.(*http2ClientConn).",
		"net/http/internal/http2.(*ClientConn).", /* Go 1.27 */
		"golang.org/x/net/http2.(*ClientConn).",
		"google.golang.org/grpc/internal/transport.(*recvBufferReader).",
		"google.golang.org/grpc/internal/transport.(*Stream).waitOnHeader",
		"google.golang.org/grpc/internal/transport.(*ClientStream).waitOnHeader",
	};

	return text_begins_with_one_of(func, waits, sizeof(waits) / sizeof(waits[0]));
}

/*
 * Go's poller waits for files, too, where these can be polled (src/os/file_unix.go, newFile()): pipes and
 * terminals. Packages that watch files read these changes from one.
 */
static enum activity polled_for(const struct analysis *a, const struct stack_info *info)
{
	enum activity polled = ACT_NETWORK;

	for (uint32_t i = 0; i < info->n; i++) {
		const char *func = name_text(a, a->frames[info->first + i].func);

		if (strncmp(func, "os.(*File).", 11) == 0)
			polled = ACT_PIPE;
		if (polled == ACT_PIPE && strstr(func, "notify"))
			return ACT_OTHER;
	}
	return polled;
}

/*
 * The function below those that make any system call is named as the call, or nearly so: syscall.fcntl,
 * syscall.Fstat (Go 1.27 src/syscall/zsyscall_linux_amd64.go). Returns NULL if the leaf is none of these
 * packages.
 */
static const char *call_of_go(const struct analysis *a, const struct stack_info *info)
{
	static const char *const packages[] = {"syscall.", "internal/syscall/unix.", "golang.org/x/sys/unix.",
					       "internal/runtime/syscall.",
					       "internal/runtime/syscall/linux."};
	static const char *const any[] = {"syscall",         "syscall6",      "syscalln",
					  "rawsyscall",      "rawsyscall6",   "rawsyscallnoerror",
					  "rawvforksyscall", "syscallnoerror"};

	for (uint32_t i = 0; i < info->n; i++) {
		const char *func = name_text(a, a->frames[info->first + i].func), *call = NULL;
		bool makes_any = false;

		for (size_t k = 0; k < sizeof(packages) / sizeof(packages[0]) && !call; k++) {
			if (strncmp(func, packages[k], strlen(packages[k])) == 0)
				call = func + strlen(packages[k]);
		}
		for (size_t k = 0; call && k < sizeof(any) / sizeof(any[0]); k++)
			makes_any = makes_any || strcasecmp(call, any[k]) == 0;
		if (!makes_any)
			return call;
	}
	return NULL;
}

static uint32_t call_string(struct analysis *a, const struct stack_info *info)
{
	const char *call = call_of_go(a, info);
	char text[24];
	size_t n = 0;

	/* A method is no call: syscall.(*LazyProc).Call. */
	while (call && n < sizeof(text) - 1 && isalnum((unsigned char)call[n])) {
		text[n] = (char)tolower((unsigned char)call[n]);
		n++;
	}
	return n && !call[n] ? strtab_add(a->strings, text, n) : 0;
}

/* The call is named so, or with its arguments (src/model/threads/names.c). */
static bool is_futex(const char *func)
{
	return strncmp(func, "futex", 5) == 0 && (!func[5] || func[5] == '(');
}

/* "epoll_wait(5)", "epoll_pwait2(5)" */
static bool is_epoll(const char *func)
{
	return strncmp(func, "epoll_wait", 10) == 0 || strncmp(func, "epoll_pwait", 11) == 0;
}

/*
 * A program's own functions around a lock say no more than the lock does: their caller is the place. The
 * library function that it is in is then the program's.
 */
static void skip_wrappers(const struct analysis *a, struct stack_info *info)
{
	const struct code_place *frames = &a->frames[info->first];
	uint32_t site = info->site;

	while (site + 1 < info->n && library_wraps_lock(name_text(a, frames[site].func)) &&
	       frame_owner(a, &frames[site + 1]) == CODE_OF_PROGRAM)
		site++;
	if (site == info->site)
		return;
	info->site = site;
	info->leaf = site - 1;
}

/*
 * Who wants the lock is the place, and not the code that waits for all kinds of things; of PostgreSQL, whose
 * own code has both, the first named function outside the lock manager.
 */
static void look_at_lock(const struct analysis *a, struct stack_info *info)
{
	const struct code_place *frames = &a->frames[info->first];
	uint32_t lock = 0, site;

	while (lock < info->n && wait_by_outer(name_text(a, frames[lock].func)) != ACT_LOCK)
		lock++;
	for (site = lock + 1; site < info->n; site++) {
		const char *func = name_text(a, frames[site].func);

		if (!strstr(func, "+0x") && strncmp(func, "LockAcquire", 11) != 0)
			break;
	}
	if (site >= info->n)
		return;
	info->leaf = info->site > lock ? lock : site - 1;
	info->site = info->site > lock ? info->site : site;
}

static void look_at_leaf(struct analysis *a, struct stack_info *info)
{
	uint32_t called = find_frame(a, info, library_has);

	info->near = find_frame(a, info, library_is_lock);
	info->site = find_site(a, info);
	if (info->near == UINT32_MAX)
		info->near = find_root(a, info);
	/* If all frames are the library's, use the first one outside runtime and sync. */
	if (info->site == UINT32_MAX)
		info->site = info->near;
	info->leaf = find_leaf(a, info);
	if (called == UINT32_MAX)
		called = info->near;
	find_primitive(a, info);
	if (info->primitive)
		skip_wrappers(a, info);
	info->call = call_string(a, info);
	if (info->call)
		info->io_call = io_call_of(name_text(a, info->call));
	/* Frames above the program's own code are a system call, or library code that leads to one. */
	for (uint32_t i = 0; i < info->n && i < called && !info->call && !info->io_call; i++)
		info->io_call = io_call_of(name_text(a, a->frames[info->first + i].func));
	info->futex = info->n && is_futex(name_text(a, a->frames[info->first].func));
	info->polls = info->n && is_epoll(name_text(a, a->frames[info->first].func));
	for (uint32_t i = 0; i < info->n; i++) {
		const char *func = name_text(a, a->frames[info->first + i].func);

		info->lookup = info->lookup || names_is_lookup(func);
		info->handshake = info->handshake || names_is_handshake(func);
		info->waits_for = info->waits_for ? info->waits_for : (uint8_t)wait_by_outer(func);
	}
	if (info->waits_for == ACT_LOCK)
		look_at_lock(a, info);
	info->for_peer =
		info->near < info->n && is_for_peer(name_text(a, a->frames[info->first + info->near].func));
	info->sends_request =
		info->near < info->n && strcmp(name_text(a, a->frames[info->first + info->near].func),
					       "net/http.(*persistConn).writeLoop") == 0;
	info->polled = (uint8_t)polled_for(a, info);
	info->outside = info->n == 1 && name_text(a, a->frames[info->first].func)[0] == '[';
}

/*
 * An address for which there is no name, most often of code that the program has generated (a JIT compiler),
 * in memory with or without a file. Each is another one, so that a table by function has one row for all.
 */
static bool is_address(const char *func)
{
	const char *memory = strncmp(func, "memfd:", 6) == 0 ? strstr(func, "+0x") : NULL;
	const char *number = memory ? memory + 1 : func;

	return strncmp(number, "0x", 2) == 0 && number[2] &&
	       !number[2 + strspn(number + 2, "0123456789abcdef")];
}

/* A system call on a descriptor, as "read(7: /data/x)", which is its own file: for any descriptor it is
 * "read".
 */
static bool is_call(const struct analysis *a, const struct frame *frame, size_t *name)
{
	size_t len;
	const char *func = tables_string(a->gen->tables, frame->func, &len);

	*name = strspn(func, "abcdefghijklmnopqrstuvwxyz0123456789_");
	return frame->func == frame->file && *name && func[*name] == '(' && func[*name + 1] >= '0' &&
	       func[*name + 1] <= '9';
}

static void copy_frame(struct analysis *a, const struct frame *frame, struct code_place *place)
{
	size_t len, name;
	const char *func = tables_string(a->gen->tables, frame->func, &len);

	place->line = frame->line;
	place->file = name_string(a, frame->file);
	if (is_call(a, frame, &name))
		place->func = strtab_add(a->strings, func, name);
	else if (is_address(func))
		place->func = strtab_add_str(a->strings, UNNAMED_CODE);
	else
		place->func = name_string(a, frame->func);
	/* A name without code stays its own file. */
	if (frame->func == frame->file)
		place->file = place->func;
}

static bool names_copy_frames(struct analysis *a, const struct stack *from, struct stack_info *info)
{
	uint32_t n = from->frames ? from->n : 0;

	if (n > MAX_FRAMES_KEPT)
		n = MAX_FRAMES_KEPT;
	if (array_grow(&a->frames, &a->frame_capacity, a->nframes + n + 1, sizeof(*a->frames)))
		return false;
	info->first = (uint32_t)a->nframes;
	for (uint32_t i = 0; i < n; i++) {
		/* A truncated stack keeps its root, which identifies the goroutine. */
		const struct frame *frame = &from->frames[i == MAX_FRAMES_KEPT - 1 ? from->n - 1 : i];

		copy_frame(a, frame, &a->frames[a->nframes++]);
	}
	info->n = n;
	return true;
}

static bool frames_are_equal(const struct analysis *a, const struct stack_info *one,
			     const struct stack_info *other)
{
	return one->n == other->n &&
	       memcmp(&a->frames[one->first], &a->frames[other->first], one->n * sizeof(*a->frames)) == 0;
}

/* Stacks that differ only in addresses, or in a call's descriptor, are one. Returns 0 if it is a new one. Of
 * two with the same hash, only the first is found. */
static uint32_t find_equal(struct analysis *a, const struct stack_info *info)
{
	uint64_t hash = hash_bytes(0, &a->frames[info->first], info->n * sizeof(*a->frames));
	const uint32_t *known = map64_get(&a->stack_of_frames, hash);

	if (!known) {
		if (map64_set(&a->stack_of_frames, hash, (uint32_t)a->nstacks))
			a->oom = true;
		return 0;
	}
	return frames_are_equal(a, info, &a->stacks[*known]) ? *known : 0;
}

static uint32_t add_stack(struct analysis *a, const struct stack *from)
{
	struct stack_info info = {0};
	uint32_t known;

	if (a->nstacks >= MAX_STACKS)
		return 0;
	if (array_grow(&a->stacks, &a->stack_capacity, a->nstacks + 1, sizeof(*a->stacks)) ||
	    !names_copy_frames(a, from, &info)) {
		a->oom = true;
		return 0;
	}
	known = find_equal(a, &info);
	if (known) {
		a->nframes = info.first;
		return known;
	}
	look_at_leaf(a, &info);
	a->stacks[a->nstacks] = info;
	return (uint32_t)a->nstacks++;
}

uint32_t stack_index(struct analysis *a, uint32_t id)
{
	size_t before = a->nstack_of;

	if (!id || id >= a->gen->tables->nstacks)
		return 0;
	if (id >= before) {
		if (array_grow(&a->stack_of, &a->nstack_of, id + 1, sizeof(*a->stack_of))) {
			a->oom = true;
			return 0;
		}
		memset(a->stack_of + before, 0xff, (a->nstack_of - before) * sizeof(*a->stack_of));
	}
	if (a->stack_of[id] == UINT32_MAX)
		a->stack_of[id] = add_stack(a, &a->gen->tables->stacks[id]);
	return a->stack_of[id];
}

static const struct code_place *names_frame_at(const struct analysis *a, uint32_t stack, uint32_t i)
{
	static const struct code_place none;
	const struct stack_info *info = &a->stacks[stack < a->nstacks ? stack : 0];

	return i < info->n ? &a->frames[info->first + i] : &none;
}

bool stacks_share_site(const struct analysis *a, uint32_t one, uint32_t other)
{
	const struct code_place *at = stack_site(a, one), *there = stack_site(a, other);

	return at->func == there->func && at->line == there->line;
}

static bool is_with_deadline(const char *func)
{
	return strncmp(func, "context.WithDeadline", strlen("context.WithDeadline")) == 0;
}

bool stack_is_deadline(const struct analysis *a, uint32_t stack)
{
	return stack_any(a, stack, is_with_deadline);
}

uint32_t stack_own_caller(const struct analysis *a, uint32_t stack, uint32_t frame)
{
	const struct stack_info *info = &a->stacks[stack];
	const struct code_place *frames = &a->frames[info->first];

	for (uint32_t i = frame + 1; i < info->n; i++) {
		if (frames[i].func != frames[frame].func && frame_owner(a, &frames[i]) == CODE_OF_PROGRAM)
			return i;
	}
	return info->n;
}

bool stack_has_function(const struct analysis *a, uint32_t stack, uint32_t func)
{
	const struct stack_info *info = &a->stacks[stack];

	for (uint32_t i = 0; func && i + 1 < info->n; i++) {
		if (a->frames[info->first + i].func == func)
			return true;
	}
	return false;
}

bool stack_any(const struct analysis *a, uint32_t stack, bool (*is)(const char *func))
{
	const struct stack_info *info = &a->stacks[stack];

	for (uint32_t i = 0; i < info->n; i++) {
		if (is(name_text(a, a->frames[info->first + i].func)))
			return true;
	}
	return false;
}

bool stack_calls(const struct analysis *a, uint32_t stack, const char *func)
{
	const struct stack_info *info = &a->stacks[stack];

	for (uint32_t i = 0; i < info->n; i++) {
		if (strcmp(name_text(a, a->frames[info->first + i].func), func) == 0)
			return true;
	}
	return false;
}

bool stack_mentions(const struct analysis *a, uint32_t stack, const char *text)
{
	const struct stack_info *info = &a->stacks[stack];

	for (uint32_t i = 0; i < info->n; i++) {
		if (strstr(name_text(a, a->frames[info->first + i].func), text))
			return true;
	}
	return false;
}

uint32_t stack_line_in(const struct analysis *a, uint32_t stack, uint32_t func)
{
	const struct stack_info *info = &a->stacks[stack];

	for (uint32_t i = 0; i < info->n; i++) {
		if (a->frames[info->first + i].func == func)
			return a->frames[info->first + i].line;
	}
	return 0;
}

const struct code_place *stack_site(const struct analysis *a, uint32_t stack)
{
	return names_frame_at(a, stack, a->stacks[stack < a->nstacks ? stack : 0].site);
}

const struct code_place *stack_leaf(const struct analysis *a, uint32_t stack)
{
	const struct stack_info *info = &a->stacks[stack < a->nstacks ? stack : 0];
	static const struct code_place none;

	return info->leaf == info->site ? &none : names_frame_at(a, stack, info->leaf);
}

bool stack_is_timer(const struct analysis *a, uint32_t stack)
{
	return a->stacks[stack].outside &&
	       strcmp(name_text(a, stack_site(a, stack)->func), "[interrupt: timer]") == 0;
}

bool stack_is_in_program(const struct analysis *a, uint32_t stack)
{
	const struct code_place *site = stack_site(a, stack);

	return library_owner(name_text(a, site->func), name_text(a, site->file)) == CODE_OF_PROGRAM;
}

const struct code_place *stack_near(const struct analysis *a, uint32_t stack)
{
	return names_frame_at(a, stack, a->stacks[stack < a->nstacks ? stack : 0].near);
}

const struct code_place *stack_root(const struct analysis *a, uint32_t stack)
{
	uint32_t n = a->stacks[stack < a->nstacks ? stack : 0].n;

	return names_frame_at(a, stack, n ? n - 1 : 0);
}

bool stack_polls(const struct analysis *a, uint32_t stack)
{
	const struct stack_info *info = &a->stacks[stack < a->nstacks ? stack : 0];

	/* runtime.chanrecv, runtime.selectnbrecv, the program's function (cmd/compile: walkSelectCases). */
	for (uint32_t i = 0; i < info->n && i < 3; i++) {
		const char *func = name_text(a, a->frames[info->first + i].func);

		if (strncmp(func, "runtime.selectnb", 16) == 0 || strcmp(func, "runtime.selectgo") == 0)
			return true;
	}
	return false;
}
