// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

//go:build cgo
// +build cgo

package main

/*
#include <time.h>

static int gotrace_short(int n) { return n + 1; }
static void gotrace_block(long ns)
{
	struct timespec pause = {ns / 1000000000, ns % 1000000000};

	nanosleep(&pause, NULL);
}
*/
import "C"

import "time"

func init() { modes["cgo"] = cgo }

// cgo: short and blocking C calls.
func cgo(opt *options) {
	for i := 0; i < or(opt.count, 3); i++ {
		go func() {
			for n := 0; ; n++ {
				C.gotrace_short(C.int(n))
				if n%20 == 0 {
					C.gotrace_block(3000000)
				}
				if n%100 == 0 {
					time.Sleep(5 * time.Millisecond)
				}
			}
		}()
	}
}
