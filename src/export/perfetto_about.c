/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "export/perfetto_event.h"

#include <stdio.h>

/* --- the process --- */

/* The lowest thread id is the pid if the main thread was seen. That is better than nothing. */
static int32_t guess_pid(const struct census *census)
{
	uint32_t least = 0;

	for (size_t i = 1; i < census->n; i++) {
		uint32_t m = census->goroutines[i].m;

		if (m && m < 1u << 22 && (!least || m < least))
			least = m;
	}
	return least ? (int32_t)least : 1;
}

/* The name is from the options, else the main thread's, else the title. */
struct pf_process pf_process(const struct census *census, const struct export_options *options)
{
	struct pf_process process = {.pid = options->pid ? options->pid : guess_pid(census)};
	const char *name = options->process ? options->process : options->title;
	char comm[64];

	for (uint32_t i = 1; i < census->n && census->threads && !options->process; i++) {
		if (census->goroutines[i].m != (uint32_t)process.pid)
			continue;
		pf_comm(census, i, comm);
		name = comm;
		break;
	}
	snprintf(process.name, sizeof(process.name), "%s", name ? name : "");
	return process;
}

/* --- attributes --- */

enum { MOST_ATTRIBUTES = 16 };

struct attributes {
	Perfetto__Attribute all[MOST_ATTRIBUTES], *pointers[MOST_ATTRIBUTES];
	size_t n;
};

static Perfetto__Attribute *perfetto_about_add(struct attributes *attributes, const char *key)
{
	Perfetto__Attribute *new = &attributes->all[attributes->n];

	*new = (Perfetto__Attribute)PERFETTO__ATTRIBUTE__INIT;
	new->key = (char *)key;
	attributes->pointers[attributes->n++] = new;
	return new;
}

/* Unknown values are left out. */
static void add_text(struct attributes *attributes, const char *key, const char *text)
{
	if (text && text[0])
		perfetto_about_add(attributes, key)->string_value = (char *)text;
}

static void perfetto_about_add_number(struct attributes *attributes, const char *key, uint64_t number)
{
	Perfetto__Attribute *new = perfetto_about_add(attributes, key);

	new->has_long_value = true;
	new->long_value = (int64_t)number;
}

static int put_attributes(struct pf_stream *pf, const struct census *census,
			  const struct export_options *options, const struct pf_process *process)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TraceAttributes attributes = PERFETTO__TRACE_ATTRIBUTES__INIT;
	struct attributes all = {.n = 0};

	add_text(&all, "gotrace.version", GOTRACE_VERSION);
	add_text(&all, "gotrace.source", options->title);
	add_text(&all, "gotrace.format", wire_format_name((enum wire_format)options->source));
	add_text(&all, "gotrace.process", process->name);
	perfetto_about_add_number(&all, "gotrace.pid", (uint64_t)process->pid);
	perfetto_about_add_number(&all, "gotrace.duration_ns", census->end - census->start);
	perfetto_about_add_number(&all, "gotrace.not_watched_ns", census->not_watched_ns);
	perfetto_about_add_number(&all, "gotrace.goroutines", census->n - 1);
	if (census->wall_ns)
		perfetto_about_add_number(&all, "gotrace.start_wall_ns",
					  census->wall_ns + census->start - census->clock_ns);
	if (options->machine) {
		add_text(&all, "gotrace.host", options->machine->host);
		add_text(&all, "gotrace.kernel", options->machine->release);
		add_text(&all, "gotrace.kernel_build_id", options->machine->kernel_build_id);
	}
	attributes.n_attribute = all.n;
	attributes.attribute = all.pointers;
	packet.data_case = PERFETTO__TRACE_PACKET__DATA_TRACE_ATTRIBUTES;
	packet.trace_attributes = &attributes;
	return pf_put(pf, &packet);
}

/* --- what Perfetto has packets for --- */

static int put_uuid(struct pf_stream *pf, const uint64_t from[2])
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TraceUuid uuid = PERFETTO__TRACE_UUID__INIT;

	uuid.has_msb = uuid.has_lsb = true;
	uuid.msb = (int64_t)from[0];
	uuid.lsb = (int64_t)from[1];
	packet.data_case = PERFETTO__TRACE_PACKET__DATA_TRACE_UUID;
	packet.trace_uuid = &uuid;
	return pf_put(pf, &packet);
}

static int put_machine(struct pf_stream *pf, const struct export_machine *machine)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__SystemInfo info = PERFETTO__SYSTEM_INFO__INIT;
	Perfetto__Utsname name = PERFETTO__UTSNAME__INIT;

	name.sysname = (char *)machine->system;
	name.version = (char *)machine->version;
	name.release = (char *)machine->release;
	name.machine = (char *)machine->machine;
	info.utsname = &name;
	info.has_num_cpus = machine->cpus > 0;
	info.num_cpus = machine->cpus;
	packet.data_case = PERFETTO__TRACE_PACKET__DATA_SYSTEM_INFO;
	packet.system_info = &info;
	return pf_put(pf, &packet);
}

int pf_put_about(struct pf_stream *pf, const struct census *census, const struct export_options *options,
		 const struct pf_process *process)
{
	int rc = put_attributes(pf, census, options, process);

	if (!rc && (options->uuid[0] || options->uuid[1]))
		rc = put_uuid(pf, options->uuid);
	return rc || !options->machine ? rc : put_machine(pf, options->machine);
}
