// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// Goroutines that wait in known ways with known pprof labels, for `gotrace ps`. Any Go from 1.11 on builds it.
//
//	goroutines PROFILE N
//
// Prints a line of JSON for each kind, then "ready". On SIGUSR1 it writes its goroutine profile into the file
// PROFILE. N goroutines more wait in main.many.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/ioutil"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync"
	"syscall"
	"time"
)

type kind struct {
	Function string            `json:"function"`
	State    string            `json:"state"` // prefix of the reason
	Count    int               `json:"count"`
	Suspect  bool              `json:"suspect"`
	Leaked   bool              `json:"leaked"`
	Labels   map[string]string `json:"labels"`
}

var (
	never chan int
	quiet = make(chan int)
	mutex sync.Mutex
)

//go:noinline
func receive() { <-quiet; never <- 1 }

//go:noinline
func leak() { <-make(chan int); never <- 1 }

//go:noinline
func choose() {
	select {
	case <-quiet:
	case <-never:
	}
}

//go:noinline
func lock() { mutex.Lock(); mutex.Unlock() }

//go:noinline
func sleep() { time.Sleep(time.Hour) }

//go:noinline
func many() { <-quiet; never <- 1 }

func start(n int, k kind, f func()) {
	k.Count = n
	for i := 0; i < n; i++ {
		var pairs []string
		for key, value := range k.Labels {
			pairs = append(pairs, key, value)
		}
		if len(pairs) == 0 {
			go f()
			continue
		}
		go pprof.Do(context.Background(), pprof.Labels(pairs...), func(context.Context) { f() })
	}
	text, _ := json.Marshal(k)
	fmt.Printf("kind %s\n", text)
}

func numbered(n int) map[string]string {
	labels := map[string]string{}
	for i := 0; i < n; i++ {
		labels["key"+strconv.Itoa(i)] = "value " + strconv.Itoa(i*i)
	}
	return labels
}

func main() {
	extra, _ := strconv.Atoi(os.Args[2])
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	mutex.Lock()
	start(7, kind{Function: "main.receive", State: "chan receive", Suspect: true}, receive)
	start(3, kind{Function: "main.choose", State: "select", Suspect: true,
		Labels: map[string]string{"handler": "/users", "shard": "1"}}, choose)
	start(2, kind{Function: "main.choose", State: "select", Suspect: true,
		Labels: map[string]string{"handler": "/orders", "empty": ""}}, choose)
	start(5, kind{Function: "main.lock", State: "s", Suspect: true, // sync.Mutex.Lock, up to 1.19 semacquire
		Labels: map[string]string{"größe": "ä\"<\n"}}, lock)
	start(4, kind{Function: "main.sleep", State: "sleep", Labels: numbered(28)}, sleep)
	start(1, kind{Function: "main.sleep", State: "sleep", Labels: numbered(61)}, sleep)
	start(extra, kind{Function: "main.many", State: "chan receive", Suspect: true,
		Labels: map[string]string{"handler": "/many"}}, many)
	leaks := pprof.Lookup("goroutineleak") // from Go 1.27 on
	start(6, kind{Function: "main.leak", State: "chan receive", Suspect: true, Leaked: leaks != nil}, leak)
	time.Sleep(time.Second)
	// From the second collection on g.waitsince has a time.
	for i := 0; i < 3; i++ {
		runtime.GC()
	}
	if leaks != nil {
		leaks.WriteTo(ioutil.Discard, 0) // what it finds has another status until the next collection
	}
	fmt.Println("ready")
	for range signals {
		file, err := os.Create(os.Args[1] + ".new")
		if err != nil {
			panic(err)
		}
		pprof.Lookup("goroutine").WriteTo(file, 1)
		file.Close()
		os.Rename(os.Args[1]+".new", os.Args[1])
	}
}
