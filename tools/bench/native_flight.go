// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

//go:build go1.25

package main

import (
	"io"
	"runtime/trace"
	"time"
)

var nativeRecorder *trace.FlightRecorder

// startNativeFlight starts Go's own flight recorder with gotrace's defaults.
func startNativeFlight() bool {
	nativeRecorder = trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: 10 * time.Second, MaxBytes: 64 << 20})
	fail(nativeRecorder.Start())
	return true
}

func writeNativeFlight(to io.Writer) {
	_, err := nativeRecorder.WriteTo(to)
	fail(err)
}

func stopNativeFlight() { nativeRecorder.Stop() }
