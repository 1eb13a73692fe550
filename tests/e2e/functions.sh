# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# --region and --task: every call of a C or C++ function, compared with the program's own count; CPU samples
# of threads. To be sourced after native.sh.

CALLTARGETS=tests/e2e/calltargets

# calltarget VARIANT: prints its path, and builds it if needed. VARIANT is a C compiler's options, or cxx.
calltarget() {
	local binary=$E2E/calls-$1 flags compiler=gcc
	case $1 in
	default) flags=(-O2 -fomit-frame-pointer) ;;
	unoptimised) flags=(-O0) ;;
	ibt) flags=(-O3 -fcf-protection=full) ;; # endbr64
	nopie) flags=(-O2 -fno-pie -no-pie) ;;   # jump tables of addresses
	small) flags=(-Os -s -rdynamic) ;;       # .dynsym alone
	clang) flags=(-O3) compiler=clang ;;     # conditional jumps to other functions
	apart) flags=(-O2) ;;                    # symbols in a separate file
	cxx) flags=(-O2) ;;
	esac
	if [ ! -x "$binary" ] || [ -n "$(find $CALLTARGETS -newer "$binary")" ]; then
		if [ "$1" = cxx ]; then
			g++ -std=gnu++17 -Wall -Wextra -Werror "${flags[@]}" -o "$binary" $CALLTARGETS/calls.cc -pthread >&2
		else
			$compiler -std=gnu17 -Wall -Wextra -Werror "${flags[@]}" -o "$binary" $CALLTARGETS/calls.c -pthread >&2
		fi || return 1
		if [ "$1" = apart ]; then
			objcopy --only-keep-debug "$binary" "$binary.debug" && strip "$binary" &&
				objcopy --add-gnu-debuglink="$binary.debug" "$binary" || return 1
		fi
	fi
	echo "$binary"
}

# start_calls VARIANT ARG...: starts it as $target, with its standard input as descriptor 9.
start_calls() {
	binary=$(calltarget "$1" 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	mkfifo "$W/in"
	"$binary" "${@:2}" <"$W/in" >"$W/target.out" 2>"$W/target.err" &
	target=$!
	exec 9>"$W/in"
	said ready
}

# said WORD: waits until the target prints this.
said() {
	local i
	for ((i = 0; i < 300; i++)); do
		grep -q "^$1" "$W/target.out" && return 0
		kill -0 $target 2>/dev/null || die "the target ended: $(tail -n 3 "$W/target.err")"
		sleep 0.1
	done
	die "the target does not say $1"
}

# round_of_calls OPTION...: traces one round of calls into $W/trace, and writes the target's own counts to $W/counts.
round_of_calls() {
	background -p "$target" -o "$W/trace" --raw "$W/raw" --max-overhead none "$@"
	begun "$W/trace"
	sleep 0.3
	if [ -p "$W/in" ]; then echo >&9; else kill -USR2 "$target"; fi
	said done
	sleep 0.2
	kill -INT $tracer
	ends 60
	want 0
	grep -E '^[^ ]+ [0-9]+ -?[0-9]+$' "$W/target.out" >"$W/counts"
	strict "$W/trace"
	checked "$W/trace"
	"$GOTRACE" dump "$W/trace" >"$W/dump" 2>"$W/err" || die "dump: $(tail -n 3 "$W/err")"
	regions_of "$W/dump" >"$W/regions"
}

# regions_of DUMP: prints for each name its regions (begun, ended in order), their time in ns, and the number of
# tasks.
regions_of() {
	awk '
	/name="\[off CPU: / { next }
	{ name = $0; sub(/.* name="/, "", name); sub(/".*/, "", name); g = $5 }
	$2 == "UserRegionBegin" { begun[name]++; at[g, ++depth[g]] = name; from[g, depth[g]] = $1 }
	$2 == "UserRegionEnd" {
		while (depth[g] && at[g, depth[g]] != name)
			depth[g]--
		if (depth[g]) {
			ended[name]++
			time[name] += $1 - from[g, depth[g]--]
		}
	}
	$2 == "UserTaskBegin" { tasks[name]++ }
	END { for (name in begun) print name, begun[name], ended[name] + 0, time[name] + 0, tasks[name] + 0 }' "$1"
}

# all_called NAME...: checks that there are as many regions as calls.
all_called() {
	local name calls begun ended all=0
	for name; do
		calls=$(awk -v name="$name" '$1 == name {print $2}' "$W/counts")
		[ -n "$calls" ] && [ "$calls" -gt 0 ] || die "the target does not call $name"
		read -r begun ended < <(awk -v name="$name" '$1 == name {print $2, $3}' "$W/regions")
		[ "$begun" = "$calls" ] && [ "$ended" = "$calls" ] ||
			die "$name: $calls calls, ${begun:-0} regions begun, ${ended:-0} ended"
		all=$((all + calls))
	done
	printf '%s calls of %s functions' $all $#
}

# --- calls ---

C_FUNCTIONS="leaf inner nested recurse first second by_pointer maybe hop deep catcher switcher rare worker tick"

CXX_FUNCTIONS='shop::price(int) shop::Box<int>::put shop::Cash::pay shop::attempt shop::refuse shop::Guard::~Guard'

calls_of_c() { # VARIANT
	local options=() name
	for name in $C_FUNCTIONS; do
		options+=(--region "$name")
	done
	start_calls "$1"
	round_of_calls "${options[@]}"
	all_called $C_FUNCTIONS
	gone_on
}

case_functions_c() {
	local own traced
	calls_of_c default
	own=$(awk '$1 == "worker" {print $3}' "$W/counts")
	traced=$(awk '$1 == "worker" {print $4}' "$W/regions")
	[ "$traced" -le "$own" ] && [ $((traced * 100)) -ge $((own * 85)) ] ||
		die "; worker took $own ns by its own clock, $traced ns in the trace"
	printf '; time %s%% of its own clock' $((traced * 100 / own))
}

case_functions_unoptimised() {
	calls_of_c unoptimised
}

case_functions_ibt() {
	calls_of_c ibt
}

case_functions_nopie() {
	calls_of_c nopie
}

case_functions_small() {
	calls_of_c small
}

case_functions_clang() {
	calls_of_c clang
}

case_functions_apart() {
	calls_of_c apart
}

# same_sum ARG...: checks that the calls have the same result as without tracing.
same_sum() {
	local alone
	alone=$(timeout 60 "$binary" "$@" <<<"" | grep '^sum ')
	[ -n "$alone" ] && grep -qx "$alone" "$W/target.out" ||
		die "; $(grep '^sum' "$W/target.out") traced, ${alone:-nothing} alone"
}

many_calls() { # VARIANT NAME...
	local options=() name
	for name in "${@:2}"; do
		options+=(--region "$name")
	done
	start_calls "$1" -rounds 800
	round_of_calls "${options[@]}"
	all_called "${@:2}"
	same_sum -rounds 800
	gone_on
}

case_functions_many() { # recursion, longjmp, tail calls
	many_calls default $C_FUNCTIONS
}

case_functions_many_cxx() { # exceptions
	many_calls cxx $CXX_FUNCTIONS
}

# stepped_as_reported DOCTOR MAPS: checks against doctor whether the kernel single-steps returns, in a page that it
# maps for that, "[uprobes]".
stepped_as_reported() {
	if grep -q '^ok *register writes' "$1"; then
		! grep -q '\[uprobes\]' "$2" || die "; the kernel has stepped a return"
		printf '; no return stepped'
	else
		grep -q '\[uprobes\]' "$2" || die "; the kernel has not stepped the returns"
		printf '; returns stepped'
	fi
}

case_functions_returns() { # BPF programs execute them where they may write registers
	start_calls default -rounds 2500
	round_of_calls --region nested --region recurse --region catcher
	all_called nested recurse catcher
	"$GOTRACE" doctor >"$W/words"
	stepped_as_reported "$W/words" "/proc/$target/maps"
	gone_on
}

# Two programs at each probe point: the first one that runs executes the `ret`.
case_functions_twice() {
	local other
	start_calls default -rounds 800
	timeout 60 "$GOTRACE" -q -p "$target" -o "$W/other" --max-overhead none --region nested --task nested --region recurse 2>"$W/other.err" &
	other=$!
	begun "$W/other"
	round_of_calls --region nested --region recurse --region recurse
	kill -INT $other
	wait $other || die "the other: $(tail -n 3 "$W/other.err")"
	all_called nested
	printf '; '
	same_sum -rounds 800
	strict "$W/other"
	"$GOTRACE" dump "$W/other" >"$W/dump"
	regions_of "$W/dump" >"$W/regions"
	all_called recurse
	gone_on
}

case_functions_tasks() {
	local tasks
	start_calls default
	round_of_calls --task nested --task worker --region inner
	all_called nested worker inner
	tasks=$(awk '{n += $5} END {print n}' "$W/regions")
	[ "$tasks" = 200 ] || die "; $tasks tasks instead of 200"
	"$GOTRACE" dump "$W/trace" | grep -c UserTaskEnd | grep -qx 200 || die "; not all tasks have ended"
	(cd "$W" && timeout 200 "$JUDGE" pages -go go$NEWEST -rows usertasks,userregions trace) >"$W/pages" 2>&1 ||
		die "; viewer: $(tail -c 600 "$W/pages")"
	run_gotrace replay "$W/raw" -q --format 1.19 -o "$W/old"
	want 0
	strict "$W/old"
	checked "$W/old"
	gone_on
}

case_functions_cxx() {
	local options=() name
	for name in $CXX_FUNCTIONS; do
		options+=(--region "$name")
	done
	start_calls cxx
	round_of_calls "${options[@]}"
	all_called $CXX_FUNCTIONS
	gone_on
}

case_functions_library() { # a library's function, and one selected by its source file
	start_calls default
	round_of_calls --region usleep --region calls.c:work
	awk '$1 == "usleep" && $2 == 160 && $3 == 160 {ok++} $1 == "work" && $2 == 4 && $3 == 4 {ok++}
		END {exit ok != 2}' "$W/regions" || die "regions: $(head -n 5 "$W/regions" | tr '\n' ';')"
	gone_on
}

case_functions_spawned() {
	binary=$(calltarget default) || die "cannot build"
	echo >"$W/line"
	timeout 60 "$GOTRACE" -q -o "$W/trace" --region worker --region nested -- "$binary" <"$W/line" >"$W/target.out" 2>"$W/err" ||
		die "exit status $?: $(tail -n 3 "$W/err")"
	grep -E '^[^ ]+ [0-9]+ -?[0-9]+$' "$W/target.out" >"$W/counts"
	strict "$W/trace"
	"$GOTRACE" dump "$W/trace" >"$W/dump"
	regions_of "$W/dump" >"$W/regions"
	all_called worker nested
}

# names_listed PREFIX NAME...: gotrace sites --list prints each NAME once, and only names that begin with PREFIX.
names_listed() {
	local prefix=$1 name
	shift
	"$GOTRACE" sites --list "$prefix" -p "$target" >"$W/list" 2>"$W/err" || die "--list $prefix: $(head -n 1 "$W/err")"
	for name in "$@"; do
		[ "$(grep -cxF -e "$name" "$W/list")" = 1 ] || die "--list $prefix does not print $name once: $(head -n 5 "$W/list" | tr '\n' ' ')"
	done
	! grep -vF -e "$prefix" "$W/list" || die "--list $prefix prints other names"
}

case_functions_listed() { # in C++ without parameters; those of libraries where the program has none; in a stripped Go program
	start_calls cxx
	names_listed shop:: shop::price
	names_listed usle usleep
	names_listed no::such
	[ ! -s "$W/list" ] || die "lists what is not there"
	run_gotrace sites --list a --function b -p "$target"
	want 2
	gone_on
	binary=$(target_binary $NEWEST stripped) || die "cannot build"
	start_target "$binary" functions -seconds 60
	names_listed main.call main.callAll main.callRecurses
	names_listed 'net/http.(*conn).' 'net/http.(*conn).serve'
	[ "$("$GOTRACE" sites --list '' -p "$target" | wc -l)" -gt 3000 ] || die "an empty prefix does not list all"
	stop_target
}

# --- refusals ---

case_functions_refused() {
	start_calls cxx
	refused 'no function shop::prise in the program.*similar names:.*shop::price' --region shop::prise
	refused 'several functions: .*shop::price\(int\)' --region shop::price
	refused 'no function libc.so:usleeep in that file; similar names:.*usleep' --task libc.so:usleeep
	refused 'cannot find the returns of memcpy.*IFUNC' --region memcpy
	run_gotrace -p "$target" --region ''
	want 2
	gone_on
	load functions
	refused 'no function main.callRecurse in the program' --region main.callRecurse
	refused 'no function no.Such in the program; its own are, among others: .*main\.[a-z]' --region no.Such
	refused 'no function pkg.callAll in the program; similar names: main.callAll' --task pkg.callAll
	refused 'main.callInlined has no code of its own.*noinline' --region main.callInlined
	refused 'func1 is the name of several functions: ' --region func1
	stop_target
}

# --- Go programs ---

GO_FUNCTIONS="All Sleeps Recurses Catches Panics Chooses Leaf Grows Begins Exits"

# Calls on many goroutines that change threads and stacks, unwound by panics and Goexit.
calls_of_go() { # RELEASE VARIANT
	local options=() names=() name
	rm -f "$W/trace" # from the previous program
	for name in $GO_FUNCTIONS; do
		[ $name = Leaf ] && [ "$(minor "$1")" -le 5 ] && continue # it was inlined: nothing prevented that yet
		names+=("main.call$name")
		options+=(--region "main.call$name")
	done
	binary=$(target_binary "$1" "$2") || die "cannot build"
	start_target "$binary" functions -seconds 60
	round_of_calls --format 1.26 "${options[@]}"
	all_called "${names[@]}"
	still_lives
	stop_target
}

case_functions_go() {
	local release variant
	for variant in default stripped pie; do
		calls_of_go $NEWEST $variant
		printf ' (%s); ' $variant
	done
	for release in 1.22.12 1.20.14 1.16.15 1.4.3; do
		calls_of_go $release default
		printf ' (%s); ' $release
	done
}

case_functions_go_every() {
	local release
	[ "$ALL" = 1 ] || skip "with ALL=1"
	for release in $OLD_RELEASES $RELEASES; do
		calls_of_go "$release" default
	done
}

case_functions_go_tasks() { # by the end of a name; in a program that gotrace starts
	binary=$(target_binary $NEWEST default) || die "cannot build"
	start_target "$binary" functions -seconds 60
	round_of_calls --task callCatches --region callPanics
	[ "$(awk '{n += $5} END {print n}' "$W/regions")" = 640 ] || die "tasks: $(tr '\n' ';' <"$W/regions")"
	(cd "$W" && timeout 200 "$JUDGE" pages -go go$NEWEST -rows usertasks,userregions trace) >"$W/pages" 2>&1 ||
		die "go tool trace: $(head -n 5 "$W/pages")"
	stop_target
	timeout 60 "$GOTRACE" -q -d 2s -o "$W/trace" --region main.functions -- "$binary" functions -seconds 1 >"$W/target.out" 2>"$W/err" ||
		die "gotrace: $(tail -n 3 "$W/err")"
	"$GOTRACE" dump "$W/trace" >"$W/dump"
	regions_of "$W/dump" | grep -q '^main.functions 1 1 ' || die "the call at the start is not recorded: $(regions_of "$W/dump")"
}

# --- CPU samples ---

# sampled_leaves TRACE: prints the innermost frames of the samples, with their counts.
sampled_leaves() {
	"$GOTRACE" dump --stacks "$1" | awk '
		waits { leaf = $2; n[leaf]++; waits = 0 }
		$2 == "CPUSample" { waits = 1; all++ }
		END { for (leaf in n) print leaf, n[leaf]; print "all", all + 0 }'
}

case_functions_samples() {
	local all heavy light
	binary=$(calltarget default) || die "cannot build"
	"$binary" -burn >"$W/target.out" 2>"$W/target.err" &
	target=$!
	said ready
	run_gotrace -q -p "$target" -d 3s --cpu-samples=500 -o "$W/trace"
	want 0
	strict "$W/trace"
	checked "$W/trace"
	sampled_leaves "$W/trace" >"$W/leaves"
	all=$(awk '$1 == "all" {print $2}' "$W/leaves")
	heavy=$(awk '$1 == "heavy" {print $2}' "$W/leaves")
	light=$(awk '$1 == "light" {print $2}' "$W/leaves")
	[ "$all" -ge 200 ] || die "only $all samples"
	[ $((heavy * 100)) -ge $((all * 68)) ] && [ $((heavy * 100)) -le $((all * 82)) ] &&
		[ $(((heavy + light) * 100)) -ge $((all * 98)) ] ||
		die "of $all samples $heavy in heavy, $light in light (three quarters and one it should be)"
	printf '%s samples, %s%% and %s%%' "$all" $((heavy * 100 / all)) $((light * 100 / all))
	(cd "$W" && timeout 200 "$JUDGE" pages -go go$NEWEST trace) >"$W/pages" 2>&1 ||
		die "; viewer: $(tail -c 600 "$W/pages")"
	gone_on
}

# --- decoding of functions ---

libraries() {
	ldd "$GOTRACE" | awk '$3 ~ /\/lib(c|stdc\+\+|m)\.so/ {print $3}'
}

case_functions_ends() { # the ends of nearly all functions are found
	local file found refused
	make -s build/e2e/probe_points >"$W/build" 2>&1 || die "cannot build: $(tail -n 3 "$W/build")"
	for file in $(libraries) "$GOTRACE"; do
		timeout 300 "$E2E/probe_points" "$file" >"$W/points" || die "$file: $(tail -n 2 "$W/points")"
		read -r found refused < <(tail -n 1 "$W/points" | tr -d , | awk '{print $2, $4}')
		[ "$found" -ge 500 ] && [ $((refused * 200)) -le "$found" ] || die "$file: $found found, $refused refused"
		printf '%s%s: %s found, %s refused' "$comma" "$(basename "$file")" "$found" "$refused"
		comma='; '
	done
}

case_functions_decoded() { # compared with objdump
	local file
	make -s build/e2e/decode >"$W/build" 2>&1 || die "cannot build: $(tail -n 3 "$W/build")"
	for file in $(libraries) "$GOTRACE"; do
		[ "$(objdump -dw "$file" | timeout 300 "$E2E/decode" | tee "$W/decoded" | tail -n 1 | grep -c ', 0 different$')" = 1 ] ||
			die "; $file: $(grep -m 2 different: "$W/decoded") $(tail -n 1 "$W/decoded")"
		printf '%s%s: %s' "$comma" "$(basename "$file")" "$(tail -n 1 "$W/decoded" | sed 's/functions: //')"
		comma='; '
	done
}
