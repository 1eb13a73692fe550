/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The kernel types that the BPF programs touch, for CO-RE on x86-64: names and
 * types of members as in `bpftool btf dump file /sys/kernel/btf/vmlinux format c`
 * of kernel 6.18, everything else left out. Offsets are relocated at load time.
 * struct pt_regs is ABI: its layout is the kernel's own (arch/x86/include/asm/ptrace.h).
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

typedef unsigned char __u8;
typedef short int __s16;
typedef short unsigned int __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long int __s64;
typedef long long unsigned int __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;

enum { false = 0, true = 1 };

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PROG_ARRAY = 3,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum { BPF_ANY = 0, BPF_NOEXIST = 1 };

enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2 };
enum { BPF_RB_AVAIL_DATA = 0 };

struct pt_regs {
	long unsigned int r15;
	long unsigned int r14;
	long unsigned int r13;
	long unsigned int r12;
	long unsigned int bp;
	long unsigned int bx;
	long unsigned int r11;
	long unsigned int r10;
	long unsigned int r9;
	long unsigned int r8;
	long unsigned int ax;
	long unsigned int cx;
	long unsigned int dx;
	long unsigned int si;
	long unsigned int di;
	long unsigned int orig_ax;
	long unsigned int ip;
	long unsigned int cs;
	long unsigned int flags;
	long unsigned int sp;
	long unsigned int ss;
};

/* What a program of a perf event gets (include/uapi/linux/bpf_perf_event.h); ABI too. */
struct bpf_perf_event_data {
	struct pt_regs regs;
	__u64 sample_period;
	__u64 addr;
};

enum bpf_func_id { BPF_FUNC_get_attach_cookie = 174, BPF_FUNC_task_pt_regs = 175 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct thread_struct {
	long unsigned int fsbase;
	long unsigned int features; /* with CONFIG_X86_USER_SHADOW_STACK, Linux 6.6 */
};

struct thread_info {
	__u32 cpu;
};

struct inode;
struct super_block;

struct file {
	struct inode *f_inode;
};

struct inode {
	short unsigned int i_mode;
	long unsigned int i_ino;
	struct super_block *i_sb;
};

struct super_block {
	long unsigned int s_magic;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct rq;

struct cfs_rq {
	struct rq *rq;
	__u64 throttled_clock_pelt_time; /* with CONFIG_CFS_BANDWIDTH */
	int throttle_count;
};

/* Before Linux 5.19 (64eaf50731ac). */
struct cfs_rq___old {
	__u64 throttled_clock_task_time;
};

struct sched_entity {
	__u64 sum_exec_runtime;
	__u64 prev_sum_exec_runtime;
	struct cfs_rq *cfs_rq;
};

struct sched_info {
	unsigned long long run_delay; /* with CONFIG_SCHED_INFO */
};

typedef struct {
	int counter;
} atomic_t;

struct task_io_accounting { /* with CONFIG_TASK_XACCT */
	__u64 rchar;
	__u64 wchar;
};

struct signal_struct {
	atomic_t live;
	unsigned long long sum_sched_runtime; /* these two: of threads that have ended */
	struct task_io_accounting ioac;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	void *stack;
	unsigned int flags;
	unsigned int on_cpu; /* int; from Linux 7.3 on u8: CO-RE fits the size of what has no sign */
	unsigned int in_iowait : 1;
	int prio;
	struct sched_entity se;
	struct sched_info sched_info;
	int pid;
	int tgid;
	long unsigned int nvcsw;
	long unsigned int nivcsw;
	__u64 start_boottime;
	char comm[16];
	struct files_struct *files;
	struct signal_struct *signal;
	struct task_io_accounting ioac;
	struct thread_struct thread;
};

/* The state before Linux 5.14 (2f064a59a11f), the CPU before 5.16 (bcf9033e5449). */
struct task_struct___old {
	volatile long int state;
	unsigned int cpu;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

/* Of each CPU; from Linux 6.2 to 6.14 the count of what keeps it from switching is in pcpu_hot. */
struct pcpu_hot {
	int preempt_count;
};

struct softnet_data {
	bool in_net_rx_action; /* Linux 6.4 */
};

struct hrtimer_cpu_base {
	unsigned int in_hrtirq : 1;
	unsigned int softirq_activated : 1;
};

struct timer_list;

struct timer_base {
	struct timer_list *running_timer;
};

#pragma clang attribute pop

#endif
