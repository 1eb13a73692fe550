/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Opens an address in the user's browser. A process that is started early does it, because a browser may need
 * what the rest of gotrace gives up: no_new_privs would keep one in a snap from starting.
 */
#ifndef GOTRACE_CLI_BROWSER_H
#define GOTRACE_CLI_BROWSER_H

/* Starts it where there is a desktop and the user is not root. Returns a descriptor, or -1: there is none. */
int browser_start(void);
/* Opens the address, once, and closes the descriptor. NULL: opens nothing. -1 is legal. */
void browser_open(int browser, const char *address);

#endif
