#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""summary.py SCHEMA < SUMMARY: a summary of gotrace --json is as its schema says, and its sums add up."""
import json
import sys

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "null": type(None)}


def check(value, schema, where):
    if "enum" in schema:
        assert value in schema["enum"], f"{where}: {value!r} is none of {schema['enum']}"
    if "type" in schema:
        names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        assert type(value) in [TYPES[name] for name in names], f"{where}: {value!r} is no {names}"
    if isinstance(value, list):
        for i, item in enumerate(value):
            check(item, schema["items"], f"{where}[{i}]")
    if isinstance(value, dict):
        for key in schema.get("required", []):
            assert key in value, f"{where}: no {key}"
        for key, item in value.items():
            inner = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
            assert inner, f"{where}: {key} is not in the schema"
            check(item, inner, f"{where}.{key}")


def check_sums(summary):
    for row in summary["functions"]:
        waited = sum(row["blocked_by"].values())
        assert waited == row["blocked_ns"], f"{row['function']}: reasons add up to {waited}, not {row['blocked_ns']}"
    procs = summary.get("procs")
    if procs:
        total = sum(procs[key] for key in ("running_ns", "syscall_ns", "idle_ns", "not_watched_ns"))
        want = procs["gomaxprocs"] * summary["duration_ns"]
        assert abs(total - want) <= procs["gomaxprocs"] * 1000, f"Ps: {total} ns instead of {want}"


with open(sys.argv[1], encoding="utf-8") as file:
    SCHEMA = json.load(file)
SUMMARY = json.load(sys.stdin)
try:
    check(SUMMARY, SCHEMA, "summary")
    check_sums(SUMMARY)
except AssertionError as error:
    sys.exit(f"summary.py: {error}")
