# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Other users of the machine who race with gotrace, or flood its socket; limits on what it may open and write.
# To be sourced after flight.sh.

ATTACKER=$E2E/attacker

# attack ARG...: runs tests/e2e/attacker.c as nobody, in the background as $attacker.
attack() {
	setpriv --reuid=$NOBODY --regid=$NOBODY --clear-groups --inh-caps=-all --bounding-set=-all "$public/attacker" "$@" \
		>>"$W/attacker.err" 2>&1 &
	attacker=$! # the attacker's own pid, not a shell's
}

end_attack() {
	kill -KILL $attacker
	wait $attacker 2>/dev/null
}

# attacker_copy: a copy in $public, owned by nobody.
attacker_copy() {
	[ "$ATTACKER" -nt tests/e2e/attacker.c ] ||
		gcc -std=gnu17 -O2 -Wall -Wextra -Werror -o "$ATTACKER" tests/e2e/attacker.c || die "cannot build the attacker"
	public_copy
	cp "$ATTACKER" "$public/attacker"
	mkdir "$public/evil" "$W/victim"
	chown $NOBODY:$NOBODY "$public/evil"
	echo precious >"$W/victim/file"
	chmod 600 "$W/victim/file"
	chmod 700 "$W/victim"
}

# unharmed: checks that nothing owned by root has changed.
unharmed() {
	[ "$(stat -c %u:%a "$W/victim" "$W/victim/file" | tr '\n' ' ')" = "0:700 0:600 " ] ||
		die "$1: another user was given $(stat -c '%n (%u, %a)' "$W/victim" "$W/victim/file" | tr '\n' ' ')"
	[ "$(ls -A "$W/victim")" = file ] || die "$1: made $(ls -A "$W/victim" | tr '\n' ' ') where a link leads"
	[ "$(cat "$W/victim/file")" = precious ] || die "$1: wrote into a file"
}

# The directory of a recorder is replaced by a link as soon as it is made: the link's target stays root's.
case_attacker_directory() {
	local user tries=0 until victim
	attacker_copy
	as_nobody "$public/attacker" maze "$public/evil/maze" 38 || die "no maze"
	for victim in "$W/victim" "$W/victim/file"; do
		attack swap "$public/evil/maze/end/dir" "$victim"
		until=$((SECONDS + 4))
		while [ $SECONDS -lt $until ]; do
			for user in $NOBODY 12345; do
				SUDO_UID=$user SUDO_GID=$user timeout 20 "$GOTRACE" flight -p 2 -o "$public/evil/maze/1/dir" >"$W/out" 2>"$W/err" </dev/null
				SUDO_UID=$user SUDO_GID=$user timeout 20 "$GOTRACE" flight -p 2 -o "$public/evil/maze/end/dir" >"$W/out" 2>"$W/err" </dev/null
				unharmed "$user"
				tries=$((tries + 2))
			done
		done
		end_attack
		rm -rf "$public/evil/maze/end/"*
	done
	echo "$tries tries"
}

# The same for directories that files are written to, with all commands that write files.
case_attacker_files() {
	local tries=0 until raw=tests/fixtures/rawlog/go1.26.8.raw
	attacker_copy
	attack toggle "$public/evil/dir" "$W/victim"
	until=$((SECONDS + 8))
	while [ $SECONDS -lt $until ]; do
		SUDO_UID=$NOBODY SUDO_GID=$NOBODY timeout 20 "$GOTRACE" replay -q -o "$public/evil/dir/trace" $raw >"$W/out" 2>"$W/err" </dev/null
		unharmed replay
		timeout 20 "$GOTRACE" convert -q --format 1.11 -o "$public/evil/dir/converted" tests/fixtures/rawlog/go1.26.8.trace >"$W/out" 2>"$W/err" </dev/null
		unharmed convert
		timeout 20 "$GOTRACE" report --html "$public/evil/dir/page" tests/fixtures/rawlog/go1.26.8.trace >"$W/out" 2>"$W/err" </dev/null
		unharmed report
		timeout 20 "$GOTRACE" flight -p 2 -o "$public/evil/dir/sub" >"$W/out" 2>"$W/err" </dev/null
		unharmed flight
		tries=$((tries + 4))
	done
	kill -0 $attacker || die "the attacker has ended: $(cat "$W/attacker.err")"
	end_attack
	echo "$tries tries"
}

# Links owned by root or the user are followed; those of others are not.
case_links_followed() {
	local raw=tests/fixtures/rawlog/go1.26.8.raw
	attacker_copy
	mkdir "$W/dir"
	ln -s dir "$W/link"
	run_gotrace replay -q -o "$W/link/trace" $raw
	want 0
	strict "$W/dir/trace"
	as_nobody mkdir "$public/evil/own"
	as_nobody ln -s own "$public/evil/link"
	as_nobody ln -s "$W/dir" "$public/evil/planted"
	SUDO_UID=$NOBODY SUDO_GID=$NOBODY run_gotrace replay -q -o "$public/evil/link/trace" $raw
	want 0
	[ "$(stat -c %u "$public/evil/own/trace")" = $NOBODY ] || die "the trace is not the user's"
	SUDO_UID=$NOBODY SUDO_GID=$NOBODY run_gotrace replay -q -o "$public/evil/planted/other" $raw
	want 1
	one_line
	says 'symbolic link'
	run_gotrace replay -q -o "$public/evil/link/other" $raw
	want 1
	one_line
	says 'symbolic link owned by another user'
	run_gotrace flight -p 2 -o "$public/evil/planted/new"
	want 1
	one_line
	says 'symbolic link owned by another user'
	[ "$(ls "$W/dir")" = trace ] || die "made $(ls "$W/dir" | tr '\n' ' ')"
}

# Connections that send forever, or nothing: nothing is lost, snapshots are written, SIGINT ends the recorder
# at once.
case_attacker_socket() {
	local mode began
	attacker_copy
	load pool
	for mode in 'send 2' 'wait 200'; do
		rm -rf "$W/dir"
		record -p "$target" --window 2s --max-overhead 1000
		attack ${mode% *} $recorder ${mode#* }
		sleep 3
		began=$SECONDS
		snapshot
		[ $((SECONDS - began)) -le 10 ] || die "$mode: a snapshot takes $((SECONDS - began)) s"
		strict "$file"
		kill -INT $recorder
		wait_end $recorder 4 || noisy "$mode: SIGINT does not end it within 4 s"
		want 0
		! grep -q 'gotrace: lost: ' "$W/err" || die "$mode: $(grep 'gotrace: lost: ' "$W/err")"
		[ ! -s "$W/attacker.err" ] || die "$mode: $(tail -n 1 "$W/attacker.err")"
		kill -0 $attacker || die "the attacker has ended"
		end_attack
		only_traces
	done
	still_lives
}

# Killed at any time during its start: no file is left, except a trace under its own name.
case_killed_at_the_start() {
	local i file tries=60
	[ "$ALL" = 1 ] && tries=300
	LOAD_SECONDS=1000
	load idle
	mkdir "$W/dir"
	for ((i = 0; i < tries; i++)); do
		(cd "$W/dir" && exec env --default-signal "$GOTRACE" -p "$target" -q -d 5s $([ $((i % 2)) -eq 0 ] || echo "-o named --raw raw")) >"$W/out" 2>"$W/err" </dev/null &
		sleep "0.$((RANDOM % 40 + 10))"
		kill -KILL $!
		wait $! 2>/dev/null
		for file in "$W"/dir/* "$W"/dir/.gotrace*; do
			case ${file##*/} in
			gotrace-*.trace | named | raw | '*' | '.gotrace*') ;;
			*) die "left behind: $file" ;;
			esac
		done
	done
	still_lives
}

# Limits that are too low are named in one line.
case_limits() {
	local name
	start_c pingpong
	for name in record flight; do
		(
			ulimit -n 24
			LIMIT=20 run_gotrace $name -p "$target" -o "$W/$name"
			want 1
			one_line
			says 'limit on open files is 24.*ulimit -n'
		) || exit 1
		[ ! -e "$W/$name" ] || die "left a file"
	done
	(
		ulimit -S -n 24
		run_gotrace -q -o "$W/trace" -- /bin/sh -c 'ulimit -n'
		want 0
		[ "$(cat "$W/out")" = 24 ] || die "the program's own limit is $(cat "$W/out")"
	) || exit 1
	load mixed
	(
		ulimit -f 8
		run_gotrace -p "$target" -d 1s -o "$W/small"
		want 1 3
		says 'the size of files is limited .ulimit -f'
		! grep -q 'out of memory' "$W/err" || die "reported as out of memory: $(cat "$W/err")"
		[ $status -eq 1 ] || strict "$W/small"
	) || exit 1
	still_lives
}
