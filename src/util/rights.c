/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/rights.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIT(capability) (1ull << (capability))

/* Capabilities that gotrace uses. CAP_DAC_READ_SEARCH is made effective only where it is needed. */
#define STANDING                                                                                             \
	(BIT(RIGHT_SYS_PTRACE) | BIT(RIGHT_SYS_ADMIN) | BIT(RIGHT_PERFMON) | BIT(RIGHT_BPF) |                \
	 BIT(RIGHT_CHECKPOINT_RESTORE) | BIT(RIGHT_SYS_NICE))
#define USEFUL (STANDING | BIT(RIGHT_DAC_READ_SEARCH))

struct sets {
	uint64_t effective, permitted, inheritable;
};

/* Reads this thread's sets by capget(2); version 3 has two words per set. */
static bool get_sets(struct sets *sets)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	memset(data, 0, sizeof(data));
	if (syscall(SYS_capget, &head, data))
		return false;
	*sets = (struct sets){
		.effective = data[0].effective | (uint64_t)data[1].effective << 32,
		.permitted = data[0].permitted | (uint64_t)data[1].permitted << 32,
		.inheritable = data[0].inheritable | (uint64_t)data[1].inheritable << 32,
	};
	return true;
}

static bool set_sets(const struct sets *sets)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {
		{(uint32_t)sets->effective, (uint32_t)sets->permitted, (uint32_t)sets->inheritable},
		{(uint32_t)(sets->effective >> 32), (uint32_t)(sets->permitted >> 32),
		 (uint32_t)(sets->inheritable >> 32)},
	};

	return syscall(SYS_capset, &head, data) == 0;
}

static struct rights change(uint64_t effective)
{
	struct sets sets;
	struct rights before = {.changed = false};

	if (geteuid() == 0 || !get_sets(&sets) || sets.effective == effective)
		return before;
	before.effective = sets.effective;
	sets.effective = effective & sets.permitted;
	before.changed = set_sets(&sets);
	return before;
}

bool rights_have(unsigned capability)
{
	uint64_t wanted = BIT(capability);
	struct sets sets;

	/* kernel: bpf_capable, perfmon_capable, checkpoint_restore_ns_capable (include/linux/capability.h) */
	if (capability >= RIGHT_PERFMON)
		wanted |= BIT(RIGHT_SYS_ADMIN);
	return get_sets(&sets) && sets.effective & wanted;
}

/* PROC_USER_INIT_INO (include/linux/proc_ns.h since Linux 3.8): the inode of the initial user namespace. */
bool rights_in_user_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/user", &st) == 0 && st.st_ino != 0xEFFFFFFDu;
}

/* The C library unsets its own variables (glibc's unsecvars.h). These belong to libraries that do not. */
static void forget_environment(void)
{
	static const char *const names[] = {"DEBUGINFOD_URLS", "DEBUGINFOD_CACHE_PATH", "LIBBPF_LOG_LEVEL"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
}

bool rights_are_from_file(void)
{
	return getauxval(AT_SECURE);
}

int rights_begin(struct error *err)
{
	struct sets sets;

	if (!rights_are_from_file())
		return 0;
	if (geteuid() != getuid() || getegid() != getgid())
		return error_set(err, EPERM,
				 "gotrace must not be set-user-ID or set-group-ID: run chmod ug-s on it; "
				 "make install-caps installs it for users without root");
	forget_environment();
	if (geteuid() == 0 || !get_sets(&sets))
		return 0;
	sets.permitted &= USEFUL;
	sets.effective &= STANDING;
	sets.inheritable = 0;
	return set_sets(&sets) ? 0 : error_set(err, errno, "cannot drop capabilities: %s", strerror(errno));
}

void rights_give_up(void)
{
	struct sets none = {0};

	if (geteuid() != 0)
		set_sets(&none);
}

struct rights rights_as_user(void)
{
	return change(0);
}

struct rights rights_to_read(void)
{
	struct sets sets;

	if (!get_sets(&sets))
		return (struct rights){.changed = false};
	return change(sets.effective | (sets.permitted & BIT(RIGHT_DAC_READ_SEARCH)));
}

void rights_restore(const struct rights *before)
{
	int code = errno; /* keep the caller's errno */

	if (before->changed)
		change(before->effective);
	errno = code;
}
