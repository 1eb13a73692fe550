# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Shared by the end-to-end tests. To be sourced by bash from the top of the repo.

TOP=$PWD
E2E=$TOP/build/e2e
GOTRACE=${GOTRACE:-$TOP/gotrace}
JUDGE=$E2E/judge
RELEASES="1.22.12 1.23.8 1.24.6 1.25.1 1.26.8 1.27.4"
# Up to 1.21 Go writes v1 formats, and 1.4 none. These releases run the loads of oldtargets.
OLD_RELEASES="1.4.3 1.5.4 1.6.4 1.7.6 1.8.7 1.9.7 1.10.8 1.11.13 1.12.17 1.13.15 1.14.15 1.15.15 1.16.15 1.17.13 1.18.10 1.19.13 1.20.14 1.21.13"
NEWEST=1.27.4
# Chooses what takes turns: by default the day.
CELL_SEED=${CELL_SEED:-$(($(date +%s) / 86400))}
VARIANTS="default stripped pie cgo pgo unoptimised"
passed=0
failed=0
repeated=0 # tests that had to be tried again
skipped=0

. "$TOP/tools/go.sh"
find_go || { echo "e2e: no Go of 1.22 or later on PATH: run tools/deps.sh tests" >&2; exit 1; }
# The tests choose releases, whatever the user's environment says.
unset GOFLAGS GOWORK GOOS GOARCH GODEBUG GOMAXPROCS
export GO111MODULE=on

build_judge() {
	mkdir -p "$E2E"
	(cd tests/e2e/judge && GOTOOLCHAIN=go$NEWEST CGO_ENABLED=0 timeout 600 go build -buildvcs=false -o "$JUDGE" .)
}

# minor RELEASE: prints 21 for 1.21.13.
minor() {
	local rest=${1#1.}
	echo "${rest%%.*}"
}

# old_binary BINARY RELEASE CGO FLAG...: builds oldtargets. Up to Go 1.7 Go's own linker cannot make a PIE,
# and up to 1.9 the go command expects a C compiler that does not make PIEs by default.
old_binary() {
	local binary=$1 release=$2 cgo=$3 cc=gcc
	shift 3
	if [ "$(minor "$release")" -le 7 ] && [ "$*" = -buildmode=pie ]; then
		cgo=1
	elif [ "$(minor "$release")" -le 9 ]; then
		cc=$TOP/tests/e2e/gcc-no-pie
	fi
	(cd tests/e2e/oldtargets && CGO_ENABLED=$cgo CC=$cc old_go "$release" build "$@" -o "$binary" .) >&2
}

# hot_profile RELEASE: prints the path of a profile in which all calls of probed functions are hot.
hot_profile() {
	local binary profile=$E2E/hot-$1.pgo
	binary=$(target_binary "$1" default) || return 1
	if [ ! -s "$profile" ] || [ "$binary" -nt "$profile" ]; then
		(cd tests/e2e/hotprofile && CGO_ENABLED=0 go run . "$binary" >"$profile") >&2 || return 1
	fi
	echo "$profile"
}

# target_binary RELEASE VARIANT: prints its path, and builds it if needed.
target_binary() {
	local binary=$E2E/target-$1-$2 flags=() cgo=0
	case $2 in
	stripped) flags=(-ldflags='-s -w') ;;
	pie) flags=(-buildmode=pie) ;;
	cgo) cgo=1 ;;
	pgo) flags=(-pgo="$(hot_profile "$1")") || return 1 ;;
	unoptimised) flags=(-gcflags='all=-N -l') ;;
	esac
	if [ "$(minor "$1")" -le 21 ]; then
		[ -x "$binary" ] && [ -z "$(find -L tests/e2e/oldtargets -newer "$binary")" ] ||
			old_binary "$binary" "$1" $cgo "${flags[@]}" || return 1
		echo "$binary"
		return
	fi
	# Go's own cache decides what must be rebuilt.
	(cd tests/e2e/targets && GOTOOLCHAIN=go$1 CGO_ENABLED=$cgo timeout 900 \
		go build -buildvcs=false "${flags[@]}" -o "$binary" .) >&2 || return 1
	echo "$binary"
}

# has_mode RELEASE VARIANT MODE: true if there is such a cell.
has_mode() {
	# Profiles are known from 1.21 on, checks that are calls from 1.22.
	case $2 in
	pgo) [ "$(minor "$1")" -ge 21 ] || return 1 ;;
	unoptimised) [ "$(minor "$1")" -ge 22 ] || return 1 ;;
	esac
	case $3 in
	coro) [ "$(minor "$1")" -ge 23 ] ;;
	cgo) [ "$2" = cgo ] ;;
	user) [ "$(minor "$1")" -ge 11 ] ;;
	cpu) [ "$(minor "$1")" -ge 22 ] ;;
	bubble) [ "$(minor "$1")" -ge 25 ] ;; # with an experiment in 1.24: case_bubble_experiment
	*) [ "$2" != pie ] || [ "$(minor "$1")" -ge 6 ] ;;
	esac
}

# in_turn N WORD...: prints every Nth word, others each day, all of them within N days; all at once with ALL=1.
in_turn() {
	local n=$1 i=0
	shift
	for word; do
		[ "$ALL" = 1 ] || [ $(((i + CELL_SEED) % n)) -eq 0 ] && printf '%s ' "$word"
		i=$((i + 1))
	done
}

die() {
	echo "$*"
	exit 1
}

# noisy WHY: a time or a share is out of range, which other load on the machine can cause.
noisy() {
	echo "$*"
	exit 75
}

# skip WHY: something needed is not available here. That does not count as a pass, and is reported separately.
skip() {
	echo "$*"
	exit 77
}

# start_target BINARY MODE ARG...: starts a target; its PID is in $target once it is warm, its output in
# $W/target.out.
start_target() {
	local binary=$1 i
	shift
	rm -f "$W/target.out" # the output of a previous target
	: >"$W/target.out"
	"$binary" "$@" >"$W/target.out" 2>"$W/target.err" </dev/null &
	target=$!
	for ((i = 0; i < 300; i++)); do
		grep -q '^ready' "$W/target.out" && return 0
		kill -0 $target 2>/dev/null || die "the target ended at once: $(tail -n 3 "$W/target.err")"
		sleep 0.1
	done
	die "the target did not get ready"
}

stop_target() {
	kill -TERM "$target" 2>/dev/null
	wait "$target" 2>/dev/null
	return 0
}

# wait_end PID SECONDS: waits; the exit status is in $status. False (after a kill) if the process does not end in
# time.
wait_end() {
	local last=$((SECONDS + $2 + 1)) # by the clock: on a busy machine a pause of 0.1 s may take any time
	while [ $SECONDS -lt $last ]; do
		kill -0 "$1" 2>/dev/null || break
		sleep 0.1
	done
	if kill -0 "$1" 2>/dev/null; then
		kill -KILL "$1" 2>/dev/null
		wait "$1" 2>/dev/null
		return 1
	fi
	wait "$1"
	status=$?
	return 0
}

# run_gotrace ARG...: standard output and error go to $W/out and $W/err, the exit status to $status. Its time
# is limited.
run_gotrace() {
	timeout -k 5 "${LIMIT:-60}" "$GOTRACE" "$@" >"$W/out" 2>"$W/err" </dev/null
	status=$?
	[ $status -ne 124 ] && [ $status -ne 137 ] || noisy "gotrace $*: did not end in time: $(tail -n 3 "$W/err")"
	[ $status -lt 126 ] || die "gotrace $*: crashed with status $status: $(tail -n 5 "$W/err")"
	quiet "$W/err"
}

# quiet FILE: checks that there are no control characters, because it is not a terminal.
quiet() {
	if LC_ALL=C grep -q "$(printf '[\001-\010\013-\037]')" "$1"; then
		die "control characters in $1 although it is no terminal"
	fi
}

# want STATUS...: checks that the exit status is one of them.
want() {
	local one
	for one; do
		[ "$status" = "$one" ] && return 0
	done
	die "exit status $status instead of $*: $(tail -n 3 "$W/err")"
}

# says PATTERN: checks that standard error contains it.
says() {
	grep -qiE -- "$1" "$W/err" || die "standard error does not say '$1': $(tail -n 3 "$W/err")"
}

# one_line: checks that an error is one clear line (and perhaps a hint on how to get help).
one_line() {
	local lines
	lines=$(grep -c . "$W/err")
	[ "$lines" -ge 1 ] && [ "$lines" -le 2 ] || die "$lines lines on standard error instead of one: $(head -n 5 "$W/err")"
}

# readable FILE: prints the name of an equivalent file that the judge can read, which knows v1 from Go 1.11
# on. Up to 1.6 names are only in the program, $binary.
readable() {
	case $(head -c 7 "$1" | tr '\0' ' ') in
	"go 1.5 " | "go 1.7 " | "go 1.8 " | "go 1.9 " | "go 1.10" | "gotrace")
		"$GOTRACE" convert -q ${binary:+--binary "$binary"} --format 1.11 -o "$1.11" "$1" >&2 || return 1
		echo "$1.11"
		;;
	*) echo "$1" ;;
	esac
}

# strict FILE [judge's options]: checks that Go's strict reader accepts it. Its counts are left in $W/facts.
strict() {
	local file=$1
	shift
	[ -s "$file" ] || die "no trace in $file: $(tail -n 3 "$W/err")"
	timeout 180 "$JUDGE" strict -all "$@" "$(readable "$file")" >"$W/facts" 2>"$W/strict.err" ||
		die "strict reader: $(head -c 600 "$W/strict.err")"
}

# fact NAME: prints its count, after strict.
fact() {
	awk -v name="$1" '{n = $1; sub(/^ *[0-9]+ /, ""); if ($0 == name) {print n; found = 1}} END {if (!found) print 0}' "$W/facts"
}

checked() {
	timeout 120 "$GOTRACE" check "$1" >"$W/check.out" 2>&1 || die "gotrace check: $(tail -n 3 "$W/check.out")"
}

# try_one FUNCTION ARG...: runs it in a subshell with a directory of its own, $W. Its output is in $text.
try_one() {
	W=$(mktemp -d "$E2E/run-XXXXXX") || exit 1
	chmod 755 "$W"
	text=$(
		cd "$TOP" || exit 1
		trap 'kill -KILL $(jobs -p) 2>/dev/null' EXIT
		"$@" 2>"$W/shell.err"
	)
}

print_logs() {
	local log
	echo "     logs are in $W"
	for log in shell.err target.err err; do
		[ -s "$W/$log" ] && tail -n 5 "$W/$log" | sed "s|^|     $log: |"
	done
}

# run_one NAME FUNCTION ARG...: runs a test, and prints one line with its result. A test that failed is repeated, at
# most eight of them per run: once if it failed only by time or share (noisy), and twice, both times with success, if it
# had a wrong result. What fails now and then stands in the output as AGAIN.
run_one() {
	local name=$1 text began=$SECONDS ok tries
	shift
	try_one "$@"
	ok=$?
	if [ $ok -eq 77 ]; then
		skipped=$((skipped + 1))
		echo "SKIP $name: $text"
		rm -rf "$W"
		return
	fi
	if [ $ok -ne 0 ] && [ "$repeated" -lt 8 ]; then
		repeated=$((repeated + 1))
		tries=$((ok == 75 ? 1 : 2))
		echo "AGAIN $name ($((SECONDS - began)) s): $text"
		print_logs
		ok=0 began=$SECONDS
		while [ $ok -eq 0 ] && [ $((tries--)) -gt 0 ]; do
			try_one "$@" || ok=1
		done
	fi
	if [ $ok -eq 0 ]; then
		passed=$((passed + 1))
		echo "PASS $name ($((SECONDS - began)) s)${text:+: $text}"
		rm -rf "$W"
	else
		failed=$((failed + 1))
		echo "FAIL $name ($((SECONDS - began)) s): $text"
		print_logs
	fi
}

finish() {
	echo "$repeated tried twice, $skipped skipped"
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ]
}
