// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"bytes"
	"strings"
	"testing"
)

// A goroutine creates another, waits for it, is woken by it, and runs on.
var v0Example = []byte("gotrace\x00" +
	"\x41\x00\xe8\x07" + // Batch: P 0 at 1000
	"\xcd\x07\x00\x01\x80\xa0\x80\x02\x00" + // GoCreate 1 at 1000
	"\xcd\x07\x01\x02\x80\xc0\x80\x02\x00" + // GoCreate 2 at 1001
	"\x5f\x01\x02" + // GoWaiting 2
	"\x05\x01\x4e\x01\x01\x84\x01\x01\x00" + // ProcStart, GoStart 1, Gomaxprocs 1
	"\xcd\x07\x0a\x03\x80\xc0\x80\x02\x01\x57\x0a\x01" + // GoCreate 3, GoBlockRecv
	"\x4e\x05\x03\x95\x05\x01\x01\x0f\x05\x4e\x05\x01\x51\x05\x01" + // it runs, wakes 1, ends; 1 runs
	"\xc3\x06\x01\x01\x80\xa0\x80\x02\x02\x80\x94\xeb\xdc\x03") // Stack 1, Frequency

func TestV0Example(t *testing.T) {
	file, err := parseV0(v0Example)
	if err == nil {
		err = file.check()
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(file.events) != 13 || file.counts["GoStart"] != 3 || file.frequency != 1e9 || len(file.stacks) != 1 {
		t.Errorf("%d events, %v, frequency %d", len(file.events), file.counts, file.frequency)
	}
}

func TestV0Faults(t *testing.T) {
	for _, fault := range []struct{ old, new, want string }{
		{"gotrace", "gottace", "header"},
		{"\x5f\x01\x02", "\x5f\x00\x02", "has the time of"},
		{"\x05\x01\x4e", "\x06\x01\x4e", "ProcStop"},
		{"\x57\x0a\x01", "\x57\x0a\x09", "is not there"},
		{"\x95\x05\x01\x01", "\x95\x05\x02\x01", ""},
		{"\x0f\x05\x4e\x05\x01", "\x0f\x05\x4e\x05\x03", "GoStart"},
		{"\x02\x80\x94\xeb\xdc\x03", "", "no frequency"},
		{"\x05\x01\x4e", "\x24\x01\x4e", "unknown event 36"},
		{"\x84\x01\x01\x00", "\x44\x01\x01", "values"},
		{"\x41\x00\xe8\x07", "", "before any batch"},
	} {
		raw := bytes.Replace(v0Example, []byte(fault.old), []byte(fault.new), 1)
		file, err := parseV0(raw)
		if err == nil {
			err = file.check()
		}
		if fault.want == "" {
			// Goroutine 2 waits too: this one only leaves 1 waiting, which cannot start then.
			fault.want = "goroutine 1 is"
		}
		if err == nil || !strings.Contains(err.Error(), fault.want) {
			t.Errorf("%x for %x: %v", fault.new, fault.old, err)
		}
	}
	for size := range v0Example {
		if file, err := parseV0(v0Example[:size]); err == nil {
			file.check() // must not panic
		}
	}
}
