# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Writes numbers at random into the goroutine structs of a process.

usage: poke.py PID RAW SEED [--ids]

Some thousand a second, until it is killed or the process has ended. SIGUSR1 makes it begin, and at the next one it
writes back what was there, and waits for another.

RAW is a raw log of the process with a snapshot: its addresses of goroutines are used. With --ids only the ids
are written to: the runtime does not use them. Otherwise any word of a struct is, but only of the goroutines that began
with the commonest function: they must never run again and not be scanned, or the program would crash.
"""
import collections
import os
import random
import signal
import struct
import sys
import time

import rawlog

EXTREMES = [0, 1, 2**64 - 1, 2**64 - 2, 2**63, 2**63 - 1, 2**53, 2**52, 2**52 + 1, 2**32, 2**31]


def goroutines(path):
    """(address, id, address of the function that it began with) of each in the log."""
    found = {}
    for kind, payload in rawlog.records(path):
        for at in range(0, len(payload) if kind == rawlog.LOG_GS else 0, rawlog.G_BYTES):
            address, goid, _, start = struct.unpack_from("<QQQQ", payload, at)
            found[address] = (address, goid, start)
    return list(found.values())


def of_commonest_function(gs):
    ((start, _),) = collections.Counter(g[2] for g in gs).most_common(1)
    return [g for g in gs if g[2] == start]


def place_of_id(memory, gs):
    """The offset of g.goid: the word that is the id in most structs; some are another goroutine's by now."""
    places = collections.Counter()
    for address, goid, _ in gs[:50]:
        memory.seek(address)
        words = struct.unpack("<50Q", memory.read(400))
        places.update(8 * i for i, word in enumerate(words) if word == goid)
    return places.most_common(1)[0][0]


def main():
    pid, raw, seed = sys.argv[1:4]
    ids = sys.argv[4:] == ["--ids"]
    chance = random.Random(int(seed))
    gs = goroutines(raw)
    with open("/proc/%s/mem" % pid, "r+b", buffering=0) as memory:
        place = place_of_id(memory, gs)
        if not ids:
            gs = of_commonest_function(gs)
        print("%d goroutines, ids at +%d" % (len(gs), place), flush=True)
        poke(memory, pid, gs, place, ids, chance)


def poke(memory, pid, gs, place, ids, chance):
    before = {}  # what was at an address
    active = [False]
    signal.signal(signal.SIGUSR1, lambda *_: active.__setitem__(0, not active[0]))
    while os.path.exists("/proc/%s" % pid):
        if not active[0]:
            for address, word in before.items():
                write(memory, address, word)
            before.clear()
            time.sleep(0.002)
            continue
        g, _, _ = chance.choice(gs)
        number = chance.choice(EXTREMES + [chance.getrandbits(64), chance.choice(gs)[0], chance.choice(gs)[1]])
        address = g + (place if ids or chance.random() < 0.3 else chance.randrange(0, 400, 8))
        if address not in before:
            memory.seek(address)
            before[address] = memory.read(8)
        write(memory, address, struct.pack("<Q", number))
        time.sleep(0.0003)


def write(memory, address, word):
    try:
        memory.seek(address)
        memory.write(word)
    except OSError:  # memory that was freed meanwhile, or the process has ended
        pass


main()
