/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Applies the rules, and ranks what they find. */
#ifndef GOTRACE_ANALYSIS_FINDINGS_H
#define GOTRACE_ANALYSIS_FINDINGS_H

#include "analysis/state.h"

void findings_make(struct analysis *a);
bool findings_need_more(const struct analysis *a); /* too little was watched for the rules */

#endif
