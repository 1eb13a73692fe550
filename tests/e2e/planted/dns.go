// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"context"
	"net"
	"runtime/trace"
	"time"
)

// nameServer is a name server that knows every name, and answers after a while.
func nameServer(delay time.Duration) string {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() {
		for {
			query := make([]byte, 512)
			n, from, err := conn.ReadFrom(query)
			if err != nil {
				return
			}
			time.AfterFunc(delay, func() { conn.WriteTo(answer(query[:n]), from) })
		}
	}()
	return conn.LocalAddr().String()
}

// answer returns 127.0.0.1 for each question of type A (RFC 1035, section 4).
func answer(query []byte) []byte {
	end := 12
	for end < len(query) && query[end] != 0 {
		end += 1 + int(query[end])
	}
	if end+5 > len(query) {
		return nil
	}
	reply := append([]byte{}, query[:end+5]...)
	copy(reply[2:], []byte{0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0})
	if query[end+2] == 1 {
		reply[7] = 1
		reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1)
	}
	return reply
}

// Each request asks for the address of its backend, and the server is slow; or it has the address.
func slowNames(clean bool) {
	server := nameServer(15 * time.Millisecond)
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server)
	}}
	for i := 0; i < 8; i++ {
		go every(2*time.Millisecond, func() {
			_, task := trace.NewTask(context.Background(), "order")
			begin := time.Now()
			backend(resolver, clean)
			measured(begin)
			spin(100 * time.Microsecond)
			task.End()
		})
	}
}

//go:noinline
func backend(resolver *net.Resolver, clean bool) {
	if clean {
		return
	}
	if _, err := resolver.LookupIPAddr(context.Background(), "backend.example."); err != nil {
		panic(err)
	}
}
