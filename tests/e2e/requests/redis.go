// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

//go:build libraries

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	process "os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// startRedis starts its own server, which ends with this program. Returns nil if there is none.
func startRedis() *redis.Client {
	listener, err := net.Listen("tcp", "127.0.0.1:0") // for a port that is free
	if err != nil {
		panic(err)
	}
	address := listener.Addr().(*net.TCPAddr)
	listener.Close()
	server := process.Command("redis-server", "--bind", "127.0.0.1", "--port", fmt.Sprint(address.Port),
		"--save", "", "--enable-debug-command", "yes")
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if server.Start() != nil {
		return nil
	}
	client := redis.NewClient(&redis.Options{Addr: address.String(), PoolSize: 3, MaxRetries: 1})
	for i := 0; client.Ping(context.Background()).Err() != nil; i++ {
		if i == 100 {
			panic("redis-server does not answer")
		}
		time.Sleep(50 * time.Millisecond)
	}
	useAll(client)
	return client
}

// useAll opens all connections of the pool: a new one sends commands of its own.
func useAll(client *redis.Client) {
	var group sync.WaitGroup
	for i := 0; i < 3; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			client.BLPop(context.Background(), time.Second, "nothing")
		}()
	}
	group.Wait()
}

// command sends a command, and counts it.
func command(client *redis.Client, name string, args ...interface{}) {
	since := time.Now()
	client.Do(context.Background(), append([]interface{}{name}, args...)...)
	count("redis "+name, "-", since)
}

type silence struct{}

func (silence) Printf(context.Context, string, ...interface{}) {}

func pipeline(client *redis.Client, tx bool) {
	ctx := context.Background()
	pipe := client.Pipeline()
	if tx {
		pipe = client.TxPipeline()
	}
	pipe.Set(ctx, "secret", "secret", 0)
	pipe.Get(ctx, "secret")
	since := time.Now()
	if _, err := pipe.Exec(ctx); err != nil {
		panic(err)
	}
	count("redis pipeline", "-", since)
}

func askRedis(client *redis.Client) {
	var group sync.WaitGroup
	for worker := 0; worker < 6; worker++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := 0; i < 50/few; i++ {
				command(client, "set", "secret", "secret")
				command(client, "get", "secret")
				command(client, "get", "secretly")
				command(client, "lpush", "secret", "secret") // of another type: an error
				pipeline(client, i%2 == 0)
			}
			for i := 0; i < 5; i++ {
				command(client, "debug", "sleep", "0.002")
			}
		}()
	}
	group.Wait()
	noRedis()
}

// noRedis asks servers that do not listen, or close connections. Each command is tried twice.
func noRedis() {
	redis.SetLogger(silence{})
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
			io.CopyN(io.Discard, conn, 1)
			conn.Close()
		}
	}()
	for i := 0; i < 2; i++ {
		client := redis.NewClient(&redis.Options{Addr: listener.Addr().String(), MaxRetries: 1})
		for k := 0; k < 3; k++ {
			since := time.Now()
			client.Do(context.Background(), "incr", "secret")
			count("redis incr", "-", since)
			count("redis incr", "-", since)
		}
		client.Close()
		listener.Close()
	}
}
