// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// or returns n, or the mode's own number if none was asked for.
func or(n, own int) int {
	if n > 0 {
		return n
	}
	return own
}

// spin keeps a CPU busy without the scheduler's help.
func spin(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
	}
}

// pingpong: two goroutines hand a token to and fro over unbuffered channels;
// a pause every hundred turns leaves time for other programs.
func pingpong(opt *options) {
	for i := 0; i < or(opt.count, 2); i++ {
		ping, pong := make(chan int), make(chan int)
		go func() {
			for n := range ping {
				pong <- n
			}
		}()
		go func() {
			for n := 0; ; n++ {
				ping <- n
				<-pong
				if n%100 == 99 {
					time.Sleep(2 * time.Millisecond)
				}
			}
		}()
	}
}

// pool: rounds of jobs over a worker pool, with a mutex, a condition and a WaitGroup.
func pool(opt *options) {
	type job struct{ n int }
	var (
		mu    sync.Mutex
		rw    sync.RWMutex
		total int
		round sync.WaitGroup
		ready = sync.NewCond(&mu)
		jobs  = make(chan job, 16)
	)
	for i := 0; i < or(opt.count, 8); i++ {
		go func() {
			for j := range jobs {
				spin(20 * time.Microsecond)
				rw.RLock()
				mu.Lock()
				total += j.n
				mu.Unlock()
				rw.RUnlock()
				round.Done()
			}
		}()
	}
	go func() {
		for {
			mu.Lock()
			ready.Wait()
			mu.Unlock()
			rw.Lock()
			runtime.Gosched()
			rw.Unlock()
		}
	}()
	go func() {
		for {
			for i := 0; i < 100; i++ {
				round.Add(1)
				jobs <- job{i}
			}
			round.Wait()
			mu.Lock()
			ready.Signal()
			mu.Unlock()
			time.Sleep(2 * time.Millisecond)
		}
	}()
}

var sink [][]byte

// gcLoad: allocates at some 200 MB/s with a live heap of about 16 MB, and forces collections too.
func gcLoad(opt *options) {
	debug.SetGCPercent(50)
	type node struct {
		next *node
		data [64]byte
	}
	var mu sync.Mutex
	sink = make([][]byte, 256)
	for i := 0; i < or(opt.count, 3); i++ {
		seed := i
		go func() {
			var list *node
			for n := seed; ; n++ {
				list = &node{next: list}
				block := make([]byte, 4096+n%4096)
				if n%16 == 0 {
					mu.Lock()
					sink[n/16%len(sink)] = make([]byte, 64<<10)
					mu.Unlock()
				}
				_ = block
				if n%2000 == 1999 {
					list = nil
					time.Sleep(10 * time.Millisecond)
				}
			}
		}()
	}
	go func() {
		for {
			time.Sleep(300 * time.Millisecond)
			runtime.GC()
			object := &node{}
			runtime.SetFinalizer(object, func(*node) {})
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
		}
	}()
}

// timers: tickers, sleepers, AfterFunc, and selects that time out or do not.
func timers(opt *options) {
	for i := 0; i < or(opt.count, 20); i++ {
		period := time.Duration(i%7+1) * time.Millisecond
		go func() {
			for range time.NewTicker(period).C {
			}
		}()
		go func() {
			for {
				time.Sleep(period)
			}
		}()
	}
	events := make(chan struct{})
	go func() {
		for {
			time.Sleep(3 * time.Millisecond)
			events <- struct{}{}
		}
	}()
	go func() {
		timer := time.NewTimer(2 * time.Millisecond)
		for {
			select {
			case <-events:
			case <-timer.C:
			}
			timer.Stop()
			timer.Reset(2 * time.Millisecond)
		}
	}()
	go func() {
		fired := make(chan struct{}, 8)
		for {
			time.AfterFunc(500*time.Microsecond, func() { fired <- struct{}{} })
			<-fired
		}
	}()
}

// churn: short-lived goroutines, also ones that start others.
func churn(opt *options) {
	batch := or(opt.count, 200)
	go func() {
		for {
			var wait sync.WaitGroup
			for i := 0; i < batch; i++ {
				wait.Add(1)
				go func() {
					defer wait.Done()
					if i%4 == 0 {
						wait.Add(1)
						go func() {
							defer wait.Done()
							runtime.Gosched()
						}()
					}
					if i%10 == 0 {
						runtime.Goexit()
					}
				}()
			}
			wait.Wait()
			time.Sleep(5 * time.Millisecond)
		}
	}()
}

// procs: constantly changes GOMAXPROCS while others work.
func procs(opt *options) {
	pool(opt)
	go func() {
		for n := 0; ; n++ {
			time.Sleep(20 * time.Millisecond)
			runtime.GOMAXPROCS(n%4 + 1)
		}
	}()
}

// parked: very many goroutines that wait, for different reasons, and a little activity.
func parked(opt *options) {
	var (
		never  = make(chan struct{})
		also   = make(chan struct{})
		mu     sync.Mutex
		forked sync.WaitGroup
		count  = or(opt.count, 50000)
	)
	mu.Lock()
	forked.Add(count)
	for i := 0; i < count; i++ {
		go func() {
			forked.Done()
			switch i % 4 {
			case 0:
				<-never
			case 1:
				select {
				case <-never:
				case <-also:
				}
			case 2:
				mu.Lock()
			default:
				time.Sleep(hardCap)
			}
		}()
	}
	forked.Wait()
	pingpong(&options{count: 1})
}

// preempted: a goroutine that never yields by itself, and one locked to its thread.
func preempted() {
	go func() {
		for {
			spin(25 * time.Millisecond)
			time.Sleep(50 * time.Millisecond)
		}
	}()
	go func() {
		runtime.LockOSThread()
		for {
			time.Sleep(7 * time.Millisecond)
			runtime.Gosched()
		}
	}()
}

// mixed: a little of everything at once.
func mixed(opt *options) {
	preempted()
	pingpong(&options{count: 1})
	pool(&options{count: 3})
	timers(&options{count: 3})
	churn(&options{count: 20})
	syscalls(&options{count: 1})
	httpLoad(&options{count: 2})
	gcLoad(&options{count: 1})
	for _, name := range []string{"coro", "cgo"} {
		if extra := modes[name]; extra != nil {
			extra(&options{count: 1})
		}
	}
}
