#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Finds characters that were cut: cut_text.py FILE... prints each place at which a file is not UTF-8, or has a replacement
beside one of the characters that the program uses."""
import re
import sys

USED = "[漢字語符鍵]"
REPLACED = r"(?:\?|\ufffd|\\ufffd|\\x[0-9a-f]{2})"
FAULT = re.compile(f"{USED}{REPLACED}|{REPLACED}{USED}")


def faults(path):
    with open(path, "rb") as file:
        text = file.read().decode(errors="surrogateescape")
    for found in re.finditer(f"[\udc80-\udcff]|{FAULT.pattern}", text):
        near = text[max(0, found.start() - 20):found.end() + 20]
        yield f"{path}: {near!r}"


found = [fault for path in sys.argv[1:] for fault in faults(path)]
print("\n".join(found[:10]))
sys.exit(bool(found))
