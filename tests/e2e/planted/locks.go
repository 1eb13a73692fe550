// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"context"
	"io"
	"log"
	"net"
	"os"
	"runtime/trace"
	"sync"
	"time"
)

// A server that answers each byte after a while.
func slowServer(delay time.Duration) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				buf := make([]byte, 1)
				for {
					if _, err := io.ReadFull(conn, buf); err != nil {
						return
					}
					time.Sleep(delay)
					conn.Write(buf)
				}
			}()
		}
	}()
	return listener.Addr().String()
}

type cache struct {
	mu    sync.RWMutex
	conn  net.Conn
	value byte
}

func (c *cache) fetch() byte {
	buf := []byte{1}
	c.conn.Write(buf)
	io.ReadFull(c.conn, buf)
	return buf[0]
}

// The lock is held while waiting for the answer.
func (c *cache) refreshLocked() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.value = c.fetch()
}

func (c *cache) refreshOutside() {
	value := c.fetch()
	c.mu.Lock()
	c.value = value
	c.mu.Unlock()
}

func (c *cache) getLocked() byte {
	begin := time.Now()
	c.mu.Lock()
	measured(begin)
	defer c.mu.Unlock()
	return c.value
}

func (c *cache) get() byte {
	begin := time.Now()
	c.mu.RLock()
	measured(begin)
	defer c.mu.RUnlock()
	return c.value
}

func cached(clean bool, get func(*cache) byte) {
	conn, err := net.Dial("tcp", slowServer(20*time.Millisecond))
	if err != nil {
		panic(err)
	}
	c := &cache{conn: conn}
	refresh := (*cache).refreshLocked
	if clean {
		refresh = (*cache).refreshOutside
	}
	go every(10*time.Millisecond, func() { refresh(c) })
	for i := 0; i < 8; i++ {
		go every(time.Millisecond, func() {
			_, task := trace.NewTask(context.Background(), "handle")
			get(c)
			spin(50 * time.Microsecond)
			task.End()
		})
	}
}

func lockIO(clean bool)        { cached(clean, (*cache).getLocked) }
func lockIOReaders(clean bool) { cached(clean, (*cache).get) }

// One goroutine computes under the lock.
func lockLong(clean bool) {
	var mu sync.Mutex
	shared := 0
	go every(5*time.Millisecond, func() { rebuild(&mu, &shared, clean) })
	for i := 0; i < 6; i++ {
		go every(time.Millisecond, func() { lookUp(&mu, &shared) })
	}
}

//go:noinline
func rebuild(mu *sync.Mutex, shared *int, clean bool) {
	if clean {
		n := spin(10 * time.Millisecond)
		mu.Lock()
		*shared = n
		mu.Unlock()
		return
	}
	mu.Lock()
	*shared = spin(10 * time.Millisecond)
	mu.Unlock()
}

//go:noinline
func lookUp(mu *sync.Mutex, shared *int) int {
	begin := time.Now()
	mu.Lock()
	measured(begin)
	defer mu.Unlock()
	return *shared
}

// All constantly want one lock, for a moment each; or each its own.
func lockConvoy(clean bool) {
	locks := make([]sync.Mutex, 64)
	for i := 0; i < 64; i++ {
		mu := &locks[0]
		if clean {
			mu = &locks[i]
		}
		go func() {
			for {
				count(mu)
				if clean {
					time.Sleep(time.Duration(20+i) * time.Millisecond)
				}
			}
		}()
	}
}

//go:noinline
func count(mu *sync.Mutex) {
	begin := time.Now()
	mu.Lock()
	measured(begin)
	spin(20 * time.Microsecond)
	mu.Unlock()
}

// Each line is a write under the logger's lock; or goes into memory.
func lockSyscall(clean bool) {
	file, err := os.CreateTemp("", "planted")
	if err != nil {
		panic(err)
	}
	os.Remove(file.Name())
	out := io.Writer(file)
	if clean {
		out = io.Discard
	}
	logger := log.New(out, "", 0)
	line := string(make([]byte, 8192))
	for i := 0; i < 16; i++ {
		go func() {
			for {
				writeLine(logger, line)
				if clean {
					time.Sleep(5 * time.Millisecond)
				} else {
					spin(5 * time.Microsecond)
				}
			}
		}()
	}
	go every(100*time.Millisecond, func() { file.Truncate(0); file.Seek(0, 0) })
}

//go:noinline
func writeLine(logger *log.Logger, line string) {
	logger.Print(line)
}
