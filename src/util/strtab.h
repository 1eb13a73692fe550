/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A string table: equal strings get equal ids. Id 0 is the empty string. */
#ifndef GOTRACE_UTIL_STRTAB_H
#define GOTRACE_UTIL_STRTAB_H

#include <stddef.h>
#include <stdint.h>

struct strtab;

struct strtab *strtab_new(void); /* NULL when out of memory */
void strtab_free(struct strtab *tab);
/*
 * Returns the id of the string, adding it if necessary; 0 also when out of memory. The string may contain any
 * bytes.
 */
uint32_t strtab_add(struct strtab *tab, const char *text, size_t len);
uint32_t strtab_add_str(struct strtab *tab, const char *text);
/* A string's bytes, NUL-terminated. Owned by the table; valid until the next strtab_add* or strtab_sweep. */
const char *strtab_get(const struct strtab *tab, uint32_t id, size_t *len);
/* The id of a string in the table; 0 if it is not there. */
uint32_t strtab_find(const struct strtab *tab, const char *text, size_t len);
/*
 * Like strtab_add, but strtab_sweep may remove the string, unless strtab_keep was called for it since the
 * previous sweep. strtab_add of an equal string makes it permanent.
 */
uint32_t strtab_add_loose(struct strtab *tab, const char *text, size_t len);
uint32_t strtab_loose(const struct strtab *tab); /* number of such strings */
void strtab_keep(struct strtab *tab, uint32_t id);
void strtab_sweep(struct strtab *tab);           /* removes such strings; their ids will be reused */
void strtab_clear(struct strtab *tab);           /* removes all strings but keeps the memory */
uint32_t strtab_count(const struct strtab *tab); /* all ids are less than this */

#endif
