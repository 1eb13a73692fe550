#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Compares gotrace report with a profile of go tool trace, stack by stack.

same_sums.py REPORT.json PROFILE TABLE [SLACK]: PROFILE is the output of go tool pprof -raw of go tool trace -pprof=KIND, TABLE
is waits or syscalls. Each of the profile's pairs of leaf and caller must be there, with the same count and the same sum
(within SLACK ns an interval), but for waits of the runtime's own goroutines and of runtime/trace's, which the report leaves
out: the latter waits when it assists the collector. Prints what was compared.
"""
import collections
import json
import re
import sys

FRAMES = 2  # further up, the profile has one name for a function and those that are inlined in it
NAME = 90  # characters of a function's name: the report cuts long ones


def is_left_out(root, table):
    own = "runtime.main", "runtime.handleAsyncEvent", "runtime.corostart"  # isSystemGoroutine, Go 1.26 runtime/traceback.go
    return table == "waits" and root.startswith(("runtime.", "runtime/trace.")) and root not in own


def read_profile(path, table):
    samples, locations, part = [], {}, ""
    for line in open(path):
        words = line.split()
        if line.strip() in ("Samples:", "Locations", "Mappings"):
            part = line.strip()
        elif part == "Samples:" and re.match(r"\s*\d+\s+\d+:", line):
            samples.append((int(words[0]), int(words[1].rstrip(":")), [int(word) for word in words[2:]]))
        elif part == "Locations" and re.match(r"\s*\d+: ", line):
            frame = re.search(r"(?:M=\d+ )?(\S.*) \S+:\d+ s=\d+$", line.split(": 0x", 1)[1].split(" ", 1)[1])
            locations[int(words[0].rstrip(":"))] = frame.group(1)[:NAME]
    sums = collections.defaultdict(lambda: [0, 0])
    for count, ns, ids in samples:
        root = locations[ids[-1]] if ids else ""
        if is_left_out(root, table):
            continue
        key = tuple(locations[i] for i in ids[:FRAMES])
        sums[key][0] += count
        sums[key][1] += ns
    return sums


def read_report(path, table):
    sums, others = {}, {}
    rows = json.load(open(path))["tables"][table]
    assert rows["omitted"] == 0, "rows are left out"
    for row in rows["rows"]:
        key = tuple(frame.rsplit(" ", 1)[0][:NAME] for frame in row["stack"][:FRAMES])
        total = (others if row["for"] == "other" else sums).setdefault(key, [0, 0])
        total[0] += row["n"]
        total[1] += row["total_ns"]
    # The collector may suspend a goroutine in a function that waits, for which the profile has no reason either.
    return {**others, **sums}


def main():
    report, profile = read_report(sys.argv[1], sys.argv[3]), read_profile(sys.argv[2], sys.argv[3])
    slack = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    failed = 0
    for key, (count, ns) in sorted(profile.items(), key=lambda item: -item[1][1]):
        got = report.get(key)
        if not got or got[0] != count or abs(got[1] - ns) > count * slack:
            failed += 1
            print("%s: %d and %d ns in the profile, %s in the report" % (key[:2], count, ns, got))
    total = sum(ns for _, ns in profile.values())
    print("%d pairs, %d intervals, %d ns" % (len(profile), sum(count for count, _ in profile.values()), total))
    return 1 if failed or not profile else 0


sys.exit(main())
