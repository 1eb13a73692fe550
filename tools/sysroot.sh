#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# sysroot.sh DIR: the libraries of arm64 that a cross build links with, and those that its tests load.
set -eu
bash "$(dirname "$0")/debs.sh" arm64 "$1" \
	libc6 libc6-dev linux-libc-dev libcrypt1 libgcc-s1 libstdc++6 libasan8 libubsan1 \
	libbpf1 libbpf-dev libelf1 libelf-dev libdw1 libdw-dev zlib1g zlib1g-dev liblzma5 liblzma-dev libbz2-1.0 \
	libzstd1 libseccomp2 libseccomp-dev libcap2 libcap-dev libcmocka0 libcmocka-dev
touch "$1/.packages"
