// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// Goroutines whose pprof labels change, and that record the changes. Builds with Go 1.9 and later.
//
//	labels PROFILE
//
// Prints "ready" when some goroutines have labels and wait. On SIGUSR1 others change theirs, which takes some
// milliseconds; then the goroutine profile is written into the file PROFILE, and "changes GOID SET SET ..." is
// printed for each goroutine, as JSON: which sets it had, in order; then "done".
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

type set map[string]string

type life struct {
	Goid int   `json:"goid"`
	Sets []set `json:"sets"`
}

var (
	mutex sync.Mutex
	lives = map[int]*life{}
	quiet = make(chan int)
	group sync.WaitGroup
)

func goid() int {
	var text [64]byte
	n, _ := strconv.Atoi(strings.Fields(string(text[:runtime.Stack(text[:], false)]))[1])
	return n
}

// note records which labels the calling goroutine has from now on.
func note(ctx context.Context) {
	now := set{}
	pprof.ForLabels(ctx, func(key, value string) bool {
		now[key] = value
		return true
	})
	mutex.Lock()
	defer mutex.Unlock()
	id := goid()
	if lives[id] == nil {
		lives[id] = &life{Goid: id}
	}
	lives[id].Sets = append(lives[id].Sets, now)
}

// do is pprof.Do that notes both changes.
func do(ctx context.Context, f func(context.Context), pairs ...string) {
	inner := pprof.WithLabels(ctx, pprof.Labels(pairs...))
	pprof.SetGoroutineLabels(inner)
	note(inner)
	f(inner)
	pprof.SetGoroutineLabels(ctx)
	note(ctx)
}

//go:noinline
func wait() { <-quiet }

// spawn starts a goroutine, which inherits the labels of ctx.
func spawn(ctx context.Context, f func(context.Context)) {
	group.Add(1)
	go func() {
		note(ctx)
		f(ctx)
	}()
}

func many(n int) (pairs []string) {
	for i := 0; i < n; i++ {
		pairs = append(pairs, "key"+strconv.Itoa(i), strings.Repeat("v", i))
	}
	return
}

func before() {
	ctx := context.Background()
	for i := 0; i < 3; i++ {
		spawn(ctx, func(ctx context.Context) {
			do(ctx, func(ctx context.Context) {
				group.Done()
				wait()
			}, "handler", "/before", "shard", "7")
		})
	}
	spawn(ctx, func(ctx context.Context) {
		do(ctx, func(ctx context.Context) {
			spawn(ctx, func(context.Context) {
				group.Done()
				wait()
			})
			group.Done()
			wait()
		}, "größe", "ä\"<\n\\")
	})
	spawn(ctx, func(ctx context.Context) {
		do(ctx, func(ctx context.Context) {
			group.Done()
			wait()
		}, many(14)...)
	})
}

// change is what a goroutine does while the trace is on.
func change(i int) {
	spawn(context.Background(), func(ctx context.Context) {
		for k := 0; k < 20; k++ {
			do(ctx, func(ctx context.Context) {
				do(ctx, func(ctx context.Context) {
					if k == 7 {
						spawn(ctx, func(ctx context.Context) {
							do(ctx, func(ctx context.Context) { group.Done(); wait() }, "child", "yes")
						})
					}
					if k == 8 {
						spawn(ctx, func(ctx context.Context) { group.Done() })
					}
				}, "step", strconv.Itoa(k), "empty", "")
				time.Sleep(time.Duration(i) * 100 * time.Microsecond)
			}, "worker", strconv.Itoa(i))
		}
		group.Done()
		wait()
	})
}

func main() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	before()
	group.Wait()
	fmt.Println("ready")
	<-signals
	for i := 0; i < 5; i++ {
		change(i)
	}
	group.Wait()
	time.Sleep(50 * time.Millisecond)
	file, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	pprof.Lookup("goroutine").WriteTo(file, 1)
	file.Close()
	mutex.Lock()
	for _, one := range lives {
		text, _ := json.Marshal(one)
		fmt.Printf("life %s\n", text)
	}
	fmt.Println("done")
	time.Sleep(time.Hour)
}
