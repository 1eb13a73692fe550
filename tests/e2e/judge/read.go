// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/exp/trace"
)

// eachEvent passes every event of the file to take; the first error ends it.
func eachEvent(path string, take func(event *trace.Event) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	reader, err := trace.NewReader(bufio.NewReaderSize(file, 1<<20))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for count := 0; ; count++ {
		event, err := reader.ReadEvent()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: after %d events: %w", path, count, err)
		}
		if err := take(&event); err != nil {
			return err
		}
	}
}

// formatMinor returns 22 for a trace whose header is "go 1.22 trace" and up to three zeros.
func formatMinor(path string) (int, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	var minor int
	if _, err := fmt.Fscanf(file, "go 1.%d trace", &minor); err != nil {
		return 0, fmt.Errorf("%s: not a trace: %w", path, err)
	}
	return minor, nil
}

// isV1 reports by the header whether a trace is older than Go 1.22.
func isV1(path string) (bool, error) {
	minor, err := formatMinor(path)
	return minor < 22, err
}

// frames returns a stack's functions and lines, leaf first. It omits two things that the runtime's own tracer
// adds: its frames at the leaf where it forgets to skip them (GoUnpark from injectglist), and an empty frame
// for a missing stack.
func frames(stack trace.Stack) []string {
	var list []string
	for frame := range stack.Frames() {
		if len(list) == 0 && (frame.Func == "" && frame.Line == 0 || strings.HasPrefix(frame.Func, "runtime.traceLocker.")) {
			continue
		}
		list = append(list, fmt.Sprintf("%s:%d", frame.Func, frame.Line))
	}
	return list
}

// stackText is frames in one line.
func stackText(stack trace.Stack) string {
	return strings.Join(frames(stack), " < ")
}
