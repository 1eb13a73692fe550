// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// serveClients starts a server, and clients that ask it for a path, one request after the other.
func serveClients(handler http.HandlerFunc, clients int, pause time.Duration, path func(client int) string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go http.Serve(listener, handler)
	for i := 0; i < clients; i++ {
		client := &http.Client{Transport: &http.Transport{}}
		go every(pause, func() {
			answer, err := client.Get("http://" + listener.Addr().String() + path(i))
			if err == nil {
				io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
		})
	}
}

// A request asks one of three replicas for a price, each in turn. One of them takes long, or none does.
func replicas(clean bool) {
	var hosts [3]string
	for i := range hosts {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		pause := 4 * time.Millisecond
		if i == 1 && !clean {
			pause = 80 * time.Millisecond
		}
		hosts[i] = listener.Addr().String()
		go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(pause)
			fmt.Fprintln(w, "12.50")
		}))
	}
	var asked atomic.Uint64
	handler := func(w http.ResponseWriter, r *http.Request) {
		host := hosts[asked.Add(1)%uint64(len(hosts))]
		answer, err := http.Get("http://" + host + "/price")
		if err == nil {
			io.Copy(w, answer.Body)
			answer.Body.Close()
		}
	}
	serveClients(handler, 6, 20*time.Millisecond, func(int) string { return "/item" })
}

type piece struct {
	slow bool
	done chan struct{}
}

// Four workers take quick and slow work from one queue: the quick ones wait behind the slow ones. Or the slow
// ones have workers of their own.
func twoKinds(clean bool) {
	quick := make(chan piece, 100)
	slow := quick
	if clean {
		slow = make(chan piece, 100)
	}
	for i := 0; i < 4; i++ {
		go fulfil(quick)
		if clean {
			go fulfil(slow)
		}
	}
	handler := func(w http.ResponseWriter, r *http.Request) {
		one := piece{r.URL.Path == "/export", make(chan struct{})}
		if one.slow {
			slow <- one
		} else {
			quick <- one
		}
		awaitPiece(one)
		fmt.Fprintln(w, "done")
	}
	serveClients(handler, 10, 20*time.Millisecond, func(client int) string {
		if client < 4 {
			return "/export"
		}
		return "/thumbnail"
	})
}

//go:noinline
func awaitPiece(one piece) {
	defer measured(time.Now())
	<-one.done
}

func fulfil(pieces <-chan piece) {
	for one := range pieces {
		if one.slow {
			time.Sleep(80 * time.Millisecond)
		} else {
			time.Sleep(time.Millisecond)
		}
		close(one.done)
	}
}

// A page is kept for half a second. Then each request that wants it loads it; or the first one does.
func stampede(clean bool) {
	var (
		mu      sync.Mutex
		until   time.Time
		loading bool
	)
	handler := func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		load := time.Now().After(until) && !(clean && loading)
		loading = loading || load
		mu.Unlock()
		if load {
			loadPage()
			mu.Lock()
			until = time.Now().Add(500 * time.Millisecond)
			loading = false
			mu.Unlock()
		}
		fmt.Fprintln(w, "page")
	}
	serveClients(handler, 20, 5*time.Millisecond, func(int) string { return "/" })
}

//go:noinline
func loadPage() {
	defer measured(time.Now())
	time.Sleep(40 * time.Millisecond)
}

// A batch of ten goes out when its timer fires, also if it is full, and takes no more until then; or it goes out
// when it is full.
func batchTimer(clean bool) {
	rows := make(chan int)
	for i := 0; i < 20; i++ {
		go every(10*time.Millisecond, func() { insert(rows) })
	}
	go func() {
		tick := time.NewTicker(50 * time.Millisecond)
		n := 0
		for {
			in := rows
			if n == 10 && !clean {
				in = nil
			}
			select {
			case <-in:
				n++
			case <-tick.C:
				n = 0
			}
		}
	}()
}

//go:noinline
func insert(rows chan<- int) {
	defer measured(time.Now())
	rows <- 1
}
