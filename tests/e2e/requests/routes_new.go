// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

//go:build go1.22

package main

import "net/http"

// handle adds routes with methods and wildcards; they are the names, except "/".
func handle(mux *http.ServeMux) {
	for route, handler := range map[string]http.HandlerFunc{
		"GET /items/{id}": item, "POST /orders": order, "GET /panics": fails, "GET /slow": slow,
	} {
		mux.HandleFunc(route, counted(route, handler))
	}
	mux.HandleFunc("/", byPath(gone))
}
