# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# What each command may do when it reads its input. To be sourced after spaces.sh.

RIGHTS_DOC=docs/security.md

# rights_table FILE: prints the table of that document.
rights_table() {
	sed -n '/^| command | process | root has /,/^$/p' "$1" | grep '^|'
}

# rights_config: prints the configuration of rights.py. Root runs $GOTRACE, a member what install-caps has installed,
# anyone a copy of gotrace without capabilities.
rights_config() {
	python3 - "$GOTRACE" "$tracing" "$public" "$target" "$W" "$TOP/$RIGHTS_DOC" <<-SCRIPT
		import json, os, sys
		gotrace, tracing, public, target, work, doc = sys.argv[1:]
		drop = ["setpriv", "--clear-groups", "--inh-caps=-all"]
		shell = ["sh", "-c", 'exec "\$0" "\$@"']
		print(json.dumps({
		    "gotrace": {
		        "root": [gotrace],
		        "member": drop + ["--reuid=$USER_ID", f"--regid={os.stat(tracing).st_gid}"] + shell + [tracing],
		        "anyone": drop + ["--bounding-set=-all", "--reuid=$((USER_ID + 2))", "--regid=$GROUP_ID"] + shell + [f"{public}/gotrace"]},
		    "dir": {"root": work, "member": f"{public}/own", "anyone": f"{public}/anyone"},
		    "target": int(target), "comm": open(f"/proc/{target}/comm").read().strip(), "doc": doc,
		    "trace": f"{public}/trace", "raw": f"{public}/raw", "program": f"{public}/program"}))
	SCRIPT
}

case_rights_table() { # each process of each command, as root, member and anyone; RIGHTS_WRITE=1 writes what it found to docs/security.md
	local raw
	probes_by_links || skip "probes by perf events keep CAP_SYS_ADMIN: before Linux 6.10"
	LOAD_SECONDS=550
	load mixed
	installed
	mkdir "$public/anyone"
	chown $((USER_ID + 2)):$GROUP_ID "$public/anyone"
	raw=$(ls tests/fixtures/rawlog/go1.26*.raw | tail -n 1)
	cp "$raw" "$public/raw"
	cp "${raw%.raw}.trace" "$public/trace"
	cp "$(target_binary $NEWEST default)" "$public/program"
	chmod 644 "$public/raw" "$public/trace" "$public/program"
	rights_config >"$W/config.json" || die "no configuration"
	timeout 500 python3 tests/e2e/rights.py "$W/config.json" >"$W/table" 2>"$W/err" ||
		die "$(wc -l <"$W/err") faults: $(head -n 12 "$W/err")"
	if [ "$RIGHTS_WRITE" = 1 ]; then
		python3 - "$RIGHTS_DOC" "$W/table" <<-'SCRIPT' || die "cannot write the table"
			import re, sys
			text, table = (open(path, encoding="utf-8").read() for path in sys.argv[1:])
			text, n = re.subn(r"(?m)^\| command \| process \| root has .*\n(\|.*\n)*", lambda _: table, text)
			assert n == 1
			open(sys.argv[1], "w", encoding="utf-8").write(text)
		SCRIPT
	fi
	rights_table $RIGHTS_DOC >"$W/documented"
	diff "$W/documented" "$W/table" >"$W/diff" || die "docs/security.md says otherwise: $(head -n 20 "$W/diff")"
	still_lives
}

# top_as_user ENVIRONMENT...: a member runs gotrace top, on a terminal whose type only a file of the member's describes.
top_as_user() {
	(cd "$public/own" && timeout 60 python3 "$TOP/tests/e2e/terminal.py" 2 key=q -- env HOME=/nonexistent TERM=gotrace-own "$@" \
		setpriv --reuid=$USER_ID --regid=nogroup --clear-groups sh -c 'exec "$0" "$@"' "$tracing" top -p "$target") >"$W/screen" 2>&1
}

case_rights_terminal() { # with file capabilities, the user's own descriptions of terminals are ignored; root's are not
	local own
	which tic >/dev/null || skip "no tic here"
	load mixed
	installed
	mkdir -p "$public/own/.terminfo"
	printf 'gotrace-own|of the test,\n\tuse=xterm,\n' >"$public/own/source"
	tic -x -o "$public/own/.terminfo" "$public/own/source" 2>"$W/tic.err" || die "tic: $(tail -n 2 "$W/tic.err")"
	chown -R $USER_ID "$public/own"
	for own in TERMINFO="$public/own/.terminfo" TERMINFO_DIRS="$public/own/.terminfo" HOME="$public/own" \
		"TERMCAP=gotrace-own:co#80:li#24:cl=\\E[H:cm=\\E[%i%d;%dH:"; do
		top_as_user "$own" && die "top took a description from ${own%%=*}"
		grep -aq 'terminal type in TERM is not known' "$W/screen" || die "${own%%=*}: $(tail -c 300 "$W/screen")"
	done
	top_as_user TERM=xterm || die "top ended with status $?: $(tail -c 300 "$W/screen")"
	TERMINFO="$public/own/.terminfo" timeout 60 python3 tests/e2e/terminal.py 2 key=q -- env TERM=gotrace-own "$GOTRACE" top -p "$target" >"$W/screen" 2>&1 ||
		die "root's top ended with status $?: $(tail -c 300 "$W/screen")"
	still_lives
}

# without_filters CMD...: runs it as on a kernel without seccomp.
without_filters() {
	python3 - "$@" <<-'SCRIPT'
		import ctypes, os, platform, struct, sys
		seccomp, prctl = {"x86_64": (317, 157), "aarch64": (277, 167)}[platform.machine()]
		load, equals, give = 0x20, 0x15, 0x06  # linux/bpf_common.h; then struct sock_filter
		allow, enosys, einval = 0x7FFF0000, 0x00050000 | 38, 0x00050000 | 22
		code = [(load, 0, 0, 0), (equals, 0, 1, seccomp), (give, 0, 0, enosys), (equals, 0, 3, prctl), (load, 0, 0, 16),
		        (equals, 0, 1, 22), (give, 0, 0, einval), (give, 0, 0, allow)]  # 22: PR_SET_SECCOMP
		text = b"".join(struct.pack("HBBI", *one) for one in code)
		buffer = ctypes.create_string_buffer(text)
		program = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(buffer))
		libc = ctypes.CDLL(None, use_errno=True)
		if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
		    sys.exit("cannot forbid filters")
		os.execvp(sys.argv[1], sys.argv[1:])
	SCRIPT
}

case_rights_without_filters() { # where the kernel has no filters, only a user without privileges may read a file
	local trace
	public_copy
	trace=$(ls tests/fixtures/rawlog/go1.26*.trace | tail -n 1)
	cp "$trace" "$public/trace"
	chmod 644 "$public/trace"
	without_filters "$GOTRACE" check "$public/trace" >"$W/out" 2>"$W/err"
	status=$?
	want 1
	one_line
	says 'seccomp: Function not implemented'
	without_filters "$GOTRACE" replay -q "${trace%.trace}.raw" -o "$W/replayed" >"$W/out" 2>"$W/err"
	status=$?
	want 1
	one_line
	[ ! -e "$W/replayed" ] || die "a file was written"
	without_filters "$GOTRACE" doctor >"$W/out" 2>"$W/err"
	grep -q 'Go programs can' "$W/out" || die "doctor says nothing: $(tail -n 2 "$W/err")"
	(cd "$public" && without_filters setpriv --reuid=$NOBODY --regid=$NOBODY --clear-groups --inh-caps=-all --bounding-set=-all \
		./gotrace convert -q --format 1.22 trace -o - | ./gotrace check -) >"$W/out" 2>"$W/err" || die "nobody: $(tail -n 2 "$W/err")"
	grep -q ': valid' "$W/out" || die "nobody's trace is not valid"
}
