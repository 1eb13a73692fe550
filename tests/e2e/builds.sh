# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Programs whose runtime the compiler has changed: with a profile of their own (the variant "pgo" of the matrix has a
# profile in which all calls of probed functions are hot), and without optimisation.

# profiled_build RELEASE LOAD [FLAG...]: builds the target with a CPU profile of this load. Prints its path.
profiled_build() {
	local release=$1 load=$2 plain binary=$W/target
	shift 2
	plain=$(target_binary "$release" default) || return 1
	"$plain" "$load" -profile "$W/profile.pgo" -seconds 6 >&2 || return 1
	(cd tests/e2e/targets && GOTOOLCHAIN=go$release CGO_ENABLED=0 timeout 900 \
		go build -buildvcs=false -pgo="$W/profile.pgo" "$@" -o "$binary" .) >&2 || return 1
	echo "$binary"
}

# profiled_cell RELEASE TRAINED LOAD [FLAG...]: a build for one load is traced under another.
profiled_cell() {
	local release=$1 trained=$2 load=$3 look=--detail=exact binary
	shift 3
	binary=$(profiled_build "$release" "$trained" "$@" 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	GODEBUG=gcshrinkstackoff=1 start_target "$binary" "$load" -native "$W/native" -native-seconds 2 -seconds 100
	printf 'go%s %s, profile of %s %s: ' "$release" "$load" "$trained" "$*"
	trace_cell "$load" "$release" no
	twin_cell "$load" 100 "$release"
	stop_target
}

# The programs that are built with the profiles of each other.
PROFILED="json rpc pingpong pool timers gc"

# case_build_profiles: another release, profile, load and way to link each day. ALL=1: all of them.
case_build_profiles() {
	local releases=($RELEASES) loads=($PROFILED) release trained load seed=$CELL_SEED
	if [ "$ALL" = 1 ]; then
		for release in $RELEASES; do
			for trained in $PROFILED; do
				for load in $PROFILED; do
					profiled_cell "$release" "$trained" "$load"
					profiled_cell "$release" "$trained" "$load" -ldflags='-s -w'
				done
			done
		done
		return
	fi
	release=${releases[seed % 6]} trained=${loads[seed / 6 % 6]} load=${loads[(seed / 36 + seed) % 6]}
	if [ $((seed / 6 % 2)) -eq 0 ]; then
		profiled_cell "$release" "$trained" "$load"
	else
		profiled_cell "$release" "$trained" "$load" -ldflags='-s -w'
	fi
}

# case_build_random_profile: one call in seven of the runtime is hot, others each day. Such a program is traced right,
# or refused with the name of the function. Some cannot be linked, because code that must not grow its stack uses too
# much of it.
case_build_random_profile() {
	local releases=($RELEASES) look=--detail=exact release plain try
	release=${releases[CELL_SEED * 5 % 6]}
	plain=$(target_binary "$release" default 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	for try in 1 2 3 4 5; do
		(cd tests/e2e/hotprofile && CGO_ENABLED=0 go run . "$plain" $((CELL_SEED * 5 + try)) >"$W/random.pgo") 2>"$W/build.err" &&
			(cd tests/e2e/targets && GOTOOLCHAIN=go$release CGO_ENABLED=0 timeout 900 \
				go build -buildvcs=false -pgo="$W/random.pgo" -o "$W/target" .) 2>"$W/build.err" && break
		grep -q 'nosplit stack' "$W/build.err" || die "cannot build: $(tail -n 3 "$W/build.err")"
	done
	[ -x "$W/target" ] || skip "none of five programs could be linked"
	GODEBUG=gcshrinkstackoff=1 start_target "$W/target" mixed -native "$W/native" -native-seconds 2 -seconds 100
	printf 'go%s, seed %s: ' "$release" $((CELL_SEED * 5 + try))
	run_gotrace sites -p "$target"
	if [ "$status" -ne 0 ]; then
		one_line
		says 'cannot (find|probe).*runtime[.]|inlined runtime[.]'
		printf 'refused: %s' "$(cut -d: -f3- "$W/err")"
		stop_target
		return
	fi
	trace_cell mixed "$release" no
	twin_cell mixed 100 "$release"
	stop_target
}

# patch_releases: prints the releases from 1.22 on that the Go proxy has.
patch_releases() {
	GOTOOLCHAIN=local go list -m -versions golang.org/toolchain 2>"$W/list.err" | tr ' ' '\n' |
		sed -n 's/^v0\.0\.1-go\(1\.\(2[2-9]\|[3-9][0-9]\)\.[0-9]*\)\.linux-amd64$/\1/p' | sort -V
}

# A patch release may move code, as Go 1.23.12 and 1.24.5 did, and fields: without DWARF only the table and the code
# say where they are. Another release each day.
case_build_patch_release() {
	local releases release variant
	releases=($(patch_releases))
	[ ${#releases[@]} -gt 20 ] || die "${#releases[@]} releases: $(cat "$W/list.err")"
	release=${releases[CELL_SEED * 7 % ${#releases[@]}]}
	for variant in default stripped unoptimised; do
		printf '%sgo%s %s: ' "${separator:-}" "$release" $variant
		cell "$release" $variant mixed no yes
		rm -f "$E2E/target-$release-$variant"
		separator='; '
	done
}

# The copies are listed with their function, and the program that reads each is loaded.
case_build_copies() {
	local binary
	binary=$(target_binary $NEWEST pgo 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	start_target "$binary" mixed
	run_gotrace sites -p "$target"
	want 0
	grep -q '^runtime.goexit0+.* destroy ' "$W/out" || die "no probe in the copy of gdestroy: $(cat "$W/out")"
	[ "$(grep -c ' unblock ' "$W/out")" -ge 9 ] || die "too few wake-ups: $(cat "$W/out")"
	stop_target
}

# Up to 1.21 the calls of the tracer have another form without inlining: refused, with the reason.
case_build_unoptimised_old() {
	local binary=$E2E/target-1.21.13-unoptimised
	old_binary "$binary" 1.21.13 0 -gcflags='all=-N -l' 2>"$W/build.err" || die "cannot build: $(tail -n 3 "$W/build.err")"
	start_target "$binary" pool
	only_threads 'built without optimi[sz]ation.*--as c'
	stop_target
}

# Without inlining, other code shows where the collector's variables are: the first goal is read from memory.
case_build_not_inlined() {
	local binary=$E2E/target-not-inlined
	(cd tests/e2e/targets && GOTOOLCHAIN=go$NEWEST CGO_ENABLED=0 timeout 900 go build -buildvcs=false -gcflags=all=-l -o "$binary" .) \
		2>"$W/build.err" || die "cannot build: $(tail -n 3 "$W/build.err")"
	start_target "$binary" gc -seconds 60
	run_gotrace -q -p "$target" -d 1s -o "$W/trace"
	want 0
	"$GOTRACE" dump "$W/trace" | sed -n 's/.* Heap\(Goal\|Alloc\) .*bytes=//p' >"$W/bytes"
	[ "$(wc -l <"$W/bytes")" -ge 10 ] && [ "$(sort -n "$W/bytes" | tail -n 1)" -lt 10000000000 ] ||
		die "$(wc -l <"$W/bytes") sizes of the heap, up to $(sort -n "$W/bytes" | tail -n 1) bytes"
	stop_target
}

# Builds that change the program's code: with counters in every function, the runtime's too, and with the race detector.
case_build_instrumented() {
	local flags binary=$E2E/target-instrumented
	for flags in "-cover -coverpkg=all" -race; do
		(cd tests/e2e/targets && GOTOOLCHAIN=go1.26.8 CGO_ENABLED=1 timeout 900 \
			go build -buildvcs=false $flags -o "$binary" .) 2>"$W/build.err" || die "cannot build: $(tail -n 3 "$W/build.err")"
		GOCOVERDIR=$W start_target "$binary" pool
		run_gotrace -p "$target" --max-overhead none -d 1s -o "$W/trace" --json
		want 0
		strict "$W/trace" -expect tests/e2e/facts/pool
		stop_target
	done
}
