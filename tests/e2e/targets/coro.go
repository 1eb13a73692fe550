// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

//go:build go1.23

package main

import (
	"iter"
	"sync/atomic"
	"time"
)

func init() {
	modes["coro"] = coro
	modes["full-iter"] = counted(fullIter)
}

// fullIter: an iterator that is pulled from without a pause; a turn is a switch to it and back.
func fullIter(opt *options, turns *atomic.Int64) {
	for i := 0; i < or(opt.count, 1); i++ {
		next, _ := iter.Pull(func(yield func(int) bool) {
			for yield(0) {
			}
		})
		go func() {
			for {
				next()
				turns.Add(1)
			}
		}()
	}
}

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
