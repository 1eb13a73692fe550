// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// One goroutine that computes in three functions, each with its own label.
package main

import (
	"context"
	"fmt"
	"runtime/pprof"
	"time"
)

var sink uint64

//go:noinline
func alpha(n int) {
	for i := 0; i < n; i++ {
		sink = sink*6364136223846793005 + 1442695040888963407
	}
}

//go:noinline
func beta(n int) {
	for i := 0; i < n; i++ {
		sink = sink*6364136223846793005 + 1442695040888963409
	}
}

//go:noinline
func gamma(n int) {
	for i := 0; i < n; i++ {
		sink = sink*6364136223846793005 + 1442695040888963411
	}
}

func main() {
	ctx := context.Background()
	fmt.Println("ready")
	for begin := time.Now(); time.Since(begin) < time.Hour; {
		for name, f := range map[string]func(int){"alpha": alpha, "beta": beta, "gamma": gamma} {
			f := f
			pprof.Do(ctx, pprof.Labels("function", name), func(context.Context) { f(20000000) })
		}
	}
}
