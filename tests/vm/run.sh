#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# ./gotrace, built once, on other kernels: each boots under virtme-ng (software emulation, no KVM needed).
#   tests/vm/run.sh 6.1                 the checks on that kernel; several can be named
#   tests/vm/run.sh 5.10 -- 'COMMAND'   runs COMMAND (busybox sh) there instead, as root; gotrace and the targets are
#                                       in /t, what it writes into /out is in build/vm/out-5.10 afterwards
# Kernels: 5.10, 6.1, 6.12, 6.18, newest (see fetch.sh).
[ -n "$BASH_VERSION" ] || exec bash "$0" "$@"
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
. tests/e2e/native.sh
. tests/e2e/functions.sh
VM=$TOP/build/vm
ROOT=$VM/root
LIMIT=${VM_LIMIT:-180} # seconds for one machine

# target_to NAME FILE: one of the programs that are traced.
target_to() {
	cp "$2" "$ROOT/t/$1"
}

# make_root: the guest's root: busybox, gotrace with the libraries it was linked to here, and the targets.
make_root() {
	local file
	rm -rf "$ROOT"
	mkdir -p "$ROOT"/{bin,sbin,etc,proc,sys,dev,run,tmp,root,lib/modules,lib64,usr/bin,usr/lib,var/log,var/tmp,out,t} || return 1
	ln -s . "$ROOT/usr/sbin"
	cp "$(command -v busybox)" "$ROOT/bin/busybox" || return 1
	for file in $("$ROOT/bin/busybox" --list | grep -vx busybox); do
		ln -s busybox "$ROOT/bin/$file"
	done
	printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/tmp:/bin/sh\n' >"$ROOT/etc/passwd"
	printf 'root:x:0:\ntty:x:5:\nnogroup:x:65534:\n' >"$ROOT/etc/group"
	touch "$ROOT"/etc/{fstab,shadow,hosts}
	cp tests/vm/guest.sh "$GOTRACE" "$ROOT/t/" || return 1
	for file in $(ldd "$GOTRACE" | grep -oE '/[^ ]+'); do
		mkdir -p "$ROOT$(dirname "$file")" && cp -L "$file" "$ROOT$file" || return 1
	done
	target_to go1.16 "$(target_binary 1.16.15 default)" &&
		target_to go1.22 "$(target_binary 1.22.12 default)" &&
		target_to go1.26 "$(target_binary $NEWEST default)" &&
		target_to ctarget "$(ctarget default)" &&
		target_to calls "$(calltarget default)"
}

# boot SERIES OUT SCRIPT: runs it there; what it wrote is in OUT, its exit status in $OUT/status.
boot() {
	local kernel virtme out=$2
	virtme=$(tests/vm/fetch.sh virtme) || return 1
	kernel=$(tests/vm/fetch.sh kernel "$1") || return 1
	rm -rf "$out"
	mkdir -p "$out"
	cat >"$out/script"
	echo "$(cat "$kernel/version")" >"$out/version"
	# Several threads of emulation lose the kernel's changes of its own code ("Oops: int3"); without tsc=reliable old
	# kernels take another clock, which makes a system call of each look at it.
	timeout -k 5 "$LIMIT" nice -n 19 "$virtme/bin/virtme-run" --kimg "$kernel/vmlinuz" --mods auto --root "$ROOT" --rwdir="/out=$out" \
		--cpus 2 --memory 2G --force-9p --disable-kvm -a tsc=reliable -a panic=-1 --busybox "$(command -v busybox)" \
		-q=-accel -q=tcg,thread=single -q=-no-reboot \
		--script-sh 'sh /out/script >/out/log 2>&1; echo $? >/out/status; sync' >"$out/console" 2>&1 </dev/null
	[ -s "$out/status" ] || { echo "the machine wrote no status within $LIMIT s: $(tail -n 5 "$out/console")"; return 1; }
}

make_root || exit 1
if [ "$2" = -- ]; then
	series=$1
	shift 2
	boot "$series" "$VM/out-$series" <<<". /t/guest.sh; uname -r; $*" || exit 1
	cat "$VM/out-$series/log"
	exit "$(cat "$VM/out-$series/status")"
fi
