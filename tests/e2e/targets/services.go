// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/rpc"
	"sort"
	"time"
)

func init() {
	modes["json"] = jsonLoad
	modes["rpc"] = rpcLoad
}

// Order is what the clients of both services send; the answer is its sum.
type Order struct {
	Customer string
	Items    []Item
}

type Item struct {
	Name  string
	Price int
}

type Sum struct {
	Customer string
	Total    int
	Names    []string
}

func newOrder(n int) Order {
	order := Order{Customer: "customer"}
	for i := 0; i < 10+n%10; i++ {
		order.Items = append(order.Items, Item{string(rune('a' + (n+i)%26)), i})
	}
	return order
}

func sum(order *Order) Sum {
	result := Sum{Customer: order.Customer}
	for _, item := range order.Items {
		result.Total += item.Price
		result.Names = append(result.Names, item.Name)
	}
	sort.Strings(result.Names)
	return result
}

// jsonLoad: a server that decodes and encodes JSON, and clients with keep-alive.
func jsonLoad(opt *options) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var order Order
		check(json.NewDecoder(r.Body).Decode(&order))
		check(json.NewEncoder(w).Encode(sum(&order)))
	}))
	for i := 0; i < or(opt.count, 8); i++ {
		client := &http.Client{Transport: &http.Transport{}, Timeout: 10 * time.Second}
		go func() {
			for n := 0; ; n++ {
				body, err := json.Marshal(newOrder(n))
				check(err)
				answer, err := client.Post("http://"+listener.Addr().String(), "application/json", bytes.NewReader(body))
				check(err)
				var result Sum
				check(json.NewDecoder(answer.Body).Decode(&result))
				io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
				time.Sleep(500 * time.Microsecond)
			}
		}()
	}
}

// Orders is the service of rpcLoad.
type Orders struct{}

func (Orders) Sum(order *Order, result *Sum) error {
	*result = sum(order)
	return nil
}

// rpcLoad: a server of net/rpc that starts a goroutine for each call, and clients that share connections.
func rpcLoad(opt *options) {
	check(rpc.Register(Orders{}))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go rpc.Accept(listener)
	for i := 0; i < or(opt.count, 4); i++ {
		client, err := rpc.Dial("tcp", listener.Addr().String())
		check(err)
		for j := 0; j < 2; j++ {
			go func() {
				for n := 0; ; n++ {
					var result Sum
					order := newOrder(n)
					check(client.Call("Orders.Sum", &order, &result))
					time.Sleep(500 * time.Microsecond)
				}
			}()
		}
	}
}
