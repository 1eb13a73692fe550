// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

//go:build !libraries && !databases

package main

// Without libraries: see libraries.go and databases.go.
func startLibraries(slow bool) {}
func libraries()               {}
