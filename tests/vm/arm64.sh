#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# gotrace for arm64 on a kernel for arm64, under qemu-system-aarch64: no KVM, no network, no root.
#   tests/vm/arm64.sh [CHECK...]      the checks of arm64_checks.sh, or some of them
#   tests/vm/arm64.sh -- 'COMMAND'    runs COMMAND (busybox sh) there instead; gotrace and the targets are in /t; files
#                                     written to /out are in build/vm/arm64/out afterwards
# ARM_LIMIT=S: time limit for the machine, in seconds. May also be sourced: arm64_root makes the guest's root,
# arm64_boot boots it.
[ -n "$BASH_VERSION" ] || exec bash "$0" "$@"
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
VM=$PWD/build/vm
ARM=$VM/arm64
ARM_SERIES=${ARM_SERIES:-6.12}
ARM_LIMIT=${ARM_LIMIT:-900}
ARM_OUT_SIZE=64M

# arm64_needed FILE: prints the names of the libraries that it loads.
arm64_needed() {
	readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}

# arm64_libraries SYSROOT DIR NAME...: copies them to DIR, and those that they load.
arm64_libraries() {
	local from=$1 to=$2 name file
	shift 2
	for name; do
		[ -e "$to/$name" ] && continue
		file=$(find -L "$from/lib" "$from/usr/lib/aarch64-linux-gnu" -maxdepth 2 -name "$name" -print -quit)
		[ -n "$file" ] && cp -L "$file" "$to/" || { echo "no $name in $from" >&2 && return 1; }
		arm64_libraries "$from" "$to" $(arm64_needed "$to/$name") || return 1
	done
}

# arm64_root DIR: busybox, gotrace for arm64, and the libraries that it loads.
arm64_root() {
	local root=$1 libs=build/arm64/sysroot
	rm -rf "$root"
	mkdir -p "$root"/{bin,etc,proc,sys,dev,run,tmp,root,lib,out,t} || return 1
	cp build/arm64/sysroot/bin/busybox "$root/bin/" || return 1
	ln -s busybox "$root/bin/sh"
	cp tests/vm/arm64-init.sh "$root/init" && cp "${ARM_GOTRACE:-build/arm64/gotrace}" tests/vm/guest.sh "$root/t/" || return 1
	printf 'root:x:0:0:root:/root:/bin/sh\n' >"$root/etc/passwd"
	arm64_libraries "$libs" "$root/lib" ld-linux-aarch64.so.1 $(arm64_needed "${ARM_GOTRACE:-build/arm64/gotrace}")
}

# arm64_boot ROOT OUT SCRIPT: runs SCRIPT (a file) in a guest with that root. Files written to /out are in
# OUT, with `log` and `status`. They are returned through a disk to which the guest writes a plain tar file.
arm64_boot() {
	local root=$1 out=$2 kernel
	kernel=$(tests/vm/fetch.sh kernel "$ARM_SERIES" arm64 cloud) || return 1
	rm -rf "$out"
	mkdir -p "$out"
	cp "$3" "$root/script" || return 1
	(cd "$root" && find . | cpio -o -H newc -R 0:0 --quiet | gzip -1) >"$out.initrd" || return 1
	truncate -s 0 "$out.disk" && truncate -s $ARM_OUT_SIZE "$out.disk" || return 1
	cp "$kernel/version" "$out.version"
	# With several emulation threads, the kernel's changes to its own code get lost.
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

# arm_cc OUT ARG...: compiles a C program for arm64.
arm_cc() {
	local out=$1
	shift
	aarch64-linux-gnu-gcc --sysroot=build/arm64/sysroot -std=gnu17 -Wall -Wextra -Werror -o "$out" "$@"
}

# arm_redis ROOT: redis-server, with the libraries that it loads.
arm_redis() {
	local root=$1 from
	from=$(tests/vm/fetch.sh package bookworm arm64 redis-server redis-tools libc6 libatomic1 liblzf1 libjemalloc2 \
		libsystemd0 libcap2 libgcrypt20 libgpg-error0 liblzma5 libzstd1 liblz4-1 libssl3 libgcc-s1 libstdc++6) || return 1
	cp -L "$from/usr/bin/redis-server" "$root/bin/" &&
		arm64_libraries "$from" "$root/lib" $(arm64_needed "$root/bin/redis-server")
}

# arm_targets DIR: the programs to trace, and the one that counts their switches there.
arm_targets() {
	local dir=$1 sources
	sources=$(find tests/e2e/ctargets -name '*.c' ! -name plugin.c)
	arm_cc "$dir/ctarget.so" -O2 -fomit-frame-pointer -fPIC -shared tests/e2e/ctargets/plugin.c &&
		arm_cc "$dir/ctarget" -O2 -fomit-frame-pointer $sources &&
		arm_cc "$dir/ctarget-debug" -O0 -g -fno-pie -no-pie $sources &&
		arm_cc "$dir/calls" -O2 -fomit-frame-pointer tests/e2e/calltargets/calls.c -pthread &&
		cp "$(arm64_target "$NEWEST" default)" "$dir/go" &&
		cp "$(request_target "$NEWEST" new-arm64-stripped)" "$dir/requests-newest" &&
		cp "$(request_target 1.22.12 old-arm64)" "$dir/requests-old" &&
		cp "$(routers_binary "$NEWEST" new arm64)" "$dir/routers-new" &&
		cp "$(routers_binary 1.22.12 old arm64)" "$dir/routers-old" &&
		(cd tests/e2e/judge && GOARCH=arm64 GOTOOLCHAIN=go$NEWEST CGO_ENABLED=0 timeout 900 go build -buildvcs=false -o "$dir/judge-arm64" .)
}

# judge_check NAME: judges the results.
judge_check() {
	[ -e "$W/status" ] || die "no status came back: $(cat "$W/harness.err" "$W/shell.err" 2>/dev/null | head -c 300)"
	[ ! -s "$W/harness.err" ] || die "$(head -c 300 "$W/harness.err")"
	status=$(cat "$W/status")
	"judge_$1"
}

arm_checks() {
	local check text
	{
		echo '. /t/guest.sh; . /t/arm64_checks.sh; sha256sum /t/gotrace >/out/sha256'
		# Finished results are written at once, so that they survive if the machine takes too long.
		echo "for check in $*; do run_checks \$check; echo \$check \$(cut -d' ' -f1 /proc/uptime) >>/out/log; tar -cf /dev/nvme0n1 -C /out .; sync; done"
		echo 'dmesg >/out/dmesg'
	} >"$ARM/script"
	cp tests/vm/arm64_checks.sh "$ARM/root/t/"
	if arm64_boot "$ARM/root" "$ARM/out" "$ARM/script" && ! grep -E -m 3 'Oops|BUG:|WARNING:|Call trace' "$ARM/out/dmesg"; then
		passed=$((passed + 1))
		echo "PASS arm64 kernel: Linux $(cat "$ARM/out/release"), package $(cat "$ARM/out.version")"
	else
		failed=$((failed + 1))
		echo "FAIL arm64 kernel: $(head -c 300 "$ARM/out/log" 2>/dev/null)"
	fi
	for check; do
		W=$ARM/out/$check
		if text=$(judge_check "$check" 2>&1); then
			passed=$((passed + 1))
			echo "PASS arm64 $check ($(cat "$W/seconds") s): $text"
		else
			failed=$((failed + 1))
			echo "FAIL arm64 $check: $text"
			tail -n 3 "$W/err" 2>/dev/null | sed 's/^/     err: /'
		fi
	done
}

arm_main() {
	. tests/e2e/lib.sh
	. tests/e2e/native.sh
	. tests/e2e/functions.sh
	. tests/e2e/requests.sh
	. tests/e2e/arm64.sh
	. tests/vm/arm64_checks.sh
	mkdir -p "$ARM" "$E2E"
	make ARCH=arm64 && arm64_root "$ARM/root" && arm_redis "$ARM/root" && arm_targets "$ARM" && build_judge || { echo "arm64: cannot build" >&2; exit 1; }
	cp "$ARM"/{ctarget,ctarget.so,ctarget-debug,calls,judge-arm64,go,requests-newest,requests-old,routers-new,routers-old} "$ARM/root/t/"
	# A static gotrace does not load the libraries that the targets load.
	arm64_libraries build/arm64/sysroot "$ARM/root/lib" \
		$(for program in ctarget ctarget.so ctarget-debug calls; do arm64_needed "$ARM/$program"; done) || exit 1
	if [ "${1-}" = -- ]; then
		echo ". /t/guest.sh; $2" >"$ARM/script"
		arm64_boot "$ARM/root" "$ARM/out" "$ARM/script" || exit 1
		cat "$ARM/out/log"
		exit "$(cat "$ARM/out/status")"
	fi
	[ $# -gt 0 ] || set -- $(sed -n 's/^run_\([a-z_]*\)().*/\1/p' tests/vm/arm64_checks.sh)
	arm_checks "$@"
	finish
}

[ "${BASH_SOURCE[0]}" != "$0" ] || arm_main "$@"
