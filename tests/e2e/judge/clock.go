// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/exp/trace"
)

// Times of v1 traces are relative to their first event. The shift between two traces is found from what both
// have: each pair of steps of the same goroutine and kind gives the shift that makes them coincide. Nearly
// every step gives the true shift; only a few give any other.

const (
	shiftPairs = 4_000_000 // examined at most; goroutines that do little come first, because they show most
	shiftBin   = 10_000    // ns
	shiftNear  = 50_000    // ns: steps this close to each other under a shift are the same
	shiftPause = 300_000   // ns
)

type linear struct {
	at0, end int64 // shift at the beginning of the shifted trace, and at its end
	length   int64
}

func (l linear) of(t int64) int64 {
	if l.length == 0 {
		return t + l.at0
	}
	return t + l.at0 + int64(float64(l.end-l.at0)*float64(t)/float64(l.length))
}

// byRarity lists the goroutines that are in both, those with the fewest pairs first.
func byRarity(native, ours *history) (list []trace.GoID) {
	for g := range native.steps {
		if len(ours.steps[g]) > 0 {
			list = append(list, g)
		}
	}
	pairs := func(g trace.GoID) int { return len(native.steps[g]) * len(ours.steps[g]) }
	slices.SortFunc(list, func(a, b trace.GoID) int {
		return cmp.Or(cmp.Compare(pairs(a), pairs(b)), cmp.Compare(a, b))
	})
	return list
}

// eachPair calls take for pairs of steps of one kind, one from each trace.
func eachPair(native, ours *history, take func(native, ours int64)) {
	left := shiftPairs
	for _, g := range byRarity(native, ours) {
		for _, n := range native.steps[g] {
			for _, o := range ours.steps[g] {
				if left--; left < 0 {
					return
				}
				if n.key == o.key {
					take(n.time, o.time)
				}
			}
		}
	}
}

func median(list []int64) int64 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// shiftOf returns what must be added to native's times to get ours; ok is false if nothing agrees.
func shiftOf(native, ours *history) (shift linear, ok bool) {
	votes := map[int64]int{}
	native, ours = native.rare(), ours.rare()
	eachPair(native, ours, func(n, o int64) { votes[(o-n)/shiftBin]++ })
	best, most := int64(0), 0
	for bin, n := range votes {
		if n += votes[bin+1]; n > most || (n == most && bin < best) {
			best, most = bin, n
		}
	}
	if most == 0 {
		return linear{}, false
	}
	about, middle := best*shiftBin+shiftBin, (native.first+native.last)/2
	var halves [2][]int64
	eachPair(native, ours, func(n, o int64) {
		if off := o - n - about; max(off, -off) < shiftNear {
			half := 0
			if n > middle {
				half = 1
			}
			halves[half] = append(halves[half], o-n)
		}
	})
	if len(halves[0]) < 100 || len(halves[1]) < 100 {
		all := median(append(halves[0], halves[1]...))
		return linear{at0: all, end: all}, true
	}
	// Medians belong to the middles of the halves.
	first, second := median(halves[0]), median(halves[1])
	return linear{at0: first - (second-first)/2, end: second + (second-first)/2, length: native.last}, true
}

// rare keeps only the starts that follow the previous one after a pause: starts in a burst are alike, and
// what comes before a start may be known only from it.
func (h *history) rare() *history {
	r := &history{steps: map[trace.GoID][]step{}, first: h.first, last: h.last}
	for g, steps := range h.steps {
		var before int64
		for k := range steps {
			if !strings.HasPrefix(steps[k].change, "Runnable->Running") {
				continue
			}
			if before != 0 && steps[k].time-before >= shiftPause {
				r.steps[g] = append(r.steps[g], steps[k])
			}
			before = steps[k].time
		}
	}
	return r
}

// shifted moves all times of the history.
func (h *history) shifted(by linear) {
	for _, steps := range h.steps {
		for k := range steps {
			steps[k].time = by.of(steps[k].time)
		}
	}
	h.first, h.last = by.of(h.first), by.of(h.last)
}
