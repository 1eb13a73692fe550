# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Programs that nobody here wrote, under load: what is said of them must be so, and of a program that is well nothing
# above "info" is said. One case for each row of real/programs. To be sourced after native.sh.

REAL_LENGTH=2500ms

# real_start NAME: starts the program and its client, as $target. Its full rate is in $full.
real_start() {
	local word answers
	[ -x build/bench-run ] && [ -z "$(find tools/bench -newer build/bench-run -name '*.go')" ] ||
		(cd tools/bench && GOTOOLCHAIN=go1.26.8 CGO_ENABLED=0 go build -buildvcs=false -o ../../build/bench-run .) ||
		die "cannot build tools/bench"
	coproc SERVICE { exec build/bench-run serve "$1" 2>"$W/service.err"; }
	read -r -t 100 -u "${SERVICE[0]}" word target only_full || die "$1 does not start: $(tail -n 3 "$W/service.err")"
	[ "$word" = ready ] || skip "$target is not installed"
	real_load 0 1500ms
	full=$(awk "BEGIN {print $rate}")
}

# real_load RATE LENGTH: loads the program; what it answered is in $answers and $rate.
real_load() {
	echo "$1 $2" >&"${SERVICE[1]}"
	read -r -t 60 -u "${SERVICE[0]}" answers rate || die "the client ended: $(tail -n 3 "$W/service.err")"
}

real_end() {
	kill -0 "$target" || die "the program has ended: $(tail -n 3 "$W/service.err")"
	exec {SERVICE[1]}>&-
	wait "$SERVICE_PID"
}

# real_trace RATE OPTION...: traces the program under load. The report is in $W/report.json.
real_trace() {
	local load=$1
	shift
	rm -f "$W/trace"
	background -p "$target" -o "$W/trace" --json "$@"
	begun "$W/trace"
	real_load "$load" $REAL_LENGTH
	kill -INT $tracer
	ends 40
	want 0
	report_json "$W/trace"
}

# real_findings WHEN KNOWN: checks that only known findings are above "info". If the clients, or other programs, used the
# CPUs, the program was not well.
real_findings() {
	local id level
	while read -r id level; do
		[ "$id" = neighbour ] && continue
		[[ "|$2|" == *"|$id|"* ]] || die "$1: $(python3 -c 'import json, sys
for row in json.load(open(sys.argv[1]))["findings"]["rows"]:
    if row["id"] == sys.argv[2]:
        print(row["level"], row["id"] + ":", row["text"])' "$W/report.json" "$id")"
	done < <(findings_in "$W/report.json")
}

# real_neighbours PID...: checks that a finding on other programs names them, and these loops, unless all that it names
# used more.
real_neighbours() {
	python3 -c 'import json, re, sys
for row in json.load(open(sys.argv[1]))["findings"]["rows"]:
    if row["id"] != "neighbour":
        continue
    lines = " ".join(row["evidence"]["lines"])
    unit = {"us": 1e-6, "ms": 1e-3, "s": 1}
    named = {pid: float(n) * unit[u] for pid, n, u in re.findall(r"\(PID (\d+)\) ([\d.]+) (us|ms|s)", lines)}
    for pid in sys.argv[2:]:
        pid, used = pid.split(":")
        if "among them" not in row["text"] or pid not in named and 0.4 * int(used) / 100 > min(named.values()):
            sys.exit("%s %s: not PID %s, %s" % (row["text"], lines, pid, used))' \
		"$W/report.json" "$@" 2>"$W/named.err" || die "beside two loops: $(tail -n 1 "$W/named.err")"
}

# real_program NAME KNOWN
real_program() {
	local name=${1/_/ } known=$2 loops used loop
	real_start "$name"
	trap 'kill $loops 2>/dev/null; kill -KILL $(jobs -p) 2>/dev/null' EXIT
	real_trace 0
	real_findings "full load" "$known"
	if [ "$only_full" = false ]; then
		real_trace "$(awk "BEGIN {print $full / 2}")"
		real_findings "half load" "$known"
		real_trace "$(awk "BEGIN {print $full / 20}")"
		real_findings "light load" ""
	fi
	real_trace 0 --max-overhead 10
	real_findings "with a limit" "$known"
	while :; do :; done &
	loops=$!
	while :; do :; done &
	loops="$loops $!"
	real_trace 0
	used=$(for loop in $loops; do awk -v pid=$loop '{sub(/.*\) /, ""); print pid ":" $12 + $13}' /proc/$loop/stat; done)
	kill $loops
	real_findings "beside two loops" "$known"
	real_neighbours $used
	real_end
	printf '%s answers a second' "$full"
}

while read -r name known; do
	[[ -z "$name" || "$name" == \#* ]] || eval "case_real_$name() { real_program $name '$known'; }"
done <tests/e2e/real/programs
