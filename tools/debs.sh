#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# debs.sh ARCH DIR PACKAGE...: unpacks Debian 12 packages of another architecture into DIR, newest of each, by an
# apt state of its own: signed indexes, nothing of the machine's own lists is touched and nothing is installed.
# DIR/.packages names what is there; if that is what was asked for, nothing is done and no network is needed.
# Downloads are kept in $GOTRACE_CACHE/debs-ARCH (by default ~/.cache/gotrace/debs-ARCH).
set -euo pipefail
arch=$1 dir=$2
shift 2
state=${GOTRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gotrace}/debs-$arch

stop() {
	echo "debs: $*" >&2
	exit 1
}

[ "$(cat "$dir/.packages" 2>/dev/null)" != "$*" ] || exit 0

mkdir -p "$state"/{lists/partial,archives/partial,dpkg}
: >"$state/dpkg/status"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r $keys ] || stop "no $keys: install debian-archive-keyring"
cat >"$state/sources.list" <<END
deb [signed-by=$keys] http://deb.debian.org/debian bookworm main
deb [signed-by=$keys] http://deb.debian.org/debian-security bookworm-security main
END
apt() {
	local tool=$1
	shift
	"$tool" -o APT::Architecture="$arch" -o APT::Architectures::="$arch" -o APT::Sandbox::User=root \
		-o Dir::State="$state" -o Dir::State::lists="$state/lists" -o Dir::State::status="$state/dpkg/status" \
		-o Dir::Cache="$state" -o Dir::Cache::archives="$state/archives" \
		-o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts="$state/dpkg" -o Dir::Etc::preferencesparts="$state/dpkg" \
		-o Acquire::Languages=none -o Debug::NoLocking=1 "$@"
}

# The package with this beginning of a name that sorts last, for names that hold a version: linux-image-6.12.*.
newest() {
	case $1 in
	*'*'*) apt apt-cache pkgnames "${1%%\**}" | grep -E "^${1//\*/.*}\$" | grep -v -- -dbg | sort -V | tail -n 1 ;;
	*) echo "$1" ;;
	esac
}

apt apt-get update -qq || stop "no indexes of Debian 12 for $arch: is there a network?"
names=
for package; do
	name=$(newest "$package")
	[ -n "$name" ] || stop "Debian 12 has no $package for $arch"
	names="$names $name"
done
(cd "$state/archives" && apt apt-get download -qq $names) || stop "download failed: $names"
rm -rf "$dir.new"
mkdir -p "$dir.new"
for name in $names; do
	file=$(find "$state/archives" -name "${name}_*.deb" -printf '%T@ %p\n' | sort -rn | sed -n '1s/^[^ ]* //p')
	[ -n "$file" ] || stop "no file for $name"
	dpkg -x "$file" "$dir.new"
	echo "debs: ${file##*/}"
done
echo "$*" >"$dir.new/.packages"
rm -rf "$dir"
mv "$dir.new" "$dir"
