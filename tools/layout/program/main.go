// A program that uses what the layout tables describe, so that the linker
// keeps the types and texts. For every release from Go 1.4 on, so what came
// later has a file of its own.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

// What the files of later releases add: each returns what ends it.
var later []func() func()

func main() {
	for _, begin := range later {
		defer begin()()
	}
	var group sync.WaitGroup
	for i := 0; i < runtime.GOMAXPROCS(0); i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			time.Sleep(time.Millisecond)
		}()
	}
	group.Wait()
	runtime.GC()
	fmt.Println(runtime.NumGoroutine())
}
