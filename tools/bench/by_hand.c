/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Compares hand-written code with the library that does the same (docs/internals/by-hand.md):
 * ring buffers (libbpf), rows of .eh_frame (libdw), feature probing (libbpf). Best of several rounds,
 * alternating. Needs root for rings and features.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <elfutils/libdw.h>
#include <linux/bpf.h>

#include "capture/features.h"
#include "capture/ring.h"
#include "target/names/modules.h"
#include "util/clock.h"

enum { ROUNDS = 7, RING_BYTES = 16 << 20, RECORD_BYTES = 64, RECORDS = 200000 };

static uint64_t least(uint64_t *best, uint64_t ns)
{
	if (!*best || ns < *best)
		*best = ns;
	return *best;
}

/* --- rings --- */

/* A program that writes one record of 64 zero bytes and does not wake the consumer. */
static int load_writer(int ring)
{
	struct bpf_insn insns[] = {
		{.code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = 1, .src_reg = BPF_PSEUDO_MAP_FD, .imm = ring},
		{.code = 0},
		{.code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = 10, .off = -64},
		{.code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = 10, .off = -56},
		{.code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = 10, .off = -48},
		{.code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = 10, .off = -40},
		{.code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = 10, .off = -32},
		{.code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = 10, .off = -24},
		{.code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = 10, .off = -16},
		{.code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = 10, .off = -8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 2, .src_reg = 10},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 2, .imm = -64},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3, .imm = RECORD_BYTES},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 4, .imm = BPF_RB_NO_WAKEUP},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ringbuf_output},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "writer", "GPL", insns,
			     sizeof(insns) / sizeof(insns[0]), NULL);
}

static int fill(int writer)
{
	char packet[64] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = packet, .data_size_in = sizeof(packet),
		    .repeat = RECORDS);

	return bpf_prog_test_run_opts(writer, &run);
}

static int on_record(void *sum, void *data, size_t size)
{
	*(uint64_t *)sum += size + *(const uint8_t *)data;
	return 0;
}

static uint64_t drain(struct ring *ring)
{
	struct ring_record record;
	uint64_t sum = 0, end = ring_end(ring);

	while (ring_peek(ring, end, &record)) {
		on_record(&sum, (void *)(uintptr_t)record.data, record.size);
		ring_pass(ring, &record);
	}
	ring_commit(ring);
	return sum;
}

static void bench_ring(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "bench", 0, 0, RING_BYTES, NULL);
	int writer = fd < 0 ? fd : load_writer(fd);
	uint64_t own = 0, library = 0, began, sum[2] = {0, 0};
	struct ring_buffer *consumer = writer < 0 ? NULL : ring_buffer__new(fd, on_record, &sum[1], NULL);
	struct ring ring;
	struct error err = {""};

	if (!consumer || ring_map(&ring, fd, RING_BYTES, &err)) {
		printf("ring: cannot be measured: %s\n", err.text[0] ? err.text : strerror(errno));
		return;
	}
	for (unsigned i = 0; i < ROUNDS; i++) {
		fill(writer);
		ring.at = ring.committed = *ring.consumer;
		began = now_ns();
		sum[0] += drain(&ring);
		least(&own, now_ns() - began);
		fill(writer);
		began = now_ns();
		ring_buffer__consume(consumer);
		least(&library, now_ns() - began);
	}
	printf("ring: %d records: ring_peek() %.1f ns a record, ring_buffer__consume() %.1f ns (%s)\n",
	       RECORDS, (double)own / RECORDS, (double)library / RECORDS,
	       sum[0] == sum[1] ? "the same bytes" : "DIFFERENT");
	ring_unmap(&ring);
	ring_buffer__free(consumer);
	close(writer);
	close(fd);
}

/* --- .eh_frame --- */

/* Reads what rules need of libdw's row: the CFA, the return address and rbp. */
static uint64_t visit_libdw(Dwarf_CFI *cfi, const struct module_code *code, size_t *rows)
{
	uint64_t began = now_ns(), end = code->base + code->size;

	*rows = 0;
	for (uint64_t at = code->base; at < end;) {
		Dwarf_Frame *frame = NULL;
		Dwarf_Addr first, last = 0;
		Dwarf_Op memory[3], *ops;
		size_t n;

		if (dwarf_cfi_addrframe(cfi, at, &frame) == 0) {
			dwarf_frame_info(frame, &first, &last, NULL);
			dwarf_frame_cfa(frame, &ops, &n);
			dwarf_frame_register(frame, 16, memory, &ops, &n);
			dwarf_frame_register(frame, 6, memory, &ops, &n);
			free(frame);
			++*rows;
		}
		at = last > at ? last : at + 1;
	}
	return now_ns() - began;
}

static void bench_ehframe(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	Dwarf_CFI *cfi = elf ? dwarf_getcfi_elf(elf) : NULL;
	uint64_t own = 0, library = 0, began;
	struct module_code code;
	size_t rows = 0, own_rows = 0;

	for (unsigned i = 0; cfi && i < 3; i++) {
		began = now_ns();
		if (module_read(fd, &code))
			break;
		least(&own, now_ns() - began);
		own_rows = code.rows.n;
		least(&library, visit_libdw(cfi, &code, &rows));
		module_free(&code);
	}
	if (own)
		printf("eh_frame: %s: %zu rows in %.1f ms, libdw: %zu rows in %.1f ms\n", path, own_rows,
		       (double)own / 1e6, rows, (double)library / 1e6);
	if (cfi)
		dwarf_cfi_end(cfi);
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

/* --- features --- */

static void bench_features(void)
{
	static const int helpers[] = {BPF_FUNC_get_attach_cookie, BPF_FUNC_ringbuf_output,
				      BPF_FUNC_probe_read_user, BPF_FUNC_get_current_task_btf,
				      BPF_FUNC_ktime_get_ns};
	struct features_options options = {.root = ""};
	uint64_t own = 0, library = 0, began;
	static struct features features;

	for (unsigned i = 0; i < ROUNDS; i++) {
		began = now_ns();
		features_probe(&features, &options);
		least(&own, now_ns() - began);
		began = now_ns();
		libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_KPROBE, NULL);
		libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_TRACING, NULL);
		libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL);
		libbpf_probe_bpf_map_type(BPF_MAP_TYPE_RINGBUF, NULL);
		for (unsigned k = 0; k < sizeof(helpers) / sizeof(helpers[0]); k++)
			libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, (enum bpf_func_id)helpers[k], NULL);
		least(&library, now_ns() - began);
	}
	printf("features: features_probe() answers %u questions in %.1f ms, libbpf 9 of them in %.1f ms\n",
	       features.n, (double)own / 1e6, (double)library / 1e6);
}

int main(void)
{
	elf_version(EV_CURRENT);
	bench_ring();
	bench_ehframe("/lib/x86_64-linux-gnu/libc.so.6");
	bench_ehframe("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
	bench_features();
	return 0;
}
