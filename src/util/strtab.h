/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A string table: equal strings get equal ids. Id 0 is the empty string. */
#ifndef GOTRACE_STRTAB_H
#define GOTRACE_STRTAB_H

#include <stddef.h>
#include <stdint.h>

struct strtab;

struct strtab *strtab_new(void); /* NULL when out of memory */
void strtab_free(struct strtab *tab);
/* Returns the id of the string, adding it if need be; 0 also when out of memory. Bytes may be any. */
uint32_t strtab_add(struct strtab *tab, const char *text, size_t len);
uint32_t strtab_add_str(struct strtab *tab, const char *text);
/* The bytes of a string (also NUL-terminated); owned by the table and valid until the next strtab_add. */
const char *strtab_get(const struct strtab *tab, uint32_t id, size_t *len);
/* The id of a string that is in the table; 0 if it is not. */
uint32_t strtab_find(const struct strtab *tab, const char *text, size_t len);
/*
 * The same for a string that may be forgotten: by strtab_sweep, unless strtab_keep was called for it since
 * the sweep before. strtab_add of an equal one keeps it for good.
 */
uint32_t strtab_add_loose(struct strtab *tab, const char *text, size_t len);
uint32_t strtab_loose(const struct strtab *tab); /* how many there are of these */
void strtab_keep(struct strtab *tab, uint32_t id);
void strtab_sweep(struct strtab *tab);           /* ids of what is forgotten will be those of other strings */
void strtab_clear(struct strtab *tab);           /* forgets all strings, keeps the memory */
uint32_t strtab_count(const struct strtab *tab); /* ids are < this */

#endif
