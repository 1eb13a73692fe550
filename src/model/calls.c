/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "calls.h"

#include <stddef.h>

/* What may make a thread sleep in a call. */
enum call_class {
	CALL_OTHER,
	CALL_FILE,  /* of files: whoever sleeps in it without being interruptible waits for a disk */
	CALL_FUTEX, /* what every lock of a C library ends in */
	CALL_SLEEP, /* until a time */
	CALL_POLL,  /* for one of several descriptors, or for none until a time */
	CALL_EPOLL,
	CALL_SOCKET,
	CALL_SIGNAL,
	CALL_SEM,  /* of System V */
	CALL_LOCK, /* of a file */
	CALL_YIELD,
};

struct call {
	const char *name;
	enum call_class class;
};

#if defined(__x86_64__)
/* Linux 6.18 arch/x86/entry/syscalls/syscall_64.tbl. */
static const struct call calls[] = {
	[0] = {"read", CALL_FILE},
	[1] = {"write", CALL_FILE},
	[2] = {"open", CALL_FILE},
	[3] = {"close", CALL_FILE},
	[4] = {"stat", CALL_FILE},
	[5] = {"fstat", CALL_FILE},
	[6] = {"lstat", CALL_FILE},
	[7] = {"poll", CALL_POLL},
	[8] = {"lseek", CALL_FILE},
	[9] = {"mmap"},
	[10] = {"mprotect"},
	[11] = {"munmap"},
	[12] = {"brk"},
	[13] = {"rt_sigaction"},
	[14] = {"rt_sigprocmask"},
	[15] = {"rt_sigreturn"},
	[16] = {"ioctl"},
	[17] = {"pread64", CALL_FILE},
	[18] = {"pwrite64", CALL_FILE},
	[19] = {"readv", CALL_FILE},
	[20] = {"writev", CALL_FILE},
	[21] = {"access", CALL_FILE},
	[22] = {"pipe"},
	[23] = {"select", CALL_POLL},
	[24] = {"sched_yield", CALL_YIELD},
	[25] = {"mremap"},
	[26] = {"msync", CALL_FILE},
	[27] = {"mincore"},
	[28] = {"madvise"},
	[29] = {"shmget"},
	[30] = {"shmat"},
	[31] = {"shmctl"},
	[32] = {"dup"},
	[33] = {"dup2", CALL_FILE},
	[34] = {"pause", CALL_SIGNAL},
	[35] = {"nanosleep", CALL_SLEEP},
	[36] = {"getitimer"},
	[37] = {"alarm"},
	[38] = {"setitimer"},
	[39] = {"getpid"},
	[40] = {"sendfile", CALL_FILE},
	[41] = {"socket"},
	[42] = {"connect", CALL_SOCKET},
	[43] = {"accept", CALL_SOCKET},
	[44] = {"sendto", CALL_SOCKET},
	[45] = {"recvfrom", CALL_SOCKET},
	[46] = {"sendmsg", CALL_SOCKET},
	[47] = {"recvmsg", CALL_SOCKET},
	[48] = {"shutdown", CALL_SOCKET},
	[49] = {"bind"},
	[50] = {"listen"},
	[51] = {"getsockname"},
	[52] = {"getpeername"},
	[53] = {"socketpair"},
	[54] = {"setsockopt"},
	[55] = {"getsockopt"},
	[56] = {"clone"},
	[57] = {"fork"},
	[58] = {"vfork"},
	[59] = {"execve", CALL_FILE},
	[60] = {"exit"},
	[61] = {"wait4"},
	[62] = {"kill"},
	[63] = {"uname"},
	[64] = {"semget"},
	[65] = {"semop", CALL_SEM},
	[66] = {"semctl"},
	[67] = {"shmdt"},
	[68] = {"msgget"},
	[69] = {"msgsnd"},
	[70] = {"msgrcv"},
	[71] = {"msgctl"},
	[72] = {"fcntl", CALL_LOCK},
	[73] = {"flock", CALL_LOCK},
	[74] = {"fsync", CALL_FILE},
	[75] = {"fdatasync", CALL_FILE},
	[76] = {"truncate", CALL_FILE},
	[77] = {"ftruncate", CALL_FILE},
	[78] = {"getdents", CALL_FILE},
	[79] = {"getcwd", CALL_FILE},
	[80] = {"chdir", CALL_FILE},
	[81] = {"fchdir", CALL_FILE},
	[82] = {"rename", CALL_FILE},
	[83] = {"mkdir", CALL_FILE},
	[84] = {"rmdir", CALL_FILE},
	[85] = {"creat", CALL_FILE},
	[86] = {"link", CALL_FILE},
	[87] = {"unlink", CALL_FILE},
	[88] = {"symlink", CALL_FILE},
	[89] = {"readlink", CALL_FILE},
	[90] = {"chmod", CALL_FILE},
	[91] = {"fchmod", CALL_FILE},
	[92] = {"chown", CALL_FILE},
	[93] = {"fchown", CALL_FILE},
	[94] = {"lchown", CALL_FILE},
	[95] = {"umask"},
	[96] = {"gettimeofday"},
	[97] = {"getrlimit"},
	[98] = {"getrusage"},
	[99] = {"sysinfo"},
	[100] = {"times"},
	[101] = {"ptrace"},
	[102] = {"getuid"},
	[103] = {"syslog"},
	[104] = {"getgid"},
	[105] = {"setuid"},
	[106] = {"setgid"},
	[107] = {"geteuid"},
	[108] = {"getegid"},
	[109] = {"setpgid"},
	[110] = {"getppid"},
	[111] = {"getpgrp"},
	[112] = {"setsid"},
	[113] = {"setreuid"},
	[114] = {"setregid"},
	[115] = {"getgroups"},
	[116] = {"setgroups"},
	[117] = {"setresuid"},
	[118] = {"getresuid"},
	[119] = {"setresgid"},
	[120] = {"getresgid"},
	[121] = {"getpgid"},
	[122] = {"setfsuid"},
	[123] = {"setfsgid"},
	[124] = {"getsid"},
	[125] = {"capget"},
	[126] = {"capset"},
	[127] = {"rt_sigpending"},
	[128] = {"rt_sigtimedwait", CALL_SIGNAL},
	[129] = {"rt_sigqueueinfo"},
	[130] = {"rt_sigsuspend", CALL_SIGNAL},
	[131] = {"sigaltstack"},
	[132] = {"utime", CALL_FILE},
	[133] = {"mknod", CALL_FILE},
	[134] = {"uselib"},
	[135] = {"personality"},
	[136] = {"ustat"},
	[137] = {"statfs", CALL_FILE},
	[138] = {"fstatfs", CALL_FILE},
	[139] = {"sysfs"},
	[140] = {"getpriority"},
	[141] = {"setpriority"},
	[142] = {"sched_setparam"},
	[143] = {"sched_getparam"},
	[144] = {"sched_setscheduler"},
	[145] = {"sched_getscheduler"},
	[146] = {"sched_get_priority_max"},
	[147] = {"sched_get_priority_min"},
	[148] = {"sched_rr_get_interval"},
	[149] = {"mlock"},
	[150] = {"munlock"},
	[151] = {"mlockall"},
	[152] = {"munlockall"},
	[153] = {"vhangup"},
	[154] = {"modify_ldt"},
	[155] = {"pivot_root"},
	[156] = {"_sysctl"},
	[157] = {"prctl"},
	[158] = {"arch_prctl"},
	[159] = {"adjtimex"},
	[160] = {"setrlimit"},
	[161] = {"chroot"},
	[162] = {"sync", CALL_FILE},
	[163] = {"acct"},
	[164] = {"settimeofday"},
	[165] = {"mount", CALL_FILE},
	[166] = {"umount2", CALL_FILE},
	[167] = {"swapon", CALL_FILE},
	[168] = {"swapoff", CALL_FILE},
	[169] = {"reboot"},
	[170] = {"sethostname"},
	[171] = {"setdomainname"},
	[172] = {"iopl"},
	[173] = {"ioperm"},
	[174] = {"create_module"},
	[175] = {"init_module"},
	[176] = {"delete_module"},
	[177] = {"get_kernel_syms"},
	[178] = {"query_module"},
	[179] = {"quotactl", CALL_FILE},
	[180] = {"nfsservctl"},
	[181] = {"getpmsg"},
	[182] = {"putpmsg"},
	[183] = {"afs_syscall"},
	[184] = {"tuxcall"},
	[185] = {"security"},
	[186] = {"gettid"},
	[187] = {"readahead", CALL_FILE},
	[188] = {"setxattr", CALL_FILE},
	[189] = {"lsetxattr", CALL_FILE},
	[190] = {"fsetxattr", CALL_FILE},
	[191] = {"getxattr", CALL_FILE},
	[192] = {"lgetxattr", CALL_FILE},
	[193] = {"fgetxattr", CALL_FILE},
	[194] = {"listxattr", CALL_FILE},
	[195] = {"llistxattr", CALL_FILE},
	[196] = {"flistxattr", CALL_FILE},
	[197] = {"removexattr", CALL_FILE},
	[198] = {"lremovexattr", CALL_FILE},
	[199] = {"fremovexattr", CALL_FILE},
	[200] = {"tkill"},
	[201] = {"time"},
	[202] = {"futex", CALL_FUTEX},
	[203] = {"sched_setaffinity"},
	[204] = {"sched_getaffinity"},
	[205] = {"set_thread_area"},
	[206] = {"io_setup"},
	[207] = {"io_destroy"},
	[208] = {"io_getevents", CALL_FILE},
	[209] = {"io_submit", CALL_FILE},
	[210] = {"io_cancel"},
	[211] = {"get_thread_area"},
	[212] = {"lookup_dcookie"},
	[213] = {"epoll_create"},
	[214] = {"epoll_ctl_old"},
	[215] = {"epoll_wait_old", CALL_EPOLL},
	[216] = {"remap_file_pages"},
	[217] = {"getdents64", CALL_FILE},
	[218] = {"set_tid_address"},
	[219] = {"restart_syscall"},
	[220] = {"semtimedop", CALL_SEM},
	[221] = {"fadvise64", CALL_FILE},
	[222] = {"timer_create"},
	[223] = {"timer_settime"},
	[224] = {"timer_gettime"},
	[225] = {"timer_getoverrun"},
	[226] = {"timer_delete"},
	[227] = {"clock_settime"},
	[228] = {"clock_gettime"},
	[229] = {"clock_getres"},
	[230] = {"clock_nanosleep", CALL_SLEEP},
	[231] = {"exit_group"},
	[232] = {"epoll_wait", CALL_EPOLL},
	[233] = {"epoll_ctl"},
	[234] = {"tgkill"},
	[235] = {"utimes", CALL_FILE},
	[236] = {"vserver"},
	[237] = {"mbind"},
	[238] = {"set_mempolicy"},
	[239] = {"get_mempolicy"},
	[240] = {"mq_open"},
	[241] = {"mq_unlink"},
	[242] = {"mq_timedsend"},
	[243] = {"mq_timedreceive"},
	[244] = {"mq_notify"},
	[245] = {"mq_getsetattr"},
	[246] = {"kexec_load"},
	[247] = {"waitid"},
	[248] = {"add_key"},
	[249] = {"request_key"},
	[250] = {"keyctl"},
	[251] = {"ioprio_set"},
	[252] = {"ioprio_get"},
	[253] = {"inotify_init"},
	[254] = {"inotify_add_watch"},
	[255] = {"inotify_rm_watch"},
	[256] = {"migrate_pages"},
	[257] = {"openat", CALL_FILE},
	[258] = {"mkdirat", CALL_FILE},
	[259] = {"mknodat", CALL_FILE},
	[260] = {"fchownat", CALL_FILE},
	[261] = {"futimesat", CALL_FILE},
	[262] = {"newfstatat", CALL_FILE},
	[263] = {"unlinkat", CALL_FILE},
	[264] = {"renameat", CALL_FILE},
	[265] = {"linkat", CALL_FILE},
	[266] = {"symlinkat", CALL_FILE},
	[267] = {"readlinkat", CALL_FILE},
	[268] = {"fchmodat", CALL_FILE},
	[269] = {"faccessat", CALL_FILE},
	[270] = {"pselect6", CALL_POLL},
	[271] = {"ppoll", CALL_POLL},
	[272] = {"unshare"},
	[273] = {"set_robust_list"},
	[274] = {"get_robust_list"},
	[275] = {"splice", CALL_FILE},
	[276] = {"tee", CALL_FILE},
	[277] = {"sync_file_range", CALL_FILE},
	[278] = {"vmsplice", CALL_FILE},
	[279] = {"move_pages"},
	[280] = {"utimensat", CALL_FILE},
	[281] = {"epoll_pwait", CALL_EPOLL},
	[282] = {"signalfd"},
	[283] = {"timerfd_create"},
	[284] = {"eventfd"},
	[285] = {"fallocate", CALL_FILE},
	[286] = {"timerfd_settime"},
	[287] = {"timerfd_gettime"},
	[288] = {"accept4", CALL_SOCKET},
	[289] = {"signalfd4"},
	[290] = {"eventfd2"},
	[291] = {"epoll_create1"},
	[292] = {"dup3", CALL_FILE},
	[293] = {"pipe2"},
	[294] = {"inotify_init1"},
	[295] = {"preadv", CALL_FILE},
	[296] = {"pwritev", CALL_FILE},
	[297] = {"rt_tgsigqueueinfo"},
	[298] = {"perf_event_open"},
	[299] = {"recvmmsg", CALL_SOCKET},
	[300] = {"fanotify_init"},
	[301] = {"fanotify_mark"},
	[302] = {"prlimit64"},
	[303] = {"name_to_handle_at", CALL_FILE},
	[304] = {"open_by_handle_at", CALL_FILE},
	[305] = {"clock_adjtime"},
	[306] = {"syncfs", CALL_FILE},
	[307] = {"sendmmsg", CALL_SOCKET},
	[308] = {"setns"},
	[309] = {"getcpu"},
	[310] = {"process_vm_readv"},
	[311] = {"process_vm_writev"},
	[312] = {"kcmp"},
	[313] = {"finit_module"},
	[314] = {"sched_setattr"},
	[315] = {"sched_getattr"},
	[316] = {"renameat2", CALL_FILE},
	[317] = {"seccomp"},
	[318] = {"getrandom"},
	[319] = {"memfd_create"},
	[320] = {"kexec_file_load"},
	[321] = {"bpf"},
	[322] = {"execveat", CALL_FILE},
	[323] = {"userfaultfd"},
	[324] = {"membarrier"},
	[325] = {"mlock2"},
	[326] = {"copy_file_range", CALL_FILE},
	[327] = {"preadv2", CALL_FILE},
	[328] = {"pwritev2", CALL_FILE},
	[329] = {"pkey_mprotect"},
	[330] = {"pkey_alloc"},
	[331] = {"pkey_free"},
	[332] = {"statx", CALL_FILE},
	[333] = {"io_pgetevents", CALL_FILE},
	[334] = {"rseq"},
	[424] = {"pidfd_send_signal"},
	[425] = {"io_uring_setup"},
	[426] = {"io_uring_enter", CALL_FILE},
	[427] = {"io_uring_register"},
	[428] = {"open_tree"},
	[429] = {"move_mount"},
	[430] = {"fsopen"},
	[431] = {"fsconfig"},
	[432] = {"fsmount"},
	[433] = {"fspick"},
	[434] = {"pidfd_open"},
	[435] = {"clone3"},
	[436] = {"close_range", CALL_FILE},
	[437] = {"openat2", CALL_FILE},
	[438] = {"pidfd_getfd"},
	[439] = {"faccessat2", CALL_FILE},
	[440] = {"process_madvise"},
	[441] = {"epoll_pwait2", CALL_EPOLL},
	[442] = {"mount_setattr"},
	[443] = {"quotactl_fd"},
	[444] = {"landlock_create_ruleset"},
	[445] = {"landlock_add_rule"},
	[446] = {"landlock_restrict_self"},
	[447] = {"memfd_secret"},
	[448] = {"process_mrelease"},
	[449] = {"futex_waitv", CALL_FUTEX},
	[450] = {"set_mempolicy_home_node"},
	[451] = {"cachestat", CALL_FILE},
	[452] = {"fchmodat2", CALL_FILE},
	[453] = {"map_shadow_stack"},
	[454] = {"futex_wake"},
	[455] = {"futex_wait", CALL_FUTEX},
	[456] = {"futex_requeue"},
	[457] = {"statmount"},
	[458] = {"listmount"},
	[459] = {"lsm_get_self_attr"},
	[460] = {"lsm_set_self_attr"},
	[461] = {"lsm_list_modules"},
	[462] = {"mseal"},
	[463] = {"setxattrat"},
	[464] = {"getxattrat"},
	[465] = {"listxattrat"},
	[466] = {"removexattrat"},
	[467] = {"open_tree_attr"},
	[468] = {"file_getattr"},
	[469] = {"file_setattr"},
};
#else
/* A log says nothing of the machine it comes from: numbers of another one would be misread. */
static const struct call calls[] = {{NULL, CALL_OTHER}};
#endif

static const struct call *find(uint64_t call)
{
	static const struct call none = {NULL, CALL_OTHER};

	return call && call <= sizeof(calls) / sizeof(calls[0]) ? &calls[call - 1] : &none;
}

const char *call_name(uint64_t call)
{
	return find(call)->name;
}

bool call_yields(uint64_t call)
{
	return find(call)->class == CALL_YIELD;
}

static const char *futex_reason(uint8_t hint)
{
	static const char *const reasons[] = {
		[HINT_MUTEX] = "sync (mutex)",   [HINT_COND] = "sync (condition)",
		[HINT_RWLOCK] = "sync (rwlock)", [HINT_JOIN] = "sync (join)",
		[HINT_SEM] = "sync (semaphore)", [HINT_BARRIER] = "sync (barrier)",
	};
	const char *reason = hint < sizeof(reasons) / sizeof(reasons[0]) ? reasons[hint] : NULL;

	return reason ? reason : "sync (futex)";
}

static const char *file_reason(uint64_t file)
{
	switch (WAIT_KIND(file)) {
	case FILE_SOCKET:
	case FILE_EPOLL: /* it watches sockets as a rule */
		return "network";
	case FILE_PIPE:
		return "pipe";
	case FILE_REGULAR:
		return "disk";
	case FILE_TTY:
		return "tty";
	case FILE_EVENT:
		return "event";
	default:
		return NULL;
	}
}

static const char *call_reason(enum call_class class, const struct wait *wait)
{
	switch (class) {
	case CALL_FUTEX:
		return futex_reason(wait->hint);
	case CALL_SLEEP:
		return "sleep";
	case CALL_POLL:
		return WAIT_FD(wait->file) ? NULL : "sleep";
	case CALL_EPOLL:
	case CALL_SOCKET:
		return "network";
	case CALL_SIGNAL:
		return "signal";
	case CALL_SEM:
		return "sync (semaphore)";
	case CALL_FILE:
		return wait->left == LEFT_DISK ? "disk" : NULL;
	default:
		return NULL;
	}
}

const char *wait_reason(const struct wait *wait)
{
	enum call_class class = find(wait->call)->class;
	const char *reason;

	if (wait->left == LEFT_STOPPED)
		return "stopped";
	if (!wait->call) /* only a page that is not there makes a program sleep in its own code */
		return "page fault";
	if (class == CALL_LOCK)
		return "sync (file lock)";
	reason = file_reason(wait->file);
	return reason ? reason : call_reason(class, wait);
}
