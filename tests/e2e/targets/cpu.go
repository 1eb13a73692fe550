// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"sync/atomic"
	"time"
)

func init() { modes["cpu"] = cpuLoad }

var cpuSink atomic.Uint64

// cpuWork is a leaf without a frame: a walk of the stack by frame pointers from it misses its caller.
//
//go:noinline
func cpuWork(n int) uint64 {
	x := uint64(n)
	for i := 0; i < n; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

//go:noinline
func cpuThree(n int) { cpuSink.Add(cpuWork(3 * n)) }

//go:noinline
func cpuOne(n int) { cpuSink.Add(cpuWork(n)) }

// fastest returns how long the fastest of three such walks takes. Anything may interrupt one of them.
func fastest(n int) time.Duration {
	min := time.Hour
	for i := 0; i < 3; i++ {
		began := time.Now()
		cpuWork(n)
		if took := time.Since(began); took < min {
			min = took
		}
	}
	return min
}

// cpuLoad: goroutines that burn CPU time in cpuThree and cpuOne, three parts to one, with pauses of an odd length.
func cpuLoad(opt *options) {
	n := 1000
	for fastest(n) < 4*time.Millisecond {
		n *= 2
	}
	for i := 0; i < or(opt.count, 2); i++ {
		go func() {
			for {
				cpuThree(n)
				cpuOne(n)
				time.Sleep(5300 * time.Microsecond)
			}
		}()
	}
}
