# gotrace: see `make help`.
# Out-of-tree build in build/; no network at build time (only `make deps` and the tests' Go toolchains use it).

CC      ?= gcc
CLANG   ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/bin/bpftool) bpftool)
PREFIX  ?= /usr/local
HOST    := $(shell uname -m | sed 's/x86_64/x86/;s/aarch64/arm64/')
ARCH    ?= $(HOST)
BUILD   ?= build
OUT     ?= gotrace
# `make ARCH=arm64` on another machine: Debian's cross compiler, and a folder of arm64's libraries beside it.
ifneq ($(ARCH),$(HOST))
ifneq ($(ARCH),arm64)
$(error no way to build for $(ARCH) here: ARCH=arm64 can be built anywhere)
endif
BUILD   := build/arm64
OUT     := $(BUILD)/gotrace
SYSROOT := $(BUILD)/sysroot
CC      := aarch64-linux-gnu-gcc --sysroot=$(SYSROOT)
# Leaks are looked for with ptrace, which the emulator does not have.
EMULATE := ASAN_OPTIONS=detect_leaks=0 qemu-aarch64-static -L $(SYSROOT)
READY   := $(BUILD)/sysroot.made
endif
# 0.9.0 for the tag v0.9.0, 0.9.0-3-gabcdef behind it; without tags and outside of git the newest in CHANGELOG.md.
RELEASE := $(shell sed -n 's/^\#\# \([0-9][0-9.]*\).*/\1/p' CHANGELOG.md | head -n 1)
VERSION := $(shell v=$$(git describe --tags --match 'v[0-9]*' --dirty 2>/dev/null) && echo "$${v\#v}" || { c=$$(git rev-parse --short HEAD 2>/dev/null) && echo "$(RELEASE)~g$$c"; } || echo "$(RELEASE)")

ifeq ($(V),1)
Q :=
else
Q := @
MAKEFLAGS += --no-print-directory
endif
msg = @printf '  %-8s %s\n' "$(1)" "$(2)"

WARN     := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes
CPPFLAGS := -I. -Isrc -I$(BUILD) -I$(BUILD)/gen/src -D_GNU_SOURCE $(CPPFLAGS)
CFLAGS   ?= -O2 -g
# The same bytes wherever the tree is.
PREFIXMAP := -ffile-prefix-map=$(CURDIR)=.
CSTD     := -std=c17
LIBS     := -lbpf -lelf -ldw -lz -ldeflate -llzma -liberty -lseccomp -lcap -lprotobuf-c -lsqlite3 -lm -lncursesw -ltinfo
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer

# The program of tools/layout, for gotrace layout.
LAYOUTGO := $(sort $(wildcard tools/layout/program/*))
LAYOUTH  := $(BUILD)/gen/src/layout_program.h

# Messages of other tools' formats, made of their descriptions by protoc-c.
PROTO    := $(wildcard src/*/*.proto)
PROTOC   := $(PROTO:%.proto=$(BUILD)/gen/%.pb-c.c)
SRC      := $(sort $(wildcard src/*.c src/*/*.c src/*/*/*.c))
OBJ      := $(SRC:%.c=$(BUILD)/obj/%.o) $(PROTOC:$(BUILD)/gen/%.c=$(BUILD)/obj/gen/%.o)
LIBOBJ   := $(filter-out $(BUILD)/obj/src/main.o,$(OBJ))
# Under the sanitizers everything but the BPF loader's users is the same source.
SANOBJ   := $(patsubst $(BUILD)/obj/%,$(BUILD)/san/%,$(LIBOBJ))
BPFSRC   := $(wildcard bpf/*.bpf.c)
SKEL     := $(BPFSRC:bpf/%.bpf.c=$(BUILD)/bpf/%.skel.h) $(BPFSRC:bpf/%.bpf.c=$(BUILD)/bpf/%_before512.skel.h) \
	    $(BUILD)/bpf/threads_nobtf.skel.h
# Made of x86 assembly or rules, or of programs that they compile and start: not for arm64.
UNITX86  := $(patsubst %,tests/unit/test_%.c,capture_native_tables code_elf_bounds target_names target_functions_type_layout target_functions_value_plan \
	code_symbol_ehframe_libdw)
# These need calls of the kernel that the emulator of user mode does not pass on: openat2, process_vm_readv,
# seccomp, ids of children in /proc.
UNITREAL := $(patsubst %,tests/unit/test_%.c,capture_features cli_refusals cli_find_process cli_input flight_snapshot_store pipeline \
	sandbox_inside sandbox_limits target_family target_labels target_maps target_process util_files)
UNITNOT  := $(if $(filter arm64,$(ARCH)),$(UNITX86)) $(if $(EMULATE),$(UNITREAL))
UNITSRC  := $(filter-out $(UNITNOT),$(wildcard tests/unit/test_*.c))
UNITHELP := $(filter-out tests/unit/test_%,$(wildcard tests/unit/*.c))
UNITOBJ  := $(UNITSRC:%.c=$(BUILD)/san/%.o)
FUZZSRC  := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ     := $(FUZZSRC:tests/fuzz/%.c=$(BUILD)/fuzz/%)
FUZZ_SECONDS ?= 20

.PHONY: FORCE all bpf help deps demo test t test-unit test-arm64 test-golden test-e2e vmtest vmtest-arm64 vmtest-all test-all fuzz \
	bench load fmt lint static pages deb sbom install uninstall install-caps clean
.DELETE_ON_ERROR:
.SECONDARY:

all: $(OUT) ## build ./gotrace; ARCH=arm64 elsewhere: build/arm64/gotrace

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-12s %s\n",$$1,$$2}' Makefile

$(OUT): $(OBJ)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# One file that needs nothing but a kernel. What libdw and libseccomp need themselves must be named.
STATIC := $(BUILD)/static/gotrace
STATIC_LIBS := $(LIBS) -lelf -lbz2 -lz
static: $(STATIC) ## build build/static/gotrace: one file with all libraries in, for any Linux

$(STATIC): $(OBJ)
	$(call msg,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -static -o $@ $^ $(STATIC_LIBS)

$(READY): tools/sysroot.sh
	$(call msg,SYSROOT,$(SYSROOT))
	$(Q)sh tools/sysroot.sh $(SYSROOT) && touch $@

# Says what is missing, and installs it where make runs as root. DEPS=no: somebody else has seen to it.
PACKAGES := $(BUILD)/packages
$(PACKAGES): tools/deps.sh
	@mkdir -p $(@D)
	$(Q)[ "$(DEPS)" = no ] || sh tools/deps.sh build
	@touch $@

$(BUILD)/gen/%.pb-c.c: %.proto | $(PACKAGES)
	$(call msg,PROTOC,$<)
	@mkdir -p $(BUILD)/gen
	$(Q)protoc-c --c_out=$(BUILD)/gen $<

$(LAYOUTH): $(LAYOUTGO) Makefile
	$(call msg,GEN,$@)
	@mkdir -p $(@D)
	$(Q){ echo 'static const struct { const char *name, *text; } layout_program[] = {'; \
	  for f in $(LAYOUTGO); do printf '{"%s",\n' "$${f##*/}"; \
	    sed 's/[\\"]/\\&/g;s/.*/"&\\n"/' "$$f"; echo '},'; done; echo '};'; } > $@
$(BUILD)/obj/src/cli/toolchain.o $(BUILD)/san/src/cli/toolchain.o: $(LAYOUTH)

$(BUILD)/obj/gen/%.o: $(BUILD)/gen/%.c | $(READY)
	$(call msg,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CSTD) -I$(BUILD)/gen $(CFLAGS) $(PREFIXMAP) -MMD -MP -c -o $@ $<

$(BUILD)/san/gen/%.o: $(BUILD)/gen/%.c | $(READY)
	$(call msg,CC-SAN,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CSTD) -I$(BUILD)/gen -O1 -g $(SANITIZE) -MMD -MP -c -o $@ $<

# Only what says the version is compiled anew when that is another one than before.
VERSIONED := $(shell grep -l GOTRACE_VERSION $(SRC))
VERSIONED := $(VERSIONED:%.c=$(BUILD)/obj/%.o) $(VERSIONED:%.c=$(BUILD)/san/%.o) $(VERSIONED:src/%.c=$(BUILD)/fuzzobj/%.o)
$(VERSIONED): CPPFLAGS += -DGOTRACE_VERSION='"$(VERSION)"'
$(VERSIONED): $(BUILD)/version
$(BUILD)/version: FORCE
	@mkdir -p $(@D)
	@[ "$$(cat $@ 2>/dev/null)" = '$(VERSION)' ] || echo '$(VERSION)' > $@
FORCE:

$(BUILD)/obj/%.o: %.c | $(SKEL) $(READY) $(PROTOC)
	$(call msg,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CSTD) $(CPPFLAGS) $(CFLAGS) $(PREFIXMAP) $(WARN) -MMD -MP -c -o $@ $<

$(BUILD)/san/%.o: %.c | $(SKEL) $(READY) $(PROTOC)
	$(call msg,CC-SAN,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CSTD) $(CPPFLAGS) -O1 -g $(WARN) $(SANITIZE) -MMD -MP -c -o $@ $<

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h) $(wildcard vmlinux/$(ARCH)/*.h) | $(PACKAGES)
	$(call msg,BPF,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG) -target bpf -D__TARGET_ARCH_$(ARCH) -I. -Ivmlinux/$(ARCH) -O2 -g $(PREFIXMAP) -Wall -Werror -mcpu=v3 -c -o $@ $<

# The same for other kernels (src/capture/bpf_compat.h): bpf/scratch.bpf.h and bpf/task.bpf.h say what differs.
define BPFVARIANT
$(call msg,BPF,$< $(1))
@mkdir -p $(@D)
$(Q)$(CLANG) -target bpf -D__TARGET_ARCH_$(ARCH) -D$(1) -I. -Ivmlinux/$(ARCH) -O2 -g $(PREFIXMAP) -Wall -Werror -mcpu=v3 -c -o $@.full $<
$(Q)$(BPFTOOL) gen object $@ $@.full
endef

$(BUILD)/bpf/%_before512.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h) $(wildcard vmlinux/$(ARCH)/*.h) | $(PACKAGES)
	$(call BPFVARIANT,BEFORE_512)

$(BUILD)/bpf/%_nobtf.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h) $(wildcard vmlinux/$(ARCH)/*.h) | $(PACKAGES)
	$(call BPFVARIANT,NO_BTF)

$(BUILD)/bpf/%.skel.h: $(BUILD)/bpf/%.bpf.o
	$(call msg,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $(*F)_bpf > $@

# One archive for unit tests: the linker takes from it what they need.
$(BUILD)/san/unit.a: $(SANOBJ) $(UNITHELP:%.c=$(BUILD)/san/%.o)
	$(call msg,AR,$@)
	$(Q)rm -f $@ && $(AR) crT $@ $^

$(BUILD)/san/tests/unit/%.o: CPPFLAGS += -Itests/unit

# All tests, those of a module (build/unit/rawlog, code_isa), or those of a file (rawlog_check, test_rawlog_check).
$(BUILD)/unit/all: $(UNITOBJ) $(BUILD)/san/unit.a
	$(call msg,UNIT,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SANITIZE) -o $@ $^ $(LIBS) -lcmocka

unit_objects = $(or $(filter $(addprefix $(BUILD)/san/tests/unit/,$(1).o test_$(1).o test_$(1)_%),$(UNITOBJ)),$(error no unit tests here of $(1)))
.SECONDEXPANSION:
$(BUILD)/unit/%: $$(call unit_objects,$$*) $(BUILD)/san/unit.a
	$(call msg,UNIT,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SANITIZE) -o $@ $^ $(LIBS) -lcmocka

# Played logs, for tools/bench: the same simulation as in the unit tests, at full speed.
$(BUILD)/bench-shards: tools/bench/shards.c tests/unit/spread.c $(LIBOBJ)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CSTD) $(CPPFLAGS) -Itests/unit $(CFLAGS) $(WARN) -o $@ $^ $(LIBS)

# Code written by hand beside libraries: docs/internals/by-hand.md.
$(BUILD)/bench-by-hand: tools/bench/by_hand.c $(LIBOBJ)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CSTD) $(CPPFLAGS) $(CFLAGS) $(WARN) -o $@ $^ $(LIBS)

# For the end-to-end tests: what the target module sees of a process, of a file's functions, of their instructions.
$(BUILD)/e2e/snapshot $(BUILD)/e2e/probe_points $(BUILD)/e2e/decode $(BUILD)/e2e/decode_arm64 $(BUILD)/e2e/places $(BUILD)/e2e/hoard: $(BUILD)/e2e/%: tests/e2e/%.c $(LIBOBJ)
	$(call msg,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CSTD) $(CPPFLAGS) $(CFLAGS) $(WARN) -o $@ $^ $(LIBS)

# Random tables for readers of Parquet.
$(BUILD)/e2e/parquet_random: tests/e2e/parquet_random.c tests/unit/random_table.c $(LIBOBJ)
	$(call msg,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CSTD) $(CPPFLAGS) -Itests/unit $(CFLAGS) $(WARN) -o $@ $^ $(LIBS)

# gotrace as if it did not know Go 1.26; nor 1.27; and where g.goid has moved since.
$(BUILD)/e2e/gotrace-without-26: WITHOUT := -DWITHOUT=0x4000000ull
$(BUILD)/e2e/gotrace-without-26-27: WITHOUT := -DWITHOUT=0xc000000ull
$(BUILD)/e2e/gotrace-moved: WITHOUT := -DWITHOUT=0x4000000ull -DMOVED=8
$(BUILD)/e2e/gotrace-without-26 $(BUILD)/e2e/gotrace-without-26-27 $(BUILD)/e2e/gotrace-moved: tests/e2e/layout_without.c $(OBJ)
	$(call msg,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CSTD) $(CPPFLAGS) $(WITHOUT) $(CFLAGS) $(LDFLAGS) -o $@ $< $(filter-out %/src/target/layout.o,$(OBJ)) $(LIBS)

# Changes programs so that they run as before, and are hard to read.
$(BUILD)/e2e/bombs: tests/e2e/bombs.c tests/unit/bomb.c
	$(call msg,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CSTD) $(CPPFLAGS) -Itests/unit $(CFLAGS) $(WARN) -o $@ $^ -lz

# Everything but the commands and the BPF loader, compiled once for libFuzzer with its instrumentation.
FUZZOBJ := $(patsubst src/%.c,$(BUILD)/fuzzobj/%.o,$(filter-out src/main.c src/cli/% src/capture/%,$(SRC))) \
	$(PROTOC:$(BUILD)/gen/%.c=$(BUILD)/obj/gen/%.o)
FUZZFLAGS = $(CSTD) $(CPPFLAGS) -O1 -g -fno-sanitize-recover=undefined
$(BUILD)/fuzzobj/%.o: src/%.c | $(PROTOC)
	$(call msg,FUZZ,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZFLAGS) -fsanitize=fuzzer-no-link,address,undefined -MMD -MP -c -o $@ $<

$(BUILD)/fuzz/%: tests/fuzz/%.c $(FUZZOBJ)
	$(call msg,FUZZ,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZFLAGS) -fsanitize=fuzzer,address,undefined -o $@ $^ $(LIBS)

-include $(shell find $(BUILD) \( -path $(BUILD)/deb -o -path $(BUILD)/release -o -path '$(BUILD)/e2e' \) -prune -o -type f -name '*.d' -print 2>/dev/null)

deps: ## install what building and installing need (Debian 12, root); test installs its own part
	$(Q)sh tools/deps.sh install

demo: ## trace a bundled Go server under load, live (root)
	$(Q)sh tools/demo.sh

bpf: $(SKEL:%.skel.h=%.bpf.o) # the programs alone

test: ## install what is missing, build, run each kind of test once: ten minutes (root)
	$(Q)sh tests/run.sh

test-more: ## the rotating matrix and cases, more kernels, a benchmark (root, half an hour)
	$(Q)sh tests/run.sh more

test-unit: $(BUILD)/unit/all ## unit and property tests under ASan and UBSan
	$(Q)$(if $(strip $(UNITNOT)),echo "not run here: $(UNITNOT)",:)
	$(Q)$(EMULATE) $<

t: $(BUILD)/unit/$(subst /,_,$(or $(M),all)) ## unit tests of a module or a file: make t M=rawlog, M=code/isa, M=rawlog_check T=TEST
	$(Q)$(EMULATE) $< $(if $(T),-t '$(T)')

test-arm64: ## the same built for arm64, under an emulator of its user mode
	$(Q)$(MAKE) ARCH=arm64 test-unit

test-golden: gotrace ## recorded raw logs, replayed byte for byte
	$(Q)sh tests/golden.sh

test-e2e: gotrace ## live targets, judged by Go's own readers (root)
	$(Q)sh tests/e2e/run.sh

KERNELS ?= 6.1 6.12
vmtest: gotrace ## this binary on other kernels, emulated; KERNELS="5.10 newest" for others (root)
	$(Q)bash tests/vm/run.sh $(KERNELS)

vmtest-arm64: gotrace ## gotrace for arm64 on a kernel for arm64, emulated: C and Go programs (root, long)
	$(Q)status=0; bash tests/vm/arm64.sh || status=1; bash tests/vm/arm64-go.sh || status=1; exit $$status

vmtest-all: gotrace ## the same on all of 5.10, 6.1, 6.12, 6.18 and the newest, and arm64 (root, long)
	$(Q)status=0; bash tests/vm/run.sh 5.10 6.1 6.12 6.18 newest || status=1; \
	  $(MAKE) test-arm64 || status=1; $(MAKE) vmtest-arm64 || status=1; exit $$status

test-all: ## the whole matrix of releases and variants (root, long)
	$(Q)ALL=1 sh tests/run.sh

fuzz: $(FUZZ) ## run each fuzz target for FUZZ_SECONDS
	$(Q)for f in $(FUZZ); do n=$$(basename $$f); mkdir -p $(BUILD)/corpus/$$n; \
	  seeds=tests/fuzz/corpus/$$n; test $$n != fuzz_export || seeds=tests/fuzz/corpus/fuzz_convert; \
	  echo "== $$n"; $$f -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 -timeout=10 -print_final_stats=1 \
	    -verbosity=0 $(BUILD)/corpus/$$n $$(ls -d $$seeds 2>/dev/null) || exit 1; done

bench: gotrace ## cost of tracing, as ratios in one run; make bench load: beside busy loops (root)
	$(Q)sh tools/bench/run.sh $(if $(filter load,$(MAKECMDGOALS)),overload,$(PART))

load: # the part of bench, for `make bench load`
	@:

fmt: ## format the C sources
	$(Q)clang-format -i $(SRC) $(wildcard src/*/*.h src/*/*/*.h bpf/*.[ch] tests/unit/*.[ch] tests/fuzz/*.c tools/bench/*.c)

lint: ## formatting, includes that point up the stream, function length, retired words
	$(Q)clang-format --dry-run -Werror $(SRC) $(wildcard src/*/*.h src/*/*/*.h bpf/*.[ch] tests/unit/*.[ch] tests/fuzz/*.c tools/bench/*.c)
	$(Q)sh tools/lint.sh

# The date of the sources, for what bears one: the same commit makes the same bytes.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)
export SOURCE_DATE_EPOCH
PAGES := $(BUILD)/pages
pages: $(PAGES)/made ## man pages and shell completions, from --help, in build/pages
$(PAGES)/made: gotrace tools/release/pages.py $(wildcard docs/man/*.man)
	$(call msg,PAGES,$(PAGES))
	$(Q)rm -rf $(PAGES) && python3 tools/release/pages.py ./gotrace $(PAGES) "$$(date -u -d @$(SOURCE_DATE_EPOCH) +%F)" && touch $@

DATADIR ?= $(PREFIX)/share
UNITDIR ?= $(PREFIX)/lib/systemd/system
install: gotrace pages ## install into PREFIX: program, man pages, completions, systemd unit; DESTDIR is honoured
	install -D -m 0755 gotrace $(DESTDIR)$(PREFIX)/bin/gotrace
	install -d $(DESTDIR)$(DATADIR)/man/man1
	install -m 0644 $(PAGES)/man/*.1 $(DESTDIR)$(DATADIR)/man/man1
	install -D -m 0644 $(PAGES)/completions/bash/gotrace $(DESTDIR)$(DATADIR)/bash-completion/completions/gotrace
	install -D -m 0644 $(PAGES)/completions/zsh/_gotrace $(DESTDIR)$(DATADIR)/zsh/site-functions/_gotrace
	install -D -m 0644 $(PAGES)/completions/fish/gotrace.fish $(DESTDIR)$(DATADIR)/fish/vendor_completions.d/gotrace.fish
	install -d $(DESTDIR)$(UNITDIR)
	sed 's|/usr/local/bin/|$(PREFIX)/bin/|' tools/gotrace-flight@.service > $(DESTDIR)$(UNITDIR)/gotrace-flight@.service
	chmod 0644 $(DESTDIR)$(UNITDIR)/gotrace-flight@.service
	install -d $(DESTDIR)$(DATADIR)/gotrace/fleet
	install -m 0755 tools/fleet/upload.sh tools/fleet/ask.sh $(DESTDIR)$(DATADIR)/gotrace/fleet
	for file in alert.json gotrace-node.service gotrace-upload.service; do \
	  sed 's|/usr/local/|$(PREFIX)/|g' tools/fleet/$$file > $(DESTDIR)$(DATADIR)/gotrace/fleet/$$file && \
	  chmod 0644 $(DESTDIR)$(DATADIR)/gotrace/fleet/$$file || exit 1; \
	done

uninstall: ## remove what install has installed
	rm -f $(DESTDIR)$(PREFIX)/bin/gotrace $(DESTDIR)$(DATADIR)/man/man1/gotrace.1 $(DESTDIR)$(DATADIR)/man/man1/gotrace-*.1 \
	  $(DESTDIR)$(DATADIR)/bash-completion/completions/gotrace $(DESTDIR)$(DATADIR)/zsh/site-functions/_gotrace \
	  $(DESTDIR)$(DATADIR)/fish/vendor_completions.d/gotrace.fish $(DESTDIR)$(UNITDIR)/gotrace-flight@.service
	rm -rf $(DESTDIR)$(DATADIR)/gotrace/fleet

deb: ## build a Debian package of HEAD in build/deb
	$(Q)sh tools/release/deb.sh $(VERSION)

sbom: $(STATIC) ## list what the static file is made of, as SPDX, in build/static/gotrace.spdx
	$(Q)sh tools/release/sbom.sh $(VERSION) $(STATIC) > $(STATIC).spdx.new && mv $(STATIC).spdx.new $(STATIC).spdx

# For users without root: whoever is in GROUP may trace, and so read the memory of every process. Without the last two
# of CAPS files that have no name left, or that only their owner may reach, are not read.
GROUP  ?= gotrace
CAPS   ?= cap_bpf,cap_perfmon,cap_sys_ptrace,cap_checkpoint_restore,cap_dac_read_search,cap_sys_nice
SETCAP ?= $(firstword $(wildcard /usr/sbin/setcap /sbin/setcap) setcap)
install-caps: gotrace ## install into PREFIX for the users of GROUP, who need no root then (root)
	@getent group $(GROUP) >/dev/null || { echo "install-caps: there is no group $(GROUP): groupadd --system $(GROUP), or GROUP=NAME" >&2; exit 1; }
	install -D -o root -g $(GROUP) -m 0750 gotrace $(DESTDIR)$(PREFIX)/bin/gotrace
	$(SETCAP) $(CAPS)=ep $(DESTDIR)$(PREFIX)/bin/gotrace

clean: ## remove what was built
	rm -rf $(BUILD) gotrace
