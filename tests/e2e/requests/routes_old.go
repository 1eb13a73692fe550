// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

//go:build !go1.22

package main

import "net/http"

// handle adds routes that the request does not keep: the paths are the names.
func handle(mux *http.ServeMux) {
	mux.HandleFunc("/items/", byPath(item))
	mux.HandleFunc("/orders", byPath(order))
	mux.HandleFunc("/panics", byPath(fails))
	mux.HandleFunc("/slow", byPath(slow))
	mux.HandleFunc("/", byPath(gone))
}
