// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

//go:build !libraries

package main

// Without libraries: see libraries.go.
func startLibraries(slow bool) {}
func libraries()               {}
