// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

//go:build go1.23

package main

import (
	"iter"
	"time"
)

func init() { modes["coro"] = coro }

// coro: iter.Pull, whose goroutines hand over to each other without the scheduler.
func coro(opt *options) {
	numbers := func(yield func(int) bool) {
		for n := 0; n < 60; n++ {
			if !yield(n) {
				return
			}
		}
	}
	for i := 0; i < or(opt.count, 4); i++ {
		go func() {
			for n := 0; ; n++ {
				next, stop := iter.Pull(iter.Seq[int](numbers))
				for {
					// Some are left before their end.
					if got, ok := next(); !ok || (n%3 == 0 && got == 20) {
						break
					}
				}
				stop()
				time.Sleep(3 * time.Millisecond)
			}
		}()
	}
}
