// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"context"
	"fmt"
	"runtime/trace"
	"time"
)

// Seven times a second something slow happens, which has a name of its own and is logged.
func logged(bool) {
	go func() {
		for i := 0; ; i++ {
			name := fmt.Sprintf("slow-%c%c%c", 'a'+i/676, 'a'+i/26%26, 'a'+i%26)
			trace.WithRegion(context.Background(), name, func() { time.Sleep(20 * time.Millisecond) })
			fmt.Println(name)
			time.Sleep(120 * time.Millisecond)
		}
	}()
}
