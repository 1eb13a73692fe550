// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

//go:build go1.23

package main

import (
	"iter"
	"sync/atomic"
)

func init() { newerLoads["iter"] = pull }

// pull: an iterator that is pulled from without a pause; a turn is a switch to it and back.
func pull(count *atomic.Int64) {
	next, _ := iter.Pull(func(yield func(int) bool) {
		for yield(0) {
		}
	})
	go func() {
		for {
			next()
			count.Add(1)
		}
	}()
}
