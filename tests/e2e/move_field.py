#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""move_field.py TABLE NAME VALUE: prints a table of gotrace layout with another value in one line, and the sum of that."""
import sys
import zlib

table, name, value = sys.argv[1:]
with open(table, encoding="ascii") as file:
    lines = file.read().splitlines()[:-1]
changed = [f"{name} {value}" if line.startswith(name + " ") else line for line in lines]
if changed == lines:
    sys.exit(f"move_field.py: {table} has no {name}, or that value already")
text = "\n".join(changed) + "\n"
print(f"{text}end {zlib.crc32(text.encode()):08x}")
