#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""patch_runtime.py ROOT STRUCT FIELD DIRECTORY: makes an overlay for `go build -overlay`, which puts three words
before a field of one of the runtime's structs (FIELD "end": after all fields), or with STRUCT "waitReason" one more
wait reason before the reason FIELD. Prints the overlay's path."""
import json
import re
import sys

root, struct, field, directory = sys.argv[1:]
source = f"{root}/src/runtime/runtime2.go"
with open(source, encoding="utf-8") as file:
    text = file.read()
if struct == "waitReason":
    text = re.sub(rf"^\t{field} +//", f"\twaitReasonPatched\n\\g<0>", text, count=1, flags=re.M)
    end = text.index(f"\t{field}:")
    added = '\twaitReasonPatched: "patched",\n'
else:
    begin = text.index(f"\ntype {struct} struct {{")
    end = text.index("\n}\n", begin) + 1
    if field != "end":
        end = re.compile(rf"^\t{field}\b", re.M).search(text, begin, end).start()
    added = "\tpatched1, patched2, patched3 uintptr\n"
changed = f"{directory}/runtime2.go"
with open(changed, "w", encoding="utf-8") as file:
    file.write(text[:end] + added + text[end:])
with open(f"{directory}/overlay.json", "w", encoding="utf-8") as file:
    json.dump({"Replace": {source: changed}}, file)
print(f"{directory}/overlay.json")
