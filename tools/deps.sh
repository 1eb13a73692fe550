#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Installs what building and testing need on Debian 12. If everything is there, it does nothing, and returns
# quickly. Needs root only if something is missing.
set -eu
cd "$(dirname "$0")/.."
. tools/go.sh

BUILD="gcc libc6-dev make clang bpftool libbpf-dev libelf-dev libdw-dev zlib1g-dev libdeflate-dev liblzma-dev libstdc++-12-dev libseccomp-dev libcap-dev libcap2-bin libprotobuf-c-dev protobuf-c-compiler libsqlite3-dev libbz2-dev libncurses-dev python3 pkg-config git"
TESTS="sqlite3 libcmocka-dev libclang-rt-14-dev clang-format bpftrace procps util-linux bsdutils tmux xxd xz-utils ca-certificates chromium-headless-shell mandoc zsh fish debootstrap musl-tools codespell"
# To build packages and to check them.
PACKAGES="debhelper dpkg-dev fakeroot lintian man-db file"
# For programs in C and C++: compiler, debugger, tracers to compare with, and real programs to trace.
NATIVE="g++ gdb strace linux-perf redis-server redis-tools postgresql postgresql-client nginx-light wrk"
# For booting other kernels in an emulated machine, and for fetching them.
VMS="qemu-system-x86 kmod busybox-static python3-venv debian-archive-keyring"
# For building for arm64 and running the result in emulation.
ARM64="gcc-aarch64-linux-gnu binutils-aarch64-linux-gnu libgcc-12-dev-arm64-cross libstdc++-12-dev-arm64-cross qemu-user-static qemu-system-arm cpio"

stop() {
	echo "deps: $*" >&2
	exit 1
}

# Prints the packages of "$@" that are not installed.
missing() {
	for package; do
		state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || state=
		[ "$state" = installed ] || printf '%s ' "$package"
	done
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		command -v sudo >/dev/null || stop "must install packages: run as root"
		sudo "$@"
	fi
}

# The servers among the packages must not start: Debian consults this file (invoke-rc.d(8)).
POLICY=/usr/sbin/policy-rc.d
allow_services() {
	[ "${forbidden:-no}" = no ] || as_root rm -f $POLICY
	forbidden=no
}
forbid_services() {
	[ -e $POLICY ] && return
	forbidden=yes
	trap allow_services EXIT
	printf '#!/bin/sh\nexit 101\n' | as_root tee $POLICY >/dev/null
	as_root chmod 755 $POLICY
}

install_packages() { # what apt-get install takes
	forbid_services
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" ||
		stop "apt-get install $* failed"
	allow_services
}

# Debian 12's own Go is 1.19, which cannot fetch other toolchains; backports have a newer one.
install_go() {
	if ! apt-cache policy | grep -q 'n=bookworm-backports'; then
		echo 'deb http://deb.debian.org/debian bookworm-backports main' |
			as_root tee /etc/apt/sources.list.d/gotrace-backports.list >/dev/null
		as_root apt-get update -q || stop "apt-get update failed"
	fi
	install_packages -t bookworm-backports golang-go
	find_go || stop "golang-go from backports is older than 1.22: install Go 1.22 or later and put it on PATH"
}

command -v dpkg-query >/dev/null || stop "this is no Debian: install by hand: $BUILD $TESTS $NATIVE $PACKAGES $VMS $ARM64, and Go 1.22 or later"
needed=$(missing $BUILD $TESTS $NATIVE $PACKAGES $VMS $ARM64)
have_go=yes
find_go || have_go=no
[ -z "$needed" ] && [ $have_go = yes ] && exit 0

echo "deps: to be installed: ${needed}$([ $have_go = yes ] || echo golang-go)"
as_root apt-get update -q || stop "apt-get update failed: is there a network?"
[ -z "$needed" ] || install_packages $needed
[ $have_go = yes ] || install_go
needed=$(missing $BUILD $TESTS $NATIVE $PACKAGES $VMS $ARM64)
[ -z "$needed" ] || stop "still missing after installation: $needed"
echo "deps: complete"
