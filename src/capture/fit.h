/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Private to the room: the BPF programs as this kernel can take them. */
#ifndef GOTRACE_CAPTURE_FIT_H
#define GOTRACE_CAPTURE_FIT_H

#include <stddef.h>

#include "capture/features.h"

struct bpf_object;
struct bpf_object_skeleton;
struct bpf_program;
struct bpf_link;

/* The same programs compiled for kernels before Linux 5.12 (BEFORE_512 in bpf/scratch.bpf.h). */
struct fit_bytes {
	const void *data;
	size_t size;
};

/* Opens a skeleton that was just created. 0 or a negative errno. */
int fit_open(const struct features *features, struct bpf_object_skeleton *skeleton,
	     const struct fit_bytes *before_512, struct error *err);
/* Before the object is loaded, when it is known which programs are wanted. */
void fit_programs(const struct features *features, struct bpf_object *object);
/* Whether it is for a tracepoint of the kernel's, and these links are made by: */
bool fit_is_tracepoint(const struct bpf_program *program);
/* NULL and errno on failure. */
struct bpf_link *fit_attach(const struct bpf_program *program);

#endif
