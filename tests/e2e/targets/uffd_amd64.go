// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

const sysUserfaultfd = 323
