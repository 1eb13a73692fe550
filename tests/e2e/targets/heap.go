// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"runtime/debug"
	"time"
)

func init() { modes["heap"] = heapLoad }

// A pair is small, and full of pointers.
type pair struct{ left, right *pair }

func tree(depth int) *pair {
	if depth == 0 {
		return &pair{}
	}
	return &pair{tree(depth - 1), tree(depth - 1)}
}

var (
	forest []*pair
	blocks []*[512]byte
	large  [8][]byte
)

// heapLoad: the collector never rests. Marking the forest takes long, so allocations outrun it and assist.
// Blocks are marked quickly, but no span of them is ever free, so a large allocation sweeps very many in
// vain.
func heapLoad(opt *options) {
	debug.SetGCPercent(15)
	for i := 0; i < 16; i++ {
		forest = append(forest, tree(16))
	}
	for i := 0; i < 200000; i++ {
		blocks = append(blocks, new([512]byte))
	}
	for i := 0; i < or(opt.count, len(large)); i++ {
		go func() {
			for n := 0; ; n++ {
				large[i%len(large)] = make([]byte, 512<<10)
				if n%64 == 63 {
					time.Sleep(time.Millisecond)
				}
			}
		}()
	}
}
