# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# Arguments of calls (--region 'FUNC(NAME, ...)'): every value is compared with what the program prints. To be
# sourced after functions.sh.

VALUETARGETS=tests/e2e/valuetargets

# value_target RELEASE [stripped]: a Go program. value_target c|cxx FLAG...: a C or C++ program. Prints its path.
value_target() {
	local binary=$W/values-${*//[ \/]/_} flags=()
	case $1 in
	c) gcc -std=gnu17 -Wall -Wextra -Werror "${@:2}" -o "$binary" $VALUETARGETS/values.c >&2 || return 1 ;;
	cxx) g++ -std=gnu++17 -Wall -Wextra -Werror "${@:2}" -o "$binary" $VALUETARGETS/values.cc >&2 || return 1 ;;
	*)
		[ "$2" = stripped ] && flags=(-ldflags "-s -w")
		if [ "$(minor "$1")" -le 21 ]; then
			(cd $VALUETARGETS && CGO_ENABLED=0 old_go "$1" build "${flags[@]}" -o "$binary" main.go) >&2 || return 1
		else
			(cd $VALUETARGETS && GOTOOLCHAIN=go$1 CGO_ENABLED=0 timeout 600 go build -buildvcs=false "${flags[@]}" \
				-o "$binary" .) >&2 || return 1
		fi
		;;
	esac
	echo "$binary"
}

# values_of TARGET CALLS OPTION...: traces the whole program, and checks that the values in the trace, $W/seen, are
# those that the program has printed for the requested functions, $W/said.
values_of() {
	timeout 120 "$GOTRACE" -q --max-overhead none -o "$W/trace" --raw "$W/raw" --format 1.26 "${@:3}" -- \
		"$1" "$2" >"$W/out" 2>"$W/err" || die "gotrace: $(tail -n 3 "$W/err")"
	values_in_trace "${@:3}"
}

# values_in_trace OPTION...: compares the values in $W/trace with those that the program has printed.
values_in_trace() {
	local names option
	"$GOTRACE" dump "$W/trace" >"$W/dump" 2>"$W/err" || die "dump: $(tail -n 3 "$W/err")"
	# The dump quotes the message again.
	sed -n 's/^.* UserLog .* key="\([^"]*\)" message="\(.*\)" stack=[0-9]*$/\1 \2/p' "$W/dump" |
		grep -v '^\[\|^gotrace' | sed 's/\\\(["\\]\)/\1/g' | sort >"$W/seen"
	names=$(for option in "$@"; do
		[ "${option#--}" = "$option" ] && echo "${option%(*}"
	done | sed 's/[][*().]/\\&/g; s/^/^/; s/$/ /' | tr '\n' '|')
	grep -E "${names%|}" "$W/out" | sort >"$W/said"
	cmp -s "$W/seen" "$W/said" ||
		die "values differ (${binary##*/}): $(diff "$W/seen" "$W/said" | head -n 6 | cut -c 1-200 | tr '\n' ';')"
	printf '%s' "$(wc -l <"$W/seen") values of $(cut -d ' ' -f 1 "$W/seen" | sort -u | wc -l) functions; "
}

GO_VALUES=(--region 'main.handle(id, name, ok, body)'
	--task 'main.(*server).serve(r.URL.Path, r.Tenant, size=arg1.Size, code)'
	--region 'main.(*server).follow(s.name, s.hits, method=r.Next.Method, body=r.Next.Body)'
	--region 'main.many(h, name, last)'
	--region 'main.composite(p.right, last)'
	--region 'main.pair.sum(p.left, recv.right, more)'
	--region 'main.odd(text)')

GO_GIVEN=(--region 'main.handle(id=arg1:int, name=arg2:string, ok=arg3:bool, body=arg4:len)'
	--region 'main.many(_=arg1:int, _=arg2:int, _=arg3:int, _=arg4:int, _=arg5:int, _=arg6:int, _=arg7:int, h=arg8:int, name=arg9:string, _=arg10:float64, last=arg11:int16)'
	--task 'main.odd(text=arg1:string)')

values_of_go() { # RELEASE
	binary=$(value_target "$1" 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	values_of "$binary" "${CALLS:-100}" "${GO_VALUES[@]}"
	binary=$(value_target "$1" stripped 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	values_of "$binary" "${CALLS:-100}" "${GO_GIVEN[@]}"
}

case_values_go() {
	local release
	for release in $NEWEST 1.27.0 1.22.12 1.19.13 1.16.15; do
		values_of_go $release
		printf '(%s); ' $release
	done
}

case_values_generic() {
	local release options
	options=(--region 'main.(*box[go.shape.string]).put(b.content, content, n)'
		--region 'main.first[go.shape.int](one, name)' --region 'main.main.func1(id, text)')
	for release in $NEWEST 1.22.12; do
		binary=$W/generic-$release
		(cd $VALUETARGETS/generic && GOTOOLCHAIN=go$release CGO_ENABLED=0 go build -buildvcs=false -o "$binary" .) \
			2>"$W/build.err" || die "cannot build: $(tail -n 3 "$W/build.err")"
		values_of "$binary" 100 "${options[@]}"
	done
	(cd $VALUETARGETS/generic && GOTOOLCHAIN=go$NEWEST CGO_ENABLED=0 go build -buildvcs=false -ldflags "-s -w" -o "$binary" .) \
		2>"$W/build.err" || die "cannot build: $(tail -n 3 "$W/build.err")"
	values_of "$binary" 100 --region 'main.first[go.shape.int](one=arg1:int, name=arg2:string)'
}

case_values_go_every() {
	local release
	[ "$ALL" = 1 ] || skip "with ALL=1"
	for release in 1.17.13 1.18.10 1.20.14 1.21.13 1.23.12 1.24.13 1.25.1; do
		values_of_go $release
		printf '(%s); ' $release
	done
}

C_VALUES=(--region 'handle(id, name, flag, big)'
	--task 'serve(req->url->path, scheme=req.url.scheme, color, last)'
	--region 'fields(req->n, req->size, req->depth, tiny)'
	--region 'structs(small.right, last)'
	--region 'result(id)'
	--region 'odd(text)')

case_values_c() {
	local flags
	for flags in "-g -O0" "-g -O2" "-g -O3 -fcf-protection=full -fno-omit-frame-pointer"; do
		# shellcheck disable=SC2086 # several options
		binary=$(value_target c $flags 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
		values_of "$binary" 200 "${C_VALUES[@]}"
	done
	binary=$(value_target c -O2 -s -rdynamic 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	values_of "$binary" 200 --region 'handle(id=arg1:int, name=arg2:cstring, flag=arg3:uint8, big=word4:ulong)' \
		--task 'odd(text=arg1:cstring)'
}

case_values_apart() { # the debug information is in a separate file; the process is already running
	binary=$(value_target c -g -O2 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	(cd "$W" && objcopy --only-keep-debug "$binary" "$binary.debug" && strip "$binary" &&
		objcopy --add-gnu-debuglink="$binary.debug" "$binary") 2>"$W/build.err" || die "$(head -n 1 "$W/build.err")"
	values_of "$binary" 200 "${C_VALUES[@]}"
	"$binary" 200 4000 >"$W/out" &
	target=$!
	for ((i = 0; i < 100; i++)); do
		[ "$(readlink /proc/$target/exe)" = "$(readlink -f "$binary")" ] && break
		sleep 0.05
	done
	timeout 60 "$GOTRACE" -q -p $target --max-overhead none -o "$W/trace" "${C_VALUES[@]}" >"$W/err" 2>&1 ||
		die "gotrace -p: $(tail -n 3 "$W/err")"
	wait $target
	values_in_trace "${C_VALUES[@]}"
}

case_values_cxx() {
	local flags
	for flags in -O0 -O2; do
		binary=$(value_target cxx -g $flags 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
		values_of "$binary" 200 --region 'shop::Till::pay(order.id, order.customer, note, count)' \
			--task 'shop::Till::take(this->sum, last)'
	done
}

# refuses_values TARGET OPTION TEXT: checks that the error is one line that says what is wrong.
refuses_values() {
	timeout 60 "$GOTRACE" -o "$W/trace" --region "$2" -- "$1" 1 >"$W/out" 2>"$W/err" && die "$2 is accepted"
	grep -qF -- "$3" "$W/err" || die "$2: $(head -n 3 "$W/err" | tr '\n' ';')"
	[ "$(grep -vc "^Try 'gotrace --help'" "$W/err")" = 1 ] || die "$2: more than a line: $(head -n 3 "$W/err" | tr '\n' ';')"
	[ ! -s "$W/out" ] || die "$2: the program was started"
}

case_values_refused() {
	binary=$(value_target $NEWEST 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	refuses_values "$binary" 'main.handle(id=arg1:nonsense)' "'nonsense' is not a type"
	refuses_values "$binary" 'main.handle(id=arg0)' "count from 1 to 99"
	refuses_values "$binary" 'main.handle(id=)' "a parameter is missing at the end"
	refuses_values "$binary" 'main.handle(id=id, a=ok, b=ok, c=ok, d=ok)' "more than 4 values"
	refuses_values "$binary" 'main.handle(nobody)' "there is no parameter nobody; it has id, name, ok, body"
	refuses_values "$binary" 'main.handle(arg5)' "there is no argument 5"
	refuses_values "$binary" 'main.handle(n=name:int)' "it is a string in the debug information, not int"
	refuses_values "$binary" 'main.handle(name.x)' "x is not a field of that type"
	refuses_values "$binary" 'main.many(x)' "floating-point register"
	refuses_values "$binary" 'main.composite(p)' "cannot be shown: name a field of it"
	refuses_values "$binary" 'main.composite(face)' "cannot be shown"
	refuses_values "$binary" 'main.handle(recv)' "is not a method"
	binary=$(value_target $NEWEST stripped 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	refuses_values "$binary" 'main.handle(id)' "need debug information, which the program does not have"
	refuses_values "$binary" 'main.handle(name=arg2:string)' "the type of arg1 is not known"
	refuses_values "$binary" 'main.handle(w=word10:int)' "word 10 is not in a register"
	refuses_values "$binary" 'main.pair.sum(arg1:int)' "the receiver's type is not known"
}

case_values_sites() { # what would be read, without tracing
	binary=$(value_target $NEWEST 2>"$W/build.err") || die "cannot build: $(tail -n 3 "$W/build.err")"
	"$binary" 1 >"$W/out" &
	target=$!
	sleep 0.1
	"$GOTRACE" sites --function 'main.(*server).serve(r.URL.Path, code)' -p $target >"$W/sites" 2>"$W/err" ||
		die "sites: $(head -n 1 "$W/err")"
	wait $target
	grep -qx 'main.(\*server).serve r.URL.Path: string \[\[rbx+24\]+16\]' "$W/sites" || die "sites: $(tail -n 2 "$W/sites")"
	grep -qx 'main.(\*server).serve code: unsigned8 rcx' "$W/sites" || die "sites: $(tail -n 2 "$W/sites")"
	grep -q '^main.(\*server).serve begin 0x' "$W/sites" || die "no probe: $(head -n 2 "$W/sites")"
}
