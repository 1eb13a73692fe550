// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// Command grpc is a server of gRPC's health service, and a client that asks it:
//
//	grpc server ADDRESS
//	grpc client ADDRESS RATE DURATION    (rate 0: as fast as answers come)
//
// The client prints how many answers it got, how many a second, and the median and 99th percentile of their times in
// ns, from when each question was due.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	api "google.golang.org/grpc/health/grpc_health_v1"
)

const callers = 16

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "grpc:", err)
		os.Exit(1)
	}
}

func serve(address string) {
	listener, err := net.Listen("tcp", address)
	fail(err)
	server := grpc.NewServer()
	api.RegisterHealthServer(server, health.NewServer())
	fail(server.Serve(listener))
}

// due hands out when questions are due: at a fixed rate, or at once.
func due(rate float64, length time.Duration) chan time.Time {
	times := make(chan time.Time, 1<<16)
	began := time.Now()
	go func() {
		defer close(times)
		for next := began; next.Sub(began) < length; {
			if rate == 0 {
				if next = time.Now(); len(times) < callers {
					times <- next
				} else {
					time.Sleep(20 * time.Microsecond)
				}
				continue
			}
			time.Sleep(time.Until(next))
			times <- next
			next = next.Add(time.Duration(float64(time.Second) / rate))
		}
	}()
	return times
}

func ask(address string, rate float64, length time.Duration) {
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	fail(err)
	client := api.NewHealthClient(connection)
	questions, began := due(rate, length), time.Now()
	var all []time.Duration
	var lock sync.Mutex
	var wait sync.WaitGroup
	for range callers {
		wait.Add(1)
		go func() {
			defer wait.Done()
			var own []time.Duration
			for start := range questions {
				if _, err := client.Check(context.Background(), &api.HealthCheckRequest{}); err == nil {
					own = append(own, time.Since(start))
				}
			}
			lock.Lock()
			all = append(all, own...)
			lock.Unlock()
		}()
	}
	wait.Wait()
	took := time.Since(began)
	if len(all) == 0 {
		fail(fmt.Errorf("no answers"))
	}
	slices.Sort(all)
	fmt.Println(len(all), float64(len(all))/took.Seconds(), all[len(all)/2].Nanoseconds(), all[len(all)*99/100].Nanoseconds())
}

func main() {
	switch {
	case len(os.Args) == 3 && os.Args[1] == "server":
		serve(os.Args[2])
	case len(os.Args) == 5 && os.Args[1] == "client":
		rate, err := strconv.ParseFloat(os.Args[3], 64)
		fail(err)
		length, err := time.ParseDuration(os.Args[4])
		fail(err)
		ask(os.Args[2], rate, length)
	default:
		fail(fmt.Errorf("usage: grpc server ADDRESS | client ADDRESS RATE DURATION"))
	}
}
