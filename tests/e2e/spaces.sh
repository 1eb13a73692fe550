# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Users without root, processes in namespaces of their own, malicious names. To be sourced after children.sh.

USER_ID=60123  # belongs to no user
GROUP_ID=60124 # the group of users who may trace; in no user database

# installed [CAPABILITY,...]: installs gotrace as `make install-caps` does, for the group $GROUP_ID, as
# $tracing. The user has a directory, $public/own. make needs a group with that number to exist, but the
# numbers are not used otherwise.
installed() {
	public_copy
	tracing=$public/usr/local/bin/gotrace
	chmod 755 "$public"
	mkdir "$public/own" "$public/roots"
	chown $USER_ID:$GROUP_ID "$public/own"
	chmod 700 "$public/roots"
	make -s install-caps DESTDIR="$public" GROUP=nogroup ${1:+CAPS="$1"} >"$W/make.out" 2>&1 || die "make install-caps: $(tail -n 2 "$W/make.out")"
	[ "$(stat -c %a:%U:%G "$tracing")" = 750:root:nogroup ] || die "installed as $(stat -c %a:%U:%G "$tracing")"
}

# without_root GROUP CMD...: runs it as a user without root, through a shell: setpriv itself still has root's
# rights when it executes a program.
without_root() {
	local group=$1
	shift
	exec timeout -k 5 60 setpriv --reuid=$USER_ID --regid="$group" --clear-groups sh -c 'exec "$0" "$@"' "$@"
}

# as_user ARG...: runs gotrace as a user without root who is in the group, in the user's directory.
as_user() {
	(cd "$public/own" && without_root nogroup "$tracing" "$@") \
		>"$W/out" 2>"$W/err" </dev/null
	status=$?
	[ $status -lt 124 ] || die "gotrace $*: status $status: $(tail -n 3 "$W/err")"
	quiet "$W/err"
}

# owned FILE: checks that it belongs to the user, and that nobody else can read it.
owned() {
	[ "$(stat -c %a:%u "$1")" = 600:$USER_ID ] || die "$1 is $(stat -c %a:%u "$1") instead of 600:$USER_ID"
}

# frames FILE FUNCTION...: checks that these functions are in the trace's stacks.
frames() {
	local file=$1 name
	shift
	"$GOTRACE" dump --stacks "$file" >"$W/dump" 2>&1 || die "gotrace dump $file: $(tail -n 3 "$W/dump")"
	for name; do
		grep -qE "^ *0x[0-9a-f]+ $name" "$W/dump" || die "no $name in the stacks of $file"
	done
}

# wait_ready: waits until the program of $target.out is warm.
wait_ready() {
	local i
	for ((i = 0; i < 300; i++)); do
		grep -q '^ready' "$W/target.out" && return 0
		kill -0 "$1" 2>/dev/null || die "the target ended at once: $(tail -n 3 "$W/target.err")"
		sleep 0.1
	done
	die "the target did not get ready"
}

# start_apart CMD...: starts a program in a pid namespace of its own, as $target; its parent is the process
# that made the namespace.
start_apart() {
	: >"$W/target.out"
	"$@" >"$W/target.out" 2>"$W/target.err" </dev/null &
	wait_ready $!
	target=$(pgrep -P $!) || die "no program in the namespace"
}

# own_ids FILE: checks that the threads in the trace have the ids of their own namespace, which are small. (2147483647
# is the synthetic thread for transitions without a record.)
own_ids() {
	local last
	last=$("$GOTRACE" dump "$1" | grep -o ' M=[0-9]*' | cut -d = -f 2 | grep -v 2147483647 | sort -n | tail -n 1)
	[ "${last:-1000}" -lt 200 ] || die "a thread $last in a namespace of a few"
}

case_spaces_user() { # make install-caps: traces other users' Go and C programs without root; the files are the user's
	load mixed
	installed
	as_user -p "$target" -d 1s -o go.trace
	want 0
	strict "$public/own/go.trace"
	owned "$public/own/go.trace"
	stop_target
	start_c lock
	as_user -p "$target" -d 1s --raw c.raw
	want 0
	mv "$public"/own/gotrace-*.trace "$public/own/c.trace"
	strict "$public/own/c.trace"
	owned "$public/own/c.trace"
	owned "$public/own/c.raw"
	frames "$public/own/c.trace" door_user hold_door futex
	as_user --children -p "$target" -d 500ms -o k
	want 0
	strict "$public/own/k.$target"
	owned "$public/own/k.$target"
	as_user doctor
	grep -q '^ok   scheduling' "$W/out" || die "a capability is not used: $(grep scheduling "$W/out")"
	still_lives
}

case_spaces_user_flight() { # a recorder of such a user: snapshots for the user and for root, and for nobody else
	local i
	load mixed
	installed
	(cd "$public/own" && without_root nogroup "$tracing" flight -p "$target" -o "$public/own/dir" --window 1s) \
		>"$W/flight.out" 2>"$W/flight.err" </dev/null &
	for ((i = 0; i < 200; i++)); do
		grep -q 'recording PID' "$W/flight.err" && break
		sleep 0.1
	done
	recorder=$(sed -n 's/.*gotrace snapshot -p //p' "$W/flight.err")
	[ "$recorder" ] || die "no recorder: $(tail -n 2 "$W/flight.err")"
	sleep 1
	snapshot # by root
	strict "$file"
	owned "$file"
	as_user snapshot -p "$recorder"
	want 0
	strict "$(cat "$W/out")"
	owned "$(cat "$W/out")"
	setpriv --reuid=$((USER_ID + 2)) --regid=$GROUP_ID --clear-groups "$public/gotrace" snapshot -p "$recorder" >"$W/out" 2>"$W/err" &&
		die "another user may ask"
	says 'belongs to another user'
	kill -TERM "$recorder"
	wait_end $! 10 || noisy "the recorder did not end"
	want 0
	[ "$(find "$public/own/dir" -type f | wc -l)" = 2 ] || die "files: $(ls "$public/own/dir")"
}

case_spaces_user_deleted() { # a program that is deleted, and that only root may read
	load idle
	installed
	cp "$(ctarget default)" "$W/secret"
	start_target "$W/secret" lock -seconds 60
	chmod 700 "$W/secret"
	as_user -p "$target" -d 1s -o c.trace
	want 0
	strict "$public/own/c.trace"
	frames "$public/own/c.trace" door_user
	chmod 755 "$W/secret"
	rm "$W/secret"
	as_user -p "$target" -d 1s -o c.trace
	want 0
	strict "$public/own/c.trace"
	frames "$public/own/c.trace" door_user
	# The minimal capabilities: only the names of files without a path are missing.
	rm -rf "$public"
	installed cap_bpf,cap_perfmon,cap_sys_ptrace
	as_user -p "$target" -d 1s -o c.trace
	want 0
	strict "$public/own/c.trace"
	frames "$public/own/c.trace" 'secret\+0x'
}

case_spaces_user_refused() { # what the capabilities do not permit
	load idle
	installed
	# Files of other users, and directories that do not belong to the user.
	echo precious >"$public/roots/file"
	cp "$public/roots/file" "$public/own/roots"
	chmod 600 "$public/roots/file" "$public/own/roots"
	ln -s "$public/roots/file" "$public/own/link"
	as_user -p "$target" -d 300ms -o "$public/roots/file"
	want 1
	one_line
	as_user -p "$target" -d 300ms -o "$public/roots/new"
	want 1
	one_line
	as_user -p "$target" -d 300ms -o link
	want 1
	one_line
	as_user -p "$target" -d 300ms -o /proc/1/root/gotrace-test
	want 1
	one_line
	[ "$(cat "$public/roots/file")" = precious ] || die "another's file was written"
	[ "$(ls "$public/roots")" = file ] || die "a file in another's directory: $(ls "$public/roots")"
	as_user check "$public/roots/file"
	want 1
	says 'permission denied'
	as_user replay "$public/roots/file" -o x
	want 1
	says 'permission denied'
	as_user convert --format 1.26 "$public/roots/file" -o x
	want 1
	says 'permission denied'
	as_user -- "$public/roots/file"
	want 1
	says 'permission denied'
	# A directory that everyone may write to: another user's file stays.
	mkdir -m 1777 "$public/tmp"
	echo precious >"$public/tmp/file"
	as_user -p "$target" -d 300ms -o ../tmp/file
	want 1
	one_line
	[ "$(cat "$public/tmp/file")" = precious ] || die "another's file in a shared directory was replaced"
	# A user who is not in the group.
	(without_root $GROUP_ID "$tracing" --version) >"$W/out" 2>&1 && die "everybody may run it"
	# A program that gotrace starts has none of the capabilities.
	as_user -q -o sh.trace -- /bin/sh -c 'grep -E "^Cap(Prm|Eff|Amb)" /proc/self/status'
	want 0
	[ "$(grep -c ':.0000000000000000$' "$W/out")" = 3 ] || die "the program's rights: $(cat "$W/out")"
	# Too few capabilities, and set-user-ID.
	setcap cap_bpf,cap_sys_ptrace=ep "$tracing"
	as_user -p "$target" -d 300ms
	want 1
	one_line
	says 'cap_perfmon'
	setcap cap_bpf,cap_perfmon=ep "$tracing"
	as_user -p "$target" -d 300ms
	want 1
	one_line
	says 'cap_sys_ptrace'
	setcap -r "$tracing"
	chmod 4755 "$tracing"
	as_user -p "$target" -d 300ms
	want 1
	one_line
	says 'set-user-id'
	# Root of a user namespace, with a target outside of it and one inside.
	timeout 30 unshare -Ur "$GOTRACE" -p "$target" -d 300ms -o "$W/x" >"$W/out" 2>"$W/err" </dev/null
	status=$?
	want 1
	one_line
	says 'user namespace'
	timeout 30 unshare -Ur "$GOTRACE" -o "$W/x" -- /bin/true >"$W/out" 2>"$W/err" </dev/null
	status=$?
	want 1
	one_line
	says 'user namespace'
	still_lives
}

case_spaces_go() { # Go programs in pid, mount and user namespaces of their own
	local release
	for release in $NEWEST 1.4.3; do
		start_apart unshare -Urpmf --mount-proc "$(target_binary $release default)" mixed -seconds 60
		run_gotrace -p "$target" -d 1500ms -o "$W/trace" --raw "$W/raw" -q
		want 0
		strict "$W/trace"
		own_ids "$W/trace"
		frames "$(readable "$W/trace")" 'main\.'
		kill -0 "$target" || die "the target died"
		kill "$target"
		run_gotrace replay -q "$W/raw" -o "$W/again"
		want 0
		cmp -s "$W/trace" "$W/again" || die "$release: the raw log does not give its trace again"
	done
}

# The program and its libraries cannot be reached by our paths: they have a root of their own, on an overlay.
make_root() {
	local file
	mkdir -p "$W/lower" "$W/upper" "$W/work" "$W/root"
	cp "$1" "$W/lower/program"
	for file in $(ldd "$1" | grep -o '/[^ ]*'); do
		mkdir -p "$W/lower${file%/*}"
		cp "$file" "$W/lower$file"
	done
	mkdir -p "$W/lower/proc"
}

case_spaces_c() { # C: other pid, mount and user namespaces, its root on an overlay, deleted files
	make_root "$(ctarget default)"
	start_apart unshare -Urpmf sh -c "mount -t tmpfs none '$W/upper' && mkdir '$W/upper/u' '$W/upper/w' &&
		mount -t overlay -o 'lowerdir=$W/lower,upperdir=$W/upper/u,workdir=$W/upper/w' none '$W/root' &&
		mount -t proc none '$W/root/proc' && exec chroot '$W/root' /program lock -seconds 60"
	[ ! -e "$W/root/program" ] || die "the root is seen from outside"
	run_gotrace -p "$target" -d 1s -o "$W/trace" -q
	want 0
	strict "$W/trace"
	frames "$W/trace" door_user hold_door futex
	run_gotrace -p "$target" -d 1s -o "$W/regions" --region hold_door -q
	want 0
	strict "$W/regions"
	[ "$(fact 'range hold_door')" -gt 0 ] || grep -q hold_door "$W/facts" || die "no regions: $(head -n 20 "$W/facts")"
	nsenter -t "$target" -m -U sh -c "rm '$W/root/program'" || die "cannot delete it"
	run_gotrace -p "$target" -d 1s -o "$W/trace" -q
	want 0
	strict "$W/trace"
	frames "$W/trace" door_user hold_door futex
	kill -0 "$target" || die "the target died"
	kill "$target"
}

case_spaces_container() { # a root directory of its own, the host's pid namespace, few capabilities
	local caps=-all,+sys_chroot,+bpf,+perfmon,+sys_ptrace,+dac_read_search,+checkpoint_restore
	make_root "$GOTRACE"
	mkdir -p "$W/lower/sys" "$W/lower/dev" "$W/lower/tmp"
	touch "$W/lower/dev/null"
	cat >"$W/container" <<-'SCRIPT'
		mount --bind "$1/lower" "$1/root" && mount -t proc none "$1/root/proc" && mount --rbind /sys "$1/root/sys" &&
			mount --bind /dev/null "$1/root/dev/null" || exit 99
		root=$1 caps=$2
		shift 2
		exec setpriv --bounding-set="$caps" --inh-caps=-all chroot "$root/root" /program "$@"
	SCRIPT
	load mixed
	timeout -k 5 60 unshare -m sh "$W/container" "$W" $caps -p "$target" -d 1s -q -o /tmp/go.trace >"$W/out" 2>"$W/err" </dev/null
	status=$?
	want 0
	strict "$W/lower/tmp/go.trace"
	stop_target
	start_c lock
	timeout -k 5 60 unshare -m sh "$W/container" "$W" $caps -p "$target" -d 1s -q -o /tmp/c.trace >"$W/out" 2>"$W/err" </dev/null
	status=$?
	want 0
	strict "$W/lower/tmp/c.trace"
	frames "$W/lower/tmp/c.trace" door_user hold_door futex
	still_lives
}

case_spaces_exchanged() { # the executable was replaced by another program: probes go into the one that runs
	cp "$(target_binary $NEWEST default)" "$W/program"
	start_target "$W/program" pingpong -seconds 60
	rm "$W/program"
	cp "$(target_binary $NEWEST stripped)" "$W/program"
	run_gotrace -p "$target" -d 1s -o "$W/trace" -q
	want 0
	strict "$W/trace"
	frames "$W/trace" 'main\.pingpong'
	still_lives
}

# inside ARG...: runs gotrace and $target in a pid namespace of their own; the output is in $W/out and $W/err.
inside() {
	cat >"$W/inside" <<-'SCRIPT'
		"$1" "$2" -seconds 60 >"$3/target.out" 2>"$3/target.err" </dev/null &
		pid=$!
		for i in $(seq 100); do
			grep -q '^ready' "$3/target.out" && break
			sleep 0.1
		done
		echo "$pid" >"$3/pid"
		shift 3
		"$@" -p "$pid"
		echo $? >"${0%/*}/status"
		kill "$pid"
	SCRIPT
	timeout -k 5 100 unshare -pmf --mount-proc sh "$W/inside" "$1" "$2" "$W" "$GOTRACE" "${@:3}" >"$W/out" 2>"$W/err" </dev/null
	status=$(cat "$W/status")
	target=$(cat "$W/pid")
}

case_spaces_inside() { # gotrace itself is in a pid namespace: ids are those of its /proc
	inside "$(target_binary $NEWEST default)" mixed -d 1500ms -q -o "$W/trace"
	want 0
	strict "$W/trace"
	own_ids "$W/trace"
	[ "$(fact 'go Running->Syscall')" -gt 100 ] || die "no system calls: $(grep Syscall "$W/facts")"
	inside "$(ctarget default)" threads -d 1500ms --json -o "$W/trace"
	want 0
	strict "$W/trace"
	grep -q "\"pid\":$target," "$W/out" || die "not of process $target: $(cut -c 1-300 "$W/out")"
	[ "$target" -lt 100 ] || die "the target is $target: no namespace"
	frames "$W/trace" clone
	inside "$(ctarget default)" lock -d 1s --children -q -o "$W/k"
	want 0
	strict "$W/k.$target"
	frames "$W/k.$target" door_user hold_door
	timeout 60 unshare -pmf --mount-proc "$GOTRACE" --children --json -o "$W/t" -- /bin/sh -c 'for i in 1 2 3; do ls / | wc; done' \
		>"$W/out" 2>"$W/err" </dev/null || die "--children: $(tail -n 3 "$W/err")"
	all_strict 7
	summaries
	[ "$(named ls)" = 3 ] && [ "$(named wc)" = 3 ] || die "names: $(grep -o '"name":"[^"]*"' "$W/out" | sort | uniq -c)"
	# Another namespace's /proc would show other processes.
	load idle
	timeout 30 unshare -pf "$GOTRACE" -p "$target" -d 300ms -o "$W/x" >"$W/out" 2>"$W/err" </dev/null
	status=$?
	want 1
	one_line
	says 'pid namespace'
	[ ! -e "$W/x" ] || die "left a file"
}

# tame FILE: checks that it contains no terminal control sequences, as single bytes or as two-byte characters.
tame() {
	LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xa8-\xae]' "$1" &&
		die "$1 commands the terminal: $(head -c 300 "$1" | cat -v)"
	return 0
}

case_spaces_names() { # names that look like something else, or command a terminal
	local dir program line tab
	dir=$W/$(printf 'a b\tc\nd \033[31mred\302\2332Je \\012 (deleted)')/'.. x'
	mkdir -p -- "$dir"
	# A name that looks like a line of /proc/PID/maps.
	line=$(printf 'x\n7f0000000000-7f0000001000 r-xp 00000000 00:01 12  [vdso]\n\342\200\256 (deleted)')
	for program in "$(target_binary $NEWEST default)" "$(ctarget default)"; do
		cp "$program" "$dir/$line"
		: >"$W/target.out"
		"$dir/$line" pingpong -seconds 60 >"$W/target.out" 2>"$W/target.err" </dev/null &
		target=$!
		wait_ready $target
		run_gotrace -p "$target" -d 1s -o "$dir/trace" --raw "$dir/raw"
		want 0
		tame "$W/err"
		strict "$dir/trace"
		frames "$dir/trace" "$([ "$program" = "$(ctarget default)" ] && echo ping_player || echo 'main\.pingpong')"
		run_gotrace replay "$dir/raw" -o "$dir/again"
		want 0
		tame "$W/err"
		run_gotrace check "$dir/again"
		want 0
		tame "$W/out"
		run_gotrace -p "$target" -d 300ms -o "$W/trace" --json
		want 0
		tame "$W/out"
		python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["target"]["executable"]' "$W/out" || die "--json: $(cat -v "$W/out")"
		run_gotrace -p "$target" -d 300ms -o "$W" # refusals, too
		want 1
		one_line
		run_gotrace -p "$target" -d 300ms -o "$dir"
		want 1
		tame "$W/err"
		still_lives
		kill $target
		rm -- "$dir/$line"
	done
	run_gotrace -q -o "$W/trace" -- "$dir/missing"
	want 1
	tame "$W/err"
	cp "$(ctarget default)" "$dir/$line"
	run_gotrace -o "$W/trace" -- "$dir/$line" nonsense
	tame "$W/err"
}

case_spaces_long() { # a path that is too long to be named
	local program
	program=$(ctarget default)
	cd "$W" || exit 1
	/usr/bin/python3 -c 'if True:
		import os, shutil, sys
		for i in range(25):
		    os.mkdir("n" * 200)
		    os.chdir("n" * 200)
		shutil.copy(sys.argv[1], "program")
		os.execv("program", ["program", "lock", "-seconds", "60"])' "$program" >"$W/target.out" 2>"$W/target.err" </dev/null &
	target=$!
	cd "$TOP" || exit 1
	wait_ready $target
	run_gotrace -p "$target" -d 1s -o "$W/trace" -q
	want 0
	strict "$W/trace"
	frames "$W/trace" hold_door
	run_gotrace -p "$target" --as go -d 1s -o "$W/trace"
	want 1
	one_line
	kill $target
}

case_spaces_debug() { # a debug file that is only in the process's root, behind a link that is absolute in that root
	local id
	cp "$(ctarget default)" "$W/program"
	objcopy --only-keep-debug "$W/program" "$W/debug" && strip "$W/program" || die "objcopy"
	make_root "$W/program"
	id=$(readelf -n "$W/program" | sed -n 's/ *Build ID: //p')
	mkdir -p "$W/lower/usr/lib" "$W/lower/elsewhere/.build-id/${id:0:2}"
	ln -s /elsewhere "$W/lower/usr/lib/debug"
	mv "$W/debug" "$W/lower/elsewhere/.build-id/${id:0:2}/${id:2}.debug"
	start_apart unshare -Urpmf sh -c "mount --bind '$W/lower' '$W/root' && mount -t proc none '$W/root/proc' && exec chroot '$W/root' /program lock -seconds 60"
	run_gotrace -p "$target" -d 1s -o "$W/trace" -q
	want 0
	strict "$W/trace"
	frames "$W/trace" door_user hold_door
	kill "$target"
}

# A root directory of the target with links out of it, and special files in place of regular ones.
case_spaces_links() {
	local program link
	program=$(ctarget stripped)
	start_c lock
	stop_target
	cp "$program" "$W/program"
	objcopy --add-gnu-debuglink=/bin/ls "$W/program" "$W/linked" 2>"$W/objcopy.err" || die "objcopy: $(cat "$W/objcopy.err")"
	make_root "$W/linked"
	mkdir -p "$W/lower/usr/lib" "$W/lower/.debug"
	# Everything that is looked up by name is a link out of the root, or a trap.
	ln -s "$W/../../../../../../../../../../etc" "$W/lower/usr/lib/debug"
	mkfifo "$W/lower/ls" "$W/lower/.debug/ls"
	start_apart unshare -Urpmf sh -c "mount --bind '$W/lower' '$W/root' && mount -t proc none '$W/root/proc' && exec chroot '$W/root' /program lock -seconds 60"
	timeout -k 5 60 strace -f -e trace=open,openat,openat2 -o "$W/opened" "$GOTRACE" -p "$target" -d 1s -o "$W/trace" -q >"$W/out" 2>"$W/err" </dev/null
	status=$?
	want 0
	strict "$W/trace"
	grep -q 'usr/lib/debug' "$W/opened" || die "nothing was looked for: the test is none"
	grep -E 'openat2\(.*= [0-9]' "$W/opened" | grep -vE 'RESOLVE_IN_ROOT' >"$W/outside" && die "opened outside of the root: $(head -n 1 "$W/outside")"
	kill "$target"
	# -o in a directory that everyone may write to.
	mkdir -m 1777 "$W/tmp"
	echo precious >"$W/victim"
	start_c lock
	for link in "$W/victim" /nowhere/at/all; do
		ln -sf "$link" "$W/tmp/out"
		run_gotrace -p "$target" -d 300ms -o "$W/tmp/out"
		want 1
		one_line
	done
	rm "$W/tmp/out"
	mkfifo "$W/tmp/out"
	LIMIT=20 run_gotrace -p "$target" -d 300ms -o "$W/tmp/out"
	want 1
	one_line
	[ "$(cat "$W/victim")" = precious ] || die "written through a link"
	echo no trace >"$W/tmp/out" & # a pipe is read, and waits for a writer
	LIMIT=20 run_gotrace check "$W/tmp/out"
	want 1
	grep -q 'not a Go execution trace' "$W/out" || die "check of a pipe: $(cat "$W/out" "$W/err")"
	LIMIT=20 run_gotrace -o "$W/x" -- "$W/tmp/out"
	want 1
	one_line
	still_lives
}
