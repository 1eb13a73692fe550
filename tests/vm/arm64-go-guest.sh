# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Runs in the guest, sourced by the script that arm64-go.sh writes.
ifconfig lo 127.0.0.1 up

# started FILE PATTERN SECONDS: waits for the line.
started() {
	local i=0
	while [ $i -lt $(($3 * 5)) ]; do
		grep -q "$2" "$1" 2>/dev/null && return 0
		sleep 0.2
		i=$((i + 1))
	done
	echo "no '$2' in $1: $(tail -n 3 "$1")"
	return 1
}

# exists FILE SECONDS: waits for the file.
exists() {
	local i=0
	while [ $i -lt $(($2 * 5)) ]; do
		[ -e "$1" ] && return 0
		sleep 0.2
		i=$((i + 1))
	done
	return 1
}

# trace_cell RELEASE MODE OPTION...: gotrace and the runtime's own tracer trace one program at the same time.
trace_cell() {
	local release=$1 mode=$2 out=/out/$1-$2 target tracer status
	shift 2
	mkdir -p "$out"
	/t/target-$release $mode -native $out/native -native-seconds 4 -seconds 119 >$out/target.out 2>$out/target.err </dev/null &
	target=$!
	started $out/target.out '^ready' 60 || return 1
	/t/gotrace -p $target "$@" --stats -o $out/trace --raw $out/raw >$out/gotrace.out 2>$out/gotrace.err </dev/null &
	tracer=$!
	exists $out/trace 60 || { tail -n 3 $out/gotrace.err; return 1; } # all probes are attached then
	sleep 1
	kill -USR1 $target
	started $out/target.out 'native done' 60 || return 1
	sleep 0.3
	kill -INT $tracer
	wait $tracer
	status=$?
	echo $status >$out/status
	kill -TERM $target
	wait $target
	echo "$release $mode: gotrace ended with $status: $(tail -n 1 $out/gotrace.err)"
}
