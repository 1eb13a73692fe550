#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# gotrace for arm64 on a kernel for arm64, under qemu-system-aarch64: no KVM, no network, no root.
#   tests/vm/arm64.sh                 the checks
#   tests/vm/arm64.sh -- 'COMMAND'    runs COMMAND (busybox sh) there instead; gotrace and the targets are in /t; what it
#                                     writes into /out is in build/vm/out-arm64 afterwards
# To be sourced, too: arm64_root makes the guest's root, arm64_boot boots it.
[ -n "$BASH_VERSION" ] || exec bash "$0" "$@"
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
VM=$PWD/build/vm
ARM_SERIES=${ARM_SERIES:-6.12}
ARM_LIMIT=${ARM_LIMIT:-150} # seconds for one machine
ARM_OUT_SIZE=64M

# arm64_root DIR: busybox, gotrace for arm64 and the libraries that it loads.
arm64_root() {
	local root=$1 libs=build/arm64/sysroot/ name
	rm -rf "$root"
	mkdir -p "$root"/{bin,etc,proc,sys,dev,run,tmp,root,lib,out,t} || return 1
	cp build/arm64/sysroot/bin/busybox "$root/bin/" || return 1
	ln -s busybox "$root/bin/sh"
	cp tests/vm/arm64-init.sh "$root/init" && cp build/arm64/gotrace "$root/t/" || return 1
	printf 'root:x:0:0:root:/root:/bin/sh\n' >"$root/etc/passwd"
	for name in ld-linux-aarch64 libc libm libbpf libelf libdw libz liblzma libbz2 libzstd libstdc++ libgcc_s libseccomp libcap; do
		find -L $libs/lib $libs/usr/lib/aarch64-linux-gnu -maxdepth 2 -name "$name.so.[0-9]*" -exec cp -L {} "$root/lib/" \;
	done
}

# arm64_boot ROOT OUT SCRIPT: runs SCRIPT (a file) in a guest with that root; what it wrote to /out is in OUT, with
# `log` and `status`. The way back is a disk that the guest writes a tar file on, as it is.
arm64_boot() {
	local root=$1 out=$2 kernel
	kernel=$(tests/vm/fetch.sh kernel "$ARM_SERIES" arm64 cloud) || return 1
	rm -rf "$out"
	mkdir -p "$out"
	cp "$3" "$root/script" || return 1
	(cd "$root" && find . | cpio -o -H newc -R 0:0 --quiet | gzip -1) >"$out.initrd" || return 1
	truncate -s 0 "$out.disk" && truncate -s $ARM_OUT_SIZE "$out.disk" || return 1
	cp "$kernel/version" "$out.version"
	# Several threads of emulation lose the kernel's changes of its own code.
	timeout -k 5 "$ARM_LIMIT" nice -n 19 qemu-system-aarch64 -machine virt -cpu "${ARM_CPU:-cortex-a72}" -accel tcg,thread=single \
		-smp 2 -m 1536 -nographic -no-reboot -kernel "$kernel/vmlinuz" -initrd "$out.initrd" \
		-drive "file=$out.disk,if=none,id=out,format=raw" -device nvme,drive=out,serial=out \
		-append "console=ttyAMA0 quiet panic=-1" >"$out.console" 2>&1 </dev/null
	tar -xf "$out.disk" -C "$out" 2>/dev/null
	rm -f "$out.disk" "$out.initrd"
	[ -s "$out/status" ] && return
	echo "arm64: the machine wrote no status within $ARM_LIMIT s: $(tail -n 5 "$out.console")" >&2
	return 1
}
