/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "capture/bpf_compat.h"

#include <errno.h>
#include <string.h>

#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "capture/bpf.h"

/* Without task pointers, programs for tp_btf are loaded as raw tracepoints: the code is the same. */
int compat_open(const struct features *features, struct bpf_object_skeleton *skeleton,
		const struct compat_variants *variants, struct error *err)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .btf_custom_path = features->btf);
	const struct compat_bytes *other = NULL;
	int rc;

	if (!features->exchange)
		other = &variants->before_512;
	else if (!features->own_btf)
		other = &variants->no_btf;
	if (other && other->data) {
		skeleton->data = (void *)other->data;
		skeleton->data_sz = other->size;
	}
	/* The handler must stay registered as long as the programs exist. bpf_program__set_type would leave
	 * them the section's handler (libbpf 1.1), which looks for the kernel's BTF. */
	if (!features->pointers &&
	    libbpf_register_prog_handler("tp_btf+", BPF_PROG_TYPE_RAW_TRACEPOINT, 0, NULL) < 0)
		return error_set(err, ENOMEM, "out of memory");
	rc = bpf_object__open_skeleton(skeleton, &options);

	return rc ? error_set(err, -rc, "cannot open the BPF programs: %s", libbpf_log_last()) : 0;
}

void compat_choose(const struct features *features, struct bpf_object *object)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object)
	{
		if (bpf_program__type(program) == BPF_PROG_TYPE_TRACING && !features->tracing)
			bpf_program__set_autoload(program, false);
	}
}

bool compat_is_tracepoint(const struct bpf_program *program)
{
	return bpf_program__type(program) == BPF_PROG_TYPE_RAW_TRACEPOINT ||
	       (bpf_program__type(program) == BPF_PROG_TYPE_TRACING &&
		bpf_program__expected_attach_type(program) == BPF_TRACE_RAW_TP);
}

struct bpf_link *compat_attach(const struct bpf_program *program)
{
	const char *slash = strchr(bpf_program__section_name(program), '/');

	if (bpf_program__type(program) == BPF_PROG_TYPE_RAW_TRACEPOINT && slash)
		return bpf_program__attach_raw_tracepoint(program, slash + 1);
	return bpf_program__attach(program);
}
