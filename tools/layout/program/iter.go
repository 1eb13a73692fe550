//go:build go1.22
// +build go1.22

package main

import (
	"fmt"
	"iter"
)

func count(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
	}
}

func init() {
	later = append(later, func() func() {
		next, stop := iter.Pull(count(3))
		value, ok := next()
		fmt.Println(value, ok)
		return stop
	})
}
