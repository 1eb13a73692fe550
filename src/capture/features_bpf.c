/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Tests what bpf(2) supports. Each probe loads a purpose-made program of a few instructions, and closes it.
 * Nothing is attached.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <linux/capability.h>

#include "capture/features_probes.h"

/* Instruction macros, as in include/uapi/linux/bpf.h and bpf_common.h. */
#define OP(op, dst, src, offset, value)                                                                      \
	((struct bpf_insn){.code = (op), .dst_reg = (dst), .src_reg = (src), .off = (offset), .imm = (value)})
#define SET(reg, value)      OP(BPF_ALU64 | BPF_MOV | BPF_K, reg, 0, 0, value)
#define COPY(to, from)       OP(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0)
#define ADD(reg, value)      OP(BPF_ALU64 | BPF_ADD | BPF_K, reg, 0, 0, value)
#define ZERO_AT(reg, off)    OP(BPF_ST | BPF_MEM | BPF_DW, reg, 0, off, 0)
#define CALL(function)       OP(BPF_JMP | BPF_CALL, 0, 0, 0, function)
#define STORE(to, off, from) OP(BPF_STX | BPF_MEM | BPF_DW, to, from, off, 0)
#define EXIT                 OP(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

enum {
	EXCHANGE = 0xe1, /* BPF_XCHG, Linux 5.12; Debian 12's header defines it under another condition */
	MEMLOCK_BYTES = 64 << 20, /* upper limit of what the rings and tables need */
};

struct attempt {
	enum bpf_prog_type type;
	enum bpf_attach_type attach;
	uint32_t btf_id;
	uint32_t flags;
};

/* Returns 0 or a negative errno. */
static int bpf_attempt_load(const struct attempt *attempt, const struct bpf_insn *code, size_t n)
{
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = attempt->attach,
		    .attach_btf_id = attempt->btf_id, .prog_flags = attempt->flags);
	int fd = bpf_prog_load(attempt->type, "gotrace_probe", "GPL", code, n, &options);

	if (fd < 0)
		return errno ? -errno : -EINVAL;
	close(fd);
	return 0;
}

/* Tests a program of the type used for uprobes. */
#define TRY(...)                                                                                             \
	bpf_attempt_load(&(struct attempt){.type = BPF_PROG_TYPE_KPROBE},                                    \
			 (const struct bpf_insn[]){__VA_ARGS__},                                             \
			 sizeof((const struct bpf_insn[]){__VA_ARGS__}) / sizeof(struct bpf_insn))

/* Without bpf(2), nothing can be tested. Its refusal has already been reported. */
static bool untried(const struct features *features, struct feature *feature)
{
	if (!features->bpf)
		feature_missing(feature, 0, "not tested: it needs bpf(2)", "", "");
	return !features->bpf;
}

/* Needs CONFIG_BPF_SYSCALL, and no policy that forbids it. */
void probe_bpf(struct features *features, const char *root)
{
	struct feature *feature = feature_add(features, "bpf(2)");
	int rc = TRY(SET(BPF_REG_0, 0), EXIT);
	char found[128], advice[192];

	features->bpf = rc == 0;
	if (rc == 0) {
		feature_available(feature, "loads programs");
		return;
	}
	snprintf(found, sizeof(found), "refused: %s", strerror(-rc));
	feature_why_refused(root, -rc, NULL, advice, sizeof(advice));
	feature_missing(feature, NEED_GO | NEED_C, found, "nothing can be traced", advice);
}

/* Up to Linux 5.10, programs and maps count as locked memory. From 5.11 on (d5299b67dd59) they are charged to
 * the cgroup; bpf_ktime_get_coarse_ns came with the same release (d05512618056). libbpf raises the limit if
 * permitted. */
void probe_memlock(struct features *features, const char *root)
{
	struct feature *feature = feature_add(features, "locked memory");
	const struct bpf_insn code[] = {CALL(BPF_FUNC_ktime_get_coarse_ns), SET(BPF_REG_0, 0), EXIT};
	struct rlimit limit = {0, 0};
	char found[128];

	if (untried(features, feature))
		return;
	if (bpf_attempt_load(&(struct attempt){.type = BPF_PROG_TYPE_SOCKET_FILTER}, code, 3) == 0) {
		feature_available(feature, "not needed (Linux 5.11 and later)");
		return;
	}
	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (limit.rlim_cur == RLIM_INFINITY || feature_capable(root, CAP_SYS_RESOURCE) ||
	    limit.rlim_cur >= MEMLOCK_BYTES) {
		feature_available(feature, "enough");
		return;
	}
	snprintf(found, sizeof(found), "at most %llu KiB (ulimit -l), and no CAP_SYS_RESOURCE to raise it",
		 (unsigned long long)limit.rlim_cur >> 10);
	feature_missing(feature, NEED_GO | NEED_C, found,
			"nothing can be traced: no memory for the rings before Linux 5.11",
			"ulimit -l unlimited, or use sudo");
}

/* Linux 5.8 (457f44363a88). */
void probe_ring_buffer(struct features *features, const char *root)
{
	struct feature *feature = feature_add(features, "ring buffer");
	char found[128], advice[192];
	int fd, error;

	if (untried(features, feature))
		return;
	fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "gotrace_probe", 0, 0, (uint32_t)getpagesize(), NULL);
	if (fd >= 0) {
		close(fd);
		feature_available(feature, "available");
		return;
	}
	error = errno;
	snprintf(found, sizeof(found), "refused: %s", strerror(error));
	feature_why_refused(root, error, NULL, advice, sizeof(advice));
	feature_missing(feature, NEED_GO | NEED_C, found, "nothing can be traced",
			error == EINVAL ? "Linux 5.8 or later is needed" : advice);
}

/* Bounded loops, Linux 5.3 (2589726d12a1). bpf_loop (5.17) is not used: before 6.7 the verifier may treat a
 * counter in its callback as constant. */
void probe_loops(struct features *features)
{
	struct feature *feature = feature_add(features, "loops");

	if (untried(features, feature))
		return;
	if (TRY(SET(BPF_REG_0, 0), ADD(BPF_REG_0, 1), OP(BPF_JMP | BPF_JLT | BPF_K, BPF_REG_0, 0, -2, 8),
		SET(BPF_REG_0, 0), EXIT) == 0)
		feature_available(feature, "bounded loops");
	else
		feature_missing(feature, NEED_GO | NEED_C, "the verifier rejects bounded loops",
				"no stack can be walked", "Linux 5.3 or later is needed");
}

/*
 * bpf_get_current_task_btf, Linux 5.11 (3ca1032ab7ab), and bpf_task_pt_regs, 5.15 (dd6e10fbd9fb), on kernels
 * with BTF. They provide a task as a pointer whose members can be loaded, and its user registers. On older
 * kernels each member needs a helper call, and registers are read from the end of the kernel stack
 * (bpf/thread.bpf.h).
 */
void probe_task_pointers(struct features *features)
{
	struct feature *feature = feature_add(features, "task pointers");

	if (untried(features, feature))
		return;
	features->pointers =
		features->own_btf && TRY(CALL(BPF_FUNC_get_current_task_btf), COPY(BPF_REG_1, BPF_REG_0),
					 CALL(BPF_FUNC_task_pt_regs), SET(BPF_REG_0, 0), EXIT) == 0;
	if (features->pointers)
		feature_available(feature, "bpf_get_current_task_btf, bpf_task_pt_regs");
	else
		feature_replaced(feature,
				 "none (they need Linux 5.15 with its own BTF): bpf_get_current_task, and "
				 "one read for each member",
				 "hits take a little longer, and CPU samples of goroutines in the kernel "
				 "have no stack",
				 "");
}

/*
 * bpf_probe_read_kernel. Lockdown in confidentiality mode refuses it (Linux 5.4, LOCKDOWN_BPF_READ_KERNEL).
 * Tracing goroutines does not need it, but if it is refused, libbpf (bpf_object__sanitize_prog) assumes a
 * kernel before 5.5, and replaces bpf_probe_read_user by bpf_probe_read, which is refused too.
 */
void probe_kernel_reads(struct features *features)
{
	struct feature *feature = feature_add(features, "reading the kernel");

	if (untried(features, feature))
		return;
	if (TRY(COPY(BPF_REG_1, BPF_REG_10), ADD(BPF_REG_1, -8), SET(BPF_REG_2, 8), SET(BPF_REG_3, 0),
		CALL(BPF_FUNC_probe_read_kernel), SET(BPF_REG_0, 0), EXIT) == 0)
		feature_available(feature, "bpf_probe_read_kernel");
	else
		feature_missing(feature, NEED_GO | NEED_C,
				"bpf_probe_read_kernel is refused (lockdown: confidentiality)",
				"nothing can be traced", "boot with lockdown=integrity, or without");
}

static bool loads_on_tracepoint(void)
{
	int id = libbpf_find_vmlinux_btf_id("sched_switch", BPF_TRACE_RAW_TP);
	struct attempt attempt = {.type = BPF_PROG_TYPE_TRACING,
				  .attach = BPF_TRACE_RAW_TP,
				  .btf_id = id > 0 ? (uint32_t)id : 0};
	const struct bpf_insn code[] = {SET(BPF_REG_0, 0), EXIT};

	return id > 0 && bpf_attempt_load(&attempt, code, 2) == 0;
}

/*
 * tp_btf, Linux 5.5 (f1b9509c2fb0), with the kernel's own BTF: members of a tracepoint's arguments can be
 * loaded, too. Otherwise the same programs run on raw tracepoints, Linux 4.17 (c4f6699dfcb8).
 */
void probe_tracepoints(struct features *features, bool thorough)
{
	struct feature *feature = feature_add(features, "tracepoints");
	const struct bpf_insn code[] = {SET(BPF_REG_0, 0), EXIT};

	if (untried(features, feature))
		return;
	features->tracing = features->own_btf && (!thorough || loads_on_tracepoint());
	features->pointers = features->pointers && features->tracing;
	if (features->pointers)
		feature_available(feature, "tp_btf");
	else if (bpf_attempt_load(&(struct attempt){.type = BPF_PROG_TYPE_RAW_TRACEPOINT}, code, 2) == 0)
		feature_replaced(feature, "raw tracepoints (tp_btf helps only with task pointers)",
				 "hits take a little longer", "");
	else
		feature_missing(feature, NEED_C | NEED_SYSCALLS,
				"neither tp_btf nor raw tracepoints can be used",
				"no threads, and no system calls of goroutines",
				"goroutines can be traced with --no-syscalls");
}

/*
 * Kernels that allow sleepable programs on system calls (Linux 7.x) also let other programs be preempted, and
 * skip a program while another thread's run of it is unfinished (bpf/recursion_backup.bpf.h). Earlier kernels
 * disable preemption in the caller (__BPF_DECLARE_TRACE_SYSCALL in include/trace/bpf_probe.h).
 */
void probe_preempted_calls(struct features *features)
{
	struct feature *feature = feature_add(features, "system calls");
	const struct attempt attempt = {.type = BPF_PROG_TYPE_RAW_TRACEPOINT, .flags = BPF_F_SLEEPABLE};
	const struct bpf_insn code[] = {SET(BPF_REG_0, 0), EXIT};

	if (untried(features, feature))
		return;
	features->preempted_calls = bpf_attempt_load(&attempt, code, 2) == 0;
	feature_available(feature, features->preempted_calls
					   ? "programs can be preempted: each has a backup program"
					   : "programs run to completion");
}

/* Task iterators, Linux 5.8 (eaaacd23910f), with the kernel's own BTF. */
void probe_thread_list(struct features *features)
{
	struct feature *feature = feature_add(features, "list of threads");

	if (untried(features, feature))
		return;
	if (features->tracing)
		feature_available(feature, "from the kernel");
	else
		feature_replaced(feature, "from /proc (no BTF in the kernel for iterators)",
				 "threads that sleep when the trace begins may have short stacks, and those "
				 "that run then are recorded as runnable",
				 "");
}

/*
 * The atomic exchange, Linux 5.12 (5ffa25502b5a). From the same release on, global functions can take
 * pointers to memory (e5069b9c23b3). On earlier kernels, other threads do not preempt programs
 * (bpf/scratch.bpf.h), and functions are verified at each call.
 */
void probe_exchange(struct features *features)
{
	struct feature *feature = feature_add(features, "exchange");

	if (untried(features, feature))
		return;
	features->exchange = TRY(ZERO_AT(BPF_REG_10, -8), SET(BPF_REG_1, 1),
				 OP(BPF_STX | BPF_XADD | BPF_DW, BPF_REG_10, BPF_REG_1, -8, EXCHANGE),
				 SET(BPF_REG_0, 0), EXIT) == 0;
	if (features->exchange)
		feature_available(feature, "atomic");
	else
		feature_replaced(feature,
				 "not atomic (that needs Linux 5.12): loads and stores, in programs that "
				 "nothing preempts",
				 "loading takes longer", "");
}

/* bpf_get_attach_cookie, Linux 5.15 (7adfc6c9b315): identifies the probe point in the user's functions. */
void probe_cookies(struct features *features)
{
	struct feature *feature = feature_add(features, "attach cookies");

	if (untried(features, feature))
		return;
	features->cookies = TRY(CALL(BPF_FUNC_get_attach_cookie), SET(BPF_REG_0, 0), EXIT) == 0;
	if (features->cookies)
		feature_available(feature, "available");
	else
		feature_missing(feature, NEED_FUNCTIONS, "none", "no --region, --task and --requests",
				"Linux 5.15 or later is needed for these");
}

#if defined(__x86_64__)

/* arch/x86/include/uapi/asm/prctl.h, Linux 6.6; Debian 12's header does not have it. */
enum { ARCH_SHSTK_STATUS = 0x5005 };

/* A kernel without CONFIG_X86_USER_SHADOW_STACK rejects the request as unknown. */
static bool knows_shadow_stacks(void)
{
	unsigned long own;

	return syscall(SYS_arch_prctl, ARCH_SHSTK_STATUS, &own) == 0 || errno != EINVAL;
}

/*
 * Linux 6.18 (7384893d970e). From that release on, the kernel does not run the probed instruction if the
 * program has changed ip (bpf/return.bpf.h). The test may write any register. Not every later kernel accepts
 * the write: Debian's 6.18.15 and 7.3.4 do, also with lockdown=integrity; a 6.18.44 built for Firecracker
 * does not.
 */
void probe_register_writes(struct features *features)
{
	struct feature *feature = feature_add(features, "register writes");

	if (untried(features, feature))
		return;
	features->register_writes = TRY(SET(BPF_REG_0, 0), STORE(BPF_REG_1, 0, BPF_REG_0), EXIT) == 0;
	features->shadow_stacks = knows_shadow_stacks();
	if (features->register_writes)
		feature_available(feature, "programs emulate the returns of functions");
	else
		feature_replaced(feature,
				 "refused by this kernel (Linux 6.18 and later can have them): it "
				 "single-steps returns",
				 "a call of a function of --region or --task costs several times as much",
				 "");
}

#else

/* The kernel emulates returns itself (arch/arm64/kernel/probes/decode-insn.c). */
void probe_register_writes(struct features *features)
{
	feature_available(feature_add(features, "register writes"),
			  "not needed: the kernel emulates returns");
}

#endif
