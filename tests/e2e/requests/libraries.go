// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

//go:build libraries

package main

import (
	"net/http/httptest"

	"github.com/redis/go-redis/v9"
)

// Requests of third-party libraries. go.mod does not have them: build with -tags=libraries and
// -modfile=old.mod or -modfile=new.mod, which are two years apart.

var (
	rpcs    *rpcServer
	storage *redis.Client
	other   *httptest.Server
)

func startLibraries(slow bool) {
	rpcs = newRPCServer()
	storage = startRedis()
	other = newH2C()
	for i := 0; slow && i < 20; i++ {
		go rpcs.slowly()
	}
}

func libraries() {
	rpcs.round()
	askH2C(other)
	if storage != nil {
		askRedis(storage)
	}
	makeSpans()
}
