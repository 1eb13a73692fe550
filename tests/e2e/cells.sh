# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# The matrix: release × variant × load. To be sourced after lib.sh.

MODES="pingpong pool http syscalls gc timers coro churn procs cgo parked mixed idle cpu user bubble"
# Releases that write v1 formats, and the loads that their program has.
TRACED_OLD="1.17.13 1.18.10 1.19.13 1.20.14 1.21.13"
OLD_MODES="pingpong pool http syscalls gc timers churn procs parked mixed idle user"

# The level of detail changes from cell to cell, unless LOOK is set.
LOOKS=("" --detail=exact --detail=light --detail=starts)
cells_run=0
# unlimited: prints the option needed to record everything of loads that do little but switch goroutines.
unlimited() {
	case $look in *--detail=exact*) ;; *) echo --max-overhead none ;; esac
}

next_look() {
	look=${LOOK-${LOOKS[cells_run++ % 4]}}
}

# twin_marks MODE RELEASE: prints options of the twin test. If only starts are probed, wakers are not recorded, and
# the garbage collector withdraws its preemption request, so that a goroutine seems to have yielded by itself.
twin_marks() {
	# Formats up to go 1.21 cannot note that not every sweep is recorded.
	[ "$(minor "$2")" -ge 22 ] || [ "$look" = --detail=exact ] || echo -heap=false
	# Up to 1.16 the next id of a goroutine is not always known when it is created, and the runtime's own tracer
	# gives Ps to threads that stop others.
	[ "$(minor "$2")" -ge 17 ] || [ "$look" = --detail=starts ] || echo -min-seq 99
	# Up to 1.23 one in 16 goroutines gets its id after the probe. It keeps an invented one if the
	# generation ends before its first start: 0.02 to 0.07 % of them if many wait for a CPU.
	[ "$(minor "$2")" -lt 17 ] || [ "$(minor "$2")" -ge 24 ] || [ "$look" = --detail=starts ] || echo -min-seq 99.8
	# Up to 1.9 the runtime's own tracer records marking during a stop-the-world instead. (Up to 1.4 there
	# is none.)
	[ "$(minor "$2")" -ge 10 ] || echo -stops=false
	# The goroutines of a bubble are woken by threads that hide whom they run, or run nobody any more.
	[ "$1" != bubble ] || [ "$look" = --detail=starts ] || echo -min-wakers 99.9
	[ "$look" = --detail=starts ] || return 0
	# Up to 1.10 a goroutine has its wait reason as a text, which is the same for a condition as for a mutex.
	[ "$(minor "$2")" -ge 11 ] || echo -conds=false
	case $1 in
	gc) echo -wakers=false -min-seq 80 -min-stacks 98 ;;
	idle) echo -wakers=false -min-seq 98 ;;
	# Goroutines have some 20 events each; with other work running, 95.5 to 97.2 % of them agree.
	timers) echo -wakers=false -min-seq 94 ;;
	*) echo -wakers=false -min-seq 98 ;;
	esac
	# Up to 1.18 the scavenger sleeps with one more frame to be left out than other goroutines.
	[ "$(minor "$2")" -ge 19 ] || echo -min-stacks 95
}

# profile_rows MODE RELEASE: prints which of the viewer's profiles must have rows for a load.
profile_rows() {
	case $1 in
	http | mixed) echo sched,io,syscall,block ;;
	# Wake-ups come from timers and netpoll, without a stack. Native traces, too, have rows in /sched only
	# for the tracer's own goroutines.
	syscalls) [ "$(minor "$2")" -ge 22 ] && echo io,syscall || echo syscall ;; # the older program has no network
	coro) echo ;;
	pingpong | pool | procs) echo sched,block ;;
	user) echo sched,block,usertasks,userregions ;;
	idle) echo ;; # nothing runs
	# In the older program timers wake the goroutines that call C.
	cgo) [ "$(minor "$2")" -ge 22 ] && echo sched || echo syscall ;;
	cpu) echo samples ;;
	bubble) echo sched,block ;;
	*) echo sched ;;
	esac
}

# trace_cell MODE RELEASE PAGES: makes and judges a plain trace of $target.
trace_cell() {
	local rows facts viewer
	run_gotrace -p "$target" $look $(unlimited) -d 2500ms -o "$W/trace" --json
	want 0
	timeout 10 "$JUDGE" json "$W/out" >/dev/null 2>"$W/json.err" || die "--json: $(cat "$W/json.err")"
	facts=tests/e2e/facts/$1
	# Programs of the oldest releases do some things differently.
	[ "$(minor "$2")" -ge 22 ] || [ ! -e "$facts.old" ] || facts=$facts.old
	[ "$(minor "$2")" -ge 10 ] || [ ! -e "tests/e2e/facts/$1.oldest" ] || facts=tests/e2e/facts/$1.oldest
	# As in twin_marks: conditions have the same name as mutexes.
	[ "$look" != --detail=starts ] || [ "$(minor "$2")" -ge 11 ] || [ ! -e "$facts.texts" ] || facts=$facts.texts
	strict "$W/trace" -expect "$facts"
	# Facts that only this level of detail has.
	[ ! -e "$facts$look" ] || strict "$W/trace" -expect "$facts$look"
	checked "$W/trace"
	# Up to 1.23 as in twin_marks.
	[ "$(minor "$2")" -lt 24 ] || [ "$(fact 'goroutines without an id')" -eq 0 ] ||
		die "$(fact 'goroutines without an id') goroutines without an id"
	printf '%s events, %s goroutines, %s KiB' "$(fact events)" "$(fact goroutines)" $(($(stat -c %s "$W/trace") / 1024))
	# 1.4 has no viewer, and old viewers divide by something that an idle program does not do (/mmu).
	if [ "$3" = yes ] && [ "$(minor "$2")" -ge 5 ] && { [ "$1" != idle ] || [ "$(minor "$2")" -ge 22 ]; }; then
		rows=$(profile_rows "$1" "$2")
		# If only starts are probed, wakers are not recorded. Viewers up to 1.25 do not count a wait
		# whose end has no stack.
		if [ "$look" = --detail=starts ]; then
			rows=,$rows, rows=${rows/,sched,/,}
			[ "$(minor "$2")" -ge 26 ] || rows=${rows/,block,/,}
			rows=${rows#,} rows=${rows%,}
		fi
		viewer="-go go$2"
		[ "$(minor "$2")" -ge 22 ] || viewer="-goroot $(go_root "$2")"
		[ "$(minor "$2")" -ge 7 ] || viewer="$viewer -binary /proc/$target/exe"
		(cd "$W" && timeout 200 "$JUDGE" pages $viewer -rows "$rows" trace) >"$W/pages" 2>&1 ||
			die "; viewer of go$2: $(tail -c 600 "$W/pages")"
		printf '; viewer ok'
	fi
}

# twin_cell MODE LEAST [RELEASE]: gotrace and Go's own tracer trace $target at the same time; at least LEAST
# transitions must be compared.
twin_cell() {
	local tracer i samples=
	# Readers of v1 traces mistake a sample in a system call for the call's end.
	[ "$(minor "${3:-$NEWEST}")" -ge 22 ] || samples=--cpu-samples=0
	# The shell starts background programs with SIGINT ignored.
	env --default-signal "$GOTRACE" -p "$target" $look $(unlimited) $samples -o "$W/ours" >"$W/twin.out" 2>"$W/err" </dev/null &
	tracer=$!
	begun "$W/ours"
	sleep 0.5
	kill -USR1 "$target" || die "the target is gone"
	for ((i = 0; i < 200; i++)); do
		grep -q 'native done' "$W/target.out" && break
		sleep 0.1
	done
	sleep 0.2
	kill -INT $tracer 2>/dev/null
	wait_end $tracer 60 || noisy "gotrace did not end after SIGINT"
	[ "$status" -eq 0 ] || die "gotrace beside the native tracer ended with $status: $(tail -n 3 "$W/err")"
	grep -q 'native done' "$W/target.out" || noisy "the native trace did not end"
	strict "$W/ours"
	# The tracer of Go 1.5 and 1.6 also marks wake-ups from before the trace as futile, which its own
	# readers reject.
	if [ "$(minor "${3:-$NEWEST}")" -le 6 ] && ! "$GOTRACE" check "$W/native" >/dev/null 2>&1; then
		[ "${4:-0}" -lt 4 ] || die "; Go's own trace is not valid, five times"
		stop_target
		start_target "$binary" "$1" -native "$W/native" -native-seconds 2 -seconds 100
		twin_cell "$1" "$2" "$3" $((${4:-0} + 1))
		return
	fi
	timeout 300 "$JUDGE" twin -v $(twin_marks "$1" "${3:-$NEWEST}") -min-compared "$2" "$(readable "$W/native")" "$(readable "$W/ours")" >"$W/twin" 2>&1 ||
		noisy "; twin: $(tail -n 1 "$W/twin") [$(grep -m 1 '^window' "$W/twin")]"
	printf '; twin: %s' "$(grep -m 1 '^window' "$W/twin")"
	[ "$1" = user ] || return 0
	timeout 100 "$JUDGE" usertwin -min 1000 "$W/native" "$W/ours" >"$W/usertwin" 2>&1 ||
		die "; annotations: $(tail -n 1 "$W/usertwin")"
	printf '; %s' "$(tail -n 1 "$W/usertwin")"
}

# truth_cell BINARY: checks that everything the program says it did is in the trace, without any other tracer.
truth_cell() {
	start_target "$1" usertruth -seconds 60
	trace_while USR2 '^all printed' "$W/truth" $look $(unlimited)
	timeout 60 "$JUDGE" usertruth "$W/truth" "$W/target.out" >"$W/truth.txt" 2>&1 || die "; truth: $(tail -n 1 "$W/truth.txt")"
	printf '; truth: %s' "$(cat "$W/truth.txt")"
}

# clock: prints the CPU time of $target in ticks (1/100 s), and the time in ns.
clock() {
	local stat
	read -r stat <"/proc/$target/stat" || die "the target is gone"
	set -- ${stat##*) }
	echo $((${12} + ${13})) "$(date +%s%N)"
}

# samples_cell: a trace of $target has many samples, and one without samples has none. In the twin's traces
# the two functions have the same shares, as far as some hundred samples can show.
samples_cell() {
	local before after cores
	before=($(clock))
	run_gotrace -p "$target" -d 3s --cpu-samples=1000 -o "$W/samples" --json
	after=($(clock))
	want 0
	strict "$W/samples"
	checked "$W/samples"
	cores=$(((after[0] - before[0]) * 10000000000 / (after[1] - before[1]))) # thousandths
	timeout 60 "$JUDGE" samples -hz 1000 -cores $((cores / 1000)).$(printf %03d $((cores % 1000))) "$W/samples" >"$W/judged" 2>&1 ||
		noisy "; samples: $(tail -n 2 "$W/judged" | tr '\n' ' ')"
	printf '; samples: %s' "$(head -n 1 "$W/judged")"
	run_gotrace -p "$target" -d 500ms --cpu-samples=0 -o "$W/none"
	want 0
	strict "$W/none"
	[ "$(fact 'kind StackSample')" -eq 0 ] || die "; CPU samples in spite of --cpu-samples=0"
	[ -s "$W/native" ] || return 0
	timeout 60 "$JUDGE" samples -native "$W/native" -tolerance 0.15 "$W/ours" >"$W/judged" 2>&1 ||
		noisy "; samples beside native ones: $(tail -n 3 "$W/judged" | tr '\n' ' ')"
	printf '; beside %s' "$(grep -m 1 '^native' "$W/judged")"
}

# cell RELEASE VARIANT MODE PAGES TWIN
cell() {
	local binary least also= debug=
	binary=$(target_binary "$1" "$2" 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	[ "$3" = cpu ] && also="-native-profile -native-seconds 4"
	# The frames of Go's own tracer make a goroutine's stack grow, at its first event after a cycle has shrunk it,
	# and that tracer reads the clock after the growth: on a busy machine 8 % of the sweeps of this load (16 of
	# 192) began 10 to 50 us late in its trace, 1 % (2 of 140) when stacks do not shrink.
	[ "$3" = http ] && debug=gcshrinkstackoff=1
	GODEBUG=$debug start_target "$binary" "$3" -native "$W/native" -native-seconds 2 -seconds 100 $also
	trace_cell "$3" "$1" "$4"
	# Up to 1.21 an idle program does nothing that could be compared. 1.4 has no tracer of its own.
	if [ "$5" = yes ] && [ "$(minor "$1")" -ge 5 ] && { [ "$3" != idle ] || [ "$(minor "$1")" -ge 22 ]; }; then
		least=100
		[ "$3" = idle ] && least=10
		twin_cell "$3" $least "$1"
	fi
	[ "$3" != cpu ] || samples_cell
	stop_target
	kill -0 "$target" 2>/dev/null && die "; the target outlived its end"
	grep -q . "$W/target.err" && die "; the target complained: $(head -n 3 "$W/target.err")"
	# Programs for releases up to 1.21 do not report what they have done.
	[ "$3" = user ] && [ "$(minor "$1")" -ge 22 ] || return 0
	truth_cell "$binary"
	stop_target
}

run_cell() {
	has_mode "$1" "$2" "$3" || return 0
	next_look
	run_one "go$1 $2 $3${look:+ $look}" cell "$@"
}

# One of each kind: the newest format, an older one of its kind, the v1 formats, and the oldest calling
# convention.
cells_quick() {
	run_cell $NEWEST default pingpong yes yes
	run_cell $NEWEST stripped http no yes
	run_cell 1.22.12 pie mixed no yes
	run_cell 1.26.8 pgo mixed no yes
	run_cell 1.21.13 default pool no yes
}

# The newest release as built by default; a cgo build for loads that need one. ONLY=turn: every third load.
cells_newest() {
	local mode modes=$MODES
	[ "$ONLY" != turn ] || modes=$(in_turn 3 $MODES)
	for mode in $modes; do
		if [ "$mode" = cgo ]; then
			run_cell $NEWEST cgo cgo yes yes
		else
			run_cell $NEWEST default "$mode" yes yes
			# In exact mode every sweep and every growth of the heap is recorded.
			[ "$mode" = gc ] && LOOK=--detail=exact run_cell $NEWEST default gc no yes
		fi
	done
}

# One variant with one load of every release. The seed (by default the day) steps through all of them.
# ONLY=turn: every second release, the others once these have had every variant.
cells_rotating() {
	local modes=($MODES) variants=($VARIANTS) n=0 newest release variant mode
	echo "# rotating cells, CELL_SEED=$CELL_SEED"
	for release in $RELEASES; do
		variant=${variants[(CELL_SEED + n) % ${#variants[@]}]}
		[ "$release $variant" = "$NEWEST default" ] && variant=stripped
		mode=${modes[(CELL_SEED * 5 + n * 3) % ${#modes[@]}]}
		has_mode "$release" "$variant" "$mode" || mode=mixed
		[ "$ONLY" = turn ] && [ $(((n + CELL_SEED / ${#variants[@]}) % 2)) -ne 0 ] ||
			run_cell "$release" "$variant" "$mode" yes yes
		n=$((n + 1))
	done
	newest="pie cgo pgo unoptimised"
	[ "$ONLY" != turn ] || newest=$(in_turn 2 $newest)
	for variant in $newest; do
		run_cell $NEWEST $variant mixed no yes
	done
	cells_old_rotating
}

# Two of the releases that write v1 formats, each with another load.
cells_old_rotating() {
	local releases=($TRACED_OLD) modes=($OLD_MODES) variants=($VARIANTS) step variant mode
	for step in 0 1; do
		variant=${variants[(CELL_SEED + step) % ${#variants[@]}]}
		has_mode "${releases[(CELL_SEED * 2 + step) % ${#releases[@]}]}" "$variant" mixed || variant=default
		mode=${modes[(CELL_SEED * 3 + step * 4) % ${#modes[@]}]}
		[ "$variant" = cgo ] && [ $((CELL_SEED % 2)) -eq 0 ] && mode=cgo
		run_cell "${releases[(CELL_SEED * 2 + step) % ${#releases[@]}]}" "$variant" "$mode" yes yes
	done
}

cells_all() {
	local release variant mode
	for release in $RELEASES; do
		for variant in $VARIANTS; do
			for mode in $MODES; do
				run_cell "$release" "$variant" "$mode" yes yes
			done
		done
	done
	for release in $TRACED_OLD; do
		for variant in $VARIANTS; do
			for mode in $OLD_MODES cgo; do
				run_cell "$release" "$variant" "$mode" yes yes
			done
		done
	done
}
