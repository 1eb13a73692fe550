// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// A package with an assembly file may declare functions without a body.
