# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# To be sourced: puts a Go of 1.22 or later first on PATH (sudo often drops /usr/local/go/bin). Such a Go
# fetches the releases that tests name by GOTOOLCHAIN; an older one cannot.

go_is_new_enough() {
	case "$("$1" env GOVERSION 2>/dev/null)" in
	go1.2[2-9]* | go1.[3-9][0-9]* | go[2-9]*) return 0 ;;
	esac
	return 1
}

find_go() {
	for go_candidate in "$(command -v go 2>/dev/null)" /usr/local/go/bin/go /usr/lib/go-*/bin/go; do
		if [ -x "$go_candidate" ] && go_is_new_enough "$go_candidate"; then
			PATH="$(dirname "$go_candidate"):$PATH"
			export PATH
			return 0
		fi
	done
	return 1
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
