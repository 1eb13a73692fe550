// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

const connections = 16

// answers holds what a client saw.
type answers struct {
	n         float64
	perSecond float64
	p50, p99  time.Duration
}

// drive sends HTTP requests at a fixed rate, as driveWith does.
func drive(address string, rate float64, length time.Duration) answers {
	return driveHTTP(func() (*http.Request, error) {
		return http.NewRequest("GET", "http://"+address+"/x", nil)
	}, rate, length)
}

func driveHTTP(request func() (*http.Request, error), rate float64, length time.Duration) answers {
	web := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}, Timeout: 10 * time.Second}
	defer web.CloseIdleConnections()
	return driveWith(func() func() error {
		return func() error {
			one, err := request()
			if err != nil {
				return err
			}
			answer, err := web.Do(one)
			if err != nil {
				return err
			}
			defer answer.Body.Close()
			_, err = io.Copy(io.Discard, answer.Body)
			if answer.StatusCode >= 300 {
				err = fmt.Errorf("%s", answer.Status)
			}
			return err
		}
	}, rate, length)
}

// driveWith asks at a fixed rate, whatever the server does, and counts each answer's time from when the question
// was due; rate 0 asks as fast as answers come. Each connection has its own ask.
func driveWith(connect func() (ask func() error), rate float64, length time.Duration) answers {
	var (
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
			ask := connect()
			for start := range due {
				if ask() == nil {
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
	if len(times) == 0 {
		return answers{}
	}
	slices.Sort(times)
	return answers{float64(len(times)), float64(len(times)) / took.Seconds(), times[len(times)/2], times[len(times)*99/100]}
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
