// A program that uses what the layout tables describe, so that the linker
// keeps the types and texts: coroutines (iter.Pull), the runtime's tracer.
package main

import (
	"fmt"
	"io"
	"iter"
	"runtime"
	"runtime/trace"
	"sync"
	"time"
)

func count(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
	}
}

func main() {
	if err := trace.Start(io.Discard); err == nil {
		defer trace.Stop()
	}
	next, stop := iter.Pull(count(3))
	defer stop()
	var group sync.WaitGroup
	for i := 0; i < runtime.GOMAXPROCS(0); i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			time.Sleep(time.Millisecond)
		}()
	}
	group.Wait()
	value, ok := next()
	fmt.Println(value, ok)
}
