// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// Calls of generic functions and methods, which get a dictionary, and of closures.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

type box[T any] struct{ content T }

//go:noinline
func (b *box[T]) put(content T, n int) int {
	fmt.Printf("main.(*box[go.shape.string]).put b.content=%q content=%q n=%d\n", any(b.content), any(content), n)
	b.content = content
	return n
}

//go:noinline
func first[T any](one T, name string) int {
	fmt.Printf("main.first[go.shape.int] one=%d name=%q\n", any(one), name)
	return len(name)
}

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	b := &box[string]{}
	sum := 0
	time.Sleep(300 * time.Millisecond)
	for i := 0; i < n; i++ {
		b.put("c"+strconv.Itoa(i), -i)
		first(i, "n"+strconv.Itoa(i))
		func(id int, text string) {
			defer func() { recover() }()
			fmt.Printf("main.main.func1 id=%d text=%q\n", id, text)
			sum += id
		}(i, "t"+strconv.Itoa(i))
	}
	time.Sleep(100 * time.Millisecond)
}
