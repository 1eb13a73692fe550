// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/trace"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// newerLoads need a release of Go later than the oldest that this is built with: their files have build constraints.
var newerLoads = map[string]func(count *atomic.Int64){}

// runLoad is the traced side: a load that takes commands on standard input and ends with it. "native FILE"
// and "stop" switch Go's own tracer, "flight FILE" and "land" its flight recorder.
func runLoad(name string) {
	count := new(atomic.Int64)
	if path := os.Getenv("TURNS"); path != "" {
		count = sharedCounter(path) // read by the bench itself
	}
	switch name {
	case "pingpong":
		pingpong(count)
		fmt.Println("ready")
	case "http":
		fmt.Println("ready", serve())
	case "http-inside":
		ask(serve(), count)
		fmt.Println("ready")
	case "gc":
		collect(count)
		fmt.Println("ready")
	case "syscalls":
		call(count)
		fmt.Println("ready")
	case "timers":
		arm(count)
		fmt.Println("ready")
	case "days":
		days(count)
		fmt.Println("ready")
	default:
		newer := newerLoads[name]
		if newer == nil {
			fail(fmt.Errorf("no load %q", name))
		}
		newer(count)
		fmt.Println("ready")
	}
	quiet := func() {}
	for words := bufio.NewScanner(os.Stdin); words.Scan(); {
		word, argument, _ := strings.Cut(words.Text(), " ")
		switch word {
		case "measure": // the argument is the duration
			length, err := time.ParseDuration(argument)
			fail(err)
			before, began := count.Load(), time.Now()
			time.Sleep(length)
			fmt.Println(count.Load()-before, time.Since(began).Nanoseconds())
		case "native":
			file, err := os.Create(argument)
			fail(err)
			fail(trace.Start(file))
			fmt.Println("on")
		case "stop":
			trace.Stop()
			fmt.Println("off")
		case "flight": // with a file: snapshots are written to it periodically
			var said string
			said, quiet = fly(argument)
			fmt.Println(said)
		case "land":
			quiet()
			stopNativeFlight()
			fmt.Println("off")
		}
	}
}

// fly starts Go's own flight recorder, which writes snapshots to a file until quiet is called.
func fly(path string) (said string, quiet func()) {
	quiet = func() {}
	if !startNativeFlight() {
		return "none", quiet
	}
	if path != "-" {
		quiet = again(func() {
			file, err := os.Create(path)
			fail(err)
			writeNativeFlight(file)
			fail(file.Close())
		})
	}
	return "on", quiet
}

// pingpong: two goroutines and two unbuffered channels; one turn is two blocks, two wake-ups, two starts.
func pingpong(count *atomic.Int64) {
	ping, pong := make(chan struct{}), make(chan struct{})
	go func() {
		for range ping {
			pong <- struct{}{}
		}
	}()
	go func() {
		for {
			ping <- struct{}{}
			<-pong
			count.Add(1)
		}
	}()
}

// collect makes garbage on every CPU, most of it short-lived; a turn is a thousand allocations.
func collect(count *atomic.Int64) {
	type node struct {
		next *node
		data [64]byte
	}
	for range runtime.GOMAXPROCS(0) {
		go func() {
			kept := make([]*node, 4096)
			for k := 0; ; k++ {
				for i := range 1000 {
					kept[(k*7+i)%len(kept)] = &node{}
				}
				count.Add(1)
			}
		}()
	}
}

// call makes quick system calls on every CPU, one after the other.
func call(count *atomic.Int64) {
	for range runtime.GOMAXPROCS(0) {
		go func() {
			for {
				os.Stat("/")
				count.Add(1)
			}
		}()
	}
}

// arm keeps 50,000 timers going, each of which fires once a second.
func arm(count *atomic.Int64) {
	for i := range 50000 {
		var timer *time.Timer
		var armed sync.Mutex
		armed.Lock()
		timer = time.AfterFunc(time.Duration(i)*20*time.Microsecond, func() {
			armed.Lock()
			defer armed.Unlock()
			count.Add(1)
			timer.Reset(time.Second)
		})
		armed.Unlock()
	}
}

// ask sends requests from within the server, each as soon as there is an answer to the one before.
func ask(address string, count *atomic.Int64) {
	for range connections {
		go func() {
			client := &http.Client{Transport: &http.Transport{}}
			for {
				answer, err := client.Get("http://" + address + "/x")
				fail(err)
				io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
				count.Add(1)
			}
		}()
	}
}

// serve answers on loopback with some work: a lock, a hand-over to another goroutine, 2 KiB.
func serve() string {
	var mu sync.Mutex
	hits := map[string]int{}
	queue := make(chan chan []byte)
	for i := 0; i < 4; i++ {
		go func() {
			for answer := range queue {
				answer <- make([]byte, 2048)
			}
		}()
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fail(err)
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		mu.Lock()
		hits[r.URL.Path]++
		mu.Unlock()
		answer := make(chan []byte)
		queue <- answer
		w.Write(<-answer)
	}))
	return listener.Addr().String()
}
