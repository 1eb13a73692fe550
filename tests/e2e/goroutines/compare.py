#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""compare.py PS PROGRAM PROFILE: the JSON of `gotrace ps --by labels` beside the words of the program (goroutines
of each kind with their labels) and its goroutine profile (debug=1: stacks, counts, and labels if the release
writes them)."""
import collections, json, re, sys


def of_interest(names):
    """Without what the runtime hides at both ends, and as a tuple."""
    names = list(names)
    while names and names[0].startswith("runtime."):
        names.pop(0)
    while names and names[-1] in ("runtime.goexit", "runtime.main"):
        names.pop()
    return tuple(names)


def profile(path):
    groups, now = collections.Counter(), None
    with_labels = False
    for line in open(path, encoding="utf-8").read().split("\n"):
        head = re.match(r"(\d+) @", line)
        if head:
            now = [int(head[1]), frozenset(), []]
        elif line.startswith("# labels:"):
            now[1] = frozenset(json.loads(line[len("# labels:"):]).items())
            with_labels = True
        elif line.startswith("#\t") and now:
            now[2].append(re.sub(r"\+0x[0-9a-f]+$", "", line.split("\t")[2].strip()))
        elif not line and now:
            groups[of_interest(now[2]), now[1]] += now[0]
            now = None
    return groups, with_labels


def listed(ps):
    for group in ps["groups"]:
        stack = of_interest(frame["function"] for frame in group["stack"])
        sets = [(one["count"], frozenset((label["key"], label["value"]) for label in one["labels"]))
                for one in group["label_sets"]]
        unlabelled = group["count"] - sum(count for count, _ in sets)
        if unlabelled:
            sets.append((unlabelled, frozenset()))
        for count, labels in sets:
            yield group, stack, labels, count


def compare(what, ours, theirs):
    if ours != theirs:
        for key in set(ours) | set(theirs):
            if ours[key] != theirs[key]:
                print(f"{what}: {key}: {ours[key]} in ps, {theirs[key]}")
        sys.exit(1)


def main():
    ps = json.load(open(sys.argv[1]))
    truth, states = collections.Counter(), {}
    for line in open(sys.argv[2], encoding="utf-8"):
        if line.startswith("kind "):
            kind = json.loads(line[5:])
            labels = frozenset((kind["labels"] or {}).items())
            if kind["count"]:
                truth[kind["function"], labels] += kind["count"]
                states[kind["function"]] = kind
    ours, stacks = collections.Counter(), collections.Counter()
    for group, stack, labels, count in listed(ps):
        function = next((name for name in stack if name in states), None)
        if function:
            ours[function, labels] += count
            if not group["state"].startswith(states[function]["state"]) or \
                    group["suspect"] != states[function]["suspect"] or \
                    group["leaked"] != states[function]["leaked"] or group["unmoved"] != group["count"]:
                sys.exit(f"{function}: {group['state']}, suspect {group['suspect']}, "
                         f"leaked {group['leaked']}, {group['unmoved']} unmoved")
            if not group.get("created_by", {}).get("function", "").startswith("main.start"):
                sys.exit(f"{function}: created by {group.get('created_by')}")
        stacks[stack, labels] += count
    compare("what the program started", ours, truth)
    theirs, with_labels = profile(sys.argv[3])
    if not with_labels:
        plain = collections.Counter()
        for (stack, _), count in stacks.items():
            plain[stack, frozenset()] += count
        stacks = plain
    # The main goroutine writes the profile, and another has just passed on the signal.
    for one in (stacks, theirs):
        for key in [key for key in one if "main.main" in key[0] or "os/signal.loop" in key[0]]:
            del one[key]
    compare("the profile" + ("" if with_labels else " (without labels)"), stacks, theirs)
    print(f"{sum(theirs.values())} goroutines, {len(theirs)} groups{'' if with_labels else ', labels by the program alone'}")


main()
