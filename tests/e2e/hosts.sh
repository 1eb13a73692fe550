# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Go code that is not in a Go executable: in libraries and archives of programs in other languages, in a program that
# the dynamic linker was asked to run, and in one that hides what it is.

# go_for_c RELEASE MODE FILE: builds tests/e2e/library for C.
go_for_c() {
	(cd tests/e2e/library && GOTOOLCHAIN=go$1 CGO_ENABLED=1 timeout 900 go build -buildvcs=false -buildmode="$2" -o "$3" .) \
		>"$W/build.err" 2>&1 || die "cannot build the library: $(tail -n 3 "$W/build.err")"
}

# count FROM: prints the number of rows.
count() {
	"$GOTRACE" sql "$W/trace" "SELECT count(*) FROM $1" 2>"$W/sql.err" | tail -n 1
}

# host_counts: what $target says that it did is in its trace.
host_counts() {
	local n
	trace_while USR1 '^done 2000' "$W/trace" --as go --max-overhead none
	says 'whole: nothing lost'
	n=$(count "goroutine WHERE name='main.worker' AND ended IS NOT NULL")
	[ "$n" -eq 2000 ] || die "$n goroutines ended, the host started 2,000"
	n=$(count "state s JOIN goroutine g ON s.g=g.id WHERE g.name='main.worker' AND s.reason='sleep'")
	[ "$n" -eq 2000 ] || die "$n sleeps of 2,000"
	printf '2,000 goroutines; '
}

# A C host and a Python host, which load a library. Without --as go they are traced as threads, and gotrace says so.
case_go_in_library() {
	local releases=(1.21.13 $RELEASES) release host
	release=${releases[CELL_SEED % ${#releases[@]}]}
	printf 'go%s: ' "$release"
	go_for_c "$release" c-shared "$W/lib.so"
	gcc -O2 -o "$W/host" tests/e2e/hosts/host.c -ldl || die "cannot build the host"
	for host in "$W/host" "python3 tests/e2e/hosts/host.py"; do
		start_target $host "$W/lib.so"
		run_gotrace -p "$target" -d 300ms -o "$W/threads"
		want 0
		says "one of its libraries was built by go$release: --as go"
		strict "$W/threads"
		grep -q 'as threads' "$W/err" || die "not traced as threads: $(cat "$W/err")"
		run_gotrace ps -p "$target"
		want 0
		host_counts
		stop_target
	done
}

# Linked into the executable, with and without symbols.
case_go_in_archive() {
	local flag
	go_for_c $NEWEST c-archive "$W/lib.a"
	for flag in -g -s; do
		gcc -O2 $flag -DLINKED -o "$W/host" tests/e2e/hosts/host.c "$W/lib.a" -lpthread || die "cannot build the host"
		start_target "$W/host"
		host_counts
		stop_target
	done
}

# The executable is the dynamic linker, which loaded the program.
case_go_by_loader() {
	local loader binary
	binary=$(target_binary 1.26.8 cgo 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	loader=$(readelf -l "$binary" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
	[ -x "$loader" ] || die "no dynamic linker: '$loader'"
	start_target "$loader" "$binary" pool -seconds 60
	run_gotrace -p "$target" -d 1s -o "$W/trace"
	want 0
	strict "$W/trace" -expect tests/e2e/facts/pool
	stop_target
}

# Garble changes the record of the release and the function table. The program is refused, and not taken for C.
case_go_garbled() {
	GOTOOLCHAIN=go1.26.8 GOBIN=$W go install mvdan.cc/garble@v0.16.0 >"$W/build.err" 2>&1 &&
		(cd tests/e2e/library && GOTOOLCHAIN=go1.26.8 "$W/garble" build -buildvcs=false -o "$W/hidden" ./hidden) >>"$W/build.err" 2>&1 ||
		die "cannot build: $(tail -n 3 "$W/build.err")"
	start_target "$W/hidden"
	only_threads 'hides its release.*--as c'
	stop_target
}
