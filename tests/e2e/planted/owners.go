// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"context"
	"runtime"
	"runtime/trace"
	"sync/atomic"
	"time"
)

type journalEntry struct {
	reply chan int
}

// One goroutine answers all requests, and sleeps in each. Without the fault it answers at once.
func busyOwner(clean bool) {
	requests := make(chan journalEntry, 64)
	go journal(requests, clean)
	for i := 0; i < 8; i++ {
		go every(10*time.Millisecond, func() { order(requests) })
	}
}

func order(requests chan journalEntry) {
	_, task := trace.NewTask(context.Background(), "order")
	defer task.End()
	spin(50 * time.Microsecond)
	mine := journalEntry{make(chan int, 1)}
	requests <- mine
	begin := time.Now()
	<-mine.reply
	measured(begin)
}

func journal(requests chan journalEntry, clean bool) {
	for one := range requests {
		if !clean {
			appendLog()
		}
		one.reply <- 1
	}
}

//go:noinline
func appendLog() {
	time.Sleep(4 * time.Millisecond)
}

// Goroutines that wait for a flag yield in a loop. Without the fault they wait for a channel.
func yieldSpin(clean bool) {
	var busy atomic.Bool
	free := make(chan int, 1)
	free <- 1
	for i := 0; i < 4; i++ {
		go every(time.Millisecond, func() {
			if clean {
				<-free
				time.Sleep(100 * time.Microsecond)
				free <- 1
				time.Sleep(5 * time.Millisecond)
				return
			}
			acquire(&busy)
			time.Sleep(5 * time.Millisecond)
			busy.Store(false)
		})
	}
}

//go:noinline
func acquire(busy *atomic.Bool) {
	for !busy.CompareAndSwap(false, true) {
		runtime.Gosched()
	}
}

// Goroutines that nobody stops are woken by their tickers. Without the fault they are stopped.
func leakAwake(clean bool) {
	go every(20*time.Millisecond, func() {
		stop := make(chan int)
		go watchPrice(stop)
		if clean {
			time.Sleep(20 * time.Millisecond)
			close(stop)
		}
	})
}

func watchPrice(stop <-chan int) {
	ticker := time.NewTicker(40 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			spin(5 * time.Microsecond)
		case <-stop:
			return
		}
	}
}
