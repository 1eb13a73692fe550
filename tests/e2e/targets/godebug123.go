// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

//go:build go1.23 && !go1.25

// The module says go 1.22 so that every release builds it, but each release must run with its own defaults,
// not those of 1.22 (asynctimerchan above all).

//go:debug default=go1.23

package main
