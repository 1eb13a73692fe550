#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Fetches Debian packages that are not for this machine: kernels of other series, packages of other architectures.
# They are selected from Debian's signed indexes, unpacked into a cache outside the tree, and never installed.
#   tests/vm/fetch.sh kernel SERIES [ARCH [FLAVOUR]]   SERIES: 5.10, 6.1, 6.12, 6.18 or newest; ARCH: amd64 or arm64;
#                                                      FLAVOUR: generic (with modules for 9p) or cloud
#   tests/vm/fetch.sh package SUITE ARCH NAME...       SUITE: as in SUITES; unpacked over each other
#   tests/vm/fetch.sh file URL SHA256                  one file, identified by its checksum
#   tests/vm/fetch.sh virtme                           virtme-ng, from PyPI, in a Python environment of its own
# Prints the directory, and on standard error what it selected. A kernel's directory has `vmlinuz`, `release`
# (uname -r), `version` (the package's) and `lib/modules/RELEASE` (with modules.dep). Without a network it
# uses what the cache has, and says so; if that is not enough, it fails.
[ -n "$BASH_VERSION" ] || exec bash "$0" "$@"
set -u
VM_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
CACHE=${GOTRACE_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gotrace-vm}
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
MIRROR=${GOTRACE_VM_MIRROR:-http://deb.debian.org}

say() {
	echo "vm: $*" >&2
}

stop() {
	say "$*"
	exit 1
}

# suites SERIES: prints where Debian keeps that series; the newest kernel may be in any of them.
suites() {
	case $1 in
	5.10) echo bullseye-security ;;
	6.1 | 6.12) echo bookworm-security ;;
	6.18) echo trixie-backports ;;
	newest) echo trixie-backports sid ;;
	*) stop "no kernel $1: known are 5.10, 6.1, 6.12, 6.18 and newest" ;;
	esac
}

# state SUITE ARCH: prints the directory of an apt state of our own, and makes it if needed. Only the proxy
# settings are taken from the machine's own apt.
state() {
	local dir=$CACHE/apt/$1-$2 archive=debian
	case $1 in *-security) archive=debian-security ;; esac
	mkdir -p "$dir/lists/partial" "$dir/archives/partial" || stop "cannot make $dir"
	: >"$dir/status"
	echo "deb [signed-by=$KEYRING] $MIRROR/$archive $1 main" >"$dir/sources.list"
	cat >"$dir/apt.conf" <<-CONF
		Dir::State "$dir";
		Dir::State::lists "$dir/lists";
		Dir::State::status "$dir/status";
		Dir::Cache "$dir";
		Dir::Etc::sourcelist "$dir/sources.list";
		Dir::Etc::sourceparts "/dev/null";
		Dir::Etc::trusted "/dev/null";
		Dir::Etc::trustedparts "/dev/null";
		Dir::Etc::preferences "/dev/null";
		Dir::Etc::preferencesparts "/dev/null";
		APT::Architecture "$2";
		APT::Architectures "$2";
		APT::Sandbox::User "root";
		APT::Update::Error-Mode "any";
		Acquire::Languages "none";
		Acquire::PDiffs "false";
		Acquire::http::Timeout "20";
		Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
	CONF
	echo "$dir"
}

# index SUITE ARCH: prints the state's directory, with the index updated if there is a network. False if there
# is no index.
index() {
	local dir
	[ -r $KEYRING ] || stop "no $KEYRING: install debian-archive-keyring (tools/deps.sh tests)"
	dir=$(state "$1" "$2") || return 1
	if ! APT_CONFIG=$dir/apt.conf apt-get update -q >"$dir/update.log" 2>&1; then
		if [ -z "$(find "$dir/lists" -maxdepth 1 -name '*_Packages*')" ]; then
			say "no index of $1 $2, neither from the network ($(grep -m 1 '^[EW]:' "$dir/update.log" | head -c 200)) nor in $CACHE"
			return 1
		fi
		say "no network: the index of $1 $2 is the cached one of $(date -u -r "$(ls -t "$dir"/lists/*_InRelease | head -n 1)" +%F)"
	fi
	echo "$dir"
}

# kernels DIR SERIES ARCH FLAVOUR: prints `VERSION PACKAGE...` for each such kernel in an index. Since 6.19
# image and modules are separate packages.
kernels() {
	local series=${2//./\\.} flavour=
	[ "$2" = newest ] && series='[0-9]+\.[0-9]+'
	[ "$4" = cloud ] && flavour=-cloud
	APT_CONFIG=$1/apt.conf apt-cache dumpavail | awk -v name="^linux-(image|binary)-${series}\\.[0-9]+(-[0-9]+|[+]deb[0-9]+)${flavour}-$3\$" '
		/^Package: / { package = $2; version = size = "" }
		/^Version: / { version = $2 }
		/^Size: / { size = $2 }
		/^$/ && package ~ name && size > 100000 {
			binary = package
			print version, package (sub(/^linux-binary-/, "linux-modules-", binary) ? " " binary : "")
			package = ""
		}'
}

# newest_line: of lines `VERSION ...`, prints the one with the highest version by dpkg's order.
newest_line() {
	local best= line
	while read -r line; do
		[ -z "$best" ] || dpkg --compare-versions "${line%% *}" gt "${best%% *}" || continue
		best=$line
	done
	[ -n "$best" ] && echo "$best"
}

# unpack DIR INDEX VERSION NAME...: downloads (apt verifies against the signed index) and unpacks into DIR,
# all or nothing.
unpack() {
	local dir=$1 conf=$2/apt.conf version=$3 name part
	shift 3
	rm -rf "$dir.new"
	mkdir -p "$dir.new/debs" "$dir.new/root" || return 1
	for name; do
		(cd "$dir.new/debs" && APT_CONFIG=$conf apt-get download -q "$name${version:+=$version}") >"$dir.new/log" 2>&1 || {
			say "cannot fetch $name: $(grep -m 1 '^[EW]:' "$dir.new/log" | head -c 200)"
			return 1
		}
	done
	(cd "$dir.new/debs" && sha256sum -- *.deb) >"$dir.new/sha256" || return 1
	for part in "$dir.new/debs"/*.deb; do
		dpkg -x "$part" "$dir.new/root" || return 1
	done
	rm -rf "$dir.new/debs"
}

# The modules that a guest needs: for its host's files over 9p, a disk, an overlay.
MODULES='9p|netfs|fscache|virtio|overlay|fuse|nvme|ext4|jbd2|mbcache|crc|failover|loop'

# settle DIR VERSION: turns unpacked packages into a kernel's directory. Since 7.1 the image is among the
# modules.
settle() {
	local new=$1.new modules release
	modules=$(ls -d "$new"/root/{usr/,}lib/modules/* 2>/dev/null) || true
	[ -n "$modules" ] && [ -d "$modules/kernel" ] || return 1
	release=$(basename "$modules")
	mv "$new/root/boot/vmlinuz-$release" "$new/vmlinuz" 2>/dev/null || mv "$modules/vmlinuz" "$new/vmlinuz" || return 1
	mkdir -p "$new/lib/modules" && mv "$modules" "$new/lib/modules/$release" || return 1
	find "$new/lib/modules/$release/kernel" -type f | grep -vE "/[^/]*($MODULES)[^/]*\.ko|/virtio[^/]*/|/(9p|netfs)/" | xargs -r rm -f
	find "$new/lib/modules" -type d -empty -delete
	PATH=$PATH:/usr/sbin:/sbin depmod -b "$new" "$release" 2>"$new/log" || return 1
	echo "$release" >"$new/release"
	echo "$2" >"$new/version"
	rm -rf "$new/root" "$1"
	mv "$new" "$1"
}

# kernel SERIES ARCH FLAVOUR
kernel() {
	local series=$1 arch=${2:-amd64} flavour=${3:-generic} suite in dir best= line version home
	in=$(suites "$series") || exit 1
	home=$CACHE/kernels/$series-$arch-$flavour
	mkdir -p "$home" || stop "cannot make $home"
	for suite in $in; do
		dir=$(index "$suite" "$arch") || continue
		line=$(kernels "$dir" "$series" "$arch" "$flavour" | newest_line) || continue
		best=$(printf '%s\n' "$best" "$line $dir" | grep . | newest_line)
	done
	if [ -n "$best" ]; then
		set -- $best
		version=$1
		dir=${*: -1}
		set -- "${@:2:$#-2}"
		if [ ! -e "$home/$version/version" ]; then
			say "kernel $series $arch: fetching $* $version"
			unpack "$home/$version" "$dir" "$version" "$@" && { settle "$home/$version" "$version" ||
				stop "kernel $series $arch: $* $version is not laid out as it should be: $home/$version.new"; }
		fi
		if [ -e "$home/$version/version" ]; then
			say "kernel $series $arch: $* $version"
			echo "$home/$version"
			return
		fi
	fi
	version=$(cat "$home"/*/version 2>/dev/null | newest_line) ||
		stop "kernel $series $arch: cannot be fetched, and there is none in $home"
	say "kernel $series $arch: cannot be fetched: $version from the cache is used"
	echo "$home/$version"
}

# package SUITE ARCH NAME...
package() {
	local suite=$1 arch=$2 index home
	shift 2
	home=$CACHE/packages/$suite-$arch/$(echo "$*" | sha256sum | head -c 16)
	if [ ! -e "$home/sha256" ]; then
		index=$(index "$suite" "$arch") || exit 1
		mkdir -p "$(dirname "$home")"
		unpack "$home" "$index" "" "$@" || stop "$suite $arch: cannot be fetched, and not in $home: $*"
		rm -rf "$home"
		mv "$home.new" "$home"
	fi
	sed "s/^[0-9a-f]* */vm: $arch: /" "$home/sha256" >&2
	echo "$home/root"
}

# file URL SHA256: prints its path in the cache.
file() {
	local path=$CACHE/files/${1##*/}
	mkdir -p "$CACHE/files"
	if ! echo "$2  $path" | sha256sum -c --status 2>/dev/null; then
		/usr/lib/apt/apt-helper -o Acquire::http::Timeout=20 download-file "$1" "$path" "SHA256:$2" >"$CACHE/files/log" 2>&1 ||
			stop "cannot fetch $1: $(grep -m 1 '^[EW]:' "$CACHE/files/log" | head -c 200)"
	fi
	say "$1"
	echo "$path"
}

# virtme: with the release and checksum of tests/vm/requirements.txt.
virtme() {
	local home
	home=$CACHE/virtme-$(sha256sum <"$VM_DIR/requirements.txt" | head -c 12)
	if [ ! -e "$home/complete" ]; then
		rm -rf "$home"
		/usr/bin/python3 -m venv "$home" >&2 || stop "cannot make $home: is python3-venv installed (tools/deps.sh tests)?"
		"$home/bin/pip" install -q --no-deps --disable-pip-version-check --require-hashes -r "$VM_DIR/requirements.txt" >&2 ||
			stop "virtme-ng cannot be fetched from PyPI, and there is none in $CACHE"
		: >"$home/complete"
	fi
	say "$("$home/bin/pip" list 2>/dev/null | grep virtme-ng | tr -s " ") from PyPI"
	echo "$home"
}

main() {
	mkdir -p "$CACHE" || stop "cannot make $CACHE"
	exec 8>"$CACHE/lock"
	flock 8 || stop "cannot lock $CACHE"
	case ${1-} in
	kernel) [ $# -ge 2 ] && "$@" ;;
	package) [ $# -ge 4 ] && "$@" ;;
	file) [ $# -eq 3 ] && "$@" ;;
	virtme) virtme ;;
	*) sed -n '3,11s/^# *//p' "$0" >&2; exit 2 ;;
	esac
}

[ "${BASH_SOURCE[0]}" != "$0" ] || main "$@"
