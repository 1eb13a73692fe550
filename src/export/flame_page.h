/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Private to the module: the HTML page around the flame graph's data. The data are JavaScript constants:
 * title, profiles, and for what is idle loops and handler (code/symbol/library.h).
 */
#ifndef GOTRACE_EXPORT_FLAME_PAGE_H
#define GOTRACE_EXPORT_FLAME_PAGE_H

extern const char flame_page_head[], flame_page_tail[];

#endif
