#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Runs the commands of the documents: docs.py GO_PID C_PID SCRATCH FILE...

A fenced block is run if its first line has the word "test" behind the language:

    sh test         a script: 4711 is a Go program, 4712 one in C; it must succeed
    sh test 6s      the same, ended by Ctrl-C after that time
    console test    lines with "$ " are commands; every other line must be in what they print, with any numbers

Durations of more than a second are cut to one, but in a console block. sudo does nothing here: run it as root.
"""
import os
import re
import subprocess
import sys

FENCE = re.compile(r"^```(sh|console) test(?: (\d+)s)?\n(.*?)^```$", re.M | re.S)
NUMBER = r"[0-9][0-9,.]*"
UNIT = r"\b(?:ns|us|ms|s)\b"


def prepared(text, pids, short):
    text = re.sub(r"\b471([12])\b", lambda found: pids[int(found.group(1)) - 1], text)
    return re.sub(r"-d \d+s\b", "-d 1s", text) if short else text


def run(script, scratch, limit):
    command = ["bash", "-e", "-c", script]
    if limit:
        command = ["timeout", "-s", "INT", "-k", "5", limit] + command
    env = dict(os.environ, PATH=os.path.join(scratch, "bin") + ":" + os.environ["PATH"])
    return subprocess.run(command, cwd=scratch, env=env, capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL)


def script_fault(body, pids, scratch, limit):
    done = run(prepared(body, pids, True), scratch, limit)
    if done.returncode == 0 or (limit and done.returncode in (124, 130)):
        return ""
    return f"status {done.returncode}: {done.stderr.strip()[-300:]}"


def pattern(line):
    """A line that may have other numbers, units and blanks; "..." at its end is anything."""
    line = re.sub(r"\s*\.\.\.$", "", line.strip())
    escaped = re.escape(line)
    escaped = re.sub(r"[0-9](?:[0-9,]|\\\.(?=[0-9]))*", "\0", escaped)
    escaped = re.sub("\0" + r"\\ (?:ns|us|ms|s)\b", "\0\\\\ \1", escaped)
    escaped = re.sub(r"(?:\\ )+", r"\\s+", escaped)
    return escaped.replace("\0", NUMBER).replace("\1", UNIT)


def console_fault(body, pids, scratch, _limit):
    lines = body.splitlines()
    commands = [line[2:] for line in lines if line.startswith("$ ")]
    done = run(prepared("\n".join(commands), pids, False), scratch, "")
    if done.returncode:
        return f"status {done.returncode}: {done.stderr.strip()[-300:]}"
    printed = " ".join((done.stdout + done.stderr).split())
    for line in lines:
        if line.strip() and not line.startswith("$ ") and not re.search(pattern(line), printed):
            return f"'{line.strip()}' is not in: {printed[:600]}"
    return ""


def main():
    pids, scratch, files = sys.argv[1:3], sys.argv[3], sys.argv[4:]
    passed = failed = 0
    for file in files:
        with open(file, encoding="utf-8") as opened:
            text = opened.read()
        for found in FENCE.finditer(text):
            kind, limit, body = found.groups()
            line = text.count("\n", 0, found.start()) + 1
            fault = (console_fault if kind == "console" else script_fault)(body, pids, scratch, limit)
            print(f"{'FAIL' if fault else 'PASS'} {file}:{line}{': ' + fault if fault else ''}", flush=True)
            failed += bool(fault)
            passed += not fault
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


main()
