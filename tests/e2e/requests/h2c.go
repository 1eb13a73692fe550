// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

//go:build libraries

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/h2c"
)

// newH2C serves HTTP/2 with golang.org/x/net/http2, without TLS.
func newH2C() *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /h2c/{id}", counted("GET /h2c/{id}", item))
	mux.HandleFunc("/", byPath(gone))
	mux.HandleFunc("GET /h2c/panics", counted("GET /h2c/panics", fails))
	return httptest.NewServer(h2c.NewHandler(mux, &http2.Server{}))
}

func askH2C(server *httptest.Server) {
	client := &http.Client{Transport: &http2.Transport{AllowHTTP: true,
		DialTLSContext: func(ctx context.Context, network, address string, _ *tls.Config) (net.Conn, error) {
			return net.Dial(network, address)
		}}}
	var group sync.WaitGroup
	for worker := 0; worker < 4; worker++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := 0; i < 50/few; i++ {
				askBy(2, client, "GET", fmt.Sprintf("%s/h2c/%d?token=secret", server.URL, i%7))
				askBy(2, client, "GET", server.URL+"/missing")
			}
			askBy(2, client, "GET", server.URL+"/h2c/panics")
		}()
	}
	group.Wait()
	client.CloseIdleConnections()
}
