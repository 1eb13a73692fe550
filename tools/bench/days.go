// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"context"
	"fmt"
	"math/rand"
	"runtime"
	"runtime/trace"
	"sync/atomic"
	"time"
)

const (
	daysAlive  = 3000                   // goroutines at any time
	daysStep   = 2 * time.Millisecond   // between two batches of new ones
	daysLot    = 6                      // goroutines in a batch: 3,000 a second
	daysThread = 100 * time.Millisecond // between two threads that end
)

// down and aside call one another as the bits of path select, so that each path is a different stack.
//
//go:noinline
func down(path uint32, depth int, wait func()) {
	switch {
	case depth == 0:
		wait()
	case path&1 != 0:
		aside(path>>1, depth-1, wait)
	default:
		down(path>>1, depth-1, wait)
	}
}

//go:noinline
func aside(path uint32, depth int, wait func()) {
	switch {
	case depth == 0:
		wait()
	case path&1 != 0:
		down(path>>1, depth-1, wait)
	default:
		aside(path>>1, depth-1, wait)
	}
}

// days stresses everything that has to remember: goroutines that live for a second and wait with a stack that
// never recurs, tasks with new names, threads that end.
func days(count *atomic.Int64) {
	slots := make(chan struct{}, daysAlive)
	go func() {
		for range time.Tick(daysStep) {
			for range daysLot {
				slots <- struct{}{}
				go func() {
					down(rand.Uint32(), 24, func() { time.Sleep(time.Second) })
					count.Add(1)
					<-slots
				}()
			}
		}
	}()
	go func() {
		for i := 0; ; i++ {
			time.Sleep(daysThread)
			_, task := trace.NewTask(context.Background(), fmt.Sprint("task ", i))
			go func() {
				runtime.LockOSThread() // for good: the thread ends with the goroutine
				time.Sleep(time.Millisecond)
				task.End()
			}()
		}
	}()
}
