// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"io"

	"oldtrace"
)

// load parses as Go 1.10 to 1.21 do.
func load(r io.Reader) ([]*oldtrace.Event, error) {
	result, err := oldtrace.Parse(r, "")
	return result.Events, err
}
