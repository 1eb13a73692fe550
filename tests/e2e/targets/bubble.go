// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

//go:build go1.25 || goexperiment.synctest

package main

import (
	"context"
	"flag"
	"fmt"
	"iter"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func init() { modes["bubble"] = bubbles }

var rounds atomic.Int64

// bubbles: tests with testing/synctest, one after the other, several at a time.
func bubbles(opt *options) {
	var tests []testing.InternalTest
	for i := 0; i < or(opt.count, 3); i++ {
		tests = append(tests, testing.InternalTest{Name: fmt.Sprint("bubbles", i), F: repeatBubble})
	}
	testing.Init()
	check(flag.CommandLine.Parse([]string{"-test.parallel", fmt.Sprint(len(tests))}))
	go testing.Main(func(string, string) (bool, error) { return true, nil }, tests, nil, nil)
}

func repeatBubble(t *testing.T) {
	t.Parallel()
	for {
		inBubble(t, bubble)
		time.Sleep(2 * time.Millisecond)
	}
}

// bubble uses each way in which the goroutines of a bubble are woken: by each other, by timers of the bubble, by
// Wait, and by the bubble's becoming idle.
func bubble(t *testing.T) {
	jobs, done := make(chan int), make(chan int, 4)
	var workers sync.WaitGroup
	for i := 0; i < 3; i++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for n := range jobs {
				time.Sleep(time.Duration(n) * time.Second)
				done <- n
			}
		}()
	}
	for i := 0; i < 5; i++ {
		jobs <- i
	}
	for i := 0; i < 5; i++ {
		<-done
	}
	close(jobs)
	workers.Wait()
	ticker := time.NewTicker(time.Minute)
	for i := 0; i < 5; i++ {
		<-ticker.C
	}
	ticker.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	fired := 0
	context.AfterFunc(ctx, func() { fired++ })
	time.AfterFunc(30*time.Minute, func() { fired++ })
	time.Sleep(time.Hour)
	synctest.Wait()
	if fired != 2 {
		t.Errorf("%d functions ran instead of 2", fired)
	}
	var mu sync.Mutex
	cond := sync.NewCond(&mu)
	go func() {
		mu.Lock()
		cond.Wait()
		mu.Unlock()
	}()
	synctest.Wait()
	cond.Signal()
	others(t)
}

// others does what has nothing to do with bubbles, in one: coroutines, yields, system calls, a collection.
func others(t *testing.T) {
	next, stop := iter.Pull(func(yield func(int) bool) {
		for n := 0; n < 3; n++ {
			time.Sleep(time.Second)
			if !yield(n) {
				return
			}
		}
	})
	next()
	next()
	stop()
	result := make(chan error)
	go func() {
		runtime.Gosched()
		_, err := os.Stat("/proc/self/status")
		result <- err
	}()
	select {
	case err := <-result:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Hour):
		t.Error("the clock of the bubble went on during a system call")
	}
	if rounds.Add(1)%500 == 0 {
		runtime.GC()
	}
}
