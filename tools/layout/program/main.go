// A program that uses what the layout tables describe, so that the linker keeps the types and texts. It is
// built by every release from Go 1.4 on, so what came later has its own file.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"time"
)

// later is what the files of later releases add: each function returns the one that ends it.
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
