# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# To be sourced: finds a Go toolchain (sudo often drops /usr/local/go/bin from PATH), and other releases of it.

# The release that runs the tests where the machine's own Go is too old.
GO_OF_TESTS=1.26.8

go_candidates() {
	command -v go 2>/dev/null
	ls /usr/local/go/bin/go /usr/lib/go-*/bin/go 2>/dev/null
}

go_is_new_enough() {
	case "$("$1" env GOVERSION 2>/dev/null)" in
	go1.2[2-9]* | go1.[3-9][0-9]* | go[2-9]*) return 0 ;;
	esac
	return 1
}

put_go_first() { # GO
	PATH="$(dirname "$1"):$PATH"
	export PATH
}

# Puts any Go first on PATH: the newest that find_go would take, or an older one.
find_any_go() {
	for go_candidate in $(go_candidates); do
		if go_is_new_enough "$go_candidate"; then
			put_go_first "$go_candidate"
			return 0
		fi
	done
	for go_candidate in $(go_candidates); do
		if [ -n "$("$go_candidate" env GOVERSION 2>/dev/null)" ]; then
			put_go_first "$go_candidate"
			return 0
		fi
	done
	return 1
}

# Puts a Go of 1.22 or later first on PATH. Such a Go fetches the releases that tests name by GOTOOLCHAIN. An older
# one, as Debian 12 has it, cannot, but it can fetch a newer Go as a module.
find_go() {
	find_any_go || return 1
	go_is_new_enough go && return 0
	go_fetched=$(go_root $GO_OF_TESTS) || return 1
	put_go_first "$go_fetched/bin/go"
	go_is_new_enough go
}

# go_root RELEASE: prints the directory of the toolchain of that release (go 1.2 on), from Go's module proxy,
# verified by its checksum database.
go_root() {
	go_root_module=golang.org/toolchain@v0.0.1-go$1.linux-amd64
	go_root_dir=$(go env GOMODCACHE)/$go_root_module
	if [ ! -x "$go_root_dir/bin/go" ]; then
		(cd / && GOFLAGS= GO111MODULE=on GOTOOLCHAIN=local go mod download "$go_root_module") >&2 || return 1
		# Modules have no file modes, so set them as Go itself does when it switches toolchains.
		find "$go_root_dir/bin" "$go_root_dir/pkg/tool" -type f -exec chmod 755 {} + || return 1
	fi
	echo "$go_root_dir"
}

# old_go RELEASE ARG...: runs that release's own go command, which does not know modules or other releases.
old_go() {
	old_go_root=$(go_root "$1") || return 1
	shift
	env -u GOBIN -u GOEXPERIMENT GOENV=off GOFLAGS= GO111MODULE=off GOTOOLCHAIN=local GOROOT="$old_go_root" \
		GOPATH="${TMPDIR:-/tmp}/gotrace-no-gopath" PATH="$old_go_root/bin:$PATH" "$old_go_root/bin/go" "$@"
}
