# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# System calls that the kernel starts again after a signal are one call. To be sourced after plugins.sh.

# interrupt: sends SIGUSR1 to the target's thread $1 every 2 ms until the target is done. Prints how often.
interrupt() {
	python3 - "$target" "$1" "$W/target.out" <<-'PYTHON'
		import ctypes, sys, time
		pid, tid, sent = int(sys.argv[1]), int(sys.argv[2]), 0
		NR_TGKILL, SIGUSR1 = 234, 10 # asm/unistd_64.h
		end = time.time() + 60
		while "done" not in open(sys.argv[3]).read() and time.time() < end:
		    ctypes.CDLL(None).syscall(NR_TGKILL, pid, tid, SIGUSR1)
		    sent += 1
		    time.sleep(0.002)
		print(sent)
	PYTHON
}

# interrupted_binary RELEASE: builds the target, whose path is in $binary.
interrupted_binary() {
	binary=$E2E/interrupted-$1
	(cd tests/e2e/interrupted && CGO_ENABLED=0 GOTOOLCHAIN=go$1 timeout 900 go build -buildvcs=false -o "$binary" .) >&2 ||
		die "cannot build with Go $1"
}

# The goroutine gives its P up, borrows it to start a thread, and sleeps in the call. So it stops in no other way.
case_signal_waits() {
	local release calls stops
	for release in 1.21.13 1.25.6 $NEWEST; do
		interrupted_binary $release
		start_target "$binary" threads
		trace_plugin
		sleep 2
		end_plugin_trace 0
		calls=$(number_of "SELECT count(*) FROM state s JOIN goroutine g ON g.id = s.g WHERE s.state = 'syscall' AND g.name = 'os/signal.loop'")
		stops=$(number_of "SELECT count(*) FROM state s JOIN goroutine g ON g.id = s.g WHERE s.state = 'runnable' AND s.reason = 'unspecified' AND g.name = 'os/signal.loop'")
		[ "$calls" -ge 20 ] || die "Go $release: $calls calls"
		[ "$stops" = 0 ] || die "Go $release: $stops of $calls calls end without a signal"
	done
}

case_interrupted_calls() {
	local release tid sent n
	for release in 1.21.13 1.22.12 1.26.8 $NEWEST; do
		interrupted_binary $release
		start_target "$binary"
		tid=$(sed -n 's/^ready //p' "$W/target.out")
		trace_plugin
		kill -USR2 "$target"
		sent=$(interrupt "$tid")
		printed "done"
		end_plugin_trace 0
		[ "$sent" -ge 200 ] || noisy "only $sent signals"
		n=$(number_of "SELECT count(*) FROM state s JOIN goroutine g ON g.id = s.g WHERE s.state = 'syscall' AND g.name = 'main.reader'")
		[ "$n" = 1100 ] || die "Go $release: $n calls instead of 1100 ($sent signals)"
	done
}
