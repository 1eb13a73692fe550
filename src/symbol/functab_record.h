/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef GOTRACE_FUNCTAB_RECORD_H
#define GOTRACE_FUNCTAB_RECORD_H

#include "rawlog/rawlog.h"
#include "symbol/symbol.h"

/* The function table in a LOG_FUNCTAB, whose bytes must outlive it. NULL if it is no good. */
struct functab *functab_of_record(const struct log_record *record);

#endif
