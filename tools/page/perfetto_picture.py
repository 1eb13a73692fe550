#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Draws docs/images/perfetto.svg: a piece of a Perfetto file as Perfetto's trace processor reads it.

    TRACE_PROCESSOR=trace_processor_shell tools/page/perfetto_picture.py FILE FROM_MS LENGTH_MS >perfetto.svg

FROM_MS counts from the beginning of the trace. There are lanes for Ps, collections, stop-the-worlds, and for the
goroutines that wait longest for locks in that time.
"""
import csv
import html
import io
import os
import subprocess
import sys

WIDTH, LABEL, LANE, GAP = 1000, 230, 16, 3
COLOURS = {"Running": "#2f9e44", "Runnable": "#a6d8b0", "Syscall": "#4c6ef5", "Waiting: sync": "#e8590c"}
OTHER_WAIT, SLICE = "#dee2e6", ["#4dabf7", "#9775fa", "#38d9a9", "#ffa94d", "#f783ac", "#74c0fc", "#b197fc"]

LANES = """
WITH part AS (SELECT min(ts) + {start} AS a, min(ts) + {start} + {length} AS b FROM slice),
named AS (SELECT t.id, t.name, coalesce(p.name, '') AS parent FROM track t LEFT JOIN track p ON p.id = t.parent_id),
locked AS (SELECT s.track_id AS id, sum(min(s.ts + s.dur, b) - max(s.ts, a)) AS total FROM state s, part
  WHERE s.value GLOB 'Waiting: sync*' AND s.ts < b AND s.ts + s.dur > a GROUP BY 1 ORDER BY 2 DESC LIMIT 14)
SELECT CASE WHEN n.parent = 'Ps' THEN 0 ELSE 1 END AS rank, n.name AS lane, s.name AS value,
  max(s.ts, a) - a AS ts, min(s.ts + s.dur, b) - max(s.ts, a) AS dur
  FROM slice s JOIN named n ON n.id = s.track_id, part WHERE s.ts < b AND s.ts + s.dur > a AND s.dur > 0
  AND (n.parent = 'Ps' AND n.name NOT GLOB '*sweeps' OR n.name IN ('GC', 'Stop the world'))
UNION ALL SELECT 2, n.name || ' ' || n.parent, s.value, max(s.ts, a) - a, min(s.ts + s.dur, b) - max(s.ts, a)
  FROM state s JOIN named n ON n.id = s.track_id JOIN locked l ON l.id = n.id, part WHERE s.ts < b AND s.ts + s.dur > a
ORDER BY 1, 2, 4
"""


def ask(file, sql):
    program = os.environ.get("TRACE_PROCESSOR", "trace_processor_shell")
    done = subprocess.run([program, "query", file, sql], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"perfetto_picture.py: {program} cannot read {file}: {done.stderr.strip()[-200:]}")
    return list(csv.DictReader(io.StringIO(done.stdout)))


def colour(rank, value):
    if rank < 2:
        return SLICE[sum(map(ord, value)) % len(SLICE)]
    return next((c for prefix, c in COLOURS.items() if value.startswith(prefix)), OTHER_WAIT)


def text(x, y, what, fill="#212529", anchor="start"):
    return f'<text x="{x:.0f}" y="{y:.0f}" fill="{fill}" text-anchor="{anchor}">{html.escape(what)}</text>'


def box(row, y, scale):
    x, width = LABEL + int(row["ts"]) * scale, max(int(row["dur"]) * scale, 0.4)
    shape = (f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{LANE}" '
             f'fill="{colour(int(row["rank"]), row["value"])}"/>')
    letters = int(width / 6.2)
    fits = letters > 6 and (int(row["rank"]) < 2 or row["value"].startswith("Waiting"))
    return shape + (text(x + 3, y + 12, row["value"][:letters]) if fits else "")


def draw(rows, length_ms):
    lanes = {}
    for row in rows:
        lanes.setdefault((int(row["rank"]), row["lane"]), []).append(row)
    scale, y, body = (WIDTH - LABEL) / (length_ms * 1e6), 22, []
    for ms in range(0, length_ms + 1, max(length_ms // 10, 1)):
        x = LABEL + ms * 1e6 * scale
        body.append(text(x, 12, f"{ms} ms", "#868e96", "end" if ms == length_ms else "middle"))
    for (_, lane), slices in sorted(lanes.items()):
        body.append(text(0, y + 12, lane[:36]))
        body += [box(row, y, scale) for row in slices]
        y += LANE + GAP
    x = LABEL
    for name, fill in [*COLOURS.items(), ("Waiting for something else", OTHER_WAIT)]:
        body.append(f'<rect x="{x}" y="{y + 8}" width="12" height="12" fill="{fill}"/>' + text(x + 17, y + 18, name))
        x += 45 + 7 * len(name)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y + 28}" '
            f'font-family="DejaVu Sans Mono, monospace" font-size="10.5">\n'
            f'<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(body) + "\n</svg>")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    start, length = int(sys.argv[2]), int(sys.argv[3])
    rows = ask(sys.argv[1], LANES.format(start=start * 1000000, length=length * 1000000))
    if not rows:
        sys.exit("perfetto_picture.py: nothing happens in that time")
    print(draw(rows, length))


main()
