// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"context"
	"math/rand"
	"runtime/trace"
	"time"
)

// Goroutines wait to send an answer that nobody receives; or that fits into a buffer.
func leak(clean bool) {
	go every(10*time.Millisecond, func() { ask(clean) })
}

//go:noinline
func ask(clean bool) {
	answers := make(chan int)
	if clean {
		answers = make(chan int, 1)
	}
	go poll(answers)
}

func poll(answers chan<- int) {
	spin(20 * time.Microsecond)
	answers <- 1
}

// The same in a select whose context is never cancelled.
func leakSelect(clean bool) {
	go every(10*time.Millisecond, func() {
		ctx, cancel := context.WithCancel(context.Background())
		go watch(ctx, make(chan int))
		if clean {
			time.AfterFunc(20*time.Millisecond, cancel)
		}
		_ = cancel
	})
}

func watch(ctx context.Context, news <-chan int) {
	select {
	case <-ctx.Done():
	case <-news:
	}
}

// Eight producers, and one that takes from their channel and is slow; or fast.
func slowConsumer(clean bool) {
	work := make(chan int)
	for i := 0; i < 8; i++ {
		go every(2*time.Millisecond, func() { produce(work) })
	}
	go sink(work, clean)
}

//go:noinline
func produce(work chan<- int) {
	begin := time.Now()
	work <- 1
	measured(begin)
}

//go:noinline
func sink(work <-chan int, clean bool) {
	for range work {
		if clean {
			spin(5 * time.Microsecond)
		} else {
			spin(time.Millisecond)
		}
	}
}

// Requests take one of two connections, or one of many, and use it for a while.
func poolSmall(clean bool) {
	size := 2
	if clean {
		size = 64
	}
	pool := make(chan int, size)
	for i := 0; i < size; i++ {
		pool <- i
	}
	for i := 0; i < 12; i++ {
		go every(3*time.Millisecond, func() {
			_, task := trace.NewTask(context.Background(), "query")
			query(pool)
			task.End()
		})
	}
}

//go:noinline
func query(pool chan int) {
	begin := time.Now()
	conn := <-pool
	measured(begin)
	time.Sleep(5 * time.Millisecond)
	pool <- conn
}

type job struct{ done chan struct{} }

// Jobs go to two workers, or to many, which take their time.
func poolWorkers(clean bool) {
	jobs := make(chan job, 100)
	workers := 2
	if clean {
		workers = 32
	}
	for i := 0; i < workers; i++ {
		go worker(jobs)
	}
	for i := 0; i < 12; i++ {
		go every(2*time.Millisecond, func() { submit(jobs) })
	}
}

func worker(jobs <-chan job) {
	for j := range jobs {
		time.Sleep(3 * time.Millisecond)
		close(j.done)
	}
}

//go:noinline
func submit(jobs chan<- job) {
	j := job{make(chan struct{})}
	jobs <- j
	begin := time.Now()
	<-j.done
	measured(begin)
}

// One request in some hundreds takes far longer than the rest.
func outlier(clean bool) {
	for i := 0; i < 4; i++ {
		random := rand.New(rand.NewSource(int64(i)))
		go every(2*time.Millisecond, func() {
			_, task := trace.NewTask(context.Background(), "request")
			slow := random.Intn(300) == 0 && !clean
			request(slow)
			task.End()
		})
	}
}

//go:noinline
func request(slow bool) {
	reply := make(chan int)
	go func() {
		if slow {
			time.Sleep(100 * time.Millisecond)
		}
		spin(50 * time.Microsecond)
		reply <- 1
	}()
	<-reply
}
