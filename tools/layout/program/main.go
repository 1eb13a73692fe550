// A program that uses what the layout tables describe, so that the linker
// keeps the types: goroutines, coroutines (iter.Pull), system calls.
package main

import (
	"fmt"
	"iter"
	"runtime"
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
