#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# sysroot.sh LINK: fetches arm64's libraries, from Debian 12's packages, for linking cross builds and running their
# tests. LINK becomes a symbolic link to the directory in which they are unpacked, in a cache outside the tree.
set -eu
root=$("$(dirname "$0")/../tests/vm/fetch.sh" package bookworm arm64 \
	libc6 libc6-dev linux-libc-dev libcrypt1 libgcc-s1 libstdc++6 libasan8 libubsan1 \
	libbpf1 libbpf-dev libelf1 libelf-dev libdw1 libdw-dev zlib1g zlib1g-dev libdeflate0 libdeflate-dev libiberty-dev \
	liblzma5 liblzma-dev libbz2-1.0 libbz2-dev \
	libzstd1 libseccomp2 libseccomp-dev libcap2 libcap-dev libncursesw6 libtinfo6 libncurses-dev libprotobuf-c1 libprotobuf-c-dev \
	libsqlite3-0 libsqlite3-dev libcmocka0 libcmocka-dev busybox-static)
mkdir -p "$(dirname "$1")"
ln -sfn "$root" "$1"
