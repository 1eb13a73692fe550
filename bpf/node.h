/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Shared by the programs of a node and user space. */
#ifndef GOTRACE_BPF_NODE_H
#define GOTRACE_BPF_NODE_H

enum { NODE_SLOTS = 256 }; /* recorders at the same time */

#endif
