// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

//go:build cgo

package main

import (
	"time"

	"gotrace.test/targets/cpart"
)

func init() { modes["cgo"] = cgo }

// cgo: short and blocking C calls, C that calls back, and threads that Go did not make.
func cgo(opt *options) {
	for i := 0; i < or(opt.count, 3); i++ {
		go func() {
			for n := 0; ; n++ {
				cpart.Short(n)
				if n%20 == 0 {
					cpart.Block(3 * time.Millisecond)
				}
				if n%10 == 0 {
					cpart.Callback(n)
				}
				if n%100 == 0 {
					time.Sleep(5 * time.Millisecond)
				}
			}
		}()
	}
	cpart.Foreign(2)
}
