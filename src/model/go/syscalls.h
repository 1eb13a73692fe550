/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* System calls and cgo calls. */
#ifndef GOTRACE_MODEL_GO_SYSCALLS_H
#define GOTRACE_MODEL_GO_SYSCALLS_H

#include "model/go/hit.h"

void on_sys_enter(struct model *md, const struct probe_hit *hit);
void on_call_enter(struct model *md, const struct probe_hit *hit);
void on_syscall_exit(struct model *md, const struct probe_hit *hit);
void on_exit_no_p(struct model *md, const struct probe_hit *hit);
void on_needm(struct model *md, const struct probe_hit *hit);
void on_dropm(struct model *md, const struct probe_hit *hit);
void on_gcwait(struct model *md, const struct probe_hit *hit);

#endif
