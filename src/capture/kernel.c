/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/kernel.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/btf.h>

/* The first release with SWITCH_STATE_LAST. */
enum { LAST_FORM_MAJOR = 5, LAST_FORM_MINOR = 18 };

/* The tracepoint's prototype. Its first parameter is not an argument of the tracepoint. */
static const struct btf_type *prototype(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	const struct btf_type *type = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;

	if (type)
		type = btf__type_by_id(btf, type->type);
	if (type && btf_is_ptr(type))
		type = btf__type_by_id(btf, type->type);
	return type && btf_is_func_proto(type) ? type : NULL;
}

static enum switch_form switch_form(const struct btf *btf)
{
	const struct btf_type *type = prototype(btf, "btf_trace_sched_switch"), *second;

	if (!type || btf_vlen(type) < 5)
		return SWITCH_NO_STATE;
	second = btf__type_by_id(btf, btf_params(type)[2].type);
	return second && btf_is_ptr(second) ? SWITCH_STATE_LAST : SWITCH_STATE_FIRST;
}

enum { MAX_CPU_BLOCK = 1 << 20 }; /* limit on the bytes of per-CPU variables, which are some 200 KiB */

static void note_place(struct cpu_places *places, const char *name, uint32_t offset)
{
	static const struct {
		const char *name;
		size_t at;
	} known[] = {
		{"runqueues", offsetof(struct cpu_places, run_queue)},
		{"__preempt_count", offsetof(struct cpu_places, preempt_count)},
		{"pcpu_hot", offsetof(struct cpu_places, hot)},
		{"hrtimer_bases", offsetof(struct cpu_places, hrtimers)},
		{"timer_bases", offsetof(struct cpu_places, wheels)},
		{"softnet_data", offsetof(struct cpu_places, network)},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(name, known[i].name) == 0)
			memcpy((char *)places + known[i].at, &offset, sizeof(offset));
	}
}

static void find_places(const struct btf *btf, struct cpu_places *places)
{
	int id = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);
	const struct btf_type *section = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;

	for (unsigned i = 0; section && i < btf_vlen(section); i++) {
		const struct btf_var_secinfo *variable = btf_var_secinfos(section) + i;
		const struct btf_type *type = btf__type_by_id(btf, variable->type);
		const char *name = type ? btf__name_by_offset(btf, type->name_off) : NULL;

		if (name)
			note_place(places, name, variable->offset);
	}
}

/* Lines are "ADDRESS TYPE NAME"; those of modules come last and end with "[MODULE]". */
void kernel_places_by_symbols(FILE *symbols, struct cpu_places *places)
{
	unsigned long long address, start = 0;
	char line[512], name[128];

	while (symbols && fgets(line, sizeof(line), symbols)) {
		if (strchr(line, '[') || sscanf(line, "%llx %*c %127s", &address, name) != 2)
			continue;
		if (strcmp(name, "__per_cpu_start") == 0)
			start = address;
		else if (address > start && address - start < MAX_CPU_BLOCK)
			note_place(places, name, (uint32_t)(address - start));
	}
}

/* BTF has per-CPU variables from about Linux 5.11 on, depending on pahole. Otherwise the kernel's symbols
 * have them: they come first, sorted by address from __per_cpu_start on (needs CONFIG_KALLSYMS_ALL and
 * CAP_SYSLOG). */
static void find_places_or_symbols(const struct btf *btf, struct cpu_places *places)
{
	FILE *symbols;

	find_places(btf, places);
	if (places->run_queue)
		return;
	symbols = fopen("/proc/kallsyms", "re");
	kernel_places_by_symbols(symbols, places);
	if (symbols)
		fclose(symbols);
}

static struct btf *read_btf(const char *path, struct error *err)
{
	struct btf *btf = path ? btf__parse(path, NULL) : btf__load_vmlinux_btf();

	if (!btf)
		error_set(err, errno, "cannot read the kernel's BTF: %s", strerror(errno));
	return btf;
}

int kernel_facts(const char *path, struct kernel_facts *facts, struct error *err)
{
	struct btf *btf = read_btf(path, err);

	*facts = (struct kernel_facts){0};
	if (!btf)
		return -EIO;
	facts->switch_form = switch_form(btf);
	find_places_or_symbols(btf, &facts->cpu_places);
	btf__free(btf);
	return 0;
}

bool kernel_has_last_switch_form(const char *release)
{
	unsigned major, minor;

	/* Before 5.18, distributions have kernels with changes of later ones. */
	return sscanf(release, "%u.%u", &major, &minor) == 2 &&
	       (major > LAST_FORM_MAJOR || (major == LAST_FORM_MAJOR && minor >= LAST_FORM_MINOR));
}

int kernel_switch_form(const char *path, enum switch_form *form, struct error *err)
{
	struct utsname name;
	struct btf *btf;

	*form = SWITCH_STATE_LAST;
	if (uname(&name) == 0 && kernel_has_last_switch_form(name.release))
		return 0;
	btf = read_btf(path, err);
	if (!btf)
		return -EIO;
	*form = switch_form(btf);
	btf__free(btf);
	return 0;
}

uint32_t kernel_last_cpu(const char *list)
{
	unsigned long last = 0;

	while (*list) {
		char *end;
		unsigned long number = strtoul(list, &end, 10);

		if (end > list && number > last && number < UINT16_MAX)
			last = number;
		list = end > list ? end : list + 1;
		while (*list == '-' || *list == ',')
			list++;
	}
	return (uint32_t)last;
}

uint32_t kernel_cpu_count(void)
{
	FILE *file = fopen("/sys/devices/system/cpu/present", "re");
	long n = sysconf(_SC_NPROCESSORS_CONF);
	char list[4096] = "";

	if (file) {
		if (!fgets(list, sizeof(list), file))
			list[0] = '\0';
		fclose(file);
	}
	if (list[0])
		return kernel_last_cpu(list) + 1;
	return n > 0 ? (uint32_t)n : 1;
}
