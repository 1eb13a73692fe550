// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import "slices"

// A step is one change of a goroutine's state.
type step struct {
	time   int64  // ns
	key    uint32 // from, to and reason, interned
	stack  uint32 // interned; 0 = none
	waker  uint32 // the stack of the goroutine that did it, if that is another
	by     int64  // the goroutine that did it; -1 = none
	p, m   int64
	change string // for the report: "Running->Waiting chan receive"
	pushed bool   // the reader moved it behind an event that it must follow: its time is an upper bound
}

const (
	narrow    = 64          // steps on either side of a step's time in the other list
	mostCells = 100_000_000 // cells of an alignment's table, a byte each
)

// farApart is a distance in ns at which two steps are hardly the same. Leaving both out costs as much as
// pairing them.
var farApart int64 = 2_000_000

// suspect is the largest distance in ns that counts for a step that the reader moved.
var suspect int64 = 2_500

// pair holds two indices; -1 if the other list has no counterpart.
type pair struct{ native, ours int }

// align pairs the steps of two lists that should be equal. As few as possible are left without a counterpart;
// among the ways to do that, it takes the one whose pairs are closest in time. Loads repeat the same few
// steps over and over, so that equal keys alone do not show which repetition is which.
func align(native, ours []step) []pair {
	if equal(native, ours) {
		pairs := make([]pair, len(native))
		for k := range native {
			pairs[k] = pair{k, k}
		}
		return pairs
	}
	for width := narrow; ; width *= 4 {
		a := newAlignment(native, ours, width)
		a.fill()
		pairs, clear := a.path()
		if clear || 8*width*len(native) > mostCells {
			return pairs
		}
	}
}

// equal reports whether the lists have the same keys. Then no clock is needed to pair them.
func equal(native, ours []step) bool {
	return slices.EqualFunc(native, ours, func(a, b step) bool { return a.key == b.key })
}

func distance(native, ours step) int64 {
	switch {
	case native.time < ours.time:
		return ours.time - native.time
	case native.pushed:
		// This has a cost: of several steps in the same 64 ns, all but the first look pushed, too.
		return min(native.time-ours.time, suspect)
	}
	return native.time - ours.time
}

// Ways into a cell of the table.
const (
	fromNowhere byte = iota
	fromPair
	fromNative // the native step has no counterpart
	fromOurs
)

// An alignment is a table of the cheapest ways to pair the first i steps of one list with the first j of the
// other (Needleman and Wunsch), restricted to a band around the steps of the same time.
type alignment struct {
	native, ours []step
	low, high    []int    // the columns of each row
	from         [][]byte // by row and column
}

func newAlignment(native, ours []step, width int) *alignment {
	a := &alignment{native: native, ours: ours}
	near := 0 // number of our steps not after the row's native step
	for i := 0; i <= len(native); i++ {
		low := max(0, near-width)
		if i < len(native) {
			for near < len(ours) && ours[near].time <= native[i].time {
				near++
			}
		} else {
			near = len(ours)
		}
		high := min(len(ours), near+width)
		a.low, a.high = append(a.low, low), append(a.high, high)
		a.from = append(a.from, make([]byte, high-low+1))
	}
	return a
}

const unreachable = int64(1) << 60

func (a *alignment) fill() {
	alone := farApart / 2
	var above []int64
	for i := range a.low {
		costs := make([]int64, a.high[i]-a.low[i]+1)
		// up is the cost of the cell one row up, in column j.
		up := func(j int) int64 {
			if i == 0 || j < a.low[i-1] || j > a.high[i-1] {
				return unreachable
			}
			return above[j-a.low[i-1]]
		}
		for k := range costs {
			j := a.low[i] + k
			best, from := up(j)+alone, fromNative
			if i == 0 && j == 0 {
				best, from = 0, fromNowhere
			}
			if k > 0 && costs[k-1]+alone < best {
				best, from = costs[k-1]+alone, fromOurs
			}
			if i > 0 && j > 0 && a.native[i-1].key == a.ours[j-1].key {
				apart := min(distance(a.native[i-1], a.ours[j-1]), farApart)
				if c := up(j-1) + apart; c <= best {
					best, from = c, fromPair
				}
			}
			costs[k], a.from[i][k] = best, from
		}
		above = costs
	}
}

// path reads the pairs from the end of the table. It is clear if it does not touch the edge of the band.
func (a *alignment) path() (pairs []pair, clear bool) {
	clear = true
	i, j := len(a.native), len(a.ours)
	for i > 0 || j > 0 {
		if (j == a.low[i] && j > 0) || (j == a.high[i] && j < len(a.ours)) {
			clear = false
		}
		switch a.from[i][j-a.low[i]] {
		case fromPair:
			i, j = i-1, j-1
			pairs = append(pairs, pair{i, j})
		case fromNative:
			i--
			pairs = append(pairs, pair{i, -1})
		default:
			j--
			pairs = append(pairs, pair{-1, j})
		}
	}
	slices.Reverse(pairs)
	return pairs, clear
}
