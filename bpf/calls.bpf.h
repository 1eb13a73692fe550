/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* System calls of threads, and the files they operate on. */
#ifndef GOTRACE_CALLS_BPF_H
#define GOTRACE_CALLS_BPF_H

#include "bpf/recursion_backup.bpf.h"
#include "bpf/call_kind.h"
#include "bpf/thread.bpf.h"

const volatile uint8_t call_kinds[CALL_NUMBERS]; /* enum call_kind; set by capture */

#define S_IFMT   0170000u
#define S_IFSOCK 0140000u
#define S_IFREG  0100000u
#define S_IFBLK  0060000u
#define S_IFDIR  0040000u
#define S_IFCHR  0020000u
#define S_IFIFO  0010000u

#define ANON_INODE_FS_MAGIC 0x09041934u /* include/uapi/linux/magic.h */

/* Anonymous inodes (epoll, eventfd) have no file type up to Linux 6.15 and are regular files from then on
 * (cfd86ef7e8e7). */
static __always_inline enum file_kind kind_of(uint32_t mode, uint64_t magic)
{
	switch (mode & S_IFMT) {
	case S_IFSOCK:
		return FILE_SOCKET;
	case S_IFIFO:
		return FILE_PIPE;
	case S_IFCHR:
		return FILE_TTY;
	case S_IFDIR:
	case S_IFBLK:
		return FILE_REGULAR;
	case S_IFREG:
		return magic == ANON_INODE_FS_MAGIC ? FILE_EVENT : FILE_REGULAR;
	default:
		return FILE_EVENT;
	}
}

/* include/linux/types.h: a struct of one pointer, as in the table of a process's files. */
struct hlist_head {
	void *first;
} __attribute__((preserve_access_index));

static __always_inline uint64_t wait_on(struct task_struct *task, uint32_t fd, bool epoll)
{
	struct files_struct *files = MEMBER(task, files);
	uint64_t number, magic = 0;
	struct file *file = NULL;
	struct inode *inode;
	uint32_t mode;

	if (!files || fd >= MEMBER(files, fdt, max_fds))
		return 0;
	if (CAN_CAST) {
		file = CAST(CAST(MEMBER(files, fdt, fd) + fd, struct hlist_head)->first, struct file);
		inode = file->f_inode;
		number = inode->i_ino;
		mode = inode->i_mode;
		if ((mode & S_IFMT) == S_IFREG)
			magic = inode->i_sb->s_magic;
	} else {
		bpf_probe_read_kernel(&file, sizeof(file), MEMBER(files, fdt, fd) + fd);
		inode = BPF_CORE_READ(file, f_inode);
		number = BPF_CORE_READ(inode, i_ino);
		mode = BPF_CORE_READ(inode, i_mode);
		if ((mode & S_IFMT) == S_IFREG)
			magic = BPF_CORE_READ(inode, i_sb, s_magic);
	}
	if (!inode)
		return 0;
	return WAIT_MAKE(epoll ? FILE_EPOLL : kind_of(mode, magic), fd, wait_mark(number));
}

/* A futex in the frame of the waiting thread is its own: a condition of musl, whose waiters have the value 2
 * (__pthread_cond_timedwait of 1.2.3), or a one-shot event. */
#define OWN_FRAME 1024u

/*
 * What a thread waits for at a futex is not known by the call, except for a lock: the kernel's own (_PI), or
 * one whose value says that it is taken and has waiters. That is 2 in glibc, GLib, Go and Rust ("Futexes Are
 * Tricky", Ulrich Drepper), and the owner with bit 31 in musl. Conditions count upwards, and -1 is a parked
 * thread (std::thread::park of Rust).
 */
static __always_inline uint64_t futex_in_call(const struct user_regs *regs)
{
	uint32_t command = FUTEX_COMMAND(regs->args[1]) & 31;
	int32_t value = (int32_t)regs->args[2];
	bool lock = (value == 2 || value < -1) && regs->args[0] - regs->sp >= OWN_FRAME;

	if (FUTEX_DOES_NOT_WAIT >> command & 1)
		return 0;
	lock |= FUTEX_IS_LOCK >> command & 1;
	return WAIT_FUTEX(lock ? FILE_LOCK : FILE_FUTEX, regs->args[0]);
}

/*
 * Returns what the system call operates on (WAIT_*), or 0. current: the call is the current thread's, not
 * that of another thread being inspected.
 */
static __always_inline uint64_t wait_in_call(struct task_struct *task, const struct user_regs *regs,
					     bool current)
{
	uint64_t number = regs->call - 1;
	uint32_t fd = (uint32_t)regs->args[0];
	uint8_t kind;

	if (number >= CALL_NUMBERS)
		return 0;
	kind = call_kinds[number & (CALL_NUMBERS - 1)];
	if (kind == CALL_NO_FILE)
		return 0;
	if (kind == CALL_FUTEX)
		return futex_in_call(regs);
	if (kind == CALL_SELECT)
		return fd;
	if (kind == CALL_POLL) {
		/* With several descriptors, no single one is being waited for. */
		if (!current || regs->args[1] != 1 ||
		    bpf_probe_read_user(&fd, sizeof(fd), (const void *)regs->args[0]))
			return (uint32_t)regs->args[1];
	}
	return wait_on(task, fd, kind == CALL_EPOLL);
}

static __always_inline void keep_call(uint32_t tid, const struct raw_record *rec)
{
	struct call_state *state = call_state_of(tid);

	if (!state)
		return;
	state->tid = tid;
	state->call = rec->arg;
	state->wait = rec->arg2;
	state->stack = rec->stack;
	state->proof = call_state_proof(state);
}

/* Ends the call of the thread. Returns it, or 0 if it was not recorded or is no longer known. */
static __always_inline uint64_t take_call_state(uint32_t tid)
{
	struct call_state *state = call_state_of(tid);

	if (!state || state->tid != tid || state->proof != call_state_proof(state))
		return 0;
	state->tid = 0;
	return state->call;
}

static __always_inline void enter_call(struct task_struct *task, uint32_t tgid, struct pt_regs *user, long id)
{
	struct raw_record rec = {.site = SITE_SYSCALL};
	uint32_t tid = MEMBER(task, pid);
	struct user_regs regs;

	rec.time = bpf_ktime_get_ns();
	take_call_regs(&regs, user);
	rec.tid = tid;
	rec.goid = tgid;
	rec.arg = regs.call = id + 1;
	rec.arg2 = wait_in_call(task, &regs, true);
	rec.stack = stack_of(&regs, tgid);
	keep_call(tid, &rec);
	send_timed(&rec);
}

static __always_inline void watch_entry(struct task_struct *task, uint32_t tgid, struct pt_regs *user,
					long id)
{
	uint64_t began = begin_hit();

	if (!began)
		return;
	enter_call(task, tgid, user, id);
	end_hit(began, TIMED_CALLS, TIMED_CALLS_NS);
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(sys_enter, struct pt_regs *user, long id)
{
	struct task_struct *task = current_task();
	uint32_t tgid = MEMBER(task, tgid);

	if (is_traced(tgid) && id >= 0)
		watch_entry(task, tgid, user, id);
	note_run(CALL_ENTRY);
	return 0;
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(sys_enter_backup, struct pt_regs *user, long id)
{
	struct task_struct *task = current_task();
	uint32_t tgid = MEMBER(task, tgid);

	if (first_program_skipped(CALL_ENTRY) && is_traced(tgid) && id >= 0)
		watch_entry(task, tgid, user, id);
	return 0;
}

/* True if the call mapped code from a file. Other code may have been mapped there before. Unmapping needs no
 * check: code that is gone cannot be called. */
static __always_inline bool maps_code(const struct pt_regs *user, long id, long result)
{
	return id == CALL_MMAP && CALL_ARG_2(user) & PROT_EXEC && (__s32)CALL_ARG_4(user) >= 0 &&
	       (uint64_t)result < -4095ull;
}

static __always_inline void exit_call(struct task_struct *task, uint32_t tgid, struct pt_regs *user,
				      long result)
{
	struct raw_record rec = {.site = SITE_MAPPED};
	uint32_t tid = MEMBER(task, pid);
	struct pt_regs copy;
	uint64_t call;

	if (probed_tasks) {
		read_regs(&copy, user);
		user = &copy;
	}
	call = take_call_state(tid);
	rec.tid = tid;
	rec.goid = tgid;
	if (maps_code(user, (long)CALL_OF(user), result)) {
		send_thread(&rec);
		wake_consumer();
	}
	rec.site = SITE_SYSCALL_DONE;
	/* After rt_sigreturn, the registers are those of the context that it returned to. */
	rec.arg = call ? call : (uint64_t)CALL_OF(user) + 1;
	rec.arg2 = result;
	send_thread(&rec);
}

static __always_inline void watch_exit(struct task_struct *task, uint32_t tgid, struct pt_regs *user,
				       long result)
{
	uint64_t began = begin_hit();

	if (!began)
		return;
	exit_call(task, tgid, user, result);
	end_hit(began, TIMED_CALLS, TIMED_CALLS_NS);
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(sys_exit, struct pt_regs *user, long result)
{
	struct task_struct *task = current_task();
	uint32_t tgid = MEMBER(task, tgid);

	if (is_traced(tgid))
		watch_exit(task, tgid, user, result);
	note_run(CALL_EXIT);
	return 0;
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(sys_exit_backup, struct pt_regs *user, long result)
{
	struct task_struct *task = current_task();
	uint32_t tgid = MEMBER(task, tgid);

	if (first_program_skipped(CALL_EXIT) && is_traced(tgid))
		watch_exit(task, tgid, user, result);
	return 0;
}

#endif
