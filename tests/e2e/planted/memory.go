// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"runtime"
	"runtime/debug"
	"time"
)

type node struct {
	left, right *node
	payload     [4]int
}

func tree(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	return &node{left: tree(depth - 1), right: tree(depth - 1)}
}

var keep [64]*node

// remember builds the heap that the collector must scan, before anything is traced.
func remember(mode string) {
	switch mode {
	case "assist":
		keep[63] = tree(18)
	case "gc-often":
		keep[0] = tree(14)
	}
}

// All allocate as fast as they can, beside a heap of pointers that takes long to mark.
func assist(clean bool) {
	for i := 0; i < 8; i++ {
		go parse(i, clean)
	}
}

//go:noinline
func parse(i int, clean bool) {
	buffer := make([]*node, 1<<10)
	for n := 0; ; n++ {
		if clean {
			buffer[n%len(buffer)] = nil
			spin(50 * time.Microsecond)
			time.Sleep(5 * time.Millisecond)
			continue
		}
		buffer[n%len(buffer)] = tree(6)
	}
}

// A gauge is read for each request, and each reading stops the world; or once a second.
func memStats(clean bool) {
	for i := 0; i < 2; i++ {
		go every(2*time.Millisecond, func() { spin(200 * time.Microsecond) })
	}
	pause := 100 * time.Microsecond
	if clean {
		pause = time.Second
	}
	go every(pause, exportMetrics)
}

//go:noinline
func exportMetrics() {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	if stats.HeapAlloc == 0 {
		panic("no heap")
	}
}

// GOGC is far too low for a small heap; or as it should be. With the default, assists were 11 % of the running
// time on a busy machine, because of what Go's own tracer allocates.
func gcOften(clean bool) {
	if clean {
		debug.SetGCPercent(400)
	} else {
		debug.SetGCPercent(5)
	}
	go every(time.Millisecond, func() { keep[1] = tree(11) })
}

// One P for work that could use all CPUs; or all of them, for work that leaves them time.
func procsLow(clean bool) {
	if !clean {
		runtime.GOMAXPROCS(1)
	}
	for i := 0; i < 4; i++ {
		go every(time.Millisecond, func() {
			if clean {
				spin(100 * time.Microsecond)
			} else {
				spin(3 * time.Millisecond)
			}
		})
	}
}
