// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"context"
	"fmt"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"sync"
	"time"
)

// Fills every table: a thousand locks, each with waiters, and as many tasks, regions and labels of long names.
func crowd(bool) {
	for i := 0; i < 1100; i++ {
		mu := new(sync.Mutex)
		name := fmt.Sprintf("%04d %s", i, strings.Repeat("x", 120))
		for j := 0; j < 2; j++ {
			go func() {
				pprof.Do(context.Background(), pprof.Labels("worker", name), func(ctx context.Context) {
					every(time.Millisecond, func() {
						holdInAFunctionWithTheLongNameOfGeneratedCodeWhichSaysWhatItDoesInAllItsDetailAndIsLongerThanWhatFitsInALineSoThatNoTerminalHasEnoughColumnsForIt(ctx, mu, name)
					})
				})
			}()
		}
	}
}

//go:noinline
func holdInAFunctionWithTheLongNameOfGeneratedCodeWhichSaysWhatItDoesInAllItsDetailAndIsLongerThanWhatFitsInALineSoThatNoTerminalHasEnoughColumnsForIt(ctx context.Context, mu *sync.Mutex, name string) {
	ctx, task := trace.NewTask(ctx, name)
	defer task.End()
	trace.WithRegion(ctx, name, func() {
		mu.Lock()
		time.Sleep(300 * time.Millisecond)
		mu.Unlock()
	})
}
