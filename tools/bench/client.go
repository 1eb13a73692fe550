// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

const connections = 16

// answers holds what a client saw.
type answers struct {
	perSecond float64
	p50, p99  time.Duration
}

// drive sends requests at a fixed rate, whatever the server does, and counts
// each one's time from when it was due; rate 0 sends as fast as answers come.
func drive(address string, rate float64, length time.Duration) answers {
	var (
		web   = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}, Timeout: 10 * time.Second}
		due   = make(chan time.Time, 1<<16)
		mu    sync.Mutex
		times []time.Duration
		wait  sync.WaitGroup
		began = time.Now()
		end   = began.Add(length)
	)
	for i := 0; i < connections; i++ {
		wait.Add(1)
		go func() {
			defer wait.Done()
			var own []time.Duration
			for start := range due {
				if answer, err := web.Get("http://" + address + "/x"); err == nil {
					io.Copy(io.Discard, answer.Body)
					answer.Body.Close()
					own = append(own, time.Since(start))
				}
			}
			mu.Lock()
			times = append(times, own...)
			mu.Unlock()
		}()
	}
	pace(due, rate, began, end)
	close(due)
	wait.Wait()
	took := time.Since(began)
	web.CloseIdleConnections()
	if len(times) == 0 {
		return answers{}
	}
	slices.Sort(times)
	return answers{float64(len(times)) / took.Seconds(), times[len(times)/2], times[len(times)*99/100]}
}

func pace(due chan time.Time, rate float64, began, end time.Time) {
	if rate == 0 {
		// A full channel would count the time in it: keep it nearly empty.
		for now := began; now.Before(end); now = time.Now() {
			if len(due) < connections {
				due <- now
			} else {
				time.Sleep(20 * time.Microsecond)
			}
		}
		return
	}
	step := time.Duration(float64(time.Second) / rate)
	for next := began; next.Before(end); next = next.Add(step) {
		if pause := time.Until(next); pause > 0 {
			time.Sleep(pause)
		}
		select {
		case due <- next:
		default: // 65,536 behind: the server cannot keep up, as the throughput shows
		}
	}
}
