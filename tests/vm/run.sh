#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# ./gotrace, built once, on other kernels: each boots under virtme-ng, by software emulation. Needs root and
# ./gotrace.
#   tests/vm/run.sh 6.1 6.12            the checks (checks.sh) on these kernels; their required results are in `expected`
#   CHECKS="go_plain c_region" tests/vm/run.sh 5.10     some of them; CHECKS=turn: every second one, the others
#                                       tomorrow
#   tests/vm/run.sh 5.10 -- 'COMMAND'   runs COMMAND (busybox sh) there instead, as root; gotrace and the targets are
#                                       on PATH, files written to /out are in build/vm/5.10 afterwards
#   RECORD=1                            if all is as expected: writes the kernels' versions to `verified`, and the
#                                       table of a run on all of them to docs/kernels.md
#   VM_APPEND=preempt=full              appended to the kernels' command lines
#   VM_EXTRA="FILE..."                  further programs to put on PATH there
#   VM_CPUS=N                           CPUs of each machine, default 2
#   VM_JOBS=N                           machines at a time, default 2
#   VM_SILENCE=S                        a machine that ends no check for S seconds hangs, default 480
# Kernels: 5.10, 6.1, 6.12, 6.18, newest (fetch.sh). Nothing is retried.
[ -n "$BASH_VERSION" ] || exec bash "$0" "$@"
cd "$(dirname "$0")/../.." || exit 1
. tests/e2e/lib.sh
. tests/e2e/native.sh
. tests/e2e/children.sh
. tests/e2e/functions.sh
. tests/e2e/labels.sh
. tests/e2e/requests.sh
. tests/vm/checks.sh
VM=$TOP/build/vm
ROOT=$VM/root
SILENCE=${VM_SILENCE:-480}
EXPECTED=tests/vm/expected
CPUS=${VM_CPUS:-2}

# make_guest_root: makes the guest's root: busybox, gotrace with the libraries it was linked to here, and the programs
# to trace.
make_guest_root() {
	local file
	rm -rf "$ROOT"
	mkdir -p "$ROOT"/{bin,sbin,etc,proc,sys,dev,run,tmp,root,lib/modules,lib64,usr/bin,usr/lib,var/log,var/tmp,out,t} || return 1
	cp "$(command -v busybox)" "$ROOT/bin/busybox" || return 1
	for file in $("$ROOT/bin/busybox" --list | grep -vx busybox); do
		ln -s busybox "$ROOT/bin/$file"
	done
	printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/tmp:/bin/sh\n' >"$ROOT/etc/passwd"
	printf 'root:x:0:\ntty:x:5:\nnogroup:x:65534:\n' >"$ROOT/etc/group"
	touch "$ROOT"/etc/{fstab,shadow,hosts}
	for file in $(ldd "$GOTRACE" ${VM_EXTRA-} | grep -oE '/[^ :]+'); do
		mkdir -p "$ROOT$(dirname "$file")" && cp -L "$file" "$ROOT$file" || return 1
	done
	cp tests/vm/guest.sh tests/vm/checks.sh "$GOTRACE" ${VM_EXTRA-} "$ROOT/t/" &&
		cp "$(target_binary 1.16.15 default)" "$ROOT/t/go1.16" &&
		cp "$(target_binary 1.22.12 default)" "$ROOT/t/go1.22" &&
		cp "$(target_binary $NEWEST default)" "$ROOT/t/newest-go" &&
		cp "$(labels_binary 1.16.15 default)" "$ROOT/t/labels1.16" &&
		cp "$(labels_binary $NEWEST default)" "$ROOT/t/newest-labels" &&
		cp "$(request_target $NEWEST new-stripped)" "$ROOT/t/newest-requests" &&
		cp "$(ctarget default)" "$ROOT/t/ctarget" &&
		cp "$(calltarget default)" "$ROOT/t/calls" &&
		gcc -std=gnu17 -Wall -Wextra -Werror -O2 -o "$ROOT/t/without" tests/vm/without.c
}

# await_machine PID OUT: waits until the machine ends, however slow its host is. One that writes no new file into OUT for
# $SILENCE seconds hangs: it is ended, and the status is 124.
await_machine() {
	local files=0 now since=$SECONDS
	while kill -0 "$1" 2>/dev/null; do
		now=$(ls "$2" | wc -l)
		[ "$now" -eq "$files" ] || { files=$now && since=$SECONDS; }
		if [ $((SECONDS - since)) -ge "$SILENCE" ]; then
			kill -KILL -- "-$1"
			return 124
		fi
		sleep 1
	done
	wait "$1"
}

# boot SERIES: runs the script on standard input there; its output is in $VM/SERIES. Only an exit status
# written by the guest itself counts: a machine whose kernel crashed ends like any other.
boot() {
	local kernel out=$VM/$1 status
	kernel=$(tests/vm/fetch.sh kernel "$1" 2> >(tee "$VM/$1.fetch" >&2)) || return 1
	rm -rf "$out"
	mkdir -p "$out"
	cat >"$out/script"
	cp "$kernel/version" "$out/version"
	# With several emulation threads, the kernel's changes to its own code get lost ("Oops: int3").
	# Without tsc=reliable old kernels use a clock that needs a system call for each reading.
	# Without no_timer_check, on a busy host, the kernel's test of its timer at boot ends in a panic.
	setsid "$virtme/bin/virtme-run" --kimg "$kernel/vmlinuz" --mods auto --root "$ROOT" --rwdir="/out=$out" \
		--cpus $CPUS --memory $((CPUS > 8 ? 4 : 2))G --force-9p --disable-kvm $(printf ' -a %s' tsc=reliable no_timer_check panic=-1 ${VM_APPEND-}) --show-boot-console --busybox "$(command -v busybox)" \
		-q=-accel -q=tcg,thread=single -q=-no-reboot \
		--script-sh 'sh /out/script >/out/log 2>&1; echo $? >/out/status.new; mv /out/status.new /out/status; sync' \
		>"$out/console" 2>&1 </dev/null &
	await_machine $! "$out"
	status=$?
	[ ! -s "$out/status" ] || return 0
	[ $status -eq 124 ] && echo "no check ended for $SILENCE s" || echo "ended ($status) without a word"
	return 1
}

# checks: prints their names, in order.
checks() {
	local all=$(awk '/^[a-z]/ {print $1}' $EXPECTED)
	case ${CHECKS-} in
	"") printf "%s\n" $all ;;
	turn) printf "%s\n" $(in_turn 2 $all) ;;
	*) printf "%s\n" $CHECKS ;;
	esac
}

# expectation CHECK SERIES: prints its word in the table.
expectation() {
	awk -v check="$1" -v series="$2" '
		/^# check / { for (i = 3; i <= NF; i++) column[$i] = i - 1 }
		$1 == check && column[series] { print $column[series] }' $EXPECTED
}

# refused_as WORD: the exit status and the line are those of the table; no file was written.
refused_as() {
	local code line
	read -r _ _ code line < <(grep "^= $1 " $EXPECTED) || die "no refusal $1 in $EXPECTED"
	want "$code"
	[ "$(cat "$W/err")" = "$line" ] || die "says '$(head -c 400 "$W/err")' instead of '$line'"
	[ ! -e "$W/trace" ] || die "left a file"
}

# missed_some: a kernel that preempts both programs on a system call skips those of another thread's call,
# counts it, and gotrace reports it (docs/limits.md). Nothing else may be lost, and at most one of 200 hits.
missed_some() {
	local lost missed hits
	[ "$status" -eq 3 ] || return 0
	lost=$(sed -nE 's/^  lost +(ring full .*)/\1/p' "$W/err")
	missed=$(sed -nE 's/^ring full 0, stacks 0, unreadable 0, missed by the kernel ([0-9,]+), CPU samples 0$/\1/p' <<<"$lost" | tr -d ,)
	hits=$(sed -nE 's/^  cost +([0-9,]+) hits .*/\1/p' "$W/err" | tr -d ,)
	[ "${missed:-0}" -gt 0 ] && [ $((missed * 200)) -le "${hits:-0}" ] || die "lost: $lost of ${hits:-no} hits"
	printf '%s of %s hits missed by the kernel; ' "$missed" "$hits"
	status=0
}

# judge_one CHECK SERIES: judges the results.
judge_one() {
	local word
	word=$(expectation "$1" "$2")
	[ -n "$word" ] || die "$EXPECTED does not say what $1 ends with on $2"
	[ -e "$W/status" ] || die "no status came back: $(cat "$W/harness.err" "$W/shell.err" 2>/dev/null | head -c 300)"
	[ ! -s "$W/harness.err" ] || die "$(head -c 300 "$W/harness.err")"
	status=$(cat "$W/status")
	quiet "$W/err"
	if [ "$word" = ok ] || [ "$word" = missed ]; then
		[ "$word" = ok ] || missed_some
		"judge_$1"
	else
		refused_as "$word"
	fi
}

# result CHECK SERIES NAME: prints one line, and adds a line to $VM/SERIES.results for the table.
result() {
	local text ok word seconds
	W=$VM/$2/$1
	text=$(judge_one "$1" "$2" 2>&1)
	ok=$?
	word=$(expectation "$1" "$2")
	seconds=$(cat "$W/seconds" 2>/dev/null)
	if [ $ok -eq 0 ]; then
		passed=$((passed + 1))
		case $word in
		ok) ;;
		missed) [ "$(cat "$W/status")" -eq 0 ] && word=ok || word="ok, some hits missed" ;;
		*) word=refused ;;
		esac
		echo "PASS $2 $1 (${seconds} s)${text:+: $text}"
	else
		failed=$((failed + 1))
		word=FAIL
		echo "FAIL $2 $1 (${seconds} s): $text"
		tail -n 3 "$W/err" 2>/dev/null | sed 's/^/     err: /'
	fi
	echo "$1 $word" >>"$VM/$2.results"
}

# machine SERIES: judges the machine as a whole: it finished, ran this very binary, and its kernel reported no errors.
machine() {
	local theirs
	[ -s "$VM/$1/status" ] || die "$(cat "$VM/$1.boot"; tail -n 3 "$VM/$1/console" 2>/dev/null)"
	theirs=$(cut -d ' ' -f 1 "$VM/$1/sha256")
	echo "Linux $(cat "$VM/$1/release"), $CPUS CPUs, package $(cat "$VM/$1/version"), gotrace $theirs, $(cat "$VM/$1.seconds") s"
	[ "$theirs" = "$ours" ] || die "that is not the host's ./gotrace, $ours"
	! grep -E -m 3 'Oops|BUG:|WARNING:|Call Trace|soft lockup|rcu_sched' "$VM/$1/dmesg" || die "the kernel complains"
}

# start_machine SERIES: called in the background.
start_machine() {
	local began=$SECONDS
	boot "$1" >"$VM/$1.boot" <<-SCRIPT
		. /t/guest.sh
		. /t/checks.sh
		uname -r >/out/release
		sha256sum /tmp/t/gotrace >/out/sha256
		run_checks $(checks | tr '\n' ' ')
		dmesg >/out/dmesg
	SCRIPT
	echo $((SECONDS - began)) >"$VM/$1.seconds"
}

judge_machine() {
	local check text
	: >"$VM/$1.results"
	W=$VM/$1
	if text=$(machine "$1"); then
		passed=$((passed + 1))
		echo "PASS $1 kernel: $text"
	else
		failed=$((failed + 1))
		echo "FAIL $1 kernel: $text"
	fi
	for check in $(checks); do
		result "$check" "$1"
	done
}

# last_verified SERIES: compares this kernel with that of the last recorded full run.
last_verified() {
	local was now
	was=$(awk -v series="$1" '$1 == series {print $2}' tests/vm/verified)
	now=$(cat "$VM/$1/version" 2>/dev/null)
	[ "$now" = "$was" ] || echo "Linux $1: ${now:-none} was tried; the last one recorded as verified is ${was:-none}"
}

note_verified() {
	local series
	if [ "$failed" -gt 0 ] || [ -n "${CHECKS-}" ]; then
		echo "nothing is recorded"
		return
	fi
	for series; do
		sed -i "/^$series /d" tests/vm/verified
		echo "$series $(cat "$VM/$series/version") $(date -u +%F)" >>tests/vm/verified
	done
	sort -V -o tests/vm/verified tests/vm/verified
	[ $# -eq "$(awk '/^# check / {print NF - 2}' $EXPECTED)" ] || return 0
	{ echo && date -u +'The last full run (`make vmtest-all`), %F:' && echo && table "$@"; } >"$VM/table"
	sed -i -e '/^<!-- vmtest-all -->$/,/^<!-- end -->$/ {/^<!--/!d}' -e "/^<!-- vmtest-all -->\$/r $VM/table" docs/kernels.md
}

# table SERIES...: prints kernel × check × result, as in docs/kernels.md.
table() {
	local series check row line
	row="| check |" line="|---|"
	for series; do
		row="$row $(cat "$VM/$series/release" 2>/dev/null || echo "$series") |" line="$line---|"
	done
	printf '%s\n%s\n' "$row" "$line"
	for check in $(checks); do
		row="| $check |"
		for series; do
			row="$row $(awk -v check="$check" '$1 == check {sub(/^[^ ]+ /, ""); print}' "$VM/$series.results") |"
		done
		echo "$row"
	done
}

[ "$(id -u)" -eq 0 ] || { echo "vm: needs root" >&2; exit 1; }
[ -x "$GOTRACE" ] || { echo "vm: no ./gotrace here: run make first" >&2; exit 1; }
mkdir -p "$VM" "$E2E"
make_guest_root || { echo "vm: cannot make the guests' root" >&2; exit 1; }
virtme=$(tests/vm/fetch.sh virtme) || exit 1
if [ "$2" = -- ]; then
	series=$1
	shift 2
	boot "$series" <<<". /t/guest.sh; $*" || exit 1
	cat "$VM/$series/log"
	exit "$(cat "$VM/$series/status")"
fi
build_judge || { echo "vm: cannot build the judge" >&2; exit 1; }
ours=$(sha256sum "$GOTRACE" | cut -d ' ' -f 1)
echo "gotrace of this host: sha256 $ours"
for series; do
	[ -n "$(expectation "$(checks | head -n 1)" "$series")" ] || { echo "vm: $EXPECTED knows no kernel $series" >&2; exit 1; }
done
for series; do
	while [ "$(jobs -pr | wc -l)" -ge "${VM_JOBS:-2}" ]; do
		wait -n
	done
	start_machine "$series" &
done
wait
for series; do
	judge_machine "$series"
done
echo
table "$@"
echo
for series; do
	last_verified "$series"
done
[ "${RECORD-}" != 1 ] || note_verified "$@"
finish
