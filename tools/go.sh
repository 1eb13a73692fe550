# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# To be sourced: puts a Go of 1.22 or later first on PATH (sudo often drops
# /usr/local/go/bin). Such a Go fetches the releases that tests name by
# GOTOOLCHAIN; an older one cannot.

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
