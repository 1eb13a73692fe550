/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the module: adapts the BPF programs to what this kernel supports. */
#ifndef GOTRACE_CAPTURE_BPF_COMPAT_H
#define GOTRACE_CAPTURE_BPF_COMPAT_H

#include <stddef.h>

#include "capture/features.h"

struct bpf_object;
struct bpf_object_skeleton;
struct bpf_program;
struct bpf_link;

/* The same programs, compiled for another kind of kernel; data is NULL where the usual ones serve. */
struct compat_bytes {
	const void *data;
	size_t size;
};

struct compat_variants {
	struct compat_bytes before_512; /* before Linux 5.12 (BEFORE_512 in bpf/scratch.bpf.h) */
	struct compat_bytes no_btf;     /* without BTF of its own (NO_BTF in bpf/task.bpf.h) */
};

/* Opens a skeleton that was just created. Returns 0 or a negative errno. */
int compat_open(const struct features *features, struct bpf_object_skeleton *skeleton,
		const struct compat_variants *variants, struct error *err);
/* Disables programs that this kernel cannot load. Call it after choosing programs, before loading. */
void compat_choose(const struct features *features, struct bpf_object *object);
/* Returns whether the program is for a kernel tracepoint, to be attached with compat_attach(). */
bool compat_is_tracepoint(const struct bpf_program *program);
/* Attaches a tracepoint program. Returns NULL and sets errno on failure. */
struct bpf_link *compat_attach(const struct bpf_program *program);

#endif
