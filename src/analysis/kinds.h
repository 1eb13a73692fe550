/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Activities: what a goroutine waits for, by its reason and stack. */
#ifndef GOTRACE_ANALYSIS_KINDS_H
#define GOTRACE_ANALYSIS_KINDS_H

#include "analysis/state.h"

const char *activity_name(enum activity activity);
const char *delay_name(bool of_threads, enum delay delay);
/* The activity of a waiting goroutine, from a status, which may have no reason, and from an event. */
enum activity wait_activity(struct analysis *a, uint32_t reason, uint32_t stack);
/* True if Go's poller ends the goroutine's wait, in the name of another one: for the network, or for a file.
 */
bool waits_for_poller(const struct analysis *a, const struct goroutine *g);
enum activity block_activity(struct analysis *a, uint32_t reason, uint32_t stack);
enum primitive primitive_of(const char *func);
/* Of Rust's channels, further out than their ways of waiting: "std::sync::mpmc::array::Channel<T>::send",
 * "crossbeam_channel::channel::Receiver<T>::recv_timeout". */
enum primitive primitive_of_channel(const char *func);
/* What a thread with this function on its stack waits for, whatever the primitive is; ACT_NONE: it does not
 * say. */
enum activity wait_by_outer(const char *func);
/* Whether the function of a database waits for a lock on rows, tables or pages. */
bool func_waits_for_database(const char *func);
/* Whether a thread or goroutine that waits with this stack waits for a lock, by its functions or, where these
 * are unknown, by the futex's value. A condition that counts has the value of a lock now and then. */
bool stack_waits_for_lock(const struct analysis *a, uint32_t stack);
/* True for waits for a lock, of the program or of the whole process. */
bool activity_is_lock(unsigned activity);
bool activity_is_wait(unsigned activity);       /* a system call is none; nor is unwatched time */
bool activity_is_blocked(unsigned activity);    /* a wait, or a system call */
bool activity_is_for_others(unsigned activity); /* a wait that the program's own goroutines end */
/* Returns 1 + the index of the I/O call that a function or system call ("read(3: path)") makes, else 0. */
uint8_t io_call_of(const char *func);
bool io_call_writes(uint8_t io_call);      /* to a stream: "write", "sendmsg" */
const char *io_call_name(uint8_t io_call); /* "write"; NULL for 0 */

#endif
