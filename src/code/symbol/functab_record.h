/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef GOTRACE_CODE_SYMBOL_FUNCTAB_RECORD_H
#define GOTRACE_CODE_SYMBOL_FUNCTAB_RECORD_H

#include "rawlog/rawlog.h"
#include "code/symbol/functab.h"

/*
 * Makes a function table from a LOG_FUNCTAB or LOG_PLUGIN_FUNCTAB. The record's bytes must outlive it.
 * Returns NULL if the record is invalid.
 */
struct functab *functab_of_record(const struct log_record *record);

#endif
