# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Runs in the guest, sourced by busybox sh: a working directory that is not on the host's file system, and
# functions shared by the checks.
mount -t tmpfs -o mode=1777 tmpfs /tmp
grep -q ' /sys/kernel/tracing ' /proc/mounts || mount -t tracefs tracefs /sys/kernel/tracing
mount -t bpf bpf /sys/fs/bpf
ip link set lo up
cp -r /t /tmp/t
ulimit -l unlimited
export PATH=/tmp/t:/bin HOME=/tmp
cd /tmp || exit 1

# start PROGRAM ARG...: starts the process to be traced, $target, and waits until it is ready.
start() {
	"$@" >target.out 2>target.err </dev/null &
	target=$!
	said ready
}

# said WORD: waits until the target prints this.
said() {
	local i=0
	while [ $i -lt 600 ]; do
		grep -q "^$1" target.out && return
		kill -0 $target || break
		i=$((i + 1))
		sleep 0.1
	done
	echo "the target does not say $1" >>harness.err
	return 1
}

# got COMMAND...: runs COMMAND; its output, errors and exit status become those of the check.
got() {
	timeout 150 "$@" >out 2>err </dev/null
	echo $? >status
}

# traced ARG...: makes a trace of the target.
traced() {
	got gotrace -p "$target" -o trace "$@"
}

# tracing ARG...: the same in the background; returns when all probes are attached. traced_so_far ends it.
tracing() {
	gotrace -p "$target" -o trace "$@" >out 2>err </dev/null &
	tracer=$!
	local i=0
	while [ $i -lt 600 ] && [ ! -e trace ]; do
		kill -0 $tracer || break
		i=$((i + 1))
		sleep 0.1
	done
}

traced_so_far() {
	kill -INT $tracer
	wait $tracer
	echo $? >status
}

# still_there: checks that the target was not disturbed.
still_there() {
	kill -0 $target || echo "the target is gone" >>harness.err
	[ ! -s target.err ] || { echo "the target complains:" && cat target.err; } >>harness.err
}

# run_checks NAME...: runs each in a directory of its own, which the host finds in /out.
run_checks() {
	local name from
	for name; do
		from=$(cut -d. -f1 /proc/uptime)
		mkdir -p /tmp/w && cd /tmp/w || exit 1
		target=
		"run_$name" 2>shell.err
		[ -z "$target" ] || { still_there; kill -KILL $target; wait $target; } 2>/dev/null
		echo $(($(cut -d. -f1 /proc/uptime) - from)) >seconds
		cp -r /tmp/w "/out/$name.part" && mv "/out/$name.part" "/out/$name"
		cd /tmp && rm -rf /tmp/w
	done
}
