/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Names around the stacks of threads: what a thread waits for at the leaf, the thread's name at the root. */
#ifndef GOTRACE_MODEL_THREADS_NAMES_H
#define GOTRACE_MODEL_THREADS_NAMES_H

#include "model/threads/syscalls.h"
#include "model/threads/state.h"

/* --- names in the log --- */
void threads_symbol(struct model *md, const struct log_symbol *symbol);
void threads_stack(struct model *md, const struct raw_stack *raw);
void threads_file(struct model *md, const struct log_file *file);
void threads_comm(struct model *md, const struct raw_text *text);

/* --- stacks and strings, by id --- */
/* Returns the name at the leaf of the thread's stack in this call; 0 = none. */
uint32_t thread_leaf(struct model *md, uint64_t call, uint64_t file);
/* Returns the stack with this hash, with names around it. Learns the thread's start routine from it. */
uint32_t thread_stack(struct model *md, struct thread_life *t, uint64_t hash, uint32_t leaf);
/* The same without its frames in the kernel: the stack of the call, wherever in it the thread is. */
uint32_t thread_call_stack(struct model *md, struct thread_life *t, uint64_t hash, uint32_t leaf);
uint8_t thread_stack_hint(struct model *md, uint64_t hash);
/* Returns whether the kernel made the thread for io_uring. */
bool thread_is_worker(const struct model *md, const struct thread_life *t);
/* Returns what the thread waits for, in words: string. */
uint32_t thread_reason(struct model *md, const struct wait *wait);
/* Returns a stack of the thread's name alone. */
uint32_t thread_entry(struct model *md, const struct thread_life *t);
uint32_t thread_name(struct model *md, const struct thread_life *t); /* string */
/* Stacks of wakers that are not threads of the target. */
uint32_t external_waker_stack(struct model *md, uint32_t tid, uint64_t pid);
uint32_t interrupt_stack(struct model *md, uint64_t kind);

/* --- what is kept and forgotten: members of front_end --- */
void threads_use_stacks(struct model *md, const struct g *g);
void threads_forget_stack(struct model *md, uint32_t id);
void threads_forget_named(struct model *md);
void threads_keep_names(struct model *md);
/* Files that threads are using keep their names: the log repeats a name only at the file's next use. */
void threads_forget_files(struct model *md);

#endif
