// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"io"
	"net"
	"runtime"
	"sync"
	"time"
)

// A request takes the one place, and asks a back end with it. Without the fault there are places for all.
func onePlace(clean bool) {
	n := 1
	if clean {
		n = 64
	}
	places, questions := make(chan int, n), make(chan chan int, 64)
	for i := 0; i < 8; i++ {
		go func() {
			for reply := range questions {
				time.Sleep(4 * time.Millisecond)
				reply <- 1
			}
		}()
		go every(8*time.Millisecond, func() { geocode(places, questions) })
	}
}

//go:noinline
func geocode(places chan int, questions chan<- chan int) {
	begin := time.Now()
	places <- 1
	measured(begin)
	reply := make(chan int)
	questions <- reply
	<-reply
	<-places
}

// The last of three stages is slow, and all before it wait.
func pipeline(clean bool) {
	first, second, third := make(chan int), make(chan int), make(chan int)
	for i := 0; i < 4; i++ {
		go every(3*time.Millisecond, func() { first <- 1 })
	}
	go func() {
		for item := range first {
			second <- item
		}
	}()
	go enrich(second, third)
	go score(third, clean)
}

//go:noinline
func enrich(second <-chan int, third chan<- int) {
	for item := range second {
		begin := time.Now()
		third <- item
		measured(begin)
	}
}

//go:noinline
func score(third <-chan int, clean bool) {
	for range third {
		if !clean {
			time.Sleep(4 * time.Millisecond)
		}
	}
}

// All wait for a lock whose holder waits for another one, which is held for a sleep.
func lockChain(clean bool) {
	var orders, index sync.Mutex
	go every(2*time.Millisecond, func() { reindex(&index, clean) })
	for i := 0; i < 8; i++ {
		go every(3*time.Millisecond, func() { reserve(&orders, &index) })
	}
}

//go:noinline
func reindex(index *sync.Mutex, clean bool) {
	index.Lock()
	if !clean {
		time.Sleep(8 * time.Millisecond)
	}
	index.Unlock()
}

//go:noinline
func reserve(orders, index *sync.Mutex) {
	orders.Lock()
	begin := time.Now()
	index.Lock()
	measured(begin)
	spin(10 * time.Microsecond)
	index.Unlock()
	orders.Unlock()
}

// All wait for a lock whose holder sends to a slow goroutine; or to one that takes what it gets.
func lockSend(clean bool) {
	events := make(chan int)
	var mu sync.Mutex
	go notify(events, clean)
	for i := 0; i < 6; i++ {
		go every(5*time.Millisecond, func() { update(&mu, events) })
	}
}

//go:noinline
func notify(events <-chan int, clean bool) {
	for range events {
		if !clean {
			time.Sleep(3 * time.Millisecond)
		}
	}
}

//go:noinline
func update(mu *sync.Mutex, events chan<- int) {
	mu.Lock()
	begin := time.Now()
	events <- 1
	measured(begin)
	mu.Unlock()
}

// Each page calls the collector.
func forcedGC(clean bool) {
	render()
	for i := 0; i < 2; i++ {
		go every(2*time.Millisecond, func() { renderPage(clean) })
	}
}

//go:noinline
func renderPage(clean bool) {
	if !clean {
		runtime.GC()
	}
}

// A server greets one client at a time, or each in a goroutine of its own.
func acceptLoop(clean bool) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go acceptAll(listener, clean)
	for i := 0; i < 8; i++ {
		go every(10*time.Millisecond, func() {
			if conn, err := net.Dial("tcp", listener.Addr().String()); err == nil {
				io.Copy(io.Discard, conn)
				conn.Close()
			}
		})
	}
}

//go:noinline
func acceptAll(listener net.Listener, clean bool) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		if clean {
			go greet(conn)
		} else {
			greet(conn)
		}
	}
}

//go:noinline
func greet(conn net.Conn) {
	begin := time.Now()
	time.Sleep(3 * time.Millisecond)
	measured(begin)
	conn.Write([]byte("hello"))
	conn.Close()
}
