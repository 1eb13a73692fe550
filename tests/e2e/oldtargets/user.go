// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

//go:build go1.11
// +build go1.11

package main

import (
	"context"
	"fmt"
	"runtime/trace"
	"strings"
	"time"
)

func init() { modes["user"] = user }

// errand is a task with a subtask, whose regions are on two goroutines, and logs.
func errand(name string, size int) {
	ctx, task := trace.NewTask(context.Background(), name+" task")
	trace.Log(ctx, name, strings.Repeat("m", size))
	outer := trace.StartRegion(ctx, name+"/outer")
	trace.WithRegion(ctx, name+"/with", func() {
		inner := trace.StartRegion(ctx, name+"/inner")
		time.Sleep(200 * time.Microsecond)
		inner.End()
	})
	outer.End()
	sub, subtask := trace.NewTask(ctx, name+" subtask")
	done := make(chan bool)
	go func() {
		defer close(done)
		defer subtask.End()
		defer trace.StartRegion(sub, name+"/deferred").End()
		trace.Log(sub, "", "an empty category")
		spin(20 * time.Microsecond)
	}()
	<-done
	task.End()
}

// user makes annotations until the program ends.
func user(opt *options) {
	for i := 0; i < or(opt.count, 3); i++ {
		go func(i int) {
			for n := 0; ; n++ {
				errand(fmt.Sprint("user", i), 1000+n%50) // both sides of the limit
				time.Sleep(time.Millisecond)
			}
		}(i)
	}
}
