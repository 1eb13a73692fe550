# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# --requests: the requests that a Go program serves and makes, compared with its own counts. To be sourced after
# functions.sh.

# The oldest has no routes; the last two are the releases before and after net/http's HTTP/2 moved.
REQUEST_RELEASES="1.19.13 1.22.12 1.26.8 1.27.4"

# request_target RELEASE VARIANT: prints its path, and builds it if needed. A variant is one word, or several joined
# by "-": stripped, pie, arm64; old, new: with the libraries of old.mod or new.mod; olddb, newdb: the drivers.
request_target() {
	local binary=$E2E/requests-$1-$2 flags=() word cgo=0 arch=
	for word in ${2//-/ }; do
		case $word in
		stripped) flags+=(-ldflags='-s -w') ;;
		pie) flags+=(-buildmode=pie) ;;
		arm64) arch=arm64 ;;
		old | new) flags+=(-tags=libraries "-modfile=$word.mod") ;;
		olddb | newdb) flags+=(-tags=databases,libsqlite3 "-modfile=$word.mod") cgo=1 ;;
		esac
	done
	if [ "$(minor "$1")" -le 21 ]; then
		[ -x "$binary" ] && [ -z "$(find tests/e2e/requests -newer "$binary")" ] ||
			(cd tests/e2e/requests && CGO_ENABLED=0 old_go "$1" build "${flags[@]}" -o "$binary" .) >&2 || return 1
	else
		(cd tests/e2e/requests && GOTOOLCHAIN=go$1 GOARCH=$arch CGO_ENABLED=$cgo timeout 900 \
			go build -buildvcs=false "${flags[@]}" -o "$binary" .) >&2 || return 1
	fi
	echo "$binary"
}

start_requests() { # RELEASE VARIANT ARG...
	binary=$(request_target "$1" "$2" 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	start_target "$binary" "${@:3}"
}

# round_of_requests OPTION...: makes a trace of one round, and writes the target's counts of it to $W/counts: name,
# status, n.
round_of_requests() {
	rm -f "$W/trace" # that of an earlier round
	background -p "$target" -o "$W/trace" --max-overhead none "$@"
	begun "$W/trace"
	sleep 0.3
	kill -USR2 "$target"
	said done
	sleep 0.2
	kill -INT $tracer
	ends 60
	want 0
	find_tasks
}

# find_tasks: writes the tasks in $W/trace to $W/tasks, and what the target counted to $W/counts.
find_tasks() {
	awk -F'\t' '$1 == "count" {print $2 "\t" $3 "\t" $4}' "$W/target.out" | sort >"$W/counts"
	strict "$W/trace"
	checked "$W/trace"
	"$GOTRACE" dump "$W/trace" >"$W/dump" 2>"$W/err" || die "dump: $(tail -n 3 "$W/err")"
	tasks_of "$W/dump" | sort >"$W/tasks"
}

# tasks_of DUMP: prints for each name and status ("-" if there is none) the number of tasks; the status of those that
# have not ended is "open". Leaves out what a new connection to Redis does by itself.
tasks_of() {
	awk '
	match($0, / task=[0-9]+/) { task = substr($0, RSTART + 6, RLENGTH - 6) }
	$2 == "UserTaskBegin" || $2 == "UserTaskCreate" {
		name[task] = $0
		sub(/.* name="/, "", name[task])
		sub(/"( stack=[0-9]+)?$/, "", name[task])
		status[task] = "-"
		open[task] = 1
		match($0, / parent=[0-9]+/)
		parent[task] = substr($0, RSTART + 8, RLENGTH - 8)
	}
	$2 == "UserLog" && /key="request" message="(status|code|error)/ {
		status[task] = $0
		sub(/.* message="/, "", status[task])
		sub(/".*/, "", status[task])
	}
	$2 == "UserTaskEnd" { open[task] = 0 }
	END {
		for (task in name)
			if (name[task] !~ /^redis/ || name[parent[task]] !~ /^redis/)
				n[name[task] "\t" (open[task] ? "open" : status[task])]++
		for (key in n)
			print key "\t" n[key]
	}' "$1"
}

# as_counted: checks that there are as many tasks of each name and status as requests, and no others.
as_counted() {
	sed -i -e '/\/slow/d' -e '/^hostile/d' "$W/counts"
	# Leaves out what takes 200 ms, and what cannot be read; with h2c, a connection is a request, too.
	sed -i -e '/\/slow/d' -e '/^PRI \*\t/d' -e '/^?\t-/d' -e '/^LONG LONG .*\xe2\x80\xa6\t-\t2$/d' -e '/^SELECT .a b c?\[31m?/d' "$W/tasks"
	diff "$W/counts" "$W/tasks" >"$W/diff" ||
		die "tasks (>) are not what the program counted (<): $(head -n 6 "$W/diff" | tr '\n' ';')"
	printf '%s requests of %s names' "$(awk -F'\t' '{n += $3} END {print n}' "$W/counts")" "$(wc -l <"$W/counts")"
}

requests_cell() { # RELEASE VARIANT
	start_requests "$1" "$2"
	round_of_requests --requests=http,sql
	as_counted
	! grep -q secret "$W/dump" || die "; a secret is in the trace"
	gone_on
}

# within_counts: an emulated machine may be too slow for gotrace to watch all the time. Then checks that what has
# ended was counted, and that most are there. Routes may be missing in names.
within_counts() {
	awk -F'\t' '
	NR == FNR { counted[$1 "\t" $2] = $3; all += $3; next }
	$2 == "open" || $2 == "-" || $1 ~ /^GET \/(items|h2c)\/|^PRI|^redis/ { next }
	$3 > counted[$1 "\t" $2] { print; wrong = 1; exit 1 }
	{ n += $3 }
	END { if (!wrong) { printf "%d of %d requests, not watched all the time", n, all; exit n * 4 < all } exit wrong }
	' "$W/counts" "$W/tasks" || die "; tasks are not what was counted"
}

# with_routes: replaces paths with routes. If a generation ends between a request's begin and its route, the request
# keeps its path; in an emulated machine that time is long.
with_routes() {
	awk -F'\t' -v OFS='\t' '
	{
		sub(/^GET \/items\/[0-9]+$/, "GET /items/{id}", $1)
		n[$1 OFS $2] += $3
	}
	END { for (key in n) print key, n[key] }' "$W/tasks" | sort >"$W/routed"
	mv "$W/routed" "$W/tasks"
}

# requests_as_counted: judges a trace that was made in an emulated machine.
requests_as_counted() {
	want 0
	find_tasks
	if grep -q 'not watched from here on' "$W/dump"; then
		within_counts
		return
	fi
	with_routes
	as_counted
	as_identified
}

# as_timed NAME: checks that the tasks of an RPC take as long as the program's own clock says: no less than its
# handler, and no more than what the client's caller sees.
as_timed() {
	local handler caller server client
	read -r handler < <(awk -F'\t' -v name="$1" '$1 == "count" && $2 == name {print $5}' "$W/target.out")
	read -r caller < <(awk -F'\t' -v name="client $1" '$1 == "count" && $2 == name {print $5}' "$W/target.out")
	server=$(time_of "$1" "$W/dump")
	client=$(time_of "client $1" "$W/dump")
	[ "$handler" -le "$server" ] && [ "$server" -le "$caller" ] && [ "$handler" -le "$client" ] && [ "$client" -le "$caller" ] ||
		die "; $1 took $handler ns in handlers, $server in the server's tasks, $client in the client's, $caller for callers"
	printf '; times are right'
}

# time_of NAME DUMP: prints the total time of all tasks of this name, in ns.
time_of() {
	awk -v name=" name=\"$1\"" '
	match($0, / task=[0-9]+/) { task = substr($0, RSTART + 6, RLENGTH - 6) }
	$2 == "UserTaskBegin" && index($0, name) { begin[task] = $1 }
	$2 == "UserTaskEnd" && task in begin { sum += $1 - begin[task] }
	END { printf "%.0f\n", sum }' "$2"
}

# as_identified: checks that each span's task has a log of its trace and span ids, as the program printed them.
as_identified() {
	awk -F'\t' '$1 == "span" {print $2 "\t" $3}' "$W/target.out" | sort >"$W/ids"
	awk '
	match($0, / task=[0-9]+/) { task = substr($0, RSTART + 6, RLENGTH - 6) }
	$2 == "UserTaskBegin" && match($0, / name="span [^"]*"/) { name[task] = substr($0, RSTART + 12, RLENGTH - 13) }
	$2 == "UserLog" && match($0, / message="trace=[^"]*"/) { print name[task] "\t" substr($0, RSTART + 10, RLENGTH - 11) }
	' "$W/dump" | sort >"$W/logs"
	[ -s "$W/ids" ] && diff "$W/ids" "$W/logs" >"$W/diff" || die "; ids of spans differ: $(head -n 4 "$W/diff")"
	printf '; %s spans' "$(wc -l <"$W/ids")"
}

libraries_cell() { # RELEASE VARIANT
	start_requests "$1" "$2"
	round_of_requests --requests=auto
	as_counted
	! grep -q secret "$W/dump" || die "; a secret is in the trace"
	as_timed /tests.Words/Short
	as_identified
	gone_on
}

# databases_cell RELEASE VARIANT: PostgreSQL, by both of its drivers, and SQLite.
databases_cell() {
	local bin table
	start_postgres 1
	cd "$TOP" || exit 1
	mkdir "$W/store"
	export PGHOST=$public PGUSER=postgres PGDATABASE=postgres PGSSLMODE=disable STORE=$W/store
	start_requests "$1" "$2"
	round_of_requests --requests=http,sql
	as_counted
	! grep -q secret "$W/dump" || die "; a secret is in the trace"
	for table in pq pgx; do
		as_long "SELECT 1 FROM pg_sleep(0.02) -- $table"
	done
	gone_on
	kill -INT "$(head -n 1 "$public/data/postmaster.pid")"
	waits_for test ! -e "$public/data/postmaster.pid"
}

# as_long NAME: checks that the tasks of a query take as long as the program's own clock says, within 1 %.
as_long() {
	local own tasks
	read -r own < <(awk -F'\t' -v name="$1" '$1 == "count" && $2 == name {print $5}' "$W/target.out")
	tasks=$(time_of "$1" "$W/dump")
	[ "$tasks" -le "$own" ] || die "; $1 took $own ns, and $tasks in tasks"
	[ $((tasks * 100)) -ge $((own * 99)) ] || noisy "; $1 took $own ns, and $tasks in tasks"
	printf '; tasks have %s %% of the time' "$(awk "BEGIN {printf \"%.2f\", 100 * $tasks / $own}")"
}

case_requests_databases_old() {
	databases_cell 1.22.12 olddb-stripped
}

case_requests_databases_new() {
	databases_cell "$NEWEST" newdb-stripped
}

case_requests_libraries_old() {
	libraries_cell 1.22.12 old-stripped
	printf '; with symbols '
	libraries_cell 1.22.12 old
}

case_requests_libraries_old_newest() {
	libraries_cell "$NEWEST" old-stripped
}

case_requests_libraries_new() {
	libraries_cell "$NEWEST" new-stripped
	printf '; with symbols '
	libraries_cell "$NEWEST" new
}

case_requests_libraries_pie() {
	libraries_cell 1.26.8 new-pie-stripped
}

# routers_binary RELEASE old|new ARCH FLAG...: prints the path of the program, and builds it if needed.
routers_binary() {
	local binary=$E2E/routers-$1-$2-$3
	(cd tests/e2e/routers && GOTOOLCHAIN=go$1 GOARCH=$3 CGO_ENABLED=0 timeout 900 \
		go build -buildvcs=false "-modfile=$2.mod" "${@:4}" -o "$binary" .) >&2 || return 1
	echo "$binary"
}

# routers_cell RELEASE old|new FLAG...: checks that names are the patterns of routers, old and new versions.
routers_cell() {
	binary=$(routers_binary "$1" "$2" "" "${@:3}" 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	start_target "$binary"
	round_of_requests --requests=http
	sed -i '/^client /d' "$W/tasks"
	as_counted
	gone_on
}

case_requests_routers_old() {
	routers_cell 1.22.12 old
}

case_requests_routers_new() {
	routers_cell "$NEWEST" new -ldflags='-s -w'
}

case_requests_stripped() {
	requests_cell "$NEWEST" stripped
}

case_requests_pie() {
	requests_cell 1.26.8 pie
}

case_requests_122() {
	requests_cell 1.22.12 default
}

case_requests_119() {
	requests_cell 1.19.13 stripped
}

# Requests whose begin was not seen are left out; their ends do not end others.
case_requests_under_way() {
	start_requests "$NEWEST" default slow
	round_of_requests --requests=auto
	grep -F 'GET /slow' "$W/tasks" >"$W/slow"
	awk -F'\t' '$1 != "GET /slow" && $1 !~ /^client GET [0-9.:]*\/slow$/ {exit 1}
		$2 != "status=200" && $2 != "open" {exit 1}' "$W/slow" || die "misnamed: $(head -n 3 "$W/slow")"
	[ "$(awk -F'\t' '$2 == "open" {n += $3} END {print n + 0}' "$W/slow")" -le 40 ] || die "left open: $(cat "$W/slow")"
	as_counted
	gone_on
}

# The same for RPCs.
case_requests_libraries_under_way() {
	start_requests "$NEWEST" new slow
	round_of_requests --requests=grpc
	grep -F '/tests.Words/Slow' "$W/tasks" >"$W/slow"
	awk -F'\t' '$1 !~ /^(client )?\/tests.Words\/Slow$/ || $2 != "code=OK" && $2 != "open" {exit 1}' "$W/slow" ||
		die "misnamed: $(head -n 3 "$W/slow")"
	awk -F'\t' '$2 == "code=OK" {n++} END {exit n != 2}' "$W/slow" || die "not of both sides: $(cat "$W/slow")"
	[ "$(awk -F'\t' '$2 == "open" {n += $3} END {print n + 0}' "$W/slow")" -le 40 ] || die "left open: $(cat "$W/slow")"
	sed -i '/Words\/Slow/d' "$W/tasks" "$W/counts"
	sed -i -E '/^(client )?\/tests\./!d' "$W/counts"
	as_counted
	gone_on
}

# The program's data is hostile: a statement of 1 GB, strings of any length at addresses that are not mapped.
case_requests_hostile() {
	start_requests "$NEWEST" default
	round_of_requests --requests=sql
	[ "$(awk -F'\t' '$1 == "?" {n += $3} END {print n + 0}' "$W/tasks")" = 6 ] || die "$(grep -F '?' "$W/tasks")"
	grep -q $'^LONG LONG .*\xe2\x80\xa6\t-\t2$' "$W/tasks" || die "no long statement"
	grep -q "^SELECT 'a b c?\[31m?'"$'\t-\t2$' "$W/tasks" || die "no strange statement: $(grep "'a" "$W/tasks")"
	gone_on
}

case_requests_refused() {
	start_requests "$NEWEST" default
	run_gotrace -p "$target" -d 1s -o "$W/trace" --requests=http,ftp
	want 2
	one_line
	says 'ftp'
	gone_on
	start_target "$(target_binary "$NEWEST" default)" pool
	run_gotrace -p "$target" -d 1s -o "$W/trace" --requests=sql
	want 1
	one_line
	says 'nothing'
	gone_on
}

# Queries are read only on request.
case_requests_values() {
	start_requests "$NEWEST" default
	round_of_requests --requests=http --request-values
	grep -q '^client GET 127.0.0.1:[0-9]*/items/1?token=secret' "$W/tasks" || die "no query"
	gone_on
}

case_requests_analysis() {
	start_requests "$NEWEST" default
	round_of_requests --requests=auto
	"$GOTRACE" report --all "$W/trace" >"$W/out" 2>"$W/err" || true
	grep -qE '^ +900 .* GET /items/\{id\}' "$W/out" || die "no tasks in the report: $(grep -A12 TASKS "$W/out")"
	"$GOTRACE" why --task 'GET /items/{id}' "$W/trace" >"$W/out" 2>"$W/err" || die "why: $(cat "$W/err")"
	grep -q '^task GET /items/{id}, slowest of 900' "$W/out" || die "why: $(head -n 3 "$W/out")"
	gone_on
}
