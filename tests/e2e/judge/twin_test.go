// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import "testing"

// compare judges two lives of one goroutine over the middle of 3,000 steps.
func compare(native, ours []step) *comparison {
	c := &comparison{keys: newNames(), stacks: newNames(), tallies: map[string]map[string]int{}}
	c.stacks.id("main.f:1") // gets number 1
	c.from, c.to = native[900].time, native[2100].time
	c.goroutine(7, native, ours)
	c.settle()
	return c
}

// slow is cycles with time between the steps, so that the margin ends inside the lists.
func slow() []step {
	list := cycles(1000)
	for i := range list {
		list[i].time *= 40
	}
	return list
}

func TestTwinEqual(t *testing.T) {
	list := slow()
	c := compare(list, later(list, 700))
	if err := c.judge(99.9, 99, 1000, 2000); err != nil {
		t.Fatal(err)
	}
	if c.MedianNs < 700 || c.MedianNs > 1100 {
		t.Fatalf("median %d", c.MedianNs)
	}
}

func TestTwinSeesWhatIsMissing(t *testing.T) {
	list := slow()
	ours := later(list, 700)
	ours = append(append([]step(nil), ours[:1500]...), ours[1503:]...)
	c := compare(list, ours)
	if c.Goroutines.Equal != 0 || c.Transitions.Of-c.Transitions.Equal != 3 {
		t.Fatalf("a lost cycle: goroutines %+v, transitions %+v", c.Goroutines, c.Transitions)
	}
	if c.judge(99.9, 99, 1000, 2000) == nil {
		t.Fatal("passes although a cycle was lost")
	}
}

func TestTwinOutsideOfTheWindowIsNoMatter(t *testing.T) {
	list := slow()
	ours := later(list, 700)
	ours = append(append([]step(nil), ours[:200]...), ours[203:2900]...)
	c := compare(list, ours)
	if err := c.judge(99.9, 99, 1000, 2000); err != nil {
		t.Fatal(err)
	}
}

func TestTwinComparesStacks(t *testing.T) {
	list := slow()
	for i := range list {
		list[i].stack = 1
	}
	ours := later(list, 700)
	for i := range ours {
		if i%10 == 0 {
			ours[i].stack = 0
		}
	}
	if c := compare(list, ours); c.judge(99.9, 99, 1000, 2000) == nil || c.Stacks.Pct > 91 {
		t.Fatalf("every tenth stack differs, but %+v", c.Stacks)
	}
}

func TestTwinMissingGoroutine(t *testing.T) {
	if c := compare(slow(), nil); c.Goroutines.Equal != 0 || c.OnlyNative != 1 || c.judge(99.9, 99, 100, 2000) == nil {
		t.Fatalf("%+v", c.verdict)
	}
}
