// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"runtime/trace"
	"sync"
	"time"
)

// Two goroutines take two locks in different order, and others want the first. Without the fault in the same order.
func deadlock(clean bool) {
	var debits, credits sync.Mutex
	go debit(&debits, &credits)
	if clean {
		go debit(&debits, &credits)
	} else {
		go credit(&debits, &credits)
	}
	time.Sleep(200 * time.Millisecond)
	for i := 0; i < 4; i++ {
		go every(10*time.Millisecond, func() {
			debits.Lock()
			spin(10 * time.Microsecond)
			debits.Unlock()
		})
	}
}

//go:noinline
func debit(debits, credits *sync.Mutex) {
	debits.Lock()
	time.Sleep(50 * time.Millisecond)
	credits.Lock()
	credits.Unlock()
	debits.Unlock()
}

//go:noinline
func credit(debits, credits *sync.Mutex) {
	credits.Lock()
	time.Sleep(50 * time.Millisecond)
	debits.Lock()
	debits.Unlock()
	credits.Unlock()
}

// Finalizers wait. Without the fault they do not.
func finalizers(clean bool) {
	go every(time.Millisecond, func() {
		handle := new([1024]byte)
		runtime.SetFinalizer(handle, func(*[1024]byte) { closeHandle(clean) })
	})
	go every(50*time.Millisecond, runtime.GC)
}

//go:noinline
func closeHandle(clean bool) {
	if !clean {
		time.Sleep(20 * time.Millisecond)
	}
}

// One loop computes for each request; or hardly. It never waits, as there is always a request.
func busyLoop(clean bool) {
	requests := make(chan journalEntry, 64)
	go func() {
		for one := range requests {
			if !clean {
				recalculate()
			}
			one.reply <- 1
		}
	}()
	for i := 0; i < 8; i++ {
		go every(5*time.Millisecond, func() { order(requests) })
	}
}

//go:noinline
func recalculate() {
	n := 0
	for end := time.Now().Add(2 * time.Millisecond); time.Now().Before(end); {
		n++
	}
}

// A handler of HTTP tries again after a while; or the first time is enough.
func retries(clean bool) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	url := "http://" + listener.Addr().String()
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for try := 1; try < 3 && !clean; try++ {
			backOff(try)
		}
		io.WriteString(w, "paid")
	}))
	for i := 0; i < 4; i++ {
		go every(5*time.Millisecond, func() {
			if answer, err := http.Get(url); err == nil {
				io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
		})
	}
}

//go:noinline
func backOff(try int) {
	begin := time.Now()
	time.Sleep(time.Duration(try) * 10 * time.Millisecond)
	measured(begin)
}

// Jobs wait for a loop that looks every 20 ms; or is woken.
func pollingLoop(clean bool) {
	var mu sync.Mutex
	var jobs []chan int
	wake := make(chan int, 1)
	for i := 0; i < 6; i++ {
		go every(3*time.Millisecond, func() {
			_, task := trace.NewTask(context.Background(), "job")
			defer task.End()
			done := make(chan int, 1)
			mu.Lock()
			jobs = append(jobs, done)
			mu.Unlock()
			if clean {
				select {
				case wake <- 1:
				default:
				}
			}
			awaitJob(done)
		})
	}
	go func() {
		for {
			mu.Lock()
			ready := jobs
			jobs = nil
			mu.Unlock()
			for _, done := range ready {
				done <- 1
			}
			select {
			case <-wake:
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
}

//go:noinline
func awaitJob(done chan int) {
	begin := time.Now()
	<-done
	measured(begin)
}
