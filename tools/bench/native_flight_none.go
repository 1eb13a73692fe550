// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

//go:build !go1.25

package main

import "io"

// Before Go 1.25 there is no flight recorder to compare with.
func startNativeFlight() bool     { return false }
func writeNativeFlight(io.Writer) {}
func stopNativeFlight()           {}
