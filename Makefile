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
READY   := $(SYSROOT)/usr/lib
endif
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

ifeq ($(V),1)
Q :=
else
Q := @
MAKEFLAGS += --no-print-directory
endif
msg = @printf '  %-8s %s\n' "$(1)" "$(2)"

WARN     := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes
CPPFLAGS := -I. -Isrc -I$(BUILD) -D_GNU_SOURCE -DGOTRACE_VERSION='"$(VERSION)"'
CFLAGS   ?= -O2 -g
CSTD     := -std=c17
LIBS     := -lbpf -lelf -ldw -lz -llzma -lstdc++ -lseccomp -lcap
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer

SRC      := $(sort $(wildcard src/*.c src/*/*.c))
OBJ      := $(SRC:%.c=$(BUILD)/obj/%.o)
LIBOBJ   := $(filter-out $(BUILD)/obj/src/main.o,$(OBJ))
# Under the sanitizers everything but the BPF loader's users is the same source.
SANOBJ   := $(patsubst $(BUILD)/obj/%,$(BUILD)/san/%,$(LIBOBJ))
BPFSRC   := $(wildcard bpf/*.bpf.c)
SKEL     := $(BPFSRC:bpf/%.bpf.c=$(BUILD)/bpf/%.skel.h) $(BPFSRC:bpf/%.bpf.c=$(BUILD)/bpf/%_before512.skel.h)
# Made of x86 assembly or rules, or of programs that they compile and start: not for arm64.
UNITX86  := $(patsubst %,tests/unit/test_%.c,capture_native_tables native_names symbol_ehframe_libdw)
# These need calls of the kernel that the emulator of user mode does not pass on: openat2, process_vm_readv,
# seccomp, ids of children in /proc.
UNITREAL := $(patsubst %,tests/unit/test_%.c,capture_features pipeline sandbox_inside target_family target_maps \
	target_process util_files)
UNITNOT  := $(if $(filter arm64,$(ARCH)),$(UNITX86)) $(if $(EMULATE),$(UNITREAL))
UNITSRC  := $(filter-out $(UNITNOT),$(wildcard tests/unit/test_*.c))
UNITHELP := $(filter-out tests/unit/test_%,$(wildcard tests/unit/*.c))
UNIT     := $(UNITSRC:tests/unit/%.c=$(BUILD)/unit/%)
FUZZSRC  := $(wildcard tests/fuzz/fuzz_*.c)
FUZZ     := $(FUZZSRC:tests/fuzz/%.c=$(BUILD)/fuzz/%)
FUZZ_SECONDS ?= 20

.PHONY: all help deps demo test test-unit test-arm64 test-golden test-e2e vmtest vmtest-arm64 vmtest-all test-all fuzz \
	bench fmt lint install install-caps clean
.DELETE_ON_ERROR:
.SECONDARY:

all: $(OUT) ## build ./gotrace; ARCH=arm64 elsewhere: build/arm64/gotrace

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-12s %s\n",$$1,$$2}' Makefile

$(OUT): $(OBJ)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CFLAGS) -o $@ $^ $(LIBS)

$(READY):
	$(call msg,SYSROOT,$(SYSROOT))
	$(Q)sh tools/sysroot.sh $(SYSROOT)

$(BUILD)/obj/%.o: %.c | $(SKEL) $(READY)
	$(call msg,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CSTD) $(CPPFLAGS) $(CFLAGS) $(WARN) -MMD -MP -c -o $@ $<

$(BUILD)/san/%.o: %.c | $(SKEL) $(READY)
	$(call msg,CC-SAN,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CSTD) $(CPPFLAGS) -O1 -g $(WARN) $(SANITIZE) -MMD -MP -c -o $@ $<

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h) $(wildcard vmlinux/$(ARCH)/*.h)
	$(call msg,BPF,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG) -target bpf -D__TARGET_ARCH_$(ARCH) -I. -Ivmlinux/$(ARCH) -O2 -g -Wall -Werror -mcpu=v3 -c -o $@ $<

# The same for kernels before Linux 5.12: bpf/scratch.bpf.h says what differs.
$(BUILD)/bpf/%_before512.bpf.o: bpf/%.bpf.c $(wildcard bpf/*.h) $(wildcard vmlinux/$(ARCH)/*.h)
	$(call msg,BPF,$< before 5.12)
	@mkdir -p $(@D)
	$(Q)$(CLANG) -target bpf -D__TARGET_ARCH_$(ARCH) -DBEFORE_512 -I. -Ivmlinux/$(ARCH) -O2 -g -Wall -Werror -mcpu=v3 -c -o $@.full $<
	$(Q)$(BPFTOOL) gen object $@ $@.full

$(BUILD)/bpf/%.skel.h: $(BUILD)/bpf/%.bpf.o
	$(call msg,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $(*F)_bpf > $@

$(BUILD)/unit/%: tests/unit/%.c $(UNITHELP) $(SANOBJ)
	$(call msg,UNIT,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CSTD) $(CPPFLAGS) -Itests/unit -O1 -g $(WARN) $(SANITIZE) -o $@ $< $(UNITHELP) $(SANOBJ) $(LIBS) -lcmocka

# Played logs, for tools/bench: the same simulation as in the unit tests, at full speed.
$(BUILD)/bench-shards: tools/bench/shards.c tests/unit/spread.c $(LIBOBJ)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(CSTD) $(CPPFLAGS) -Itests/unit $(CFLAGS) $(WARN) -o $@ $^ $(LIBS)

# For the end-to-end tests: what the target room sees of a process, of a file's functions, of their instructions.
$(BUILD)/e2e/snapshot $(BUILD)/e2e/ways $(BUILD)/e2e/decode $(BUILD)/e2e/decode_arm64 $(BUILD)/e2e/places: $(BUILD)/e2e/%: tests/e2e/%.c $(LIBOBJ)
	$(call msg,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CSTD) $(CPPFLAGS) $(CFLAGS) $(WARN) -o $@ $^ $(LIBS)

# libFuzzer compiles what it needs itself, with its own instrumentation.
FUZZLIB := $(filter-out src/main.c src/cli/% src/capture/%,$(SRC))
$(BUILD)/fuzz/%: tests/fuzz/%.c $(FUZZLIB)
	$(call msg,FUZZ,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(CSTD) $(CPPFLAGS) -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -o $@ $^ $(LIBS)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

deps: ## install what building and testing need (Debian 12, root)
	$(Q)sh tools/deps.sh

demo: ## trace a bundled Go server under load, live (root)
	$(Q)sh tools/demo.sh

test: ## install what is missing, build, run every test (root)
	$(Q)sh tests/run.sh

test-unit: $(UNIT) ## unit and property tests under ASan and UBSan
	$(Q)for t in $(UNIT); do $(EMULATE) $$t || exit 1; done
	$(Q)$(if $(strip $(UNITNOT)),echo "not run here: $(UNITNOT)",:)

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
	  echo "== $$n"; $$f -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 -verbosity=0 $(BUILD)/corpus/$$n $$(ls -d tests/fuzz/corpus/$$n 2>/dev/null) || exit 1; done

bench: gotrace ## cost of tracing, as ratios in one run (root)
	$(Q)sh tools/bench/run.sh

fmt: ## format the C sources
	$(Q)clang-format -i $(SRC) $(wildcard src/*/*.h bpf/*.[ch] tests/unit/*.[ch] tests/fuzz/*.c tools/bench/*.c)

lint: ## formatting, includes that point up the stream, function length
	$(Q)clang-format --dry-run -Werror $(SRC) $(wildcard src/*/*.h bpf/*.[ch] tests/unit/*.[ch] tests/fuzz/*.c tools/bench/*.c)
	$(Q)sh tools/lint.sh

install: gotrace ## install into PREFIX
	install -D -m 0755 gotrace $(DESTDIR)$(PREFIX)/bin/gotrace

# For users without root: whoever is in GROUP may trace, and so read the memory of every process. Without the last two
# of CAPS files that have no name left, or that only their owner may reach, are not read.
GROUP  ?= gotrace
CAPS   ?= cap_bpf,cap_perfmon,cap_sys_ptrace,cap_checkpoint_restore,cap_dac_read_search
SETCAP ?= $(firstword $(wildcard /usr/sbin/setcap /sbin/setcap) setcap)
install-caps: gotrace ## install into PREFIX for the users of GROUP, who need no root then (root)
	@getent group $(GROUP) >/dev/null || { echo "install-caps: there is no group $(GROUP): groupadd --system $(GROUP), or GROUP=NAME" >&2; exit 1; }
	install -D -o root -g $(GROUP) -m 0750 gotrace $(DESTDIR)$(PREFIX)/bin/gotrace
	$(SETCAP) $(CAPS)=ep $(DESTDIR)$(PREFIX)/bin/gotrace

clean: ## remove what was built
	rm -rf $(BUILD) gotrace
