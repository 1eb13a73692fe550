#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""compare.py OUTPUT DUMP WHY...: what the program of this directory says about its locks, and what a trace says.

OUTPUT is the program's, DUMP that of `gotrace dump --json --absolute`, each WHY a file that `gotrace why --goroutine N
--json` wrote. Times are CLOCK_MONOTONIC. MISSING: the share of the program's waits that the trace need not have.
"""
import json
import os
import sys

EDGE = 20_000_000  # ns at both ends of the trace that are left out
CLOSE = 1_500_000  # ns: precision of a wait's begin and end; a busy machine delays the goroutine between them
SHORT = 2_000_000  # the program reports waits of 1 ms and more
USER = ("main.useMutex ", "use_mutex ")  # functions that lock and unlock mutexes, in Go and in C
GO = {"mutex", "rwmutex (read)", "rwmutex (write)", "waitgroup", "cond", "chan"}


def read_program(path):
    waits, holds = [], []
    for line in open(path):
        words = line.split(maxsplit=4)
        if words[0] in ("wait", "held"):
            (waits if words[0] == "wait" else holds).append(
                (int(words[1][1:]), int(words[2]), int(words[3]), words[4].strip()))
    return waits, holds


def read_trace(path):
    """(goroutine, from, until it ran again, what), and the trace's first and last time."""
    waits, log, blocked, first, last = [], {}, {}, None, 0
    for line in open(path):
        event = json.loads(line)
        name, args, g, time = event["name"], event["args"], event["g"], event["time"]
        first = time if first is None else first
        last = max(last, time)
        if name == "UserLog" and args["key"] == "lock":
            log[g] = args["message"]
        elif name == "GoBlock":
            if g in log:
                blocked[g] = (time, log.pop(g))
        elif name == "GoStart" and args["g"] in blocked:
            since, what = blocked.pop(args["g"])
            waits.append((args["g"], since, time, what))
    return waits, first, last


def was_held(holds, wait):
    """Otherwise the program had no CPU, or its lock was held by those that do not say so."""
    g, since, until, what = wait
    return sum(max(0, min(until, end) - max(since, start)) for holder, start, end, name in holds
               if holder != g and name.split()[:2] == what.split()[:2]) > CLOSE


def find_missing(program, trace, known, holds):
    """Every wait of the program consists of waits in the trace, for the same thing."""
    missing = []
    by_goroutine = {}
    for wait in trace:
        by_goroutine.setdefault(wait[0], []).append(wait)
    for g, since, until, what in program:
        covered, others = 0, 0
        for _, start, end, name in by_goroutine.get(g, []):
            overlap = min(end, until) - max(start, since)
            if overlap <= 0:
                continue
            if name == what:
                covered += overlap
            elif name in known and not (what.startswith("cond") and name.startswith("mutex")):
                others += overlap
        no_cpu = not covered and what.startswith(("mutex", "futex")) and not was_held(
            holds, (g, since, until, what))
        if (until - since - covered > CLOSE and not no_cpu) or others:
            missing.append((g, since, until, what, covered, others))
    return missing


def find_unknown(program, trace, known):
    """No long wait in the trace for one of the program's locks is unknown to the program."""
    return [wait for wait in trace if wait[3] in known and wait[2] - wait[1] > SHORT and not any(
        g == wait[0] and what == wait[3] and since - CLOSE < wait[1] and wait[2] < until + CLOSE
        for g, since, until, what in program)]


def compare_holders(paths, holds, begin, lo, hi):
    """The holder that `why` names held the lock when the wait ended; and took it where all do."""
    checked, known = 0, 0
    for path in paths:
        for part in json.load(open(path))["path"]:
            end = begin + part["start_ns"] + part["duration_ns"]
            if part.get("lock", "").split(" ")[0] not in ("mutex", "futex") or part["depth"] or \
                    part["duration_ns"] < SHORT:
                continue
            if not lo < end - part["duration_ns"] < end < hi:
                continue
            holder = [g for g, since, until, what in holds
                      if what == part["lock"] and abs(until - end) < CLOSE and since < end]
            checked += 1
            known += "taken_at" in part
            if part.get("holder") not in holder or "released_at" not in part:
                sys.exit("%s: %s, and the program says %s" % (path, part, holder))
            for place in "released_at", "taken_at":
                if not part.get(place, USER[0]).startswith(USER):
                    sys.exit("%s: %s %s" % (path, place, part[place]))
    if paths and (checked < 100 or known < 0.9 * checked):
        sys.exit("%d waits for mutexes, of %d it is known where the holder took it" % (checked, known))
    return checked, known


def main():
    waits, holds = read_program(sys.argv[1])
    trace, first, last = read_trace(sys.argv[2])
    lo, hi = first + EDGE, last - EDGE
    known = {wait[3] for wait in waits}
    kinds = {what.split()[0] + what[what.find(" ("):] * (" (" in what) for what in known}
    if not GO <= kinds and kinds != {"futex"}:
        sys.exit("the program did not wait for %s" % ", ".join(GO - kinds))
    inside = [wait for wait in waits if lo < wait[1] and wait[2] < hi]
    missing = find_missing(inside, trace, known, holds)
    unknown = find_unknown(waits, [wait for wait in trace if lo < wait[1] and wait[2] < hi], known)
    if len(missing) > float(os.environ.get("MISSING", "0")) * len(inside):
        sys.exit("%d of %d waits are not in the trace: %s" % (len(missing), len(inside), missing[:3]))
    if unknown:
        sys.exit("%d waits in the trace are not the program's: %s" % (len(unknown), unknown[:3]))
    if len(inside) < 500:
        sys.exit("only %d waits" % len(inside))
    checked, taken = compare_holders(sys.argv[3:], holds, first, lo, hi)
    print("%d waits agree; %d holders, of %d it is known where they took the lock" % (len(inside), checked, taken))


main()
