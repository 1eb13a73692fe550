// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import "testing"

// sweeps returns n ranges of one P, a millisecond apart; each has swept 8,192 bytes.
func sweeps(c *comparison, n int, late int64) []gcEvent {
	var list []gcEvent
	for k := range n {
		at := int64(k)*1_000_000 + late
		begin, end := "RangeBegin GC mark assist", "RangeEnd GC mark assist"
		list = append(list,
			gcEvent{step: step{time: at, key: c.keys.id(begin), change: begin}},
			gcEvent{step: step{time: at + 10_000, key: c.keys.id(end), change: end}, values: [2]uint64{8192, 100}})
	}
	return list
}

func gcCompare(change func([]gcEvent) []gcEvent) []string {
	c := &comparison{keys: newNames(), stacks: newNames(), tallies: map[string]map[string]int{}}
	c.GC = gcRows{}
	c.from, c.to = 100_000_000, 900_000_000
	c.gcList(sweeps(c, 1000, 0), change(sweeps(c, 1000, 500)))
	for _, row := range c.GC {
		row.Events.settle()
		row.Values.settle()
	}
	return c.GC.judge(99.9, func(string) bool { return false })
}

func TestGCEqual(t *testing.T) {
	if bad := gcCompare(func(list []gcEvent) []gcEvent { return list }); bad != nil {
		t.Fatal(bad)
	}
}

func TestGCSeesWhatIsMissing(t *testing.T) {
	if bad := gcCompare(func(list []gcEvent) []gcEvent {
		return append(append([]gcEvent(nil), list[:800]...), list[820:]...)
	}); bad == nil {
		t.Fatal("passes although ten ranges are missing")
	}
}

func TestGCSeesOtherSums(t *testing.T) {
	if bad := gcCompare(func(list []gcEvent) []gcEvent {
		for k := range list {
			list[k].values[1] = 0
		}
		return list
	}); bad == nil {
		t.Fatal("passes although nothing was reclaimed")
	}
}

func TestGCSeesLongerRanges(t *testing.T) {
	if bad := gcCompare(func(list []gcEvent) []gcEvent {
		for k := 1; k < len(list); k += 2 {
			list[k].time += 20_000
		}
		return list
	}); bad == nil {
		t.Fatal("passes although the ranges are three times as long")
	}
}
