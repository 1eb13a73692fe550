#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Tests what is released: the static file in other user lands, man pages, completions, the packages. Needs root.
#   tests/release.sh          part of `make test-more`: one of the two long builds (package; second build) each day
#   ALL=1 tests/release.sh    both, and the static file on an emulated arm64 machine (a quarter of an hour)
#   ONLY=NAME                 the tests whose name contains NAME
[ -n "$BASH_VERSION" ] || exec bash "$0" "$@"
cd "$(dirname "$0")/.." || exit 1
. tests/e2e/lib.sh
ROOTS=$TOP/build/release
STATIC=$TOP/build/static/gotrace
PART=$((CELL_SEED % 2))

# The packages with which a C program is built and run, in each user land.
GLIBC_PACKAGES="libc6 libc6-dev linux-libc-dev libcrypt-dev libcrypt1 libgcc-s1"
# Ubuntu 22.04 as released. No Debian package contains its signing key, so the files are identified by checksum.
UBUNTU=${GOTRACE_UBUNTU_MIRROR:-http://archive.ubuntu.com/ubuntu}/pool/main
UBUNTU_FILES="
g/glibc/libc6_2.35-0ubuntu3_amd64.deb ea9a27e0ebdd0cfc9c750d94f8074f3a35d1f97dcc77ae04c370fb498a6b6db2
g/glibc/libc6-dev_2.35-0ubuntu3_amd64.deb cc37cab5c60bcfe4bbf289a8002f369949a41ed46e8b51a0503a001099370c56
libx/libxcrypt/libcrypt1_4.4.27-1_amd64.deb 3fa566e9f861a08736cbc5a97562d9d6e4f0c00450fbeafcb6d7583423b04a98
g/gcc-12/libgcc-s1_12-20220319-1ubuntu1_amd64.deb c9a93721431be07557c810d7e1b24c3b3c51f398334ded104362a68a415b9e61
l/linux/linux-libc-dev_5.15.0-25.25_amd64.deb 1b2a93020593c9e94a25f750ce442da5a6e8ff48a20f52cec92dfc3fa35336d8
"

# --- user lands ---

# debian_root SUITE ROOT, ubuntu_root ROOT: unpacks the C library of that release; false if it cannot be fetched.
debian_root() {
	local from
	from=$(tests/vm/fetch.sh package "$1" amd64 $GLIBC_PACKAGES 2>>"$W/fetch.err") || return 1
	cp -a "$from/." "$2"
}

ubuntu_root() {
	local path sum file
	while read -r path sum; do
		[ -n "$path" ] || continue
		file=$(tests/vm/fetch.sh file "$UBUNTU/$path" "$sum" 2>>"$W/fetch.err") && dpkg -x "$file" "$1" || return 1
	done <<<"$UBUNTU_FILES"
}

# c_target ROOT: builds the program in C with that root's library, as /ctarget. Libraries may be in /lib instead of
# /usr/lib.
c_target() {
	local root=$1 lib=$1/usr/lib/x86_64-linux-gnu sources
	sources=$(find tests/e2e/ctargets -name '*.c' ! -name plugin.c)
	# Adds the links of a merged /usr, and makes absolute links in the root point into the root.
	[ -e "$root/lib" ] || ln -s usr/lib "$root/lib"
	[ -e "$root/lib64" ] || ln -s usr/lib64 "$root/lib64"
	[ -L "$root/usr/lib64/ld-linux-x86-64.so.2" ] || ln -sfn ../lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 "$root/lib64/ld-linux-x86-64.so.2"
	find "$lib" -type l -lname '/*' | while read -r link; do ln -sfn "$root$(readlink "$link")" "$link"; done
	gcc --sysroot="$root" -B"$lib" -L"$lib" -L"$root/lib/x86_64-linux-gnu" -std=gnu17 -O2 -fomit-frame-pointer \
		-o "$root/ctarget" $sources -pthread -ldl
}

# mounted ROOT COMMAND...: runs COMMAND with the three mounts that gotrace needs in ROOT.
mounted() {
	local root=$1 ok
	shift
	mkdir -p "$root"/{proc,sys,dev,out} && : >"$root/dev/null"
	mount --bind /proc "$root/proc" && mount --rbind /sys "$root/sys" && mount --make-rslave "$root/sys" &&
		mount --bind /dev/null "$root/dev/null" || { unmount "$root"; die "cannot mount into $root"; }
	trap "kill \$(jobs -p) 2>/dev/null; unmount $root" EXIT
	"$@"
	ok=$?
	unmount "$root"
	return $ok
}

unmount() {
	umount -l "$1/proc" "$1/sys" "$1/dev/null" 2>/dev/null
	return 0
}

# traced_in ROOT PROGRAM MODE WORD: traces a program of that root with the static file there. The trace must be valid
# and name the function WORD.
traced_in() {
	local root=$1 name
	start_target chroot "$root" "/$2" "$3" -seconds 20
	name=$2-$3
	rm -f "$root/out/$name"
	LIMIT=30 GOTRACE=chroot run_gotrace "$root" /gotrace -p "$target" -d 1s -q -o "/out/$name"
	[ "$status" -eq 0 ] || die "$name: exit status $status: $(tail -n 3 "$W/err")"
	stop_target
	strict "$root/out/$name"
	timeout 60 ./gotrace dump --stacks "$root/out/$name" | grep -m 1 -q "$4" || die "$name: the trace does not name $4"
	echo -n "$name: $(fact events) events; "
}

# both ROOT: traces a program in C and one in Go.
both() {
	cp "$STATIC" "$1/gotrace"
	chroot "$1" /gotrace --version >"$W/version" 2>&1 || die "does not start: $(cat "$W/version")"
	[ "$(cat "$W/version")" = "$(./gotrace --version)" ] || die "says $(cat "$W/version")"
	binary=$(target_binary $NEWEST stripped) || die "cannot build the program in Go"
	cp "$binary" "$1/target" && traced_in "$1" target pingpong 'main\.'
	[ ! -e "$1/ctarget" ] || traced_in "$1" ctarget pingpong wait_turn
}

new_root() {
	root=$ROOTS/$1
	rm -rf --one-file-system "$root"
	mkdir -p "$root"
}

# glibc VERSION COMMAND...: runs the tests in a root that COMMAND fills with that version.
glibc() {
	local version=$1 has
	shift
	"$@" || skip "glibc $version cannot be fetched: $(tail -n 1 "$W/fetch.err")"
	has=$(strings "$root"/{,usr/}lib/x86_64-linux-gnu/libc.so.6 2>/dev/null | sed -n 's/^GNU C Library.* version \([0-9.]*[0-9]\).*/\1/p' | head -n 1)
	[ "$has" = "$version" ] || die "this is glibc $has instead of $version"
	c_target "$root" 2>"$W/build.err" || die "cannot build: $(tail -n 3 "$W/build.err")"
	mounted "$root" both "$root"
}

release_glibc_2_31() {
	new_root glibc-2.31
	glibc 2.31 debian_root bullseye "$root"
}

release_glibc_2_35() {
	new_root glibc-2.35
	glibc 2.35 ubuntu_root "$root"
}

release_glibc_2_41() {
	new_root glibc-2.41
	glibc 2.41 debian_root trixie "$root"
}

# Alpine's C library, in Debian's package. It has no unwind tables: a stack through it needs its code.
release_musl() {
	new_root musl
	mkdir -p "$root/lib" && cp -L /lib/ld-musl-x86_64.so.1 "$root/lib/" || skip "no musl here: tools/deps.sh tests"
	musl-gcc -std=gnu17 -O2 -fomit-frame-pointer -o "$root/ctarget" $(find tests/e2e/ctargets -name '*.c' ! -name plugin.c) -pthread \
		2>"$W/build.err" || die "cannot build: $(tail -n 3 "$W/build.err")"
	mounted "$root" both "$root"
}

# reads_in ROOT: replays a log there, and reads the trace, with nothing mounted, not even /proc.
reads_in() {
	local words
	mkdir -p "$1/out"
	cp "$STATIC" "$1/gotrace" && cp tests/fixtures/rawlog/go1.22.12.raw "$1/out/log" || die "cannot copy"
	chroot "$1" /gotrace replay -q /out/log -o /out/replayed 2>"$W/err" || die "replay: $(tail -n 1 "$W/err")"
	cmp "$1/out/replayed" tests/fixtures/rawlog/go1.22.12.trace >&2 || die "replays another trace"
	for words in "check /out/replayed" "report /out/replayed" "convert /out/replayed -o /out/v1 --format 1.19"; do
		chroot "$1" /gotrace $words >"$W/out" 2>"$W/err" || die "$words: $(tail -n 1 "$W/err")"
	done
	chroot "$1" /gotrace check - <"$1/out/replayed" >"$W/out" 2>"$W/err" || die "check -: $(tail -n 1 "$W/err")"
}

# A root without files, as in an image built from scratch.
release_empty() {
	new_root empty
	reads_in "$root"
	mounted "$root" both "$root"
	[ -z "$(find "$root" -xdev -type f ! -path "$root/out/*" ! -name gotrace ! -name target ! -path '*/dev/null')" ] || die "the root is not empty"
}

# The static file for arm64: under user-mode emulation, in an empty root, it starts and replays a log to the same
# bytes; on a fully emulated machine it traces.
release_arm64() {
	local log
	[ -x build/arm64/static/gotrace ] || [ "$ALL" = 1 ] || skip "not built (two minutes): ALL=1, or make ARCH=arm64 static"
	make ARCH=arm64 static >"$W/build.out" 2>&1 || die "cannot build: $(tail -n 3 "$W/build.out")"
	new_root arm64
	cp build/arm64/static/gotrace "$root/gotrace" && cp "$(command -v qemu-aarch64-static)" "$root/qemu" || die "no emulator"
	mkdir "$root/out"
	log=$(ls tests/fixtures/rawlog/*.raw | head -n 1)
	cp "$log" "$root/log"
	./gotrace replay -q "$log" -o "$root/out/here" || die "replay fails here"
	chroot "$root" /qemu /gotrace replay -q /log -o /out/there 2>"$W/err" || die "replay: $(tail -n 3 "$W/err")"
	cmp "$root/out/here" "$root/out/there" >&2 || die "replays another trace"
	echo -n "$(file -b "$root/gotrace" | cut -d , -f 1-2); replays as amd64"
	[ "$ALL" = 1 ] || return 0
	ARM_GOTRACE=build/arm64/static/gotrace timeout 1500 bash tests/vm/arm64.sh arm_pingpong >"$W/out" 2>&1 ||
		die "on the machine: $(grep -E 'FAIL|arm64:' "$W/out" | head -n 3)"
	echo -n "; $(grep -c PASS "$W/out") checks on the machine"
}

# --- files ---

# mandoc accepts every page that make install installs, without a message.
release_man() {
	local pages
	make pages >"$W/out" 2>&1 || die "cannot make them: $(tail -n 3 "$W/out")"
	pages=$(ls build/pages/man/*.1)
	mandoc -T lint -W warning $pages >"$W/lint" 2>&1
	[ ! -s "$W/lint" ] || die "$(head -n 5 "$W/lint")"
	local word
	for word in NAME SYNOPSIS DESCRIPTION OPTIONS; do
		mandoc -T utf8 build/pages/man/gotrace.1 | col -b | grep -q "^$word" || die "gotrace.1 has no section $word"
	done
	mandoc -T utf8 build/pages/man/gotrace-report.1 | col -b | grep -qx ' *How the process of -p is recorded' || die "gotrace-report.1 does not have its header"
	echo -n "$(echo "$pages" | wc -l) pages"
}

# complete_bash WORD...: prints bash's completions of the last word.
complete_bash() {
	bash --norc -c '. build/pages/completions/bash/gotrace; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE=$*; COMP_POINT=${#COMP_LINE}; _gotrace; printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}

complete_zsh() {
	timeout 60 python3 tests/zsh_complete.py build/pages/completions/zsh "$*"
}

complete_fish() {
	XDG_CONFIG_HOME=$W/fish HOME=$W fish --no-config -c "source build/pages/completions/fish/gotrace.fish; complete -C '$*'" | cut -f 1
}

# offers SHELL WANTED WORD...: SHELL offers WANTED as a completion of the last word.
offers() {
	local shell=$1 wanted=$2
	shift 2
	"complete_$shell" "$@" >"$W/$shell" 2>"$W/$shell.err"
	grep -qxF -e "$wanted" "$W/$shell" || die "$shell: '$*' does not offer $wanted, but: $(head -n 5 "$W/$shell" "$W/$shell.err" | tr '\n' ' ')"
}

# labelled_trace: records a program with pprof labels, $program, into $W/trace. The completions find gotrace by its name.
labelled_trace() {
	local i
	PATH=$TOP:$PATH
	(cd tests/e2e/labels && GOTOOLCHAIN=go1.26.8 CGO_ENABLED=0 go build -buildvcs=false -o "$W/labels" main.go) || die "cannot build the program"
	"$W/labels" "$W/profile" >"$W/labels.out" &
	program=$!
	for ((i = 0; i < 200; i++)); do
		[ -s "$W/labels.out" ] && break
		sleep 0.1
	done
	"$GOTRACE" -q -p $program -d 500ms -o "$W/trace" 2>"$W/err" || die "$(cat "$W/err")"
}

# offers_functions SHELL PID: SHELL offers the functions of a live process.
offers_functions() {
	local shell=$1 pid=$2 method='runtime.(*mheap).init' typed='runtime.\(\*mheap\).ini'
	[ "$shell" = zsh ] && method='runtime.\(\*mheap\).init'
	offers "$shell" main.main gotrace -p "$pid" --region main.ma
	offers "$shell" "$method" gotrace flight --pid "$pid" --task "$typed"
	offers "$shell" main.main gotrace sites -p "$pid" --list main.
}

release_completions() {
	local shell program
	make pages >"$W/out" 2>&1 || die "cannot make them: $(tail -n 3 "$W/out")"
	for shell in bash zsh fish; do
		offers $shell flight gotrace fl
		offers $shell --duration gotrace --dur
		offers $shell --window gotrace flight --win
		offers $shell README.md gotrace check READ
		offers $shell README.md gotrace layout --go READ
		offers $shell --layout gotrace ps --lay
		offers $shell --requests gotrace report --reque
		offers $shell --locks gotrace flight --loc
		offers $shell perfetto gotrace convert --format perf
		offers $shell 1.22 gotrace flight --format 1.2
		[ $shell = zsh ] && offers zsh 'runnable\>' gotrace flight --on runna || offers $shell 'runnable>' gotrace flight --on runna
		! grep -qxF -e perfetto <("complete_$shell" gotrace flight --format perf) || die "$shell: offers flight a format of convert"
		! grep -qxF -e --window <("complete_$shell" gotrace check --w) || die "$shell: offers check an option of flight"
	done
	offers bash go gotrace --as g
	labelled_trace
	for shell in bash zsh fish; do
		offers $shell shard=7 gotrace report "$W/trace" --label sha
		offers $shell handler gotrace report "$W/trace" --by-label han
		offers_functions $shell $program
	done
	kill $program
	echo -n "bash, zsh, fish: commands, options, files, formats, triggers, labels, functions"
}

# make install puts every file in its place, and make uninstall removes it.
release_install() {
	local left
	make install DESTDIR="$W/root" PREFIX=/usr >"$W/out" 2>&1 || die "$(tail -n 3 "$W/out")"
	"$W/root/usr/bin/gotrace" --version >"$W/version" || die "does not start"
	(cd "$W/root" && find . -type f) | sort >"$W/files"
	for left in share/man/man1/gotrace.1 share/man/man1/gotrace-flight.1 share/bash-completion/completions/gotrace \
		share/zsh/site-functions/_gotrace share/fish/vendor_completions.d/gotrace.fish lib/systemd/system/gotrace-flight@.service \
		share/gotrace/fleet/upload.sh share/gotrace/fleet/ask.sh share/gotrace/fleet/gotrace-node.service; do
		grep -qx "./usr/$left" "$W/files" || die "no $left"
	done
	grep -q '^ExecStart=/usr/bin/gotrace' "$W/root/usr/lib/systemd/system/gotrace-flight@.service" || die "the unit starts another file"
	grep -q '^ExecStart=/usr/share/gotrace' "$W/root/usr/share/gotrace/fleet/gotrace-upload.service" || die "the uploader's unit starts another file"
	make uninstall DESTDIR="$W/root" PREFIX=/usr >>"$W/out" 2>&1 || die "$(tail -n 3 "$W/out")"
	left=$(find "$W/root" -type f)
	[ -z "$left" ] || die "left: $left"
	echo -n "$(wc -l <"$W/files") files"
}

release_sbom() {
	make sbom >"$W/out" 2>&1 || die "$(tail -n 3 "$W/out")"
	grep -q "^PackageChecksum: SHA256: $(sha256sum "$STATIC" | cut -d ' ' -f 1)" "$STATIC.spdx" || die "the SPDX checksum is that of another file"
	# Every linked library has a package.
	for name in libbpf libelf libdw libiberty zlib libdeflate liblzma libseccomp libcap libncurses; do
		grep -q "^PackageName: $name" "$STATIC.spdx" || die "no $name"
	done
	echo -n "$(grep -c ^PackageName "$STATIC.spdx") packages"
}

# The same commit in another directory builds the same bytes.
release_twice() {
	[ "$PART" = 1 ] || [ "$ALL" = 1 ] || skip "not today: ALL=1"
	[ -z "$(git status --porcelain --untracked-files=no)" ] || skip "the tree has changes that are in no commit"
	local version
	version=$(./gotrace --version | cut -d ' ' -f 2)
	cp "$STATIC" "$W/here" # another make may replace it meanwhile
	mkdir -p "$W/elsewhere" && git archive HEAD | tar -x -C "$W/elsewhere" || die "cannot unpack"
	sed -i "s/^VERSION := .*/VERSION := $version/" "$W/elsewhere/Makefile"
	make -C "$W/elsewhere" -j"$(nproc)" static >"$W/out" 2>&1 || die "cannot build: $(tail -n 3 "$W/out")"
	cmp "$W/here" "$W/elsewhere/build/static/gotrace" >&2 || die "the bytes differ"
	echo -n "$(sha256sum "$STATIC" | head -c 16)..."
}

# debian_chroot PACKAGES: a chroot of Debian 12 with these packages, in the cache; made once.
debian_chroot() {
	local cache=${GOTRACE_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gotrace-vm}/bookworm-$(date +%Y%m)-$(echo "$1" | cksum | cut -d ' ' -f 1)
	if [ ! -e "$cache.complete" ]; then
		rm -rf "$cache"
		mkdir -p "$cache"
		/usr/sbin/debootstrap --variant=minbase --include="man-db,$1" bookworm "$cache" "${GOTRACE_VM_MIRROR:-http://deb.debian.org}/debian" \
			>"$W/debootstrap" 2>&1 || skip "no chroot of Debian: $(tail -n 1 "$W/debootstrap")"
		: >"$cache.complete"
	fi
	new_root bookworm
	cp -a "$cache/." "$root"
}

# The manifests are read by the API's own types, and gotrace takes the arguments that they give it.
release_manifests() {
	local args status=0
	(cd tests/manifests && go build -o "$W/manifests" .) || die "cannot build tests/manifests"
	"$W/manifests" tools/release/kubernetes/debug-container.yaml Container >&2 || die "debug-container.yaml"
	"$W/manifests" tools/release/kubernetes/flight-recorder.yaml Namespace DaemonSet >"$W/args" || die "flight-recorder.yaml"
	"$W/manifests" tools/release/kubernetes/fleet.yaml Namespace DaemonSet >"$W/fleet" || die "fleet.yaml"
	mkdir "$W/snapshots"
	mapfile -t args < <(sed "s|^--output=.*|--output=$W/snapshots|" "$W/args")
	# It waits for a process that nobody starts here, until it is interrupted.
	timeout -s INT 3 "$GOTRACE" "${args[@]}" >"$W/out" 2>&1 || status=$?
	grep -q "waiting for" "$W/out" || die "status $status: $(tail -n 2 "$W/out")"
	echo -n "$(wc -l <"$W/args") arguments"
}

# listed ROOT: lists all files except the databases of dpkg and man-db.
listed() {
	(cd "$1" && find . -xdev -path ./proc -prune -o ! -path './var/lib/dpkg/*' ! -path './var/log/*' ! -path './var/cache/man*' ! -path './var/cache/ldconfig/*' \
		! -path ./etc/ld.so.cache -print | sort)
}

release_deb() {
	local deb needs lint=
	[ "$PART" = 0 ] || [ "$ALL" = 1 ] || skip "not today: ALL=1"
	command -v dh lintian >/dev/null || skip "no debhelper or lintian here: tools/deps.sh tests"
	make deb >"$W/out" 2>&1 || die "cannot build: $(tail -n 3 "$W/out")"
	deb=$(ls build/deb/gotrace_*.deb)
	# The publisher's address comes from DEBEMAIL; otherwise there is none.
	[ -n "$DEBEMAIL" ] || lint='--suppress-tags=bogus-mail-host,bogus-mail-host-in-debian-changelog'
	lintian --allow-root --fail-on error,warning $lint build/deb/*.changes >"$W/lint" 2>&1 || die "lintian: $(head -n 5 "$W/lint")"
	[ ! -s "$W/lint" ] || die "lintian: $(head -n 5 "$W/lint")"
	needs=$(dpkg-deb -f "$deb" Depends | sed 's/([^)]*)//g; s/ //g; s/|[^,]*//g')
	debian_chroot "$needs"
	listed "$root" >"$W/before"
	cp "$deb" "$root/tmp/gotrace.deb"
	chroot "$root" dpkg -i /tmp/gotrace.deb >"$W/dpkg" 2>&1 || die "dpkg: $(tail -n 3 "$W/dpkg")"
	chroot "$root" gotrace --version >"$W/version" 2>&1 || die "does not start: $(cat "$W/version")"
	chroot "$root" sh -c 'MANPAGER=cat man gotrace; MANPAGER=cat man gotrace-report' >"$W/man" 2>&1 || die "man: $(tail -n 3 "$W/man")"
	grep -q -- '-d, --duration' "$W/man" && grep -q -- '--max-items' "$W/man" || die "man shows something else: $(head -n 3 "$W/man")"
	chroot "$root" dpkg --purge gotrace >"$W/dpkg" 2>&1 || die "purge: $(tail -n 3 "$W/dpkg")"
	rm "$root/tmp/gotrace.deb"
	listed "$root" >"$W/after"
	cmp "$W/before" "$W/after" >&2 || die "purge leaves: $(comm -13 "$W/before" "$W/after" | head -n 5)"
	rm -rf --one-file-system "$root"
	echo -n "$(basename "$deb"), lintian clean, man, purged"
}

[ "$(id -u)" -eq 0 ] || { echo "release: needs root" >&2; exit 1; }
mkdir -p "$ROOTS"
make -j"$(nproc)" all static || exit 1
build_judge || exit 1
for name in $(sed -n 's/^release_\([a-z0-9_]*\)().*/\1/p' "$0"); do
	case $name in *"$ONLY"*) run_one "release $name" "release_$name" ;; esac
done
finish
