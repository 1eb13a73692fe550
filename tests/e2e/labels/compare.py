# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Compares the labels of a trace with what the program says of itself (labels/main.go).

usage: compare.py DUMP OUTPUT PROFILE [--system]

DUMP is the text of `gotrace dump`, OUTPUT what the program printed, PROFILE its goroutine profile (debug=1). Each
goroutine must have had the sets that the program noted, in order, no more and no less; and the sets at the end must
be those of the profile.
--system: goroutines of the runtime have the labels of who created them (up to Go 1.17).
"""
import collections
import json
import re
import sys

LOG = re.compile(r'\b(?:G=|goid=|g=)(\d+)\b.*?key="(labels[^"]*)" message=("(?:[^"\\]|\\.)*")')


def fail(text):
    sys.exit(f"compare.py: {text}")


def logs(path):
    for line in open(path, encoding="utf-8", errors="surrogateescape"):
        found = LOG.search(line)
        if found:
            yield int(found[1]), found[2], json.loads(found[3])


def labels(text):
    return json.loads(text, object_pairs_hook=collections.OrderedDict)


def histories(path):
    """goid -> its sets in the trace, in order."""
    sets = collections.defaultdict(list)
    kinds = collections.Counter()
    for goid, category, message in logs(path):
        kinds[category] += 1
        if category == "labels of goroutines":
            text, others = re.match(r"(.*?)((?: \d+)+)$", message, re.S).groups()
            for other in map(int, others.split()):
                if sets[other]:
                    fail(f"goroutine {other} has labels already")
                sets[other] = [labels(text)]
            continue
        now = labels(message)
        if list(now) != sorted(now, key=lambda key: key.encode()):
            fail(f"not by key: {message}")
        before = sets[goid]
        if category == "labels held" and before:
            if before[-1] != now:
                fail(f"goroutine {goid} has {message} before, which nothing said")
            continue
        if category == "labels" and not before:
            before.append({})
        before.append(now)
    return sets, kinds


def profiled(path):
    count, sets = 0, collections.Counter()
    for line in open(path, encoding="utf-8"):
        if re.match(r"\d+ @", line):
            count = int(line.split()[0])
        if line.startswith("# labels: "):
            sets[json.dumps(json.loads(line[len("# labels: "):]), sort_keys=True)] += count
    return sets


dump, output, profile = sys.argv[1:4]
system = "--system" in sys.argv
seen, kinds = histories(dump)
final = collections.Counter()
known = set()
changes = 0
for line in open(output, encoding="utf-8"):
    if not line.startswith("life "):
        continue
    life = json.loads(line[5:])
    goid, wanted, got = life["goid"], life["sets"], [dict(one) for one in seen.get(life["goid"], [{}])]
    known.add(goid)
    if len(got) == 1 and len(wanted) > 1:
        wanted = wanted[-1:]  # all changes were before the trace
    if got != wanted:
        fail(f"goroutine {goid}: the trace has\n{got}\nand the program says\n{wanted}")
    changes += len(got)
    if got[-1]:
        final[json.dumps(got[-1], sort_keys=True)] += 1
for goid in set(seen) - known:
    if system and len(seen[goid]) == 1:
        continue
    fail(f"goroutine {goid} has labels that the program does not know: {seen[goid]}")
wanted = profiled(profile)
if wanted and not final >= wanted:
    fail(f"the profile has other sets at the end: {wanted - final}")
if not wanted and "labels:" in open(profile).read():
    fail("the profile cannot be read")
if changes < 200 or not kinds["labels held"] + kinds["labels of goroutines"]:
    fail(f"{changes} changes only, {dict(kinds)}")
print(f"{len(known)} goroutines, {changes} sets as the program says, {dict(kinds)}; "
      f"{sum(wanted.values())} goroutines as in the profile")
