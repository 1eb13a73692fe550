/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Arbitrary memory as a set of pprof labels: reading must end, stay within its limits, and return consistent
 * records. Input: the release's minor number (modulo 28), then the memory at BASE, to which g.labels points.
 * Pointers in the input are those of this process.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/goroutines/listing.h"
#include "target/labels.h"

#define BASE 0x20000000ull
#define SIZE (64u << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *memory(void)
{
	static uint8_t *bytes;

	if (!bytes) {
		bytes = mmap((void *)BASE, SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (bytes == MAP_FAILED)
			abort();
	}
	return bytes;
}

static int take(void *ctx, const struct log_record *record)
{
	if (rawlog_check_record(record, NULL) || listing_put(ctx, record))
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct g_listing listing;
	const uint64_t addresses[] = {BASE, BASE + 8, BASE, 0};
	uint32_t numbers[4];
	struct labels *labels;

	if (!size || size - 1 > SIZE)
		return 0;
	memset(memory(), 0, SIZE);
	memcpy(memory(), data + 1, size - 1);
	labels = labels_new(getpid(), data[0] % 28, take, &listing);
	if (!labels || labels_read(labels, addresses, 4, numbers))
		abort();
	if (numbers[0] != numbers[2] || numbers[3])
		abort();
	for (unsigned i = 0; i < 4; i++) {
		struct listing_label found[LABELS_MAX];

		if (numbers[i] != LABELS_LOST && numbers[i] > listing.nlabels)
			abort();
		if (numbers[i] != LABELS_LOST && listing_labels(&listing, numbers[i], found) > LABELS_MAX)
			abort();
	}
	labels_free(labels);
	listing_free(&listing);
	return 0;
}
