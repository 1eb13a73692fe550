#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Installs the Debian packages that a part of the work needs, and nothing else. Says first what it installs. Never adds
# a package source. If everything is there, it does nothing, and returns quickly.
# usage: tools/deps.sh build      what make needs: before it compiles, it calls this
#        tools/deps.sh demo       the same, and a Go toolchain to build the server that is traced
#        tools/deps.sh install    what make install and make static need, too
#        tools/deps.sh deb        what make deb needs, too
#        tools/deps.sh tests      everything that make test and make test-more need
set -eu
cd "$(dirname "$0")/.."
. tools/go.sh

# libiberty: the names of C++ and Rust are read by its demanglers.
BUILD="gcc libc6-dev make clang bpftool libbpf-dev libelf-dev libdw-dev zlib1g-dev libdeflate-dev liblzma-dev libiberty-dev libseccomp-dev libcap-dev libprotobuf-c-dev protobuf-c-compiler libsqlite3-dev libncurses-dev"
# Man pages, file capabilities, the static file.
INSTALL="python3 libcap2-bin libbz2-dev"
DEB="git debhelper dpkg-dev fakeroot"
TESTS="pkg-config sqlite3 libcmocka-dev libclang-rt-14-dev clang-format bpftrace procps util-linux bsdutils tmux xxd xz-utils ca-certificates chromium-headless-shell mandoc zsh fish debootstrap musl-tools codespell rclone webhook curl"
# To check packages.
PACKAGES="lintian man-db file"
# For programs in C, C++ and Rust: compiler, debugger, tracers to compare with, and real programs to trace.
NATIVE="g++ rustc gdb strace linux-perf redis-server redis-tools postgresql postgresql-client nginx-light wrk memcached prometheus etcd-server nats-server caddy default-jre-headless"
# For booting other kernels in an emulated machine, and for fetching them.
VMS="qemu-system-x86 kmod busybox-static python3-venv debian-archive-keyring"
# For building for arm64 and running the result in emulation.
ARM64="gcc-aarch64-linux-gnu binutils-aarch64-linux-gnu libgcc-12-dev-arm64-cross libstdc++-12-dev-arm64-cross qemu-user-static qemu-system-arm cpio"

stop() {
	echo "deps: $*" >&2
	exit 1
}

case ${1:-} in
build | demo) wanted=$BUILD ;;
install) wanted="$BUILD $INSTALL" ;;
deb) wanted="$BUILD $INSTALL $DEB" ;;
tests) wanted="$BUILD $INSTALL $DEB $TESTS $PACKAGES $NATIVE $VMS $ARM64" ;;
*) stop "usage: tools/deps.sh build|demo|install|deb|tests" ;;
esac
part=$1

# Prints the packages of "$@" that are not installed.
missing() {
	for package; do
		dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || printf '%s ' "$package"
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

install_packages() { # PACKAGE...
	as_root apt-get update -q || stop "apt-get update failed: is there a network?"
	count=$(apt-get install -s --no-install-recommends "$@" | grep -c '^Inst') || stop "apt-get cannot install $*"
	echo "deps: to be installed: $*"
	echo "deps: $count packages, with what they depend on"
	forbid_services
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" ||
		stop "apt-get install $* failed"
	allow_services
}

if ! command -v dpkg-query >/dev/null; then
	# make says itself which header or tool it does not find.
	[ "$part" = build ] && exit 0
	stop "this is no Debian: install by hand what these packages have: $wanted, and Go (1.22 or later for the tests)"
fi
needed=$(missing $wanted)
case $part in
build)
	# Somebody who has built the libraries from source needs no packages.
	if [ -n "$needed" ] && [ "$(id -u)" -ne 0 ]; then
		echo "deps: not installed: $needed(sudo make deps installs them)" >&2
		exit 0
	fi
	;;
demo | tests)
	# Debian's Go builds the demo, and fetches newer releases for the tests.
	find_any_go || needed="${needed}golang-go"
	;;
esac
[ -z "$needed" ] || install_packages $needed
needed=$(missing $wanted)
[ -z "$needed" ] || stop "still missing after installation: $needed"
if [ "$part" = tests ] && ! find_go; then
	stop "the tests need Go 1.22 or later: fetching it from Go's module proxy failed; put one on PATH (https://go.dev/dl)"
fi
