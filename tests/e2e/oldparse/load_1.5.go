// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"io"

	"oldtrace"
)

// load parses as Go 1.5 and 1.6 do.
func load(r io.Reader) ([]*oldtrace.Event, error) {
	return oldtrace.Parse(r)
}
