/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Plays recorded raw logs as if machines with 64 and 256 CPUs had made them, and shows what is left of the
 * trace after merging their rings.
 * 	bench-shards LOG...
 */
#include <stdio.h>
#include <string.h>

#include "spread.h"

/* One record in a hundred is delayed: far more than on any machine. */
enum { PUT_OFF_PM = 10000 };

static const unsigned clocks[] = {0, 10, 100, 300, 1000, 5000};

static void print_head(const char *path)
{
	const char *name = strrchr(path, '/');

	printf("\n%s\n%5s %5s %8s %9s %6s %7s %9s %8s %9s %9s %9s %9s %6s\n", name ? name + 1 : path, "CPUs",
	       "rings", "clocks", "records", "late", "swapped", "no stack", "ops", "inferred", "repaired",
	       "lives", "the same", "ns");
}

static void print_row(const struct spread_options *options, const struct spread_result *got,
		      const struct spread_result *plain)
{
	uint64_t all, same = spread_same(got, plain, &all);

	printf("%5u %5u %5u ns %9llu %6llu %7llu %9llu %8llu %9llu %9llu %9llu %8.3f%% %6.0f\n",
	       options->cpus, got->rings, options->clock_ns, (unsigned long long)got->records,
	       (unsigned long long)got->late, (unsigned long long)got->swapped,
	       (unsigned long long)got->without_stack, (unsigned long long)got->ops,
	       (unsigned long long)got->inferred, (unsigned long long)got->repaired, (unsigned long long)all,
	       all ? 100.0 * (double)same / (double)all : 100.0,
	       got->records ? (double)got->merge_ns / (double)got->records : 0.0);
}

static int play(const char *path, const struct spread_options *options, const struct spread_result *plain)
{
	struct spread_result got;
	struct error err = {""};
	int rc = spread_play(path, options, &got, &err);

	if (rc)
		fprintf(stderr, "bench-shards: %s: %s\n", path, err.text);
	else
		print_row(options, &got, plain);
	spread_free(&got);
	return rc;
}

static int play_all(const char *path)
{
	const unsigned cpus[] = {64, 256};
	struct spread_options options = {0};
	struct spread_result plain;
	struct error err = {""};
	int rc = spread_play(path, &options, &plain, &err);

	print_head(path);
	if (rc)
		fprintf(stderr, "bench-shards: %s: %s\n", path, err.text);
	else
		print_row(&options, &plain, &plain);
	for (unsigned i = 0; i < 2 && rc == 0; i++) {
		for (unsigned k = 0; k < sizeof(clocks) / sizeof(clocks[0]) && rc == 0; k++) {
			options = (struct spread_options){.cpus = cpus[i],
							  .clock_ns = clocks[k],
							  .put_off_pm = PUT_OFF_PM,
							  .seed = i * 100 + k + 1};
			rc = play(path, &options, &plain);
		}
	}
	spread_free(&plain);
	return rc;
}

int main(int argc, char **argv)
{
	printf("# clocks off by up to so much; %d in a million records put off by up to 20 ms; ns: merge and "
	       "model, a record\n",
	       PUT_OFF_PM);
	for (int i = 1; i < argc; i++) {
		if (play_all(argv[i]))
			return 1;
	}
	return argc < 2;
}
