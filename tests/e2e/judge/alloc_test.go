// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"testing"

	"golang.org/x/exp/trace"
)

func memory(times ...trace.Time) *allocTrace {
	t := &allocTrace{exist: map[place][2]uint64{}, events: map[place][]allocEvent{}}
	p := place{false, 0xc000000000}
	for i, time := range times {
		name := "SpanAlloc"
		if i%2 == 1 {
			name = "SpanFree"
		}
		t.events[p] = append(t.events[p], allocEvent{time: time, name: name, thread: 1})
	}
	t.first, t.last = times[0], times[len(times)-1]
	return t
}

func TestCompareAlloc(t *testing.T) {
	native := memory(0, 30e6, 60e6, 90e6, 120e6)
	if there, here := compareAlloc(native, memory(0, 30e6, 60e6, 90e6, 120e6)); there != here || there.same != 3 || there.all != 3 {
		t.Errorf("equal traces: %v, %v", there, here)
	}
	ours := memory(0, 30e6, 60e6, 90e6, 120e6)
	p := place{false, 0xc000000000}
	ours.events[p][1].thread = 2
	ours.events[p] = append(ours.events[p][:3], ours.events[p][4:]...)
	there, here := compareAlloc(native, ours)
	if there != (share{3, 1}) || here != (share{2, 1}) {
		t.Errorf("another thread, and one missing: %v, %v", there, here)
	}
}

func TestCheckAlloc(t *testing.T) {
	good := memory(0, 1, 2, 3)
	if err := good.check(); err != nil {
		t.Error(err)
	}
	good.exist[place{false, 0xc000000000}] = [2]uint64{1, 20}
	if good.check() == nil {
		t.Error("allocated where something is, and nobody minds")
	}
}
