// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

//go:debug httpmuxgo121=0

// Command requests serves and makes requests, and counts them. Each SIGUSR2 makes a round of them, after which
// it prints a line for each name and status: "count", name, status, how many, and their time in ns by its own
// clock, between tabs. With the argument "slow", requests that take 200 ms are always under way; with "few", a
// round is short.
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"sort"
	"sync"
	"syscall"
	"time"
)

// counts of requests by name and status, as the trace should have them.
var counts = struct {
	sync.Mutex
	n  map[string]int
	ns map[string]int64
}{n: map[string]int{}, ns: map[string]int64{}}

func count(name, status string, since time.Time) {
	took := time.Since(since).Nanoseconds()
	counts.Lock()
	counts.n[name+"\t"+status]++
	counts.ns[name+"\t"+status] += took
	counts.Unlock()
}

func printCounts() {
	var keys []string
	counts.Lock()
	for key := range counts.n {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	for _, key := range keys {
		fmt.Printf("count\t%s\t%d\t%d\n", key, counts.n[key], counts.ns[key])
	}
	counts.n, counts.ns = map[string]int{}, map[string]int64{}
	counts.Unlock()
}

// few divides the length of loops.
var few = 1

// statusWriter records the status that a handler sets.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// counted counts the requests of a handler under this name.
func counted(name string, handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		noted := &statusWriter{w, 200}
		since := time.Now()
		defer func() {
			if recover() != nil {
				count(name, "-", since) // a panic: net/http closes the connection
				panic(http.ErrAbortHandler)
			}
			count(name, fmt.Sprintf("status=%d", noted.status), since)
		}()
		handler(noted, r)
	}
}

// byPath counts the requests of a handler under their paths.
func byPath(handler http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		counted(r.Method+" "+r.URL.Path, handler)(w, r)
	}
}

func main() {
	rounds := make(chan os.Signal, 1)
	signal.Notify(rounds, syscall.SIGUSR2)
	server := newServer()
	slow := len(os.Args) > 1 && os.Args[1] == "slow"
	if len(os.Args) > 1 && os.Args[1] == "few" {
		few = 10
	}
	startLibraries(slow)
	if slow {
		for i := 0; i < 20; i++ {
			go server.slowly()
		}
		time.Sleep(300 * time.Millisecond)
	}
	fmt.Println("ready")
	for range rounds {
		server.round()
		database()
		if few == 1 {
			hostile()
		}
		libraries()
		time.Sleep(300 * time.Millisecond) // ends of requests come after the answers
		printCounts()
		fmt.Println("done")
	}
}
