// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import "slices"

// A step is one change of a goroutine's state.
type step struct {
	time   int64  // ns
	key    uint32 // from, to and reason, interned
	stack  uint32 // interned; 0 = none
	waker  uint32 // the stack of whoever did it, if that is another
	p, m   int64
	change string // for people: "Running->Waiting chan receive"
	pushed bool   // the reader moved it behind an event that it must follow: its time is only the latest it can be
}

const (
	lookAhead = 16   // steps that an alignment is judged by
	maxShift  = 96   // steps that may be missing at one place
	searches  = 5000 // far and wide, for each pair of lists
)

// ns apart: hardly the same step.
var farApart int64 = 2_000_000

// suspect ns apart: look for a better alignment. More where one of the clocks is only known from the steps.
var suspect int64 = 2_500

// pair of indices; -1 where the other list has no counterpart.
type pair struct{ native, ours int }

// align pairs the steps of two lists that should be equal. Loads repeat the
// same few steps over and over, so equal keys alone do not tell which
// repetition is which: the times, taken from the same clock, decide.
func align(native, ours []step) []pair {
	var (
		pairs []pair
		i, j  int
		rest  int // steps for which the last search holds
		shift = maxShift
		spent int
	)
	if equal(native, ours) {
		for k := range native {
			pairs = append(pairs, pair{k, k})
		}
		return pairs
	}
	for i < len(native) && j < len(ours) {
		skipNative, skipOurs := 0, 0
		differ := native[i].key != ours[j].key
		if rest--; differ || (rest < 0 && (distance(native[i], ours[j]) > suspect || i == 0 || j == 0)) {
			skipNative, skipOurs = bestShift(native[i:], ours[j:], shift)
			rest = lookAhead
			// Lists that have little in common must not take for ever.
			if spent++; spent == searches {
				shift = maxShift / 8
			}
		}
		// The same step, only much delayed in one of them.
		for ; skipNative > 0 && skipOurs > 0 && native[i].key == ours[j].key; skipNative, skipOurs = skipNative-1, skipOurs-1 {
			pairs = append(pairs, pair{i, j})
			i++
			j++
		}
		for ; skipNative > 0; skipNative-- {
			pairs = append(pairs, pair{i, -1})
			i++
		}
		for ; skipOurs > 0; skipOurs-- {
			pairs = append(pairs, pair{-1, j})
			j++
		}
		switch {
		case i >= len(native) || j >= len(ours):
		case native[i].key == ours[j].key:
			pairs = append(pairs, pair{i, j})
			i++
			j++
		case native[i].time <= ours[j].time:
			pairs = append(pairs, pair{i, -1})
			i++
		default:
			pairs = append(pairs, pair{-1, j})
			j++
		}
	}
	for ; i < len(native); i++ {
		pairs = append(pairs, pair{i, -1})
	}
	for ; j < len(ours); j++ {
		pairs = append(pairs, pair{-1, j})
	}
	return pairs
}

// equal lists need no clock to be paired.
func equal(native, ours []step) bool {
	return slices.EqualFunc(native, ours, func(a, b step) bool { return a.key == b.key })
}

func distance(native, ours step) int64 {
	switch {
	case native.time < ours.time:
		return ours.time - native.time
	case native.pushed:
		// Not for nothing: of several in the same 64 ns all but the first look pushed too.
		return min(native.time-ours.time, suspect)
	}
	return native.time - ours.time
}

// bestShift says how many steps of each list to skip so that what follows
// agrees best. Staying put wins unless another place is clearly better.
func bestShift(native, ours []step, most int) (int, int) {
	bestA, bestB := 0, 0
	best := cost(native, ours) / 4
	for shift := 1; shift <= most && best > 0; shift++ {
		for a := 0; a <= shift; a++ {
			b := shift - a
			if a >= len(native) || b >= len(ours) || native[a].key != ours[b].key {
				continue
			}
			// Steps left out of both lists must have been suspects: somewhere further on the starts,
			// which are inferred, are always a little closer.
			price := int64(shift)*100 + int64(min(a, b))*suspect
			if c := cost(native[a:], ours[b:]) + price; c < best {
				best, bestA, bestB = c, a, b
			}
		}
	}
	return bestA, bestB
}

// cost of pairing the next steps one to one, in ns; a step of another kind, or none, counts as far apart.
// The widest distance is left out: the step that others are pushed behind is as late as they are. At the end of
// the lists the few that are left stand for as many as elsewhere: or else to skip nearly all would be cheapest.
func cost(native, ours []step) int64 {
	var sum, widest int64
	n := min(lookAhead, max(len(native), len(ours)))
	for k := 0; k < n; k++ {
		if k >= len(native) || k >= len(ours) || native[k].key != ours[k].key {
			sum += farApart
			continue
		}
		apart := min(distance(native[k], ours[k]), farApart)
		sum += apart
		widest = max(widest, apart)
	}
	switch {
	case n == 0:
		return lookAhead * farApart
	case n < lookAhead:
		return sum * lookAhead / int64(n)
	}
	return sum - widest
}
