// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"context"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"sync"
	"time"
)

var wideLocks [3]sync.Mutex

// Names of three bytes a character, and longer than anything that shows them: they must be cut between characters. The
// first bytes differ in number, so that every length cuts some of them inside a character.
func wide(bool) {
	for i, f := range []func(context.Context, string){
		wide漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字,
		widex漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字,
		widexx漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字,
	} {
		for j := 0; j < 2; j++ {
			go useWide(strings.Repeat("x", i), f)
		}
	}
}

func useWide(begin string, f func(context.Context, string)) {
	name, value := begin+strings.Repeat("語", 400), begin+strings.Repeat("符", 60)
	pprof.Do(context.Background(), pprof.Labels(begin+strings.Repeat("鍵", 50), value), func(ctx context.Context) {
		every(time.Millisecond, func() {
			ctx, task := trace.NewTask(ctx, name)
			defer task.End()
			trace.Log(ctx, value, name)
			trace.WithRegion(ctx, name, func() { f(ctx, name) })
		})
	})
}

//go:noinline
func wide漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字(ctx context.Context, name string) {
	wideLocks[0].Lock()
	time.Sleep(3 * time.Millisecond)
	wideLocks[0].Unlock()
}

//go:noinline
func widex漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字(ctx context.Context, name string) {
	wideLocks[1].Lock()
	time.Sleep(3 * time.Millisecond)
	wideLocks[1].Unlock()
}

//go:noinline
func widexx漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字(ctx context.Context, name string) {
	wideLocks[2].Lock()
	time.Sleep(3 * time.Millisecond)
	wideLocks[2].Unlock()
}
