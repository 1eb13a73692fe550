# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks that a raw log has all that was put into it.

usage: log_whole.py RAW GOROUTINES

Each snapshot must have this many goroutines at least, and the log as many hits as its last record says. Prints the
numbers.
"""
import struct
import sys

import rawlog

SITE_CPU_SAMPLE = 90  # bpf/record.h
END_HITS = 64  # offset of the hits in struct log_end (src/rawlog/rawlog.h)
FEW = 16  # a hit of the allocator may make no record, or two (bpf/gc.bpf.h); a collection makes more of them


def count_goroutines(payload):
    """Goroutines with an id. A struct of zeros has none."""
    return sum(struct.unpack_from("<Q", payload, at + 8)[0] != 0 for at in range(0, len(payload), rawlog.G_BYTES))


def count_hits(payload):
    return sum(payload[at + 4] != SITE_CPU_SAMPLE for at in range(0, len(payload), rawlog.RECORD_BYTES))


def main():
    path, least = sys.argv[1], int(sys.argv[2])
    snapshots, hits, goroutines, last = 0, 0, None, None
    for kind, payload in rawlog.records(path):
        if kind == 0:
            sys.exit("a record of type 0 after %d snapshots" % snapshots)
        if kind == rawlog.LOG_SNAPSHOT:
            if goroutines is not None:
                sys.exit("snapshot %d does not end" % snapshots)
            goroutines = 0
        elif kind == rawlog.LOG_GS:
            goroutines += count_goroutines(payload)
        elif kind == rawlog.LOG_SNAPSHOT_END:
            snapshots += 1
            if goroutines < least:
                sys.exit("snapshot %d has %d of %d goroutines" % (snapshots, goroutines, least))
            goroutines = None
        elif kind == rawlog.LOG_RECORDS:
            hits += count_hits(payload)
        elif kind == rawlog.LOG_TEXT:
            hits += 1
        elif kind == rawlog.LOG_END:
            (last,) = struct.unpack_from("<Q", payload, END_HITS)
    if last is None or abs(last - hits) > FEW:
        sys.exit("%d hits in the log, but it ends with %s" % (hits, last))
    print("%d snapshots, %d hits" % (snapshots, hits))


main()
