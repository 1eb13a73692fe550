/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Finds the runtime's variables in the code of functions that use them, so that stripped programs need no
 * special treatment. Sources: Go 1.22 to 1.26 runtime/proc.go and asm_amd64.s.
 */
#include "target/private.h"

#include <errno.h>
#include <string.h>

#include "target/heap.h"
#include "target/memory.h"

#define MAX_REFERENCES 512

struct references {
	struct reference all[MAX_REFERENCES];
	int n;
};

int target_trace_flag(const struct target *target, uint64_t *flag)
{
	/* The second, if it is too big to be inlined into the first: it contains what it calls (a profile).
	 */
	static const char *const functions[] = {"runtime.goexit1", "runtime.traceAcquire"};
	struct code code;

	for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (target_code(target, functions[i], &code) == 0 && code_flag(&code, flag) == 0)
			return 0;
	}
	return -ENOENT;
}

static int not_found(const struct target *target, const char *what, const char *function, struct error *err)
{
	return error_set(err, ENOTSUP,
			 "%s: cannot find %s in the code of %s (%s): was it built in an unusual way?",
			 target->image->label, what, function, target->go_version);
}

/* Keeps the references that are in a copy of the function. */
static void variables_keep_copy(const struct target *target, const struct code *code, const char *function,
				struct references *references)
{
	struct logical_place place;
	int kept = 0;

	for (int i = 0; i < references->n; i++) {
		target_logical_place(target, code->address + references->all[i].offset, &place);
		if (logical_index(&place, function) >= 0)
			references->all[kept++] = references->all[i];
	}
	references->n = kept;
}

/* Lists what the function refers to; if it only exists as copies, what the first of them refers to. */
static int read_references(const struct target *target, const char *function, struct references *references)
{
	uint64_t entry, end;
	struct code code;
	bool is_copy = target_code(target, function, &code) != 0;
	int rc = 0;

	references->n = 0;
	if (is_copy && (copies_find_code(target, function, NULL, &entry, &end) ||
			target_code_at(target, entry, end, &code) || code.arm64))
		return -ENOENT;
	rc = code_references(&code, references->all, MAX_REFERENCES);
	references->n = rc < 0 ? 0 : rc < MAX_REFERENCES ? rc : MAX_REFERENCES;
	if (is_copy)
		variables_keep_copy(target, &code, function, references);
	return rc < 0 ? rc : 0;
}

/* Number of references to the address with any of these uses. */
static int count_uses(const struct references *references, uint64_t address, unsigned uses)
{
	int n = 0;

	for (int i = 0; i < references->n; i++)
		n += references->all[i].address == address && references->all[i].use & uses;
	return n;
}

/*
 * allgadd appends to a slice, and so uses its three words. It both loads and stores the length, in Go 1.4 by
 * the slice's address; counters of a build for coverage (-coverpkg=all) are only stored.
 */
static uint64_t find_allgs(const struct references *references)
{
	for (int i = 0; i < references->n; i++) {
		uint64_t address = references->all[i].address;

		if (count_uses(references, address, USE_LOAD | USE_STORE) &&
		    count_uses(references, address + 8, USE_LOAD) &&
		    (count_uses(references, address + 8, USE_STORE) ||
		     count_uses(references, address, USE_ADDRESS)) &&
		    count_uses(references, address + 16, USE_LOAD | USE_STORE))
			return address;
	}
	return 0;
}

/* preemptall iterates over a slice: it loads pointer and length. */
static uint64_t find_allp(const struct references *references)
{
	for (int i = 0; i < references->n; i++) {
		uint64_t address = references->all[i].address;

		if (references->all[i].size == 8 && count_uses(references, address, USE_LOAD) &&
		    count_uses(references, address + 8, USE_LOAD))
			return address;
	}
	return 0;
}

/* Up to Go 1.9 allp is an array, whose address preemptall takes. */
static uint64_t find_allp_array(const struct references *references)
{
	for (int i = 0; i < references->n; i++) {
		if (references->all[i].use == USE_ADDRESS)
			return references->all[i].address;
	}
	return 0;
}

/* mcommoninit first acquires sched.lock. */
static uint64_t find_sched_lock(const struct references *references)
{
	for (int i = 0; i < references->n; i++) {
		if (references->all[i].use == USE_ADDRESS)
			return references->all[i].address;
	}
	return 0;
}

/*
 * mcommoninit links the new M at the head: it loads the head, then takes its address to store to it. Where
 * locks have ranks (GOEXPERIMENT=staticlockranking), it also loads the rank of the lock, the lock's first
 * word.
 */
static uint64_t find_allm(const struct references *references)
{
	uint64_t lock = find_sched_lock(references);

	for (int i = 0; i < references->n; i++) {
		uint64_t address = references->all[i].address;

		if (references->all[i].use == USE_LOAD && references->all[i].size == 8 && address != lock &&
		    count_uses(references, address, USE_ADDRESS))
			return address;
	}
	return 0;
}

/* mcommoninit releases the lock, too. */
static uint64_t find_sched(const struct references *references, uint32_t lock)
{
	uint64_t address = find_sched_lock(references);

	return count_uses(references, address, USE_ADDRESS) > 1 ? address - lock : 0;
}

/* procresize begins with `old := gomaxprocs`. */
static uint64_t find_gomaxprocs(const struct references *references)
{
	for (int i = 0; i < references->n; i++) {
		if (references->all[i].use == USE_LOAD && references->all[i].size == 4)
			return references->all[i].address;
	}
	return 0;
}

static int variables_take(const struct target *target, uint64_t address, size_t size, uint64_t *variable,
			  const char *name, const char *function, struct error *err)
{
	if (!address || !image_is_variable(&target->image->elf, address, size))
		return not_found(target, name, function, err);
	*variable = address + target->bias;
	return 0;
}

static int find_slices(struct target *target, struct error *err)
{
	struct references references;
	int rc;

	read_references(target, "runtime.allgadd", &references);
	rc = variables_take(target, find_allgs(&references), 24, &target->allgs, "allgs", "runtime.allgadd",
			    err);
	if (rc)
		return rc;
	read_references(target, "runtime.preemptall", &references);
	target->allp_is_array = target->go_minor < 10;
	return variables_take(target,
			      target->allp_is_array ? find_allp_array(&references) : find_allp(&references),
			      24, &target->allp, "allp", "runtime.preemptall", err);
}

static int find_lists(struct target *target, struct error *err)
{
	uint32_t lock = target->image->release->layout.runtime.sched_lock;
	struct references references;
	int rc;

	read_references(target, "runtime.mcommoninit", &references);
	rc = variables_take(target, find_allm(&references), 8, &target->allm, "allm", "runtime.mcommoninit",
			    err);
	if (rc == 0)
		rc = variables_take(target, find_sched(&references, lock), 8, &target->sched, "sched",
				    "runtime.mcommoninit", err);
	if (rc)
		return rc;
	read_references(target, "runtime.procresize", &references);
	return variables_take(target, find_gomaxprocs(&references), 4, &target->gomaxprocs, "gomaxprocs",
			      "runtime.procresize", err);
}

/*
 * An executable's thread-local storage is below the thread's fs base. Few programs have more than a page of
 * it.
 */
#define TLS_LOWEST (-(int64_t)(1 << 24))

static int find_tls(struct target *target, struct error *err)
{
	const char *functions[] = {"runtime.mcall", "runtime.systemstack"};
	int64_t first = 0;

	/* Go code on arm64 keeps g in a register, and without cgo nowhere else. */
	if (target->image->elf.arm64)
		return 0;
	if (target->go_minor == 4)
		functions[1] = "runtime.onM";
	for (int i = 0; i < 2; i++) {
		struct code code;
		int64_t offset = 0;
		uint64_t got = 0;
		int rc = target_code(target, functions[i], &code);

		if (rc == 0)
			rc = code_tls(&code, &offset, &got);
		/* The dynamic linker puts the offset into a slot, in a library and in some programs with cgo.
		 */
		if (rc && got && !target->image->placed)
			return 0;
		if (rc && got)
			rc = memory_read(target->pid, got + target->bias, &offset, sizeof(offset));
		if (rc || offset >= 0 || offset < TLS_LOWEST || offset % 8 || (i && offset != first))
			return not_found(target, "the thread-local offset of g", functions[i], err);
		first = offset;
	}
	target->layout.tls_g = (int32_t)first;
	return 0;
}

static void find_borrower(struct target *target)
{
	struct go_places *places = &target->places;

	functab_find(target->functab, "runtime.allocm", &places->allocm, &places->allocm_end);
	functab_find(target->functab, "runtime.newm", &places->newm, &places->newm_end);
}

/* Up to Go 1.21 exitsyscall itself may enter the kernel. */
static void find_single_syscalls(struct target *target)
{
	static const char *const raw[] = {
		"runtime/internal/syscall.Syscall6",       /* Go 1.22 */
		"internal/runtime/syscall.Syscall6",       /* 1.23 to 1.25 */
		"internal/runtime/syscall/linux.Syscall6", /* 1.26 and 1.27 */
	};
	struct go_places *places = &target->places;

	for (unsigned i = 0; target->go_minor >= 22 && i < sizeof(raw) / sizeof(raw[0]); i++) {
		if (functab_find(target->functab, raw[i], &places->raw_syscall, &places->raw_syscall_end))
			continue;
		functab_find(target->functab, "syscall.Syscall", &places->syscall3, &places->syscall3_end);
		functab_find(target->functab, "syscall.Syscall6", &places->syscall6, &places->syscall6_end);
		return;
	}
}

/*
 * The functions are adjacent in one file (Go 1.17 and 1.18 syscall/asm_linux_amd64.s) if the program has
 * both.
 */
static void find_syscalls(struct target *target)
{
	struct go_places *places = &target->places;
	uint64_t begin, end;

	if (target->go_minor > 18)
		return;
	functab_find(target->functab, "syscall.Syscall", &places->syscalls, &places->syscalls_end);
	if (functab_find(target->functab, "syscall.Syscall6", &begin, &end))
		return;
	if (places->syscalls_end != begin)
		places->syscalls = begin;
	places->syscalls_end = end;
}

/* Up to Go 1.20 asmcgocall, which is called by cgocall, has no frame. */
static void find_callbacks(struct target *target)
{
	struct go_places *places = &target->places;
	struct code code;
	size_t size;

	target_find_function(target, "runtime.cgocallback", &places->cgocallback, &places->cgocallback_end);
	target_find_function(target, "runtime.cgocall", &places->cgocall, &places->cgocall_end);
	if (target_code(target, "runtime.cgocall", &code) == 0 && code_frame(&code, &size) == 0)
		places->cgocall_frame = size;
}

/* Finds where inlined copies of gopark call mcall. Parked goroutines have that address in g.sched. */
static void find_park_copies(struct target *target)
{
	struct copy_search search = copies_begin(target, "runtime.gopark");
	struct code code, mcall;
	unsigned n = 0;
	uint64_t entry, end;
	const char *name;

	if (target_code(target, "runtime.mcall", &mcall))
		return;
	while (copies_next(target, &search, &entry, &end, &name)) {
		struct call_site calls[MAX_PARK_COPIES];
		int count = target_code_at(target, entry, end, &code) == 0
				    ? code_calls(&code, mcall.address, calls, MAX_PARK_COPIES)
				    : 0;

		for (int i = 0; i < count && i < MAX_PARK_COPIES && n < MAX_PARK_COPIES; i++) {
			struct logical_place place;

			target_logical_place(target, code.address + calls[i].offset, &place);
			if (logical_index(&place, "runtime.gopark") >= 0)
				target->places.park_copies[n++] = code.address + calls[i].end + target->bias;
		}
	}
}

/* A program without cgo has no callbacks from C. */
static void target_find_places(struct target *target)
{
	struct go_places *places = &target->places;

	functab_range(target->functab, &places->text, &places->etext);
	target_find_function(target, "runtime.gopark", &places->gopark, &places->gopark_end);
	functab_find(target->functab, "runtime.chanrecv", &places->chanrecv, &places->chanrecv_end);
	functab_find(target->functab, "runtime.chansend", &places->chansend, &places->chansend_end);
	functab_find(target->functab, "runtime.semacquire1", &places->semacquire, &places->semacquire_end);
	functab_find(target->functab, "sync.runtime_notifyListWait", &places->notify_wait,
		     &places->notify_wait_end);
	functab_find(target->functab, "runtime.selectgo", &places->selectgo, &places->selectgo_end);
	functab_find(target->functab, "runtime.netpollblock", &places->netpollblock,
		     &places->netpollblock_end);
	functab_find(target->functab, "time.Sleep", &places->time_sleep, &places->time_sleep_end);
	functab_find(target->functab, "runtime.gcStart", &places->gc_start, &places->gc_start_end);
	functab_find(target->functab, "runtime.gcMarkDone", &places->gc_mark_done, &places->gc_mark_done_end);
	functab_find(target->functab, "runtime.systemstack_switch", &places->stack_switch,
		     &places->stack_switch_end);
	functab_find(target->functab, "runtime.asyncPreempt2", &places->async_preempt,
		     &places->async_preempt_end);
	functab_find(target->functab, "runtime.goyield", &places->goyield, &places->goyield_end);
	find_syscalls(target);
	find_borrower(target);
	find_single_syscalls(target);
	if (target->cgo)
		find_callbacks(target);
}

/* Returns an address in the function's only call of the runtime's tracer, or 0 if it is not found. */
static uint64_t find_trace_call(const struct target *target, const char *function, const char *tracer)
{
	struct code code, callee;
	struct call_site call;

	if (target_code(target, function, &code) || target_code(target, tracer, &callee) ||
	    code_calls(&code, callee.address, &call, 1) != 1)
		return 0;
	return code.address + call.offset + 1 + target->bias;
}

/*
 * Finds where gcAssistAlloc traces the beginning of an assist. The tracer function is inlined there (Go 1.17
 * to 1.21).
 */
static uint64_t find_assist_trace_call(const struct target *target)
{
	enum { GC_MARK_ASSIST_START = 43, MAX_EVENTS = 8 }; /* traceEv*, Go 1.17 runtime/trace.go */
	struct call_site calls[MAX_EVENTS];
	struct code code, callee;
	int n;

	if (target_code(target, "runtime.gcAssistAlloc", &code) ||
	    target_code(target, "runtime.traceEvent", &callee))
		return 0;
	n = code_calls(&code, callee.address, calls, MAX_EVENTS);
	for (int i = 0; i < n && i < MAX_EVENTS; i++) {
		if (calls[i].args[0] == GC_MARK_ASSIST_START)
			return code.address + calls[i].offset + 1 + target->bias;
	}
	return 0;
}

/* Up to Go 1.21 the tracer's own function is the leaf; wake-ups by injectglist have no stack. */
static void find_v1_trace_callees(struct target *target)
{
	struct go_places *places = &target->places;

	places->sweep_trace_call =
		find_trace_call(target, "runtime.(*sweepLocked).sweep", "runtime.traceGCSweepSpan");
	if (places->sweep_trace_call)
		places->sweep_trace_callee =
			find_trace_call(target, "runtime.traceGCSweepSpan", "runtime.traceEvent");
	places->assist_trace_call = find_assist_trace_call(target);
	if (target->go_minor <= 18)
		places->next_gc = places->gc_controller + target->image->release->layout.runtime.gc_heap_goal;
}

/*
 * The address of a function's call of the runtime's tracer gives the line of the stack's leaf. Without it,
 * the stack shows another line of the function.
 */
static void find_trace_call_sites(struct target *target)
{
	struct go_places *places = &target->places;

	if (target->go_minor <= ABI0_LAST) {
		target_find_abi0_places(target);
		return;
	}
	if (target->go_minor <= 21) {
		find_v1_trace_callees(target);
		return;
	}
	places->injectglist_trace_call =
		find_trace_call(target, "runtime.injectglist", "runtime.traceLocker.GoUnpark");
	places->sweep_trace_call =
		find_trace_call(target, "runtime.(*sweepLocked).sweep", "runtime.traceLocker.GCSweepSpan");
	places->assist_trace_call =
		find_trace_call(target, "runtime.gcAssistAlloc", "runtime.traceLocker.GCMarkAssistStart");
}

static int variables_find_function(const struct target *target, const char *name, const char *but,
				   uint64_t *entry, uint64_t *end, struct error *err)
{
	if (copies_find_code(target, name, but, entry, end))
		return error_set(err, ENOTSUP, "%s: %s is not in its function table (%s)",
				 target->image->label, name, target->go_version);
	return 0;
}

/*
 * deductSweepCredit has two callers, cacheSpan and allocLarge (Go 1.21 to 1.27 runtime/mcentral.go,
 * mcache.go). A profile may have it inlined in one of them and called by the other.
 */
static void find_copy_of_deduct(struct target *target)
{
	struct go_places *places = &target->places;
	struct copy_search search = copies_begin(target, "runtime.deductSweepCredit");
	uint64_t entry, end;
	const char *name;

	while (copies_next(target, &search, &entry, &end, &name)) {
		if (entry == places->cache_span || entry == places->deduct)
			continue;
		places->deduct_copy = entry;
		places->deduct_copy_end = end;
	}
}

/* Finds the functions on whose behalf spans are swept. The stack at a sweep shows which one it is. */
static int find_sweepers(struct target *target, struct error *err)
{
	/* Up to 1.11 a list of spans is swept until enough pages are free. */
	const char *chunk =
		target->go_minor < 12 ? "runtime.(*mheap).reclaimList" : "runtime.(*mheap).reclaimChunk";
	struct go_places *places = &target->places;
	const char *central = "runtime.(*mcentral).cacheSpan";
	int rc = variables_find_function(target, central, NULL, &places->cache_span, &places->cache_span_end,
					 err);

	if (rc == 0)
		rc = variables_find_function(target, chunk, NULL, &places->reclaim_chunk,
					     &places->reclaim_chunk_end, err);
	/* A copy of it in cacheSpan is recognised as that. */
	if (rc == 0)
		rc = variables_find_function(target, "runtime.deductSweepCredit", central, &places->deduct,
					     &places->deduct_end, err);
	if (rc == 0)
		find_copy_of_deduct(target);
	return rc;
}

/*
 * gcControllerCommit calls gcController's methods commit and trigger. If a profile has both inlined, its
 * address is the first that is used; in a build without inlining that is the heap's, of which a lock is
 * asserted.
 */
static uint64_t find_gc_controller(const struct target *target, const struct references *references)
{
	static const char *const methods[] = {"runtime.(*gcControllerState).commit",
					      "runtime.(*gcControllerState).trigger"};
	struct code code, callee;
	uint64_t variable;

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		if (target_code(target, "runtime.gcControllerCommit", &code) == 0 &&
		    target_code(target, methods[i], &callee) == 0 &&
		    code_receiver(&code, callee.address, &variable) == 0)
			return variable;
	}
	for (int i = 0; i < references->n; i++) {
		if (references->all[i].use == USE_ADDRESS)
			return references->all[i].address;
	}
	return 0;
}

/* gcControllerCommit also tests `gcphase != _GCoff`, its only comparison with 0. */
static uint64_t find_gcphase(const struct references *references)
{
	for (int i = 0; i < references->n; i++) {
		if (references->all[i].use & USE_IS_ZERO)
			return references->all[i].address;
	}
	return 0;
}

static int find_collector(struct target *target, struct error *err)
{
	static const char function[] = "runtime.gcControllerCommit";
	struct references references;
	int rc;

	read_references(target, function, &references);
	rc = variables_take(target, find_gc_controller(target, &references), heap_controller_size(target),
			    &target->places.gc_controller, "gcController", function, err);
	if (rc == 0)
		rc = variables_take(target, find_gcphase(&references), 4, &target->gcphase, "gcphase",
				    function, err);
	return rc;
}

/* gcSweep first tests `gcphase != _GCoff` (Go 1.5 to 1.18 runtime/mgc.go). */
static uint64_t find_old_gcphase(const struct references *references)
{
	for (int i = 0; i < references->n; i++) {
		const struct reference *one = &references->all[i];

		if (one->use & USE_IS_ZERO || (one->use == USE_LOAD && one->size == 4))
			return one->address;
	}
	return 0;
}

/* traceNextGC traces memstats.next_gc (Go 1.5 to 1.16 runtime/trace.go). */
static uint64_t find_memstats(const struct references *references, uint32_t next_gc)
{
	for (int i = 0; i < references->n; i++) {
		if (references->all[i].use == USE_LOAD && references->all[i].size == 8)
			return references->all[i].address - next_gc;
	}
	return 0;
}

/* schedule first looks for a worker: gcController.findRunnableGCWorker (Go 1.17, 1.18 runtime/proc.go). */
static uint64_t find_receiver(const struct target *target)
{
	struct code code, callee;
	uint64_t variable;

	if (target_code(target, "runtime.schedule", &code) ||
	    target_code(target, "runtime.(*gcControllerState).findRunnableGCWorker", &callee) ||
	    code_receiver(&code, callee.address, &variable))
		return 0;
	return variable;
}

/* Finds the heap size and goal of the collector up to Go 1.18. Go 1.4 has no goal. */
static int find_old_collector(struct target *target, struct error *err)
{
	uint32_t next_gc = target->image->release->layout.runtime.gc_heap_goal;
	size_t size = heap_controller_size(target);
	uint64_t *controller = &target->places.gc_controller;
	struct references references;
	int rc;

	if (target->go_minor < 5)
		return 0;
	read_references(target, "runtime.gcSweep", &references);
	rc = variables_take(target, find_old_gcphase(&references), 4, &target->gcphase, "gcphase",
			    "runtime.gcSweep", err);
	if (rc)
		return rc;
	if (target->go_minor >= 17)
		return variables_take(target, find_receiver(target), size, controller, "gcController",
				      "runtime.schedule", err);
	read_references(target, "runtime.traceNextGC", &references);
	return variables_take(target, find_memstats(&references, next_gc), size, controller, "memstats",
			      "runtime.traceNextGC", err);
}

void target_take_layout(struct target *target)
{
	target->layout = target->image->release->layout.go;
	/* From 1.24 on newproc1 numbers a goroutine before it changes the status (runtime/proc.go). */
	if (target->go_minor >= 24)
		target->layout.p_goidcache = target->layout.p_goidcacheend = LAYOUT_ABSENT;
}

int target_find_variables(struct target *target, struct error *err)
{
	int rc = target_find_copies(target, err);

	if (rc == 0)
		rc = find_slices(target, err);
	if (rc == 0)
		rc = find_lists(target, err);
	if (rc == 0)
		rc = find_tls(target, err);
	if (rc == 0)
		rc = target->go_minor < 19 ? find_old_collector(target, err) : find_collector(target, err);
	if (rc == 0 && target->go_minor >= 9)
		rc = find_sweepers(target, err);
	target_find_places(target);
	find_park_copies(target);
	find_trace_call_sites(target);
	return rc;
}
