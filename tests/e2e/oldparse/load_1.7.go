// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"io"

	"oldtrace"
)

// load parses as Go 1.7 to 1.9 do, which need no program for their own traces.
func load(r io.Reader) ([]*oldtrace.Event, error) {
	return oldtrace.Parse(r, "")
}
