// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import "testing"

// cycles makes n rounds of the same three steps, 5 µs a round.
func cycles(n int) []step {
	var list []step
	for i := 0; i < n; i++ {
		for k := 0; k < 3; k++ {
			list = append(list, step{time: int64(i)*5000 + int64(k)*1500, key: uint32(k + 1)})
		}
	}
	return list
}

// later moves every step by some ns, as our probes do.
func later(list []step, ns int64) []step {
	moved := append([]step(nil), list...)
	for i := range moved {
		moved[i].time += ns + int64(i%5)*100
	}
	return moved
}

func unmatched(pairs []pair) (native, ours int) {
	for _, p := range pairs {
		if p.ours < 0 {
			native++
		}
		if p.native < 0 {
			ours++
		}
	}
	return
}

func TestEqual(t *testing.T) {
	list := cycles(1000)
	if a, b := unmatched(align(list, later(list, 900))); a != 0 || b != 0 {
		t.Fatalf("equal lists: %d and %d without counterpart", a, b)
	}
}

func TestLostCycleIsFoundWhereItIs(t *testing.T) {
	list := cycles(1000)
	ours := later(list, 900)
	ours = append(append([]step(nil), ours[:1500]...), ours[1503:]...)
	pairs := align(list, ours)
	if a, b := unmatched(pairs); a != 3 || b != 0 {
		t.Fatalf("want 3 and 0 without counterpart, got %d and %d", a, b)
	}
	for _, p := range pairs {
		if p.ours < 0 && (p.native < 1490 || p.native > 1520) {
			t.Fatalf("step 1500 was lost, the difference was put at %d", p.native)
		}
	}
}

func TestLostAndExtraSteps(t *testing.T) {
	list := cycles(1000)
	ours := later(list, 900)
	ours = append(append([]step(nil), ours[:700]...), ours[701:]...)
	extra := step{time: ours[2000].time, key: 9}
	ours = append(append(append([]step(nil), ours[:2000]...), extra), ours[2000:]...)
	if a, b := unmatched(align(list, ours)); a != 1 || b != 1 {
		t.Fatalf("want 1 and 1 without counterpart, got %d and %d", a, b)
	}
}

func TestEdges(t *testing.T) {
	list := cycles(1000)
	ours := later(list, 900)[6 : 3000-9]
	if a, b := unmatched(align(list, ours)); a != 15 || b != 0 {
		t.Fatalf("want 15 and 0 without counterpart, got %d and %d", a, b)
	}
}

func TestOneDelayedStepIsNoDifference(t *testing.T) {
	list := cycles(1000)
	ours := later(list, 900)
	for i := 1200; i < len(ours); i++ {
		ours[i].time += 3_000_000
		list[i].time += 3_000_000
	}
	ours[1199].time += 3_000_000
	if a, b := unmatched(align(list, ours)); a != 0 || b != 0 {
		t.Fatalf("delayed: %d and %d without counterpart", a, b)
	}
}

// A thread was stopped while it wrote an event that others had to follow: the
// reader moves 400 cycles behind it, 1 ns apart.
func TestStepsPushedTogetherAreNoDifference(t *testing.T) {
	native := cycles(2000)
	ours := later(native, -300)
	for i := 1200; i <= 2400; i++ {
		native[i].time = native[2400].time + int64(i-2400)
		native[i].pushed = i > 1200
	}
	if a, b := unmatched(align(native, ours)); a != 0 || b != 0 {
		t.Fatalf("pushed together: %d and %d without counterpart", a, b)
	}
	lost := append(append([]step(nil), ours[:1800]...), ours[1803:]...)
	if a, b := unmatched(align(native, lost)); a != 3 || b != 0 {
		t.Fatalf("pushed together, a cycle lost: want 3 and 0 without counterpart, got %d and %d", a, b)
	}
}

func TestInferredStartsFurtherOnAreNoBetterPlace(t *testing.T) {
	list := make([]step, 0, 300)
	for k := range 300 { // no two rounds take equally long
		list = append(list, step{time: int64(k)*400_000 + int64(k*k%7)*50_000, key: uint32(k%3 + 1)})
	}
	ours := later(list[1:], 900)
	for k := range 24 {
		ours[k].time -= int64(k%3) * 5_000
	}
	if a, b := unmatched(align(list, ours)); a != 1 || b != 0 {
		t.Fatalf("one step began before the other list, got %d and %d without counterpart", a, b)
	}
}

func TestTheEndIsNoPlaceToSkipTo(t *testing.T) {
	list := cycles(200)
	ours := later(list, 900)
	for k := len(ours) - 60; k < len(ours)-2; k += 3 {
		ours[k].time -= 4_000 // inferred starts
	}
	ours = ours[:len(ours)-1]
	if a, b := unmatched(align(list, ours)); a != 1 || b != 0 {
		t.Fatalf("only the last step is missing, got %d and %d without counterpart", a, b)
	}
}
