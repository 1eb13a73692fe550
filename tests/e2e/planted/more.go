// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/trace"
	"sync"
	"sync/atomic"
	"time"
)

// waited is what the program saw of its own waits, to be compared with the finding.
var waited struct {
	n, ns atomic.Int64
	on    atomic.Bool
}

// measured adds the time since begin.
func measured(begin time.Time) {
	if waited.on.Load() {
		waited.n.Add(1)
		waited.ns.Add(int64(time.Since(begin)))
	}
}

func printMeasured() {
	waited.on.Store(false)
	fmt.Println("waited", waited.n.Load(), waited.ns.Load())
}

type table struct {
	mu   sync.RWMutex
	rows map[int]int
}

// A report reads for long under the read lock; a writer waits for it, and new readers for the writer.
func rwStarve(clean bool) {
	t := &table{rows: map[int]int{}}
	go every(10*time.Millisecond, func() { t.export(clean) })
	go every(5*time.Millisecond, func() { t.put(1) })
	for i := 0; i < 20; i++ {
		go every(4*time.Millisecond, func() { t.look(1) })
	}
}

//go:noinline
func (t *table) export(clean bool) {
	if clean {
		time.Sleep(15 * time.Millisecond)
		return
	}
	t.mu.RLock()
	time.Sleep(15 * time.Millisecond)
	t.mu.RUnlock()
}

//go:noinline
func (t *table) put(n int) {
	begin := time.Now()
	t.mu.Lock()
	measured(begin)
	t.rows[n]++
	t.mu.Unlock()
}

//go:noinline
func (t *table) look(n int) int {
	begin := time.Now()
	t.mu.RLock()
	measured(begin)
	defer t.mu.RUnlock()
	return t.rows[n]
}

// Every item wakes all consumers, and one of them gets it.
func condHerd(clean bool) {
	var mu sync.Mutex
	cond := sync.NewCond(&mu)
	items := 0
	for i := 0; i < 300; i++ {
		go func() {
			for {
				consume(&mu, cond, &items)
			}
		}()
	}
	go every(2*time.Millisecond, func() {
		mu.Lock()
		items++
		mu.Unlock()
		if clean {
			cond.Signal()
		} else {
			cond.Broadcast()
		}
	})
}

//go:noinline
func consume(mu *sync.Mutex, cond *sync.Cond, items *int) {
	mu.Lock()
	for *items == 0 {
		cond.Wait()
	}
	*items--
	mu.Unlock()
}

// All results go through one goroutine that stores each with a call that takes a while.
func fanIn(clean bool) {
	results := make(chan int)
	if clean {
		results = make(chan int, 1<<16)
	}
	for i := 0; i < 16; i++ {
		go func() {
			for {
				time.Sleep(2 * time.Millisecond)
				compute(results, clean)
			}
		}()
	}
	go store(results, clean)
}

//go:noinline
func compute(results chan<- int, clean bool) {
	if clean {
		select {
		case results <- 1:
		default:
		}
		return
	}
	begin := time.Now()
	results <- 1
	measured(begin)
}

//go:noinline
func store(results <-chan int, clean bool) {
	for range results {
		if !clean {
			time.Sleep(3 * time.Millisecond)
		}
	}
}

// Tickers that constantly fire for nothing.
func tickers(clean bool) {
	pace := 20 * time.Microsecond
	if clean {
		pace = 50 * time.Millisecond
	}
	for i := 0; i < 16; i++ {
		go tick(pace)
	}
}

func tick(pace time.Duration) {
	n := 0
	for range time.NewTicker(pace).C {
		n++
	}
}

// GOGC=10 for a service that allocates for each request.
func gogc10(clean bool) {
	if !clean {
		debug.SetGCPercent(10)
	}
	go every(500*time.Microsecond, func() { render() })
}

var page []*node

//go:noinline
func render() {
	page = page[:0]
	for i := 0; i < 20; i++ {
		page = append(page, tree(6))
	}
}

// Large slices of pointers, one after the other.
func bigAlloc(clean bool) {
	for i := 0; i < 4; i++ {
		go decodeAll(clean)
	}
}

//go:noinline
func decodeAll(clean bool) {
	var kept [4][]*node
	for n := 0; ; n++ {
		if clean {
			clear(kept[n%4])
			time.Sleep(10 * time.Millisecond)
			continue
		}
		kept[n%4] = make([]*node, 20000)
		for i := range kept[n%4] {
			kept[n%4][i] = &node{}
		}
	}
}

// The cancel function is forgotten: goroutines that wait for the context stay.
func ctxLeak(clean bool) {
	go every(5*time.Millisecond, func() { handle(clean) })
}

//go:noinline
func handle(clean bool) {
	ctx, cancel := context.WithCancel(context.Background())
	updates := make(chan int, 1)
	go follow(ctx, updates)
	if clean {
		cancel()
	}
	_ = cancel
}

func follow(ctx context.Context, updates <-chan int) {
	<-ctx.Done()
}

// A channel is the semaphore: a send takes a place, a receive returns it.
func semaphore(clean bool) {
	places := 3
	if clean {
		places = 100
	}
	sem := make(chan struct{}, places)
	for i := 0; i < 20; i++ {
		go func() {
			for {
				time.Sleep(time.Millisecond)
				upload(sem)
			}
		}()
	}
}

//go:noinline
func upload(sem chan struct{}) {
	begin := time.Now()
	sem <- struct{}{}
	measured(begin)
	time.Sleep(4 * time.Millisecond)
	<-sem
}

// The standard logger with an unbuffered file.
func logPrintf(clean bool) {
	if clean {
		log.SetOutput(new(nowhere))
	} else {
		file, err := os.CreateTemp("", "planted")
		if err != nil {
			panic(err)
		}
		os.Remove(file.Name())
		log.SetOutput(file)
	}
	for i := 0; i < 24; i++ {
		go func() {
			for n := 0; ; n++ {
				serve(n)
				if clean {
					time.Sleep(3 * time.Millisecond)
				}
			}
		}()
	}
}

type nowhere struct{}

func (*nowhere) Write(p []byte) (int, error) { return len(p), nil }

//go:noinline
func serve(n int) {
	log.Printf("request %d of %s took %d ms, %s", n, "somebody", n%100, "and all is well")
}

// A small database/sql: a connection that is returned goes to the first waiter.
type conns struct {
	mu    sync.Mutex
	free  int
	queue []chan struct{}
}

func (c *conns) get() {
	c.mu.Lock()
	if c.free > 0 {
		c.free--
		c.mu.Unlock()
		return
	}
	wait := make(chan struct{}, 1)
	c.queue = append(c.queue, wait)
	c.mu.Unlock()
	<-wait
}

func (c *conns) put() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) > 0 {
		c.queue[0] <- struct{}{}
		c.queue = c.queue[1:]
		return
	}
	c.free++
}

func sqlPool(clean bool) {
	pool := &conns{free: 2}
	if clean {
		pool.free = 50
	}
	for i := 0; i < 10; i++ {
		go every(time.Millisecond, func() {
			_, task := trace.NewTask(context.Background(), "page")
			begin := time.Now()
			pool.get()
			measured(begin)
			time.Sleep(3 * time.Millisecond)
			pool.put()
			task.End()
		})
	}
}

// One member of each group is slow, and all wait for it.
func slowMember(clean bool) {
	for i := 0; i < 2; i++ {
		go every(time.Millisecond, func() {
			_, task := trace.NewTask(context.Background(), "batch")
			var group sync.WaitGroup
			for n := 0; n < 6; n++ {
				group.Add(1)
				go member(&group, n == 3 && !clean)
			}
			begin := time.Now()
			group.Wait()
			measured(begin)
			task.End()
		})
	}
}

func member(group *sync.WaitGroup, slow bool) {
	if slow {
		time.Sleep(20 * time.Millisecond)
	}
	spin(20 * time.Microsecond)
	group.Done()
}

// A select with a default branch that does nothing.
func spinSelect(clean bool) {
	news := make(chan int)
	for i := 0; i < 3; i++ {
		go waitFor(news, clean)
	}
	for i := 0; i < 4; i++ {
		go every(time.Millisecond, func() { spin(100 * time.Microsecond) })
	}
}

//go:noinline
func waitFor(news <-chan int, clean bool) {
	for {
		if clean {
			<-news
			continue
		}
		select {
		case <-news:
		default:
		}
	}
}

type flights struct {
	mu   sync.Mutex
	call *sync.WaitGroup
}

// A small golang.org/x/sync/singleflight: one makes the call, the others wait for its result.
//
//go:noinline
func (f *flights) do(call func()) {
	f.mu.Lock()
	if c := f.call; c != nil {
		f.mu.Unlock()
		begin := time.Now()
		c.Wait()
		measured(begin)
		return
	}
	c := new(sync.WaitGroup)
	c.Add(1)
	f.call = c
	f.mu.Unlock()
	call()
	f.mu.Lock()
	f.call = nil
	f.mu.Unlock()
	c.Done()
}

func singleFlight(clean bool) {
	all := new(flights)
	for i := 0; i < 16; i++ {
		go every(2*time.Millisecond, func() { all.do(func() { load(clean) }) })
	}
}

//go:noinline
func load(clean bool) {
	if !clean {
		time.Sleep(20 * time.Millisecond)
	}
}

// The CPUs are held for as long as the scheduler allows, and timers wait.
func timerLate(clean bool) {
	for i := 0; i < runtime.GOMAXPROCS(0); i++ {
		go hold(clean)
	}
	for i := 0; i < 20; i++ {
		go every(4*time.Millisecond, func() {})
	}
}

//go:noinline
func hold(clean bool) {
	for {
		if clean {
			spin(100 * time.Microsecond)
			time.Sleep(time.Millisecond)
			continue
		}
		spin(50 * time.Millisecond)
	}
}

// Workers that are locked to their threads, as those of a graphics library in C are.
func lockedThread(clean bool) {
	for i := 0; i < 2; i++ {
		work, drawn := make(chan int), make(chan int)
		go draw(work, drawn, clean)
		go func() {
			for {
				for n := 0; n < 10; n++ {
					work <- n
					<-drawn
					spin(20 * time.Microsecond)
				}
				time.Sleep(500 * time.Microsecond)
			}
		}()
	}
}

//go:noinline
func draw(work <-chan int, drawn chan<- int, clean bool) {
	if !clean {
		runtime.LockOSThread()
	}
	for n := range work {
		spin(5 * time.Microsecond)
		drawn <- n
	}
}
