//go:build go1.5
// +build go1.5

package main

import (
	"io/ioutil"
	"runtime/trace"
)

func init() {
	later = append(later, func() func() {
		if trace.Start(ioutil.Discard) != nil {
			return func() {}
		}
		return trace.Stop
	})
}
